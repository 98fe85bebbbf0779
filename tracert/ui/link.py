"""Links: corpus, question, method, settings and step as the query of an address, and back.

A link comes from anyone, so each part of it is checked by itself: what cannot be used is left
out with a sentence that says so, and the rest holds. A link never carries a key, an address
of a model or a path of a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final
from urllib.parse import urlencode

from tracert.errors import SettingError
from tracert.methods.base import cut, parse_settings
from tracert.trace import Value

#: Before the name of a setting; so none is taken for another part of the address.
PREFIX: Final = "set."
#: The most parameters that are looked at, and the longest text of each.
MOST: Final = 64
LONGEST: Final[Mapping[str, int]] = {"question": 2000, "goal": 4000, "corpus": 200, "method": 40}
#: As many characters of a corpus's fingerprint tell its states apart.
MARK: Final = 16
#: Steps are counted up to this; no walk is so long.
LAST_STEP: Final = 100_000
_HEX: Final = re.compile(r"[0-9a-f]{4,64}")
_OF_A_LINK: Final = frozenset({"corpus", "at", "question", "method", "goal", "step"})


@dataclass(frozen=True, slots=True)
class Link:
    """What a link asks for; what it does not say is None.

    `fingerprint` is the beginning of the corpus's fingerprint, `settings` are those that differ
    from the defaults, `step` is the player's position, `goal` a goal typed by hand.
    """

    corpus: str | None = None
    fingerprint: str | None = None
    question: str | None = None
    method: str | None = None
    settings: Mapping[str, Value] = field(default_factory=dict)
    step: int | None = None
    goal: str | None = None


@dataclass(frozen=True, slots=True)
class Several:
    """What a link to the page Compare asks for: methods, one budget, and settings by method."""

    link: Link
    methods: tuple[str, ...] = ()
    budget: int | None = None
    settings: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)


#: Whether the control of a setting can show a value; raises SettingError where it cannot.
Check = Callable[[str, Value], None]


def _no_check(_name: str, _value: Value) -> None:
    return None


def query(link: Link, kind: type[Any]) -> str:
    """The query of an address for this link; defaults and what no link may say are left out."""
    said = {
        "corpus": link.corpus,
        "at": (link.fingerprint or "")[:MARK],
        "question": link.question,
        "method": link.method,
        "goal": link.goal,
        "step": None if link.step is None else str(link.step),
    }
    parts = {name: text for name, text in said.items() if text}
    return urlencode(parts | _set(link.settings, kind, PREFIX))


def query_of_several(asked: Several, kinds: Mapping[str, type[Any]]) -> str:
    """The query of an address of the page Compare; `kinds` are the settings by method."""
    link = asked.link
    parts = {
        "corpus": link.corpus or "",
        "at": (link.fingerprint or "")[:MARK],
        "question": link.question or "",
        "methods": ",".join(asked.methods),
        "budget": "" if asked.budget is None else str(asked.budget),
    }
    parts = {name: text for name, text in parts.items() if text}
    for name in asked.methods:
        parts |= _set(asked.settings.get(name, {}), kinds[name], f"{PREFIX}{name}.")
    return urlencode(parts)


def _set(settings: Mapping[str, Value], kind: type[Any], prefix: str) -> dict[str, str]:
    return {prefix + name: _written(value) for name, value in changed(settings, kind).items()}


def changed(settings: Mapping[str, Value], kind: type[Any]) -> dict[str, Value]:
    """The settings that differ from the defaults and that a link may carry."""
    made: dict[str, Value] = {}
    for one in fields(kind):
        if one.name not in settings or settings[one.name] == one.default:
            continue
        if not is_free(one) or is_word(settings[one.name]):
            made[one.name] = settings[one.name]
    return made


def is_free(one: Any) -> bool:
    """Whether a setting takes any text, which may be the path of a file."""
    return str(one.type).startswith("str") and not one.metadata["choices"]


def is_word(value: Value) -> bool:
    """Whether a text is a plain word, and so no path of a file."""
    return isinstance(value, str) and re.fullmatch(r"[a-z_]{1,32}", value) is not None


def _written(value: Value) -> str:
    if value is None:
        return "auto"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def read(
    given: Mapping[str, str],
    kind: type[Any],
    check: Check = _no_check,
    words: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[Link, list[str]]:
    """What an address asks for, and a sentence for each part of it that cannot be used.

    Args:
        given: the parameters by name.
        kind: the settings dataclass of the page's method.
        check: whether the page's control can show a value.
        words: what a setting that takes any text may be in a link, by name; any other text
            might be the path of a file.
    """
    said: list[str] = []
    if len(given) > MOST:
        said.append(f"The link has {len(given):,} parts; only the first {MOST} are read.")
        given = dict(list(given.items())[:MOST])
    texts = {name: _text(given.get(name), name, said) for name in LONGEST}
    settings = _settings(given, PREFIX, kind, check, words or {}, said)
    strange = [name for name in given if name not in _OF_A_LINK and not name.startswith(PREFIX)]
    if strange:
        said.append(f"The link says {cut(strange[0])}, which this page does not know.")
    made = Link(
        corpus=texts["corpus"],
        fingerprint=_fingerprint(given.get("at"), said),
        question=texts["question"],
        method=texts["method"],
        settings=settings,
        step=_step(given.get("step"), said),
        goal=texts["goal"],
    )
    return made, said


def read_several(
    given: Mapping[str, str],
    kinds: Mapping[str, type[Any]],
    check: Callable[[str], Check],
    budgets: tuple[int, int],
) -> tuple[Several, list[str]]:
    """What an address of the page Compare asks for, and what of it cannot be used.

    `check` gives the check of a method's controls; `budgets` are the least and the largest.
    """
    ours = {"methods", "budget"}
    settings = {
        name: value
        for name, value in given.items()
        if name.startswith(PREFIX) and name.removeprefix(PREFIX).partition(".")[0] in kinds
    }
    rest = {name: value for name, value in given.items() if name not in ours | set(settings)}
    link, said = read(rest, Nothing)
    named = list(dict.fromkeys(given.get("methods", "").split(","))) if "methods" in given else []
    known = tuple(name for name in kinds if name in named)
    for name in named:
        if name not in kinds:
            said.append(f"There is no method {cut(name)} to compare. Here are {', '.join(kinds)}.")
            break
    budget, text = None, given.get("budget")
    if text is not None:
        least, largest = budgets
        if re.fullmatch(r"[0-9]{1,6}", text) and least <= int(text) <= largest:
            budget = int(text)
        else:
            said.append(f"The link's budget {cut(text)} is left out. Pass {least} to {largest}.")
    made = {
        name: _settings(settings, f"{PREFIX}{name}.", kinds[name], check(name), {}, said)
        for name in kinds
    }
    changes = {name: values for name, values in made.items() if values}
    return Several(link, known, budget, changes), said


@dataclass(frozen=True, slots=True)
class Nothing:
    """The settings of a page that has none of its own."""


def _text(value: str | None, name: str, said: list[str]) -> str | None:
    if value is None or not value.strip():
        return None
    longest = LONGEST[name]
    if name == "question" and len(value) > longest:
        said.append(
            f"The link's question has {len(value):,} characters; only the first {longest:,} are "
            "asked."
        )
        value = value[:longest]
    if len(value) > longest:
        said.append(
            f"The link's {name} has {len(value):,} characters; at most {longest:,} are read, so it "
            "is left out."
        )
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        said.append(f"The link's {name} is no text, so it is left out.")
        return None
    return value.strip()


def _fingerprint(value: str | None, said: list[str]) -> str | None:
    if value is None:
        return None
    if not _HEX.fullmatch(value):
        said.append(
            "The link names the state of the corpus by what is no fingerprint; any state is taken."
        )
        return None
    return value


def _step(value: str | None, said: list[str]) -> int | None:
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,6}", value) or int(value) > LAST_STEP:
        said.append(f"The link's step {cut(value)} is no step; the walk is shown at its end.")
        return None
    return int(value)


def _settings(
    given: Mapping[str, str],
    prefix: str,
    kind: type[Any],
    check: Check,
    words: Mapping[str, tuple[str, ...]],
    said: list[str],
) -> dict[str, Value]:
    known = {one.name: one for one in fields(kind)}
    made: dict[str, Value] = {}
    for part, text in given.items():
        if not part.startswith(prefix):
            continue
        name = part.removeprefix(prefix)
        try:
            if name not in known:
                raise SettingError(f"this page has none called {cut(name)}.")
            if is_free(known[name]) and text not in words.get(name, ()):
                raise SettingError(f"{name}={cut(text)} may name a file, which no link can.")
            value: Value = getattr(parse_settings(kind, {name: text}), name)
            check(name, value)
        except SettingError as error:
            said.append(f"A setting of the link is left out: {error}")
            continue
        made[name] = value
    return made
