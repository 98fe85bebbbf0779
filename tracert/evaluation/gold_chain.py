"""Gold chains made by hand: a question, the passages that answer it in order, kept as JSON lines.

A chain is a row of the documented form (`tracert.evaluation.datasets`):

    {id, dataset, question, answer, type, n_hops, support_order, order_source "by_hand",
     paragraphs [{title, text, is_supporting}]}

The gold passages come first, in the order of the chain; behind them stand the passages that were
found and not marked, so that the rows alone make a pool in which something can be missed. `title`
is the name of the document, so that in a corpus of the Library a gold passage is also a quotation
(`tracert.evaluation.quoted`).

Sets lie in one folder, a file each. Adding a chain whose question is there already takes its
place. Several processes may add at once: a change is made under a file lock and a file is
replaced whole, so that a reader never meets half of one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tracert.errors import DatasetError
from tracert.evaluation.datasets import Item, Passage, read_items
from tracert.whole import whole

ORDER_SOURCE: Final = "by_hand"
#: How the passages of a chain hang together; any other word may stand in a file.
TYPES: Final = ("single", "bridge", "comparison")
#: Characters that a name or a type may have.
MOST_CHARACTERS: Final = 80
_WAIT: Final = 10.0


@dataclass(frozen=True, slots=True)
class GoldChain:
    """A question whose gold passages are known; `gold` in the order of the hops.

    `others` are passages that are not gold.
    """

    question: str
    gold: tuple[Passage, ...]
    answer: str = ""
    type: str = "bridge"
    others: tuple[Passage, ...] = ()

    def __post_init__(self) -> None:
        """Check it.

        Raises:
            DatasetError: there is no question or no gold passage, or a passage is marked twice.
        """
        if not self.question.strip():
            raise DatasetError("The chain has no question. Type one.")
        if not self.gold:
            raise DatasetError("No passage is marked as gold. Mark at least one.")
        if len(set(self.gold)) < len(self.gold):
            raise DatasetError("A passage stands twice in the chain. Take one of them out.")

    @property
    def id(self) -> str:
        """The same for the same question."""
        digest = hashlib.sha256(self.question.strip().encode("utf-8", "surrogatepass"))
        return f"chain-{digest.hexdigest()[:10]}"

    def row(self, dataset: str) -> dict[str, Any]:
        """The chain as a row of that data set."""
        others = [each for each in dict.fromkeys(self.others) if each not in set(self.gold)]
        return {
            "id": self.id,
            "dataset": dataset,
            "question": self.question.strip(),
            "answer": self.answer.strip(),
            "type": self.type.strip(),
            "n_hops": len(self.gold),
            "support_order": list(range(len(self.gold))),
            "order_source": ORDER_SOURCE,
            "paragraphs": [
                {"title": each.title, "text": each.text, "is_supporting": place < len(self.gold)}
                for place, each in enumerate((*self.gold, *others))
            ],
        }

    @staticmethod
    def of(item: Item) -> GoldChain:
        """A question of a data set as a chain: its order, then gold passages that it leaves out.

        Raises:
            DatasetError: it has no gold passage.
        """
        order = [place for place in item.order if place in item.supporting]
        order += [place for place in item.supporting if place not in order]
        gold = dict.fromkeys(item.paragraphs[place] for place in order)
        return GoldChain(
            question=item.question,
            gold=tuple(gold),
            answer=item.answer,
            type=item.type,
            others=tuple(each for each in item.paragraphs if each not in gold),
        )


def to_jsonl(chains: Sequence[GoldChain], dataset: str) -> str:
    """The chains as a file of JSON lines."""
    return "".join(
        json.dumps(each.row(dataset), ensure_ascii=True, allow_nan=False) + "\n" for each in chains
    )


class GoldSets:
    """The sets of gold chains in one folder."""

    def __init__(self, folder: Path) -> None:
        """Work in `folder`; it is made with the first set."""
        self.folder = folder

    def names(self) -> list[str]:
        """The sets by name. A file that cannot be read is left out; `path` still finds it."""
        found = []
        for path in sorted(self.folder.glob("*.jsonl")):
            try:
                with path.open(encoding="utf-8") as file:
                    name = json.loads(file.readline())["dataset"]
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                continue
            if isinstance(name, str) and path == self.path(name):
                found.append(name)
        return sorted(found, key=str.casefold)

    def path(self, name: str) -> Path:
        """Where the set of that name lies, whether it is there or not."""
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
        words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
        return self.folder / f"{words or 'set'}-{digest}.jsonl"

    def read(self, name: str) -> list[GoldChain]:
        """The chains of a set, in the order in which they were added; none of one not there.

        Raises:
            DatasetError: the file is damaged; the text names the line.
        """
        path = self.path(name)
        if not path.is_file():
            return []
        return [GoldChain.of(item) for item in read_items(path)]

    def add(self, name: str, chain: GoldChain) -> int:
        """Add a chain to a set, which begins with its first; gives how many it has now.

        Raises:
            DatasetError: the name is empty or too long, or the set cannot be read or written.
        """
        name = name.strip()
        if not name or len(name) > MOST_CHARACTERS:
            raise DatasetError(f"Give the set a name of 1 to {MOST_CHARACTERS} characters.")
        with self._locked():
            chains = {each.id: each for each in self.read(name)}
            chains[chain.id] = chain
            self._write(name, list(chains.values()))
            return len(chains)

    def remove(self, name: str, id: str) -> int:
        """Take a chain out of a set; one that is left empty goes. Gives how many are left.

        Raises:
            DatasetError: the set cannot be read or written.
        """
        with self._locked():
            chains = [each for each in self.read(name) if each.id != id]
            self._write(name, chains)
            return len(chains)

    def delete(self, name: str) -> None:
        """Delete a set.

        Raises:
            DatasetError: the file cannot be deleted.
        """
        with self._locked():
            self._write(name, [])

    def _write(self, name: str, chains: Sequence[GoldChain]) -> None:
        path = self.path(name)
        try:
            if not chains:
                path.unlink(missing_ok=True)
                return
            with whole(path) as file:
                file.write(to_jsonl(chains, name).encode("ascii"))
        except OSError as error:
            raise _unwritable(self.folder, error) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / "sets.lock", thread_local=False)
            lock.acquire(timeout=_WAIT)
        except Timeout as error:
            raise DatasetError(
                "Another process has been changing the gold chains for a while. Try again."
            ) from error
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        try:
            yield
        finally:
            lock.release()


def _unwritable(folder: Path, error: OSError) -> DatasetError:
    return DatasetError(
        f"The gold chains cannot be kept in {folder} ({error.strerror}). Make room there, or set "
        "TRACERT_HOME to a folder that you may write."
    )
