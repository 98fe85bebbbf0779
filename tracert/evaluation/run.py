"""What a run of an evaluation is: its head, what is known once it goes, and what it holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from tracert.trace import Value

SCHEMA: Final = "tracert.run/1"
#: What names a run, and with it a folder.
ID: Final = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
_SHA: Final = re.compile(r"[0-9a-f]{64}")

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
            k=count(data["k"]),
            embedder=_text(data["embedder"]),
            ground=_values(data["ground"]),
            files={
                _text(role): KeptFile(_text(one["name"]), _sha(one["sha256"]), count(one["size"]))
                for role, one in dict(data["files"]).items()
            },
            versions={_text(name): _text(value) for name, value in dict(data["versions"]).items()},
            seeds={_text(name): count(value) for name, value in dict(data["seeds"]).items()},
            asks_model=data["asks_model"] is True,
        )
        if not head.methods or not ID.fullmatch(head.id):
            raise ValueError("no methods" if not head.methods else "the id")
        return head


@dataclass(frozen=True, slots=True)
class State:
    """What is known once the data are open: how many questions, and a setup for each method."""

    questions: int
    setups: tuple[Mapping[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """The state as JSON."""
        return {"questions": self.questions, "setups": [dict(one) for one in self.setups]}

    @staticmethod
    def from_dict(data: Any) -> State:
        """Read a state back.

        Raises:
            KeyError, TypeError, ValueError: it is damaged.
        """
        return State(count(data["questions"]), tuple(dict(one) for one in data["setups"]))


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


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text, not {value!r:.40}")
    return value


def count(value: Any) -> int:
    """A whole number from 0 on as JSON gives it.

    Raises:
        TypeError: it is none.
    """
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
