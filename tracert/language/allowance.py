"""The host's budget of model calls: so many in a day for all visitors of a public app together."""

from __future__ import annotations

import json
from pathlib import Path

from tracert.errors import BudgetError, StoreError
from tracert.hosting import today
from tracert.language.budget import Budget


class Allowance(Budget):
    """A visitor's own budget that also draws on the host's for the day, kept in a file.

    All processes over one data folder draw on the same; a day is one of UTC.
    """

    def __init__(
        self, file: Path, calls_a_day: int, calls: int | None = None, tokens: int | None = None
    ) -> None:
        """Draw on the budget of `calls_a_day` in `file`; the rest bounds this visitor alone."""
        super().__init__(calls, tokens)
        self._file = file
        self._calls_a_day = calls_a_day

    def reserve(self) -> None:
        """Count one call against both budgets, or refuse it.

        Raises:
            BudgetError: one of them is used up.
            StoreError: the file of the host's budget cannot be written.
        """
        super().reserve()
        self._draw()

    def _draw(self) -> None:
        from filelock import FileLock

        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self._file.with_suffix(".lock")):
                used = spent(self._file)
                if used >= self._calls_a_day:
                    raise BudgetError(
                        f"The {self._calls_a_day} model calls that this app has for a day are "
                        "used up. Everything works without a model; come back tomorrow for it."
                    )
                made = self._file.with_suffix(".new")
                made.write_text(json.dumps({"day": today(), "calls": used + 1}), "utf-8")
                made.replace(self._file)
        except OSError as error:
            raise StoreError(
                "The count of model calls cannot be written, so no call is made. Tell the host of "
                "this app."
            ) from error


def spent(file: Path) -> int:
    """The calls of today that a file of the host's budget counts; 0 where it counts none.

    A file that is damaged counts as a new day's: it is written whole or not at all, so only a
    hand from outside damages it.
    """
    try:
        kept = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return 0
    if not isinstance(kept, dict) or kept.get("day") != today():
        return 0
    calls = kept.get("calls")
    return calls if isinstance(calls, int) and calls >= 0 else 0
