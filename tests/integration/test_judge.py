"""The judge with a real model of 135 million parameters, which mostly cannot judge.

Tried by hand it wrote no JSON in either try, for both seeds: 'The answer to the question is: …'.
So what is held here is that whatever it says ends in a judgement or in a sentence, is counted and
recorded, and is the same again from the recording.
"""

from __future__ import annotations

from typing import Any

from tests.integration.conftest import Brief
from tracert.errors import ModelError
from tracert.language.base import ChatModel
from tracert.language.judge import CRITERIA, Judgement, judge
from tracert.language.record import Recorder, Recording, Replayer

QUESTION = "Who taught the man who wound two coils on a ring?"
ANSWERS = {
    "tracert_rag": "Humphry Davy taught Michael Faraday, who wound the two coils in 1831.",
    "native_rag": "A bookbinder's apprentice.",
}


def verdict(model: ChatModel) -> Judgement | str:
    try:
        return judge(QUESTION, ANSWERS, model)
    except ModelError as error:
        return str(error)


def test_whatever_a_small_model_says_ends_in_a_judgement_or_a_sentence(model_server: Any) -> None:
    recorder = Recorder(Brief(model_server.chat(), 300))
    made = verdict(recorder)
    exchanges = recorder.recording.exchanges
    assert 2 <= len(exchanges) <= 4
    assert all(each.reply.prompt_tokens > 0 for each in exchanges)
    if isinstance(made, str):
        assert "Choose a larger model as the judge." in made
    else:
        assert made.cost.model_calls == len(exchanges)
        assert all(1 <= made.mean(name, each) <= 10 for name in ANSWERS for each in CRITERIA)
    again = verdict(Replayer(Recording.from_json(recorder.recording.to_json())))
    if isinstance(made, str):
        assert again == made
    else:
        assert isinstance(again, Judgement)
        assert (again.first, again.second) == (made.first, made.second)
