"""Which names are one entity: merged where it is nearly certain, kept apart elsewhere.

Two names are one where they are equal but for case, a full stop and a leading 'the'. A shorter
name joins a longer one

- whose last words it is ('Faraday', 'Michael Faraday'), unless it is a place: 'London' is not
  'University College London'. What 'in' or 'at' often stands before counts as a place;
- whose first words it is, a title among them ('Lady Catherine', 'Lady Catherine de Bourgh');

and where no other longer name ends or begins so, or that one has nine in ten of the mentions of
all of them. 'Bennet' joins neither 'Mr. Bennet' nor 'Mrs. Bennet'.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from tracert.language.words import WORD
from tracert.methods.graph_rag.names import JOINING, TITLES

#: The share of mentions that one longer name must have to take a shorter one in.
_SHARE: Final = 0.9
#: The share of mentions behind 'in' or 'at' from which on a name is a place.
_PLACE: Final = 0.15


def key_of(name: str) -> str:
    """A name in small letters without stops, an ending 's and a leading 'the'."""
    words = [word.lower().replace("’", "'") for word in WORD.findall(name)]
    if len(words) > 1 and words[0] == "the":
        words = words[1:]
    if words:
        words[-1] = words[-1].removesuffix("'s")
    return " ".join(words)


def merge(mentions: Iterable[tuple[str, bool]]) -> dict[str, str]:
    """For each name the key of its entity.

    Args:
        mentions: each mention's name and whether it stands where a place would.

    >>> merge([("Michael Faraday", False), ("Faraday", False)])["Faraday"]
    'michael faraday'
    """
    counts: Counter[str] = Counter()
    located: Counter[str] = Counter()
    keys: dict[str, str] = {}
    for name, in_place in mentions:
        if name not in keys:
            keys[name] = key_of(name)
        counts[keys[name]] += 1
        located[keys[name]] += in_place
    longer: dict[str, set[str]] = defaultdict(set)
    for key in counts:
        for part in _parts(key):
            if part in counts and located[part] < _PLACE * counts[part]:
                longer[part].add(key)
    target = {key: _target(key, longer.get(key, set()), counts) for key in counts}
    return {name: _last(key, target) for name, key in keys.items()}


def _parts(key: str) -> Iterable[str]:
    """The shorter names that may mean this one."""
    words = key.split()
    for cut in range(1, len(words)):
        if not JOINING & set(words[: cut + 1]):
            yield " ".join(words[cut:])
        if cut > 1 and words[0] in TITLES:
            yield " ".join(words[:cut])


def _target(key: str, longer: set[str], counts: Mapping[str, int]) -> str:
    """The longer name that takes a name in, or the name itself."""
    if not longer:
        return key
    best = min(longer, key=lambda other: (-counts[other], other))
    if counts[best] >= _SHARE * sum(counts[other] for other in longer):
        return best
    return key


def _last(key: str, target: Mapping[str, str]) -> str:
    """The end of a chain of names, each longer than the one before."""
    while target[key] != key:
        key = target[key]
    return key
