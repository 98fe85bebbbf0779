"""What a model wrote and an embedder made for a method, kept so that nothing is asked twice."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.errors import StoreError
from tracert.language.base import ChatModel, Message, Reply
from tracert.language.budget import Meter
from tracert.language.record import Recorder, exchange_key
from tracert.methods.base import Resources
from tracert.trace import Cost

SCHEMA: Final = "tracert.replies/1"

Vector = npt.NDArray[np.float32]


class Replies:
    """Replies by model and conversation, vectors by text; thread-safe.

    What a call cost when it was made comes back with its reply, so that a run that is shown
    again shows what it cost.
    """

    def __init__(self, stage: str) -> None:
        """Seconds of the model's calls are counted under `stage`."""
        self._stage = stage
        self._replies: dict[str, tuple[str, Cost]] = {}
        self._vectors: dict[str, tuple[Vector, Cost]] = {}
        self._lock = Lock()

    def ask(
        self, model: ChatModel, messages: Sequence[Message], max_tokens: int
    ) -> tuple[str, Cost, bool]:
        """The model's reply, what it cost, and whether it was asked just now.

        Raises:
            ModelError: the model gave no reply; it is asked again the next time.
        """
        key = f"{model.name} {exchange_key(messages)}"
        with self._lock:
            known = self._replies.get(key)
        if known is not None:
            text, cost = known
            if isinstance(model, Recorder):
                # A run that uses a reply again has it among its own all the same.
                used = (cost.prompt_tokens, cost.completion_tokens)
                model.keep(messages, Reply(text, (), *used))
            return text, cost, False
        meter = Meter(model, self._stage)
        reply = meter.complete(messages, max_tokens=max_tokens)
        with self._lock:
            self._replies[key] = (reply.text, meter.cost)
        return reply.text, meter.cost, True

    def embed(self, text: str, resources: Resources) -> tuple[Vector, Cost, bool]:
        """The vector of a text (d,), what it cost, and whether it was embedded just now.

        Raises:
            EmbedderError: the text could not be embedded.
        """
        with self._lock:
            if text in self._vectors:
                return (*self._vectors[text], False)
        begun = time.perf_counter()
        vector = resources.embed([text])[0]
        cost = Cost({"embed": time.perf_counter() - begun})
        with self._lock:
            self._vectors[text] = (vector, cost)
        return vector, cost, True

    def to_json(self) -> str:
        """The replies, without the vectors, as JSON text."""
        with self._lock:
            replies = {
                key: [
                    text,
                    sum(cost.seconds.values()),
                    cost.prompt_tokens,
                    cost.completion_tokens,
                ]
                for key, (text, cost) in self._replies.items()
            }
        return json.dumps({"schema": SCHEMA, "replies": replies}, ensure_ascii=False)

    def load(self, text: str) -> None:
        """Take in replies saved by `to_json`.

        Raises:
            StoreError: the text is damaged.
        """
        try:
            data = json.loads(text)
            if data["schema"] != SCHEMA:
                raise ValueError(data["schema"])
            loaded = {
                str(key): (
                    str(reply),
                    Cost({self._stage: float(seconds)}, 1, int(prompt), int(completion)),
                )
                for key, (reply, seconds, prompt, completion) in data["replies"].items()
            }
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise StoreError(
                "The saved replies of the model are damaged. Delete them; the model is asked again."
            ) from error
        with self._lock:
            self._replies |= loaded
