"""Runs of an evaluation kept on disk: begun, stopped, resumed, listed, deleted.

A run is some methods asked the same questions. In the folder of runs lie

    ID/head.json    schema "tracert.run/1": id, created, title, methods [{label, name, settings}],
                    k, embedder, ground {}, files {role: {name, sha256, size}}, versions {},
                    seeds {}
    ID/setup.json   {questions, setups [{}]}: how many questions there are and, for each method,
                    what has to be said to repeat it; written when the data are open
    ID/done.jsonl   a line {method, question, detail} for each question that a method was asked,
                    written when it was; `method` and `question` count from 0
    data/SHA256/    the files that a run reads, kept so that it can go on when the originals are
                    gone; runs over the same file share it

A run goes on by asking what `done.jsonl` does not hold. A process that was killed leaves half a
line at most, which the next one cuts off; a line that is damaged counts as not asked. One process
works on a run at a time, held by a file lock that the system gives back when the process ends;
any number may read.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Final, Generic, TypeVar

from tracert.errors import DatasetError
from tracert.evaluation.summary import versions
from tracert.trace import Value

SCHEMA: Final = "tracert.run/1"
_ID: Final = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
_SHA: Final = re.compile(r"[0-9a-f]{64}")
#: Seconds that a writer waits for the lock: longer than a look at it takes.
_WAIT: Final = 3.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MethodPlan:
    """A method of a run: what a person reads, its name and the settings that differ.

    Two plans may name the same method with other settings; their labels differ.
    """

    label: str
    name: str
    settings: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file that a run reads: its name as given, and its content by fingerprint."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Head:
    """What a run is, written once when it begins.

    `ground` says what the questions are searched in, see `tracert.evaluation.work`; `created` is in
    seconds since 1970; `asks_model` says whether a language model is asked.
    """

    id: str
    created: float
    title: str
    methods: tuple[MethodPlan, ...]
    k: int
    embedder: str
    ground: Mapping[str, Value]
    files: Mapping[str, KeptFile]
    versions: Mapping[str, str]
    seeds: Mapping[str, int]
    asks_model: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The head as JSON."""
        return {
            "schema": SCHEMA,
            "id": self.id,
            "created": self.created,
            "title": self.title,
            "methods": [
                {"label": one.label, "name": one.name, "settings": dict(one.settings)}
                for one in self.methods
            ],
            "k": self.k,
            "embedder": self.embedder,
            "ground": dict(self.ground),
            "files": {
                role: {"name": one.name, "sha256": one.sha256, "size": one.size}
                for role, one in self.files.items()
            },
            "versions": dict(self.versions),
            "seeds": dict(self.seeds),
            "asks_model": self.asks_model,
        }

    @staticmethod
    def from_dict(data: Any) -> Head:
        """Read a head back.

        Raises:
            KeyError, TypeError, ValueError: it is damaged or of another version.
        """
        if data["schema"] != SCHEMA:
            raise ValueError(f"the schema {str(data['schema'])[:40]!r}")
        methods = tuple(
            MethodPlan(_text(one["label"]), _text(one["name"]), _values(one["settings"]))
            for one in data["methods"]
        )
        head = Head(
            id=_text(data["id"]),
            created=float(data["created"]),
            title=_text(data["title"]),
            methods=methods,
            k=_count(data["k"]),
            embedder=_text(data["embedder"]),
            ground=_values(data["ground"]),
            files={
                _text(role): KeptFile(_text(one["name"]), _sha(one["sha256"]), _count(one["size"]))
                for role, one in dict(data["files"]).items()
            },
            versions={_text(name): _text(value) for name, value in dict(data["versions"]).items()},
            seeds={_text(name): _count(value) for name, value in dict(data["seeds"]).items()},
            asks_model=data["asks_model"] is True,
        )
        if not head.methods or not _ID.fullmatch(head.id):
            raise ValueError("no methods" if not head.methods else "the id")
        return head


@dataclass(frozen=True, slots=True)
class State:
    """What is known once the data are open: how many questions, and a setup for each method."""

    questions: int
    setups: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A run as the list shows it.

    `lines` is how many lines are there and `total` how many it will have, None while that is not
    known. `fault` is a sentence where the head cannot be read, and `head` then None.
    """

    id: str
    head: Head | None
    lines: int
    total: int | None = None
    fault: str = ""

    @property
    def finished(self) -> bool:
        """Whether every question was asked of every method."""
        return self.total is not None and self.lines >= self.total


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """What a run holds: by (method, question) what was read of its line.

    `damaged` counts lines that could not be read; their questions are asked again when the run
    goes on, and `message` says so.
    """

    details: Mapping[tuple[int, int], T]
    damaged: int = 0

    @property
    def message(self) -> str:
        """A sentence about damaged lines; '' where there are none."""
        if not self.damaged:
            return ""
        lines = "1 line" if self.damaged == 1 else f"{self.damaged:,} lines"
        return (
            f"{lines} of this run could not be read and {'is' if self.damaged == 1 else 'are'} "
            "left out. Resume the run to ask these questions again."
        )


class Writer:
    """A run in the hands of the one process that works on it."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        """Made by `Runs.writer`."""
        self._file = file
        self._path = path

    def add(self, method: int, question: int, detail: Mapping[str, Any]) -> None:
        """Keep what a question gave; it is on its way to the disk when this returns.

        Raises:
            DatasetError: it cannot be written; what was written before stays.
        """
        line = {"method": method, "question": question, "detail": detail}
        data = json.dumps(line, ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n"
        try:
            self._file.write(data.encode("ascii"))
            self._file.flush()
        except OSError as error:
            raise _unwritable(self._path, error) from error


class Runs:
    """The runs kept in one folder."""

    def __init__(self, folder: Path) -> None:
        """Work in `folder`; it is made with the first run."""
        self.folder = folder

    # --- beginning and ending ---------------------------------------------------------------

    def begin(
        self,
        *,
        title: str,
        methods: Sequence[MethodPlan],
        k: int,
        embedder: str,
        ground: Mapping[str, Value],
        seeds: Mapping[str, int],
        files: Mapping[str, tuple[str, bytes]] | None = None,
        asks_model: bool = False,
    ) -> Head:
        """Keep a new run that has asked nothing yet. `files` are name and content by role.

        Raises:
            DatasetError: it cannot be written.
        """
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        kept = {
            role: KeptFile(name, hashlib.sha256(data).hexdigest(), len(data))
            for role, (name, data) in (files or {}).items()
        }
        head = Head(
            id=f"{stamp}-{secrets.token_hex(3)}",
            created=time.time(),
            title=title,
            methods=tuple(methods),
            k=k,
            embedder=embedder,
            ground=dict(ground),
            files=kept,
            versions={**versions(), "system": platform.platform(terse=True)},
            seeds=dict(seeds),
            asks_model=asks_model,
        )
        with self._locked("runs"):
            for role, (_, data) in (files or {}).items():
                self._replace(self._file(kept[role]), data, once=True)
            text = json.dumps(head.to_dict(), ensure_ascii=True, allow_nan=False, indent=1)
            self._replace(self.folder / head.id / "head.json", text.encode("ascii"))
        return head

    def delete(self, id: str) -> None:
        """Delete a run, and the files that no other run reads.

        Raises:
            DatasetError: somebody works on it, or it cannot be deleted.
        """
        self._place(id)
        with self._locked(id, wait=_WAIT), self._locked("runs"):
            try:
                shutil.rmtree(self.folder / id)
                used = {
                    file.sha256
                    for kept in self.kept()
                    if kept.head is not None
                    for file in kept.head.files.values()
                }
                # A head that cannot be read may name any of them.
                if not any(kept.fault for kept in self.kept()):
                    for path in (self.folder / "data").glob("*"):
                        if path.name not in used:
                            shutil.rmtree(path)
            except FileNotFoundError:
                return
            except OSError as error:
                raise DatasetError(
                    f"The run cannot be deleted ({error.strerror}). Close what has its files open "
                    "and try again."
                ) from error
        (self.folder / f"{id}.lock").unlink(missing_ok=True)

    # --- reading ----------------------------------------------------------------------------

    def kept(self) -> list[Kept]:
        """All runs, the newest first."""
        try:
            ids = [path.name for path in self.folder.iterdir() if _ID.fullmatch(path.name)]
        except OSError:
            return []
        return [self._kept(id) for id in sorted(ids, reverse=True)]

    def head(self, id: str) -> Head:
        """What a run is.

        Raises:
            DatasetError: there is no such run, or its head is damaged.
        """
        self._place(id)
        kept = self._kept(id)
        if kept.head is None:
            raise DatasetError(kept.fault)
        return kept.head

    def state(self, head: Head) -> State | None:
        """What is known since the data are open; None before, and where the file is damaged."""
        try:
            data = json.loads((self.folder / head.id / "setup.json").read_bytes())
            state = State(_count(data["questions"]), tuple(dict(one) for one in data["setups"]))
        except (OSError, KeyError, TypeError, ValueError, RecursionError):
            return None
        return state if len(state.setups) == len(head.methods) else None

    def done(self, head: Head, read: Callable[[Any], T]) -> Done[T]:
        """What a run holds, each line's detail read by `read`.

        `read` raises KeyError, TypeError, ValueError or DatasetError on what it cannot use. Of
        a question that stands twice, the later line counts.
        """
        found: dict[tuple[int, int], T] = {}
        damaged = 0
        state = self.state(head)
        questions = 0 if state is None else state.questions
        for line in self._lines(head.id):
            try:
                row = json.loads(line)
                key = _count(row["method"]), _count(row["question"])
                if key[0] >= len(head.methods) or key[1] >= questions:
                    raise ValueError("no such method or question")
                found[key] = read(row["detail"])
            except (KeyError, TypeError, ValueError, RecursionError, DatasetError):
                damaged += 1
        return Done(found, damaged)

    def file(self, head: Head, role: str) -> Path:
        """Where a file that the run reads lies.

        Raises:
            DatasetError: it is gone or is another one now.
        """
        kept = head.files.get(role)
        if kept is not None:
            path = self._file(kept)
            try:
                if hashlib.sha256(path.read_bytes()).hexdigest() == kept.sha256:
                    return path
            except OSError:
                pass
        raise DatasetError(
            f"The file {kept.name if kept else role} that this run reads is gone or damaged. Start "
            "a new run with it."
        )

    def busy(self, id: str) -> bool:
        """Whether some process, this one too, works on the run now."""
        from filelock import FileLock, Timeout

        path = self.folder / f"{id}.lock"
        if not path.is_file():
            return False
        try:
            with FileLock(path, thread_local=False).acquire(timeout=0):
                return False
        except Timeout:
            return True
        except OSError:
            return False

    # --- writing ----------------------------------------------------------------------------

    @contextmanager
    def writer(self, head: Head) -> Iterator[Writer]:
        """Take a run in hand: half a line at its end is cut off, and lines can be added.

        Raises:
            DatasetError: another process works on it, it is gone, or it cannot be written.
        """
        with self._locked(head.id, wait=_WAIT):
            path = self.folder / head.id / "done.jsonl"
            try:
                if not (self.folder / head.id / "head.json").is_file():
                    raise DatasetError("This run was deleted. Start a new one.")
                file = path.open("ab+")
            except OSError as error:
                raise _unwritable(path, error) from error
            with file:
                _cut_half_line(file)
                yield Writer(file, path)

    def settle(self, head: Head, state: State) -> None:
        """Keep what is known since the data are open; by the process that has the run in hand.

        Raises:
            DatasetError: it cannot be written.
        """
        data = {"questions": state.questions, "setups": [dict(one) for one in state.setups]}
        text = json.dumps(data, ensure_ascii=True, allow_nan=False, indent=1)
        self._replace(self.folder / head.id / "setup.json", text.encode("ascii"))

    def _file(self, kept: KeptFile) -> Path:
        """Where a file lies: by its content, under a name that any system takes."""
        name = re.sub(r"[^\w.()\- ]", "_", kept.name)[-60:].strip(". ")
        return self.folder / "data" / kept.sha256 / (name or "data")

    def _kept(self, id: str) -> Kept:
        path = self.folder / id / "head.json"
        try:
            head = Head.from_dict(json.loads(path.read_bytes()))
            if head.id != id:
                raise ValueError("the id")
        except FileNotFoundError:
            return Kept(id, None, 0, fault=f"There is no run {id}. It may have been deleted.")
        except OSError as error:
            return Kept(id, None, 0, fault=f"The run {id} cannot be read ({error.strerror}).")
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            return Kept(
                id,
                None,
                0,
                fault=f"The run {id} is damaged near {str(error)[:60]!r} or of another version. "
                "Delete it and run it again.",
            )
        state = self.state(head)
        total = None if state is None else state.questions * len(head.methods)
        return Kept(id, head, self._count(id), total)

    def _count(self, id: str) -> int:
        """How many whole lines a run has; counted again only when its file has changed."""
        path = self.folder / id / "done.jsonl"
        try:
            found = path.stat()
        except OSError:
            return 0
        return _line_ends(str(path), found.st_size, found.st_mtime_ns)

    def _lines(self, id: str) -> Iterator[bytes]:
        """The whole lines of a run; half a line at the end is being written or never will be."""
        try:
            with (self.folder / id / "done.jsonl").open("rb") as file:
                for line in file:
                    if line.endswith(b"\n"):
                        yield line
        except OSError:
            return

    def _place(self, id: str) -> None:
        if not _ID.fullmatch(id):
            raise DatasetError("That names no run. Choose one from the list.")

    def _replace(self, path: Path, data: bytes, *, once: bool = False) -> None:
        if once and path.is_file() and path.stat().st_size == len(data):
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
            beside.write_bytes(data)
            beside.replace(path)
        except OSError as error:
            raise _unwritable(path, error) from error

    @contextmanager
    def _locked(self, name: str, *, wait: float = 10.0) -> Iterator[None]:
        from filelock import FileLock, Timeout

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / f"{name}.lock", thread_local=False)
            lock.acquire(timeout=wait)
        except Timeout as error:
            raise DatasetError(
                "This run is being worked on, here or in another window or process. Stop it there "
                "first."
            ) from error
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        try:
            yield
        finally:
            lock.release()


@lru_cache(maxsize=1024)
def _line_ends(path: str, size: int, changed: int) -> int:  # noqa: ARG001 they are the key
    """The line ends in the first `size` bytes of a file."""
    count, left = 0, size
    try:
        with Path(path).open("rb") as file:
            while left > 0:
                block = file.read(min(left, 1 << 20))
                if not block:
                    break
                count += block.count(b"\n")
                left -= len(block)
    except OSError:
        return 0
    return count


def _cut_half_line(file: BinaryIO) -> None:
    """Cut off what stands behind the last line end."""
    end = file.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - 65_536)
        file.seek(start)
        place = file.read(end - start).rfind(b"\n")
        if place >= 0:
            file.truncate(start + place + 1)
            break
        end = start
    else:
        file.truncate(0)
    file.seek(0, os.SEEK_END)


def _unwritable(path: Path, error: OSError) -> DatasetError:
    return DatasetError(
        f"The run cannot be kept in {path.parent} ({error.strerror}). Make room there, or set "
        "TRACERT_HOME to a folder that you may write; what was asked so far stays."
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text, not {value!r:.40}")
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError(f"a count, not {value!r:.40}")
    return value


def _sha(value: Any) -> str:
    if not _SHA.fullmatch(_text(value)):
        raise ValueError("a fingerprint")
    return str(value)


def _values(data: Any) -> dict[str, Value]:
    values = dict(data)
    for name, value in values.items():
        _text(name)
        if not (value is None or isinstance(value, str | int | float | bool)):
            raise TypeError(f"a value, not {value!r:.40}")
    return values
