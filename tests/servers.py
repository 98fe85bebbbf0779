"""A scripted HTTP server that speaks the OpenAI protocol, for tests of what talks to a model.

    with ChatServer() as server:
        server.say("Hello.")
        chat = OpenAIChat("tiny", server.url, "key")

Each request to a path of calls takes the next answer of the script; with an empty script the
last one repeats. `server.requests` holds what came in. Nothing but loopback is used.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """A request as it came in; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Scripted:
    """An answer: status, headers and the pieces of its body, each sent after `delay` seconds.

    `hang` never sends a byte of it; `cut` breaks the connection off after the pieces, in the
    middle of the body that was announced.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: tuple[bytes, ...] = ()
    kind: str = "application/json"
    delay: float = 0.0
    hang: bool = False
    cut: bool = False


USAGE = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}


def completion(
    text: str | None,
    *,
    calls: Sequence[tuple[str, str, str]] = (),
    finish: str | None = None,
    usage: Mapping[str, int] | None = USAGE,
    refusal: str | None = None,
) -> dict[str, Any]:
    """A chat completion; `calls` are (id, name, arguments)."""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": refusal}
    if calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id, name, arguments in calls
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny",
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": finish or ("tool_calls" if calls else "stop"),
            }
        ],
        **({} if usage is None else {"usage": dict(usage)}),
    }


def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    """One event of a streamed completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "tiny",
        "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}],
    }


def events(entries: Iterable[Any], *, done: bool = True) -> tuple[bytes, ...]:
    """Server-sent events, one a piece."""
    lines = [f"data: {json.dumps(entry)}\n\n".encode() for entry in entries]
    return (*lines, b"data: [DONE]\n\n") if done else tuple(lines)


class ChatServer:
    """The server, run in a thread; use it as a context manager."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.models: list[str] | None = ["tiny", "small"]
        self._script: list[Scripted] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def root(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL."""
        return f"{self.root}/v1"

    @property
    def calls(self) -> list[Request]:
        """The requests that asked for something to be computed."""
        return [request for request in self.requests if request.method == "POST"]

    # --- the script -----------------------------------------------------------------------

    def add(self, *scripted: Scripted) -> None:
        """Append answers to the script."""
        with self._lock:
            self._script += scripted

    def json(self, data: Any, **more: Any) -> None:
        """Append an answer with a JSON body."""
        self.add(Scripted(pieces=(json.dumps(data).encode(),), **more))

    def say(self, *texts: str, **more: Any) -> None:
        """Append plain replies."""
        for text in texts:
            self.json(completion(text, **more))

    def stream(self, *texts: str, **more: Any) -> None:
        """Append one reply that is streamed in these pieces, its usage last."""
        entries = [chunk({"role": "assistant", "content": ""})]
        entries += [chunk({"content": text}) for text in texts]
        entries += [chunk({}, "stop"), {**chunk({}), "choices": [], "usage": USAGE}]
        self.add(Scripted(pieces=events(entries), kind="text/event-stream", **more))

    def fail(self, status: int, message: str = "it failed", **more: Any) -> None:
        """Append an error in the protocol's form; `code` and `param` go into its body."""
        error = {"message": message, "type": "error"}
        error |= {key: more.pop(key) for key in ("code", "param") if key in more}
        self.json({"error": error}, status=status, **more)

    # --- what the handler asks ------------------------------------------------------------

    def next(self) -> Scripted:
        """The next answer of the script; the last one repeats."""
        with self._lock:
            if not self._script:
                return Scripted(status=500, pieces=(b'{"error": {"message": "empty script"}}',))
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def wait(self, seconds: float | None) -> bool:
        """Sleep, or return True at once when the server closes."""
        return self._closing.wait(seconds)


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._note(None)
            if self.path == "/v1/models" and server.models is not None:
                data = {"object": "list", "data": [{"id": name} for name in server.models]}
                self._send(Scripted(pieces=(json.dumps(data).encode(),)))
            else:
                self._send(Scripted(status=404, pieces=(b'{"error": {"message": "no route"}}',)))

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers.get("content-length") or 0))
            self._note(json.loads(text) if text else None)
            self._send(server.next())

        def _note(self, body: Any) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.requests.append(Request(self.command, self.path, headers, body))

        def _send(self, scripted: Scripted) -> None:
            self.close_connection = True
            if scripted.hang:
                server.wait(None)
                return
            self.send_response(scripted.status)
            for name, value in scripted.headers.items():
                self.send_header(name, value)
            self.send_header("content-type", scripted.kind)
            self.send_header("connection", "close")
            length = sum(map(len, scripted.pieces)) + (100 if scripted.cut else 0)
            self.send_header("content-length", str(length))
            self.end_headers()
            for piece in scripted.pieces:
                if scripted.delay and server.wait(scripted.delay):
                    return
                try:
                    self.wfile.write(piece)
                    self.wfile.flush()
                except OSError:  # the client has gone, as some tests mean it to
                    return

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    return Handler
