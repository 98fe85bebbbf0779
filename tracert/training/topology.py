"""Stage 2, topology and evidence checks: what cannot teach a hop is dropped and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tracert.training.composition import Composed, Link


class Dropped(StrEnum):
    """Why a question teaches no hop."""

    NO_HOP = "no order of its passages is known, or they stand side by side"
    NOT_GOLD = "a hop starts or ends at a passage that is not gold"
    CYCLE = "its hops run in a circle"
    DISCONNECTED = "a gold passage is on no hop"
    ANSWER_MISSING = "the answer of a hop is not in the passage that gives it"
    SHORTCUT = "the passage in hand holds the last answer already"


@dataclass(frozen=True, slots=True)
class Checked:
    """What passed, and how many questions were dropped for which reason."""

    kept: tuple[Composed, ...]
    dropped: dict[Dropped, int]


def check(composed: Iterable[Composed], *, shortcuts: bool = False) -> Checked:
    """Drop the questions that cannot teach a hop.

    Args:
        composed: from stage 1.
        shortcuts: keep questions whose passage in hand holds the last answer already. In
            HotpotQA these are many, and the order of their passages is a guess.
    """
    kept, dropped = [], Counter[Dropped]()
    for each in composed:
        reason = fault(each, shortcuts=shortcuts)
        if reason is None:
            kept.append(each)
        else:
            dropped[reason] += 1
    return Checked(tuple(kept), dict(dropped))


def fault(composed: Composed, *, shortcuts: bool = False) -> Dropped | None:
    """Why this question is dropped, None if it is sound."""
    item, links = composed.item, composed.links
    if not links:
        return Dropped.NO_HOP
    gold = set(item.supporting)
    if any(link.start not in gold or link.end not in gold for link in links):
        return Dropped.NOT_GOLD
    if not acyclic(links):
        return Dropped.CYCLE
    if gold - {place for link in links for place in (link.start, link.end)}:
        return Dropped.DISCONNECTED
    if any(not _holds(composed, link.start, link.answer) for link in links):
        return Dropped.ANSWER_MISSING
    if not shortcuts and _shortcut(composed):
        return Dropped.SHORTCUT
    return None


def acyclic(links: Sequence[Link]) -> bool:
    """Whether the hops can be put in an order in which each ends after it starts (Kahn 1962)."""
    waiting = Counter(link.end for link in links)
    ready = [place for place in {link.start for link in links} if not waiting[place]]
    left = list(links)
    while ready:
        place = ready.pop()
        for link in [link for link in left if link.start == place]:
            left.remove(link)
            waiting[link.end] -= 1
            if not waiting[link.end]:
                ready.append(link.end)
    return not left


def _holds(composed: Composed, place: int, answer: str) -> bool:
    """Whether the passage holds the answer; one that the data does not give counts as held."""
    return not answer or _plain(answer) in _plain(composed.passage(place).embedded)


def _shortcut(composed: Composed) -> bool:
    """Whether a passage in hand holds the question's last answer, so that no hop is needed.

    'yes' and 'no' are answers of no passage and make no shortcut.
    """
    answer = _plain(composed.item.answer)
    if not answer or answer in {"yes", "no"}:
        return False
    ends = {link.end for link in composed.links}
    starts = {link.start for link in composed.links} - ends
    words = f" {answer} "
    return any(words in f" {_plain(composed.passage(place).embedded)} " for place in starts)


def _plain(text: str) -> str:
    """Lower case, one blank between words, no punctuation."""
    kept = "".join(character if character.isalnum() else " " for character in text.casefold())
    return " ".join(kept.split())
