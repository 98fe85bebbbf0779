"""The limits of reading as settings: their names, units, and what the environment says of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from tracert.corpus.loaders.base import Limits
from tracert.errors import SettingError

#: A limit in the environment is called this and its name in capitals: TRACERT_LIMIT_FILE_MB.
PREFIX: Final = "TRACERT_LIMIT_"


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that may be set: its field in `Limits`, how many of its units one is, and words."""

    field: str
    unit: int
    words: str
    most: int


#: By the name that a setting has.
LIMITS: Final[Mapping[str, Limit]] = {
    "file-mb": Limit("max_bytes", 1_000_000, "megabytes of a file", 100_000),
    "pages": Limit("max_pages", 1, "pages of a file", 1_000_000),
    "characters": Limit("max_characters", 1, "characters of a file's text", 1_000_000_000),
    "seconds": Limit("max_seconds", 1, "seconds that reading a file may take", 86_400),
    "memory-mb": Limit("max_memory", 1_000_000, "megabytes of memory for it", 1_000_000),
    "zip-files": Limit("max_members", 1, "files in a zip", 1_000_000),
    "zip-mb": Limit("max_unpacked", 1_000_000, "megabytes that a zip unpacks to", 100_000),
    "zip-ratio": Limit("max_ratio", 1, "times that a file in a zip may grow unpacked", 100_000),
}


def changed(base: Limits, values: Mapping[str, str]) -> Limits:
    """The limits with these values, by name, in their units.

    Raises:
        SettingError: there is no such limit, or the value is out of range.
    """
    fields: dict[str, float] = {}
    for name, value in values.items():
        limit = LIMITS.get(name)
        if limit is None:
            raise SettingError(f"There is no limit {name[:40]!r}. There are: {', '.join(LIMITS)}.")
        try:
            number = int(value)
        except ValueError:
            number = 0
        if not 1 <= number <= limit.most:
            raise SettingError(
                f"The limit {name} is {value[:40]!r}. Pass a whole number of {limit.words}, 1 to "
                f"{limit.most:,}."
            )
        fields[limit.field] = number * limit.unit
    return replace(base, **fields)  # type: ignore[arg-type]


def value(limits: Limits, name: str) -> int:
    """The value of a limit in its unit."""
    limit = LIMITS[name]
    return int(getattr(limits, limit.field) // limit.unit)


def set_by(environment: Mapping[str, str] | None = None) -> frozenset[str]:
    """The names of the limits that the environment sets."""
    given = os.environ if environment is None else environment
    return frozenset(name for name in LIMITS if given.get(_variable(name)))


def _variable(name: str) -> str:
    return PREFIX + name.upper().replace("-", "_")


def from_environment(environment: Mapping[str, str] | None = None) -> Limits:
    """The limits that the environment sets, the usual ones where it sets none.

    Raises:
        SettingError: one of them is out of range.
    """
    given = os.environ if environment is None else environment
    return changed(Limits(), {name: given[_variable(name)] for name in set_by(given)})
