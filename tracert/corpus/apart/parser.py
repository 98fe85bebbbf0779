"""The app's side: files go to a worker process, which is killed where it takes too much.

One worker serves a batch. It is started at the first file that needs it, kept warm, and replaced
after a death or once it has grown. A thread of its own writes and reads the pipes, so that the
caller's thread can watch the clock, the worker's memory and the wish to stop on every system.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from threading import Thread
from types import TracebackType
from typing import Any, Final

from tracert.corpus.apart import wire
from tracert.corpus.loaders import Limits
from tracert.corpus.loaders.registry import check_size, document, is_plain, loader_of
from tracert.corpus.model import Document
from tracert.errors import CancelledError, DocumentError, PasswordError

Cancelled = Callable[[], bool]

#: What the worker process runs.
PROGRAM: Final = "from tracert.corpus.apart.worker import main; main()"
#: Texts up to this many bytes are read in this process: their loaders are a few regular
#: expressions that take a time linear in the text (docs/decisions/0081).
IN_PROCESS: Final = 2_000_000
#: Seconds between two looks at clock, memory and the wish to stop.
_TICK: Final = 0.05
#: Seconds that a worker may take to start: on a busy machine Python alone needs some.
_START_SECONDS: Final = 60.0
#: A worker that holds more than this share of its bound after a file is replaced.
_STALE: Final = 0.5
#: Environment that a worker gets: what Python and the system's loader need, and no key.
_PASSED: Final = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "HOME", "LANG", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: its path there, and why it is not read, '' where it may be."""

    name: str
    problem: str


@dataclass(frozen=True, slots=True)
class Archive:
    """A zip of documents, held to read its members from."""

    name: str
    data: bytes
    members: tuple[Member, ...]


class Parser:
    """Turns files into documents apart from this process. Use it as a context manager.

    Args:
        limits: how much of a file is read, and with how much time and memory.
        cancelled: asked many times a second while a file is parsed.
        program: what the worker runs.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        cancelled: Cancelled | None = None,
        program: str = PROGRAM,
    ) -> None:
        self.limits = limits or Limits()
        self._cancelled = cancelled
        self._program = program
        self._worker: _Worker | None = None
        #: The archive that the worker holds open.
        self._open: Archive | None = None

    def __enter__(self) -> Parser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def load(self, data: bytes, name: str, password: str = "") -> Document | Archive:
        """A file as a document, or a zip of documents as the list of these.

        Short plain text and markdown are read here, everything else by the worker.

        Raises:
            PasswordError: the file is encrypted and the password is missing or wrong.
            DocumentError: it cannot be turned into text within the limits.
            CancelledError: `cancelled` said so.
        """
        check_size(data, name, self.limits)
        if len(data) <= IN_PROCESS and is_plain(data):
            loader = loader_of(data, name)
            if loader is not None and loader.kind in _PLAIN:
                return document(loader, data, name, self.limits)
        self._open = None
        head, body = self._ask({"name": name, "password": password}, data, name)
        if head["reply"] == "document":
            return self._parsed(head, body, name)
        members = tuple(Member(str(each), str(problem)) for each, problem in head["members"])
        self._open = Archive(name, data, members)
        return self._open

    def member(self, archive: Archive, index: int) -> bytes:
        """The bytes of one file of an archive.

        Raises:
            DocumentError: it is damaged, locked or larger than the limits allow.
            CancelledError: `cancelled` said so.
        """
        if self._open is not archive or self._worker is None:
            self.load(archive.data, archive.name)
            self._open = archive
        name = f"{archive.name}/{archive.members[index].name}"
        return self._ask({"member": index}, b"", name)[1]

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

    def _ask(self, request: dict[str, Any], body: bytes, name: str) -> tuple[dict[str, Any], bytes]:
        """One request and its reply; the worker is killed where it goes beyond its bounds."""
        worker = self._worker or self._started(name)
        self._worker = None
        try:
            reply = worker.ask(request | {"limits": asdict(self.limits)}, body, self._most())
            deadline = time.monotonic() + 1.25 * self.limits.max_seconds + 1
            found = self._watched(worker, reply, deadline, name)
        except BaseException:
            worker.kill()
            raise
        if found is None:
            raise DocumentError(_ended(name, worker.kill(), self.limits))
        if worker.memory() > _STALE * self.limits.max_memory:
            worker.kill()
        else:
            self._worker = worker
        head, data = found
        if head["reply"] == "refused":
            raise (PasswordError if head["locked"] else DocumentError)(str(head["message"]))
        return head, data

    def _started(self, name: str) -> _Worker:
        worker = _Worker(self._program)
        try:
            end = time.monotonic() + _START_SECONDS
            if self._watched(worker, worker.ready, end, name) is not None:
                return worker
        except BaseException:
            worker.kill()
            raise
        worker.kill()
        raise DocumentError(
            f"{name} could not be read, since no process to read it in could be started "
            f"({sys.executable or 'no Python'}). Free some memory and load it again."
        )

    def _watched(
        self, worker: _Worker, reply: queue.SimpleQueue[_Reply], deadline: float, name: str
    ) -> _Reply:
        """What comes within time and memory; None where the worker ended."""
        base = worker.memory()
        while True:
            try:
                return reply.get(timeout=_TICK)
            except queue.Empty:
                pass
            if self._cancelled is not None and self._cancelled():
                raise CancelledError("Cancelled; nothing half-made was kept.")
            if time.monotonic() > deadline:
                raise DocumentError(_too_long(name, self.limits))
            if worker.memory() - base > self.limits.max_memory:
                raise DocumentError(_too_much(name, self.limits))

    def _most(self) -> int:
        """Bytes of the largest reply: text in UTF-8, or a member of an archive, or vectors."""
        return max(8 * self.limits.max_characters, 2 * self.limits.max_bytes)

    def _parsed(self, head: Mapping[str, Any], body: bytes, name: str) -> Document:
        try:
            return wire.unpacked(head, body)
        except wire.WireError as error:
            raise DocumentError(_ended(name, None, self.limits)) from error


_PLAIN: Final = ("text", "markdown")

#: A reply's head and body; None once the worker has ended.
_Reply = tuple[dict[str, Any], bytes] | None


class _Worker:
    """The process and the thread at its pipes."""

    def __init__(self, program: str) -> None:
        environment = {name: os.environ[name] for name in _PASSED if name in os.environ} | {
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "PYTHONUTF8": "1",
            # A thread a core would reserve address space that is bounded here.
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MALLOC_ARENA_MAX": "2",
        }
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self.ready: queue.SimpleQueue[_Reply] = queue.SimpleQueue()
        try:
            self._process = subprocess.Popen(  # noqa: S603 (this program, run by this Python)
                [sys.executable, "-P", "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise DocumentError(
                f"No process to read documents in can be started ({error.strerror}). Free some "
                "memory and load the file again."
            ) from error
        #: What the process calls itself once it is ready: on Windows a virtual environment's
        #: Python is another process that starts the real one.
        self.pid = self._process.pid
        self._thread = Thread(target=self._serve, name="parsing", daemon=True)
        self._thread.start()

    def ask(self, head: dict[str, Any], body: bytes, most: int) -> queue.SimpleQueue[_Reply]:
        """Send a request; its reply comes into the queue."""
        reply: queue.SimpleQueue[_Reply] = queue.SimpleQueue()
        self._requests.put(_Request(head, body, most, reply))
        return reply

    def memory(self) -> int:
        """The memory in use in bytes, 0 once the process has ended."""
        import psutil

        try:
            return int(psutil.Process(self.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def kill(self) -> int | None:
        """End the process, and the thread with it; the status with which it ended."""
        status = self._process.poll()
        self._process.kill()
        self._requests.put(None)
        self._process.wait()
        self._thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            # What was not sent yet has nobody to go to.
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        return status if status is not None else self._process.returncode

    def _serve(self) -> None:
        """The thread: request by request, until there is none or the process has ended."""
        writes, reads = self._process.stdin, self._process.stdout
        if writes is None or reads is None:
            raise ValueError("the process was started without pipes")
        try:
            ready = wire.receive(reads, 0)
            self.pid = int(ready[0]["pid"])
            self.ready.put(ready)
        except (wire.WireError, OSError):
            self.ready.put(None)
            return
        while (request := self._requests.get()) is not None:
            try:
                wire.send(writes, request.head, request.body)
                request.reply.put(wire.receive(reads, request.most))
            except (wire.WireError, OSError):
                request.reply.put(None)
                return


@dataclass(frozen=True, slots=True)
class _Request:
    head: dict[str, Any]
    body: bytes
    most: int
    reply: queue.SimpleQueue[_Reply]


def _too_long(name: str, limits: Limits) -> str:
    return (
        f"{name} was not read within {limits.max_seconds:,.0f} s, so its reading was ended. Split "
        "it, or save it anew by the program that made it, or raise the limit of seconds."
    )


def _too_much(name: str, limits: Limits) -> str:
    return (
        f"{name} needs more than the {limits.max_memory / 1e6:,.0f} MB of memory that reading a "
        "file may take. Split it, or raise the limit of memory."
    )


def _ended(name: str, status: int | None, limits: Limits) -> str:
    from tracert.corpus.apart.worker import OUT_OF_MEMORY

    if status == OUT_OF_MEMORY:
        return _too_much(name, limits)
    return (
        f"{name} is damaged in a way that ended the process that read it. Save it anew by the "
        "program that made it, or as PDF or text."
    )
