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
import platform
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from tracert.errors import DatasetError
from tracert.evaluation.lines import Writer, appending, count_lines, unwritable, whole_lines
from tracert.evaluation.run import ID, Done, Head, Kept, KeptFile, MethodPlan, State, count
from tracert.evaluation.summary import versions
from tracert.trace import Value
from tracert.whole import whole

#: Seconds that a writer waits for the lock: longer than a look at it takes.
_WAIT: Final = 3.0

T = TypeVar("T")


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
            self._replace(self.folder / head.id / "head.json", _as_json(head.to_dict()))
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
                self._delete_unread_files()
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
            ids = [path.name for path in self.folder.iterdir() if ID.fullmatch(path.name)]
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
            data = (self.folder / head.id / "setup.json").read_bytes()
            state = State.from_dict(json.loads(data))
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
        for line in whole_lines(self._lines(head.id)):
            try:
                row = json.loads(line)
                key = count(row["method"]), count(row["question"])
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
            path = self._lines(head.id)
            try:
                if not path.with_name("head.json").is_file():
                    raise DatasetError("This run was deleted. Start a new one.")
            except OSError as error:
                raise unwritable(path, error) from error
            with appending(path) as writer:
                yield writer

    def settle(self, head: Head, state: State) -> None:
        """Keep what is known since the data are open; by the process that has the run in hand.

        Raises:
            DatasetError: it cannot be written.
        """
        self._replace(self.folder / head.id / "setup.json", _as_json(state.to_dict()))

    def _delete_unread_files(self) -> None:
        heads = [kept.head for kept in self.kept()]
        read = {file.sha256 for head in heads if head is not None for file in head.files.values()}
        if None in heads:
            # A head that cannot be read may name any of them.
            return
        for path in (self.folder / "data").glob("*"):
            if path.name not in read:
                shutil.rmtree(path)

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
        return Kept(id, head, count_lines(self._lines(id)), total)

    def _lines(self, id: str) -> Path:
        return self.folder / id / "done.jsonl"

    def _place(self, id: str) -> None:
        if not ID.fullmatch(id):
            raise DatasetError("That names no run. Choose one from the list.")

    def _replace(self, path: Path, data: bytes, *, once: bool = False) -> None:
        if once and path.is_file() and path.stat().st_size == len(data):
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole(path) as file:
                file.write(data)
        except OSError as error:
            raise unwritable(path, error) from error

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
            raise unwritable(self.folder, error) from error
        try:
            yield
        finally:
            lock.release()


def _as_json(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=True, allow_nan=False, indent=1).encode("ascii")
