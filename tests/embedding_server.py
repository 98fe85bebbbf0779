"""A scripted HTTP server on loopback that speaks OpenAI's embeddings.

    with EmbeddingServer() as server:
        OpenAIEmbedder("tiny", server.url, "key")

Each request takes the next step of the script: None answers with vectors, a `Fault` with what
it says. With an empty script all requests are answered. Nothing but loopback is used.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Fault:
    """An answer that is none: status, body (JSON unless bytes), headers, seconds of silence."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


RATE_LIMIT = Fault(429, {"error": {"message": "slow down"}}, {"retry-after-ms": "1"})
DOWN = Fault(503, {"error": {"message": "overloaded"}}, {"retry-after-ms": "1"})


class EmbeddingServer:
    """The server, run in a thread; use it as a context manager."""

    def __init__(self, dimension: int = 8) -> None:
        self.dimension = dimension
        self.salt = "model"
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.script: list[Fault | None] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts that came in, in order."""
        return [text for request in self.requests for text in request["input"]]

    def vector(self, text: str) -> npt.NDArray[np.float32]:
        """The vector that a text gets: fixed by its hash, of any length but 0."""
        digest = hashlib.sha256(f"{self.salt}:{text}".encode()).digest()
        seed = int.from_bytes(digest[:8], "little")
        return np.random.default_rng(seed).normal(size=self.dimension).astype(np.float32)

    def data(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """The list of a regular answer."""
        return [
            {"object": "embedding", "index": place, "embedding": self.vector(text).tolist()}
            for place, text in enumerate(texts)
        ]

    def take(self, request: dict[str, Any], key: str | None) -> Fault:
        """Note a request down and find its answer."""
        with self._lock:
            self.requests.append(request)
            self.keys.append(key)
            step = self.script.pop(0) if self.script else None
        if step is not None:
            return step
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return Fault(
            body={
                "object": "list",
                "data": self.data(request["input"]),
                "model": "m",
                "usage": usage,
            }
        )

    def __enter__(self) -> EmbeddingServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            request = json.loads(self.rfile.read(length))
            if self.path != "/v1/embeddings":
                answer = Fault(404, {"error": {"message": f"no {self.path}"}})
            else:
                answer = server.take(request, self.headers.get("authorization"))
            time.sleep(answer.delay)
            body = answer.body
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            try:
                self.send_response(answer.status)
                for name, value in {"content-type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
