"""The worker: reads requests from its standard input, parses, answers, until the input ends.

It bounds itself as well, so that it ends even where the app that started it was killed: its
address space where the system bounds that, and its time by a timer that needs no cooperation
of what is parsed.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from dataclasses import fields
from pathlib import Path
from typing import IO, Any, Final

from tracert.corpus.apart import wire
from tracert.corpus.apart.members import Members
from tracert.corpus.loaders import Limits
from tracert.corpus.loaders.registry import document, loader_of
from tracert.corpus.loaders.sealed import unsealed
from tracert.errors import DocumentError, PasswordError

#: The exit status where there was not enough memory; the app says so.
OUT_OF_MEMORY: Final = 77
#: The largest request: the app has checked the size of a file before.
_MOST: Final = 1 << 40


def main() -> None:
    """Answer requests until the standard input ends."""
    requests, replies = _pipes()
    bound: int | None = None
    members: Members | None = None
    with Path(os.devnull).open("wb") as nowhere:
        wire.send(replies, {"reply": "ready", "pid": os.getpid()})
        while True:
            try:
                head, body = wire.receive(requests, _MOST)
            except (wire.WireError, OSError):
                return
            limits = Limits(**{each.name: head["limits"][each.name] for each in fields(Limits)})
            if bound is None:
                bound = limits.max_memory
                _bound_memory(bound)
            # Beyond the app's own limit, for when there is no app any more.
            faulthandler.dump_traceback_later(2 * limits.max_seconds + 30, exit=True, file=nowhere)
            try:
                if "member" in head:
                    reply = _member(members, int(head["member"]))
                else:
                    members, reply = _load(body, head, limits)
                del body
                wire.send(replies, *reply)
            except MemoryError:
                os._exit(OUT_OF_MEMORY)
            except OSError:
                return
            faulthandler.cancel_dump_traceback_later()


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Standard input and output under other numbers, so that no library's print can enter."""
    if sys.platform == "win32":
        import msvcrt

        for number in (0, 1):
            msvcrt.setmode(number, os.O_BINARY)
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nowhere, number)
    return requests, replies


def _load(
    data: bytes, head: dict[str, Any], limits: Limits
) -> tuple[Members | None, tuple[dict[str, Any], bytes]]:
    """The file as a document or, where it is a zip of documents, as the list of these."""
    name, password = str(head["name"]), str(head["password"])
    try:
        data = unsealed(data, name, password)
        loader = loader_of(data, name)
        if loader is None:
            members = Members(data, name, limits)
            return members, ({"reply": "archive", "members": members.listed}, b"")
        return None, wire.packed(document(loader, data, name, limits, password))
    except DocumentError as error:
        return None, (_refusal(error), b"")


def _member(members: Members | None, index: int) -> tuple[dict[str, Any], bytes]:
    if members is None:
        raise ValueError("no archive was loaded")
    try:
        return {"reply": "bytes"}, members.read(index)
    except DocumentError as error:
        return _refusal(error), b""


def _refusal(error: DocumentError) -> dict[str, Any]:
    locked = isinstance(error, PasswordError)
    return {"reply": "refused", "message": str(error), "locked": locked}


def _bound_memory(most: int) -> None:
    """Bound the address space to what is in use and `most` bytes more, where POSIX has that."""
    if sys.platform == "win32":
        return
    import resource

    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return  # macOS keeps no such bound; the app watches the memory in use
    wanted = pages * resource.getpagesize() + most
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
