"""What a retrieval method is: settings, a preparation, and a walk that yields steps.

A method is cut in two so that a page can redraw at once when a setting moves: `prepare`
does what costs (embedding, a model's call) and depends on the question alone; `walk` is
arithmetic over the corpus. `collect` drains a walk into a `Trace`; the pages, the tests, the
command line and the benchmarks all run it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Corpus
from tracert.errors import SettingError
from tracert.language.base import ChatModel
from tracert.trace import (
    CorpusInfo,
    Cost,
    Node,
    Result,
    Step,
    Stop,
    Trace,
    Value,
)

#: The candidates kept in a step of a trace; `Step.counts` covers all of them.
CANDIDATES_KEPT = 200

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Question:
    """What a person asks. `goal` is a goal typed by hand, for methods that walk to one."""

    text: str
    goal: str | None = None


@dataclass(frozen=True, slots=True)
class Resources:
    """What is passed in to a method: it opens no store, loads no model and reads no key.

    `knowledge` is a graph of notes, for the methods that walk one. `folder` is the data folder,
    for what is made of a corpus once; without one `tracert.home.home` is it.
    """

    embed: Embed
    corpus: Corpus | None = None
    model: ChatModel | None = None
    knowledge: Any = None
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a walk returns after its last step.

    `nodes` must name every id that the steps, the path and the evidence use. `settings` are
    the values in force, after any widening.
    """

    info: CorpusInfo
    nodes: tuple[Node, ...]
    path: tuple[str, ...]
    evidence: tuple[str, ...]
    stop: Stop
    settings: Mapping[str, Value]
    cost: Cost = field(default_factory=Cost)


Walk = Generator[Step, None, Outcome]
S = TypeVar("S")


class Method(Protocol):
    """One published way to retrieve. The registry, the pages and the tests know no more."""

    @property
    def name(self) -> str:
        """The name in the registry, the command line and the trace."""
        ...

    @property
    def title(self) -> str:
        """The name that a person reads."""
        ...

    @property
    def summary(self) -> str:
        """What it does, in two sentences, for the card."""
        ...

    @property
    def needs(self) -> Literal["corpus", "knowledge"]:
        """What it walks over."""
        ...

    @property
    def settings_type(self) -> type[Any]:
        """The frozen dataclass of its settings, made of `setting(...)` fields."""
        ...

    def prepare(self, question: Question, resources: Resources) -> Any:
        """All that costs time or money and does not depend on the settings.

        The result is opaque to the caller, may be cached, and carries `cost: Cost`.
        """
        ...

    def walk(self, prepared: Any, settings: Any, resources: Resources) -> Walk:
        """The walk itself: yields each step as it is taken, returns the outcome."""
        ...


@dataclass(frozen=True, slots=True)
class Calls:
    """How often a method asks a language model at most.

    `index` calls make something of the corpus once, before the first question; those whose
    replies are at hand already are not counted off.
    """

    question: int = 0
    index: int = 0

    def of(self, questions: int) -> int:
        """All calls for so many questions."""
        return questions * self.question + self.index


@runtime_checkable
class AsksModel(Protocol):
    """What a method that asks a language model, where it has one, can say of it beforehand."""

    def calls(self, settings: Any, corpus: Corpus | None) -> Calls:
        """How many calls they are at most.

        Args:
            settings: of its `settings_type`.
            corpus: what is walked; without it the limits of the settings alone count.
        """
        ...


def calls_of(method: Method, settings: Any, corpus: Corpus | None) -> Calls:
    """How often a method asks a language model at most; none where it never does."""
    return method.calls(settings, corpus) if isinstance(method, AsksModel) else Calls()


def collect(
    walk: Walk, *, method: str, question: str, seed: int = 0, prepared: Cost | None = None
) -> Trace:
    """Drain a walk into a trace; `prepared` is the cost of the preparation, added to its own."""
    steps: list[Step] = []
    begun = time.perf_counter()
    while True:
        try:
            steps.append(next(walk))
        except StopIteration as end:
            outcome: Outcome = end.value
            break
    spent = Cost({"walk": time.perf_counter() - begun}).plus(outcome.cost)
    return Trace(
        method=method,
        question=question,
        settings=outcome.settings,
        seed=seed,
        corpus=outcome.info,
        nodes=outcome.nodes,
        steps=tuple(steps),
        result=Result(outcome.path, outcome.evidence, outcome.stop),
        cost=(prepared or Cost()).plus(spent),
    )


# --- settings -----------------------------------------------------------------------------


def setting(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    step: float | None = None,
    choices: tuple[str, ...] = (),
    label: str = "",
) -> Any:
    """A field of a settings dataclass: its default, its meaning, its range and its label.

    Pages draw their controls from it and the command line checks against it.
    """
    metadata = {
        "help": help,
        "low": low,
        "high": high,
        "step": step,
        "choices": choices,
        "label": label,
    }
    return field(default=default, metadata=metadata)


def candidates_setting() -> Any:
    """The field `candidates_kept` that every method's settings have."""
    return setting(
        CANDIDATES_KEPT,
        "How many candidates of a step the trace names; the counts cover all.",
        low=1,
        high=5000,
        step=1,
        label="Candidates in the trace",
    )


def parse_settings(kind: type[S], given: Mapping[str, Value]) -> S:
    """Settings of that kind with the given values, text being read by the field's type.

    Raises:
        SettingError: an unknown name, a value of the wrong kind or out of its range.
    """
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise SettingError(
                f"There is no setting {cut(name)}. Supported: {', '.join(sorted(known))}."
            )
        values[name] = _read_value(known[name], value)
    return kind(**values)


def settings_values(settings: Any) -> dict[str, Value]:
    """The settings as a mapping, for the trace."""
    return {field.name: getattr(settings, field.name) for field in fields(settings)}


_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


def _read_value(known: Any, value: Value) -> Value:
    kind = str(known.type)
    if isinstance(value, str) and value.lower() in {"none", "auto", ""} and "None" in kind:
        return None
    if value is None and "None" in kind:
        return None
    name = known.name
    try:
        read = _convert(kind, value)
    except ValueError:
        left = ", or auto" if "None" in kind else ""
        raise SettingError(f"{name}={cut(value)} {_UNFIT[kind.split()[0]]}{left}.") from None
    low, high, choices = (known.metadata.get(key) for key in ("low", "high", "choices"))
    if choices and read not in choices:
        raise SettingError(f"{name}={cut(value)} is unknown. Supported: {', '.join(choices)}.")
    if not isinstance(read, int | float) or isinstance(read, bool):
        return read
    if (low is not None and read < low) or (high is not None and read > high):
        raise SettingError(f"{name}={cut(value)} is out of range. Pass {_range(low, high)}.")
    return read


def _range(low: float | None, high: float | None) -> str:
    if low is None:
        return f"at most {high:g}"
    return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"


#: What is wrong with a value that cannot be read, by the type of its field.
_UNFIT: Final[Mapping[str, str]] = {
    "bool": "is neither true nor false. Pass one of the two",
    "int": "is no usable whole number. Pass one",
    "float": "is no finite number. Pass one",
}
#: Characters of a value that a message repeats.
_REPEATED: Final = 40


def cut(value: Value) -> str:
    """A value as a message repeats it: a long one by its beginning."""
    text = str(value)
    return repr(value) if len(text) <= _REPEATED else f"{text[:_REPEATED]!r}…"


def _convert(kind: str, value: Value) -> Value:
    if kind.startswith("bool"):
        text = str(value).lower()
        if text not in _TRUE | _FALSE:
            raise ValueError(text)
        return text in _TRUE
    if kind.startswith("int"):
        number = float(str(value))
        if not number.is_integer():
            raise ValueError(value)
        return int(number)
    if kind.startswith("float"):
        number = float(str(value))
        if not np.isfinite(number):
            raise ValueError(value)
        return number
    return str(value)
