"""The table of prices, and what a run cost by it."""

from __future__ import annotations

import json

import pytest

from tracert.errors import SettingError, StoreError
from tracert.language.prices import LISTED, MOST, Price, checked, dollars, load, price_of, save
from tracert.trace import Cost


def test_a_run_costs_its_tokens_times_the_price():
    prices = {"m": Price(2.0, 8.0)}
    # 1,000,000 tokens sent at 2 dollars a million, 500,000 written at 8: 2 + 4.
    assert dollars(Cost({}, 3, 1_000_000, 500_000), "m", prices) == 6.0
    assert dollars(Cost({}, 0, 0, 0), None, {}) == 0.0  # no model was asked
    assert dollars(Cost({}, 1, 10, 10), "other", prices) is None
    assert dollars(Cost({}, 1, 10, 10), None, prices) is None
    assert dollars(Cost({}, 1, 0, 0), "m", prices) is None  # the provider counts no tokens


def test_a_name_at_openrouter_is_found_too():
    assert price_of("openai/gpt-4o-mini", LISTED) == LISTED["gpt-4o-mini"]
    assert price_of("else/gpt-4o-mini", LISTED) is None
    own = {"openai/gpt-4o": Price(1.0), "gpt-4o": Price(2.0)}
    assert price_of("openai/gpt-4o", own) == Price(1.0)


def test_the_table_is_kept(tmp_path):
    assert load(tmp_path) == dict(LISTED)
    table = {"a model": Price(1.5, 3.0, "2026-11"), "free": Price(0.0)}
    assert save({" a  model ": table["a model"], "free": table["free"]}, tmp_path) == table
    assert load(tmp_path) == table
    assert save({}, tmp_path) == load(tmp_path) == {}
    assert [path.name for path in tmp_path.iterdir()] == ["prices.json"]


@pytest.mark.parametrize("price", [float("nan"), float("inf"), -0.1, 1e9])
def test_what_is_no_price_is_refused(tmp_path, price):
    with pytest.raises(SettingError, match="dollars for a million"):
        save({"m": Price(price)}, tmp_path)
    with pytest.raises(SettingError, match="dollars for a million"):
        checked({"m": Price(1.0, price)})
    assert load(tmp_path) == dict(LISTED)


def test_names_and_number_are_bounded():
    for name in ("", "  ", "x" * 300):
        with pytest.raises(SettingError, match="name"):
            checked({name: Price(1.0)})
    with pytest.raises(SettingError, match="too many"):
        checked({f"m{n}": Price(1.0) for n in range(MOST + 1)})


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "other"}', "[" * 9000, '{"schema": "tracert.prices/1"}']
)
def test_a_damaged_file_says_what_to_do(tmp_path, text):
    (tmp_path / "prices.json").write_text(text)
    with pytest.raises(SettingError, match="Delete it"):
        load(tmp_path)
    bad = {"schema": "tracert.prices/1", "prices": {"m": {"prompt": "NaN", "completion": 1}}}
    (tmp_path / "prices.json").write_text(json.dumps(bad))
    with pytest.raises(SettingError, match="Delete it"):
        load(tmp_path)


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreError, match="prices cannot be saved"):
        save({"m": Price(1.0)}, blocked)
