"""The host's calls of a day: drawn by all, by threads and by processes, and never above."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tracert.errors import BudgetError
from tracert.hosting import today
from tracert.language.allowance import Allowance, spent


def drawn(budget: Allowance) -> bool:
    try:
        budget.reserve()
    except BudgetError:
        return False
    return True


def test_two_visitors_draw_on_one_budget(tmp_path: Path) -> None:
    file = tmp_path / "calls.json"
    one, two = Allowance(file, 3), Allowance(file, 3)
    assert [drawn(each) for each in (one, two, one, two, one)] == [True, True, True, False, False]
    assert spent(file) == 3
    with pytest.raises(BudgetError, match="tomorrow"):
        two.reserve()


def test_a_visitors_own_budget_holds_too(tmp_path: Path) -> None:
    budget = Allowance(tmp_path / "calls.json", 10, calls=1)
    assert [drawn(budget), drawn(budget)] == [True, False]
    assert spent(tmp_path / "calls.json") == 1, "a call that is refused draws on nobody's budget"


def test_yesterdays_calls_are_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "calls.json"
    file.write_text(json.dumps({"day": today() - 1, "calls": 99}))
    assert spent(file) == 0
    assert drawn(Allowance(file, 1))
    assert spent(file) == 1


@pytest.mark.parametrize("text", ["", "[]", "{", '{"day": 1}', '{"day": %d, "calls": "9"}'])
def test_a_damaged_file_counts_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "calls.json"
    file.write_text(text.replace("%d", str(today())))
    assert spent(file) == 0


def test_many_threads_draw_no_more_than_there_is(tmp_path: Path) -> None:
    file = tmp_path / "calls.json"
    budgets = [Allowance(file, 17) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(drawn, budgets * 10))
    assert sum(won) == spent(file) == 17
