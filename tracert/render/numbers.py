"""Numbers as people read them."""

from __future__ import annotations

#: What a number that is absent or not finite looks like.
ABSENT = "n/a"


def plain(value: float | str | None, digits: int = 3) -> str:
    """A number with that many decimals; whole counts and text as they are."""
    if value is None:
        return ABSENT
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.{digits}f}"


def apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with three decimals, or as many more, nine at most, as tell them apart."""
    digits = next((n for n in range(3, 10) if plain(one, n) != plain(other, n)), 3)
    return plain(one, digits), plain(other, digits)


def count(number: int, one: str, many: str = "") -> str:
    """'1 passage', '3 passages'."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def seconds(value: float) -> str:
    """A duration: '0.8 ms', '12 ms', '3.2 s', '4 min 5 s'."""
    if value < 0.001:
        return f"{value * 1000:.2f} ms"
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 60:
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"
