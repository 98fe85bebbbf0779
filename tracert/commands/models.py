"""The options that name a language model. Without a model named, nothing goes out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tracert.commands.say import clean
from tracert.errors import ModelError
from tracert.language.base import ChatModel
from tracert.language.client import DEFAULT_TIMEOUT, OpenAIChat
from tracert.language.record import Recorder, replayer
from tracert.methods.base import Calls
from tracert.whole import whole


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add --model, --base-url, --timeout, --record and --replay."""
    group = parser.add_argument_group(
        "language model",
        "None is asked unless one is named. The key is read from OPENAI_API_KEY, or from "
        "OPENROUTER_API_KEY for OpenRouter.",
    )
    group.add_argument("--model", metavar="NAME", help="the model (TRACERT_MODEL)")
    group.add_argument(
        "--base-url", metavar="URL", help="an OpenAI-compatible endpoint (TRACERT_BASE_URL)"
    )
    group.add_argument(
        "--timeout",
        type=float,
        default=DEFAULT_TIMEOUT,
        metavar="SECONDS",
        help=f"how long to wait for the endpoint ({DEFAULT_TIMEOUT:g})",
    )
    group.add_argument("--record", type=Path, metavar="FILE", help="keep the replies in a file")
    group.add_argument(
        "--replay",
        type=Path,
        metavar="FILE",
        help="answer from such a file, or from a trace that has the replies, without a key",
    )


@contextmanager
def chosen_model(given: argparse.Namespace) -> Iterator[ChatModel | None]:
    """The model that the options name, None if they name none; a recording is written after.

    Raises:
        ModelError: the options contradict each other, or a recording cannot be read or written.
    """
    name = given.model or os.environ.get("TRACERT_MODEL")
    if given.replay is not None:
        if given.model or given.record is not None:
            raise ModelError("Pass --replay alone: it stands in for --model and --record.")
        yield replayer(_read(given.replay))
        return
    if not name:
        if given.record is not None:
            raise ModelError("There is nothing to record. Name a model by --model.")
        yield None
        return
    chat = OpenAIChat(name, given.base_url, timeout=given.timeout)
    with suppress(ModelError):  # whoever asks says what is wrong
        chat.prepare()  # so that the first call's seconds are the model's
    if given.record is None:
        yield chat
        return
    recorder = Recorder(chat)
    try:
        yield recorder
    finally:
        _write(given.record, recorder.recording.to_json(indent=2))


def tell_calls(given: argparse.Namespace, model: ChatModel | None, calls: Calls) -> None:
    """Say on standard error how often the model may be asked, before it is; not of a replay."""
    number = calls.of(1)
    if model is None or given.replay is not None or not number:
        return
    times = "once" if number == 1 else f"up to {number:,} times"
    index = (
        f", {calls.index:,} of them for an index of the corpus, which is kept"
        if calls.index
        else ""
    )
    print(f"{clean(model.name)} is asked {times}{index}.", file=sys.stderr, flush=True)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"The recording {path} cannot be read ({error.strerror}). Check the path."
        ) from error


def _write(path: Path, text: str) -> None:
    try:
        if path.exists() and not path.is_file():  # a terminal or a pipe, which nothing replaces
            path.write_text(text, encoding="utf-8")
            return
        with whole(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise ModelError(
            f"The recording {path} cannot be written ({error.strerror}). Name another file."
        ) from error
