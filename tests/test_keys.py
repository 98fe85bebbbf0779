"""A key is in nothing that is said, written or kept, however the endpoint that has it behaves.

Every endpoint here is an enemy or broken: it repeats the header that it was sent wherever it can.
What is searched is everything: output, errors with their causes, logs, traces,
exports, recordings, and every file of the data folder but two of Chroma's index.
"""

from __future__ import annotations

import json
import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.servers import ChatServer, Scripted, completion
from tracert import cli
from tracert.embedding.openai import OpenAIEmbedder
from tracert.errors import StoreError, TracertError
from tracert.indexing import File
from tracert.language.client import OpenAIChat
from tracert.render.export.graphml import to_graphml
from tracert.render.export.markdown import to_markdown
from tracert.render.export.page import to_page
from tracert.workspace import Workspace

KEY = "zq-k3ymark-0123456789abcdef"
TEXT = "The lamp was lit by Ingrid Falk. She learned it from Anders Holm. " * 12
HEADERS = {"x-seen": f"Bearer {KEY}", "www-authenticate": f'Bearer realm="{KEY}"'}

#: How an endpoint can fail, each way repeating the key.
Fail = Callable[[ChatServer, ChatServer], None]
FAILURES: dict[str, Fail] = {
    **{
        f"status {code}": lambda server, _, code=code: server.fail(  # type: ignore[misc]
            code, f"You sent Bearer {KEY}", headers=HEADERS
        )
        for code in (400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503)
    },
    "a page": lambda server, _: server.add(
        Scripted(200, HEADERS, (f"<html>{KEY}</html>".encode(),), "text/html")
    ),
    "an error of status 200": lambda server, _: server.json({"error": {"message": KEY}}),
    "nothing of the protocol": lambda server, _: server.json({"seen": KEY, "choices": KEY}),
    "cut": lambda server, _: server.add(Scripted(200, HEADERS, (KEY.encode(),), cut=True)),
    "silence": lambda server, _: server.add(Scripted(hang=True)),
    "elsewhere": lambda server, other: server.add(
        Scripted(307, {"location": f"{other.url}/chat/completions"})
    ),
    "the key in the reply": lambda server, _: server.json(
        completion(f"Ingrid Falk lit the lamp [1]. The key is {KEY}.")
    ),
}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture
def other() -> Iterator[ChatServer]:
    """A server that the key does not belong to."""
    with ChatServer() as running:
        running.say("Ingrid Falk lit the lamp [1].")
        yield running


#: Files of Chroma's index into which hnswlib writes memory that it has not cleared, where a key
#: of this process may have stood: docs/SECURITY.md says so.
UNCLEARED = {"data_level0.bin", "length.bin"}


def written(folder: Path) -> bytes:
    return b"\n".join(
        str(path).encode()
        + (path.read_bytes() if path.is_file() and path.name not in UNCLEARED else b"")
        for path in folder.rglob("*")
    )


@pytest.mark.parametrize("how", FAILURES)
def test_the_command_line_with_a_chat_model(
    how: str,
    server: ChatServer,
    other: ChatServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    FAILURES[how](server, other)
    Workspace(tmp_path / "home").index([File("lamp.txt", TEXT.encode())], "Lamp")
    model = ["--model", "tiny", "--base-url", server.url, "--timeout", "1"]
    record = ["--record", str(tmp_path / "home" / "replies.json")]
    ask = ["ask", "Who lit the lamp?", "--corpus", "Lamp", "--method", "tracert_rag", *model]
    for more in (record, ["--json"]):
        cli.main([*ask, *more])
    seen = [request.headers.get("authorization") for request in server.requests]
    assert f"Bearer {KEY}" in seen, "the key was used, so the search means something"
    said = capfd.readouterr()
    assert KEY not in said.out + said.err
    assert KEY not in caplog.text
    assert KEY.encode() not in written(tmp_path)
    # A redirection to another server does not take the key along.
    assert all(KEY not in str(request.headers) for request in other.requests)


def test_a_reply_with_the_key_is_in_no_trace_and_no_export(
    server: ChatServer, tmp_path: Path
) -> None:
    server.say(f"Ingrid Falk lit the lamp [1]. The key is {KEY}.")
    space = Workspace(tmp_path)
    space.index([File("lamp.txt", TEXT.encode())], "Lamp")
    model = OpenAIChat("tiny", server.url, KEY)
    pieces: list[str] = []
    trace = space.ask("Who lit the lamp?", corpus="Lamp", model=model, on_text=pieces.append)
    assert "[hidden]" in trace.to_json()
    for text in (trace.to_json(), to_page(trace), to_markdown(trace), to_graphml(trace)):
        assert KEY not in text
    assert KEY not in "".join(pieces)
    server.models = [KEY]
    assert model.models() == ["[hidden]"]


@pytest.mark.parametrize("how", [how for how in FAILURES if "reply" not in how])
def test_embeddings(
    how: str, server: ChatServer, other: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    FAILURES[how](server, other)
    embedder = OpenAIEmbedder("tiny", base_url=server.url, api_key=KEY, timeout=1, retries=0)
    with pytest.raises(TracertError) as caught:
        embedder.embed(["The lamp was lit by Ingrid Falk."])
    assert any(KEY in str(request.headers) for request in server.requests)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(embedder)
    assert KEY not in caplog.text
    assert all(KEY not in str(request.headers) for request in other.requests)


class Repeating(BaseHTTPRequestHandler):
    """Answers everything with a status and the key, and points to another server."""

    def do_GET(self) -> None:
        self.server.seen.append(dict(self.headers))  # type: ignore[attr-defined]
        body = json.dumps({"error": "Refused", "message": f"you sent {KEY}"}).encode()
        self.send_response(self.server.status, KEY)  # type: ignore[attr-defined]
        self.send_header("location", f"{self.server.elsewhere}/{KEY}")  # type: ignore[attr-defined]
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@pytest.mark.parametrize("status", [200, 301, 401, 500])
def test_a_store_elsewhere(
    status: int,
    other: ChatServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What stands at `CHROMA_URL` is no Chroma server, repeats the key, or leads elsewhere."""
    caplog.set_level(logging.WARNING)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Repeating)
    server.status, server.elsewhere, server.seen = status, other.root, []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        monkeypatch.setenv("CHROMA_URL", f"http://127.0.0.1:{server.server_address[1]}")
        monkeypatch.setenv("CHROMA_API_KEY", KEY)
        with pytest.raises(StoreError) as caught:
            Workspace(tmp_path).index([File("lamp.txt", TEXT.encode())], "Lamp")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert KEY in str(server.seen)  # type: ignore[attr-defined]
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in caplog.text
    assert KEY.encode() not in written(tmp_path)
    assert other.requests == []


@pytest.mark.parametrize(
    "url", [f"http://me:{KEY}@127.0.0.1:9/v1", f"http://127.0.0.1:9/v1?key={KEY}", f"ftp://{KEY}"]
)
def test_a_key_in_the_wrong_place_is_not_repeated(url: str) -> None:
    for make in (lambda: OpenAIChat("tiny", url), lambda: OpenAIEmbedder("tiny", base_url=url)):
        with pytest.raises(TracertError) as caught:
            make()
        assert KEY not in "".join(traceback.format_exception(caught.value))
