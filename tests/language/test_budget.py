"""The limit on calls and tokens, and the meter."""

from __future__ import annotations

import threading

import pytest

from tests.scripted_model import ScriptedModel
from tracert.errors import BudgetError, ModelError, SettingError
from tracert.language.base import Message, Reply, ToolCall
from tracert.language.budget import Budget, Meter, estimate_tokens

ASK = [Message("user", "Who?")]


def test_without_limits_everything_is_counted_and_nothing_refused():
    budget = Budget()
    for _ in range(3):
        budget.reserve()
        budget.charge(1000)
    assert (budget.calls, budget.tokens, budget.estimated) == (3, 3000, False)


def test_a_budget_of_nothing_allows_nothing():
    with pytest.raises(BudgetError):
        Budget(calls=0).reserve()
    with pytest.raises(BudgetError):
        Budget(tokens=0).reserve()


def test_tokens_may_end_above_the_limit_once():
    budget = Budget(tokens=10)
    budget.reserve()
    budget.charge(9)
    budget.reserve()  # 9 of 10 are used: there is still something left
    budget.charge(50)
    with pytest.raises(BudgetError, match="59 used"):
        budget.reserve()
    assert budget.calls == 2, "a refused call is not counted"


@pytest.mark.parametrize("limits", [{"calls": -1}, {"tokens": -1}])
def test_a_negative_limit(limits):
    with pytest.raises(SettingError):
        Budget(**limits)


def test_threads_cannot_overrun_the_limit_together():
    budget = Budget(calls=100)
    refused = []

    def work() -> None:
        for _ in range(50):
            try:
                budget.reserve()
            except BudgetError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.calls == 100
    assert len(refused) == 4 * 50 - 100


def test_an_estimate_counts_text_and_tool_calls():
    call = ToolCall("1", "open", "x" * 10)
    messages = [Message("user", "a" * 7), Message("assistant", "", (call,))]
    assert estimate_tokens(messages) == 5  # 17 characters, four a token, rounded up
    assert estimate_tokens(messages, Reply("b" * 4)) == 6
    assert estimate_tokens([]) == 1


def test_the_meter_adds_up_what_was_answered():
    model = ScriptedModel(Reply("a", (), 3, 1), ModelError("It is down."), Reply("b", (), 4, 2))
    meter = Meter(model, "answer")
    assert meter.name == model.name
    meter.complete(ASK)
    with pytest.raises(ModelError):
        meter.complete(ASK)
    meter.complete(ASK)
    assert (meter.cost.model_calls, meter.cost.prompt_tokens, meter.cost.completion_tokens) == (
        2,
        3 + 4,
        1 + 2,
    )
    assert set(meter.cost.seconds) == {"answer"}
