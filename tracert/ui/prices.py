"""The prices of models as this app has them: kept in the data folder, read at every use."""

from __future__ import annotations

from tracert.home import home
from tracert.language import prices as table
from tracert.language.prices import Price


def prices() -> dict[str, Price]:
    """The table in force.

    Raises:
        SettingError: the file in the data folder is damaged.
    """
    return table.load(home())


def keep(new: dict[str, Price]) -> None:
    """Keep another table.

    Raises:
        SettingError: a name or a price is unfit.
        StoreError: it cannot be written.
    """
    table.save(new, home())


def written(dollars: float | None) -> str:
    """A cost as text: '$0.0012', 'nothing', or that no price is known."""
    if dollars is None:
        return "unknown price"
    if not dollars:
        return "nothing"
    return f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.6f}".rstrip("0").rstrip(".")
