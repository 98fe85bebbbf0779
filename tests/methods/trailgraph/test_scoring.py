"""The scorers: the formula computed apart, scores from 0 to 100, reasons with their numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.knowledge.trees import CRM, note, write
from tests.methods.trailgraph.graphs import EMBEDDER
from tests.scripted_model import ScriptedModel
from tests.toy_embedder import ToyEmbedder
from tracert.embedding.registry import embedder
from tracert.errors import ModelError, SettingError
from tracert.knowledge.lexical import K1
from tracert.knowledge.opened import OpenGraph, open_for_walk
from tracert.knowledge.second import Second
from tracert.knowledge.vectors import note_vectors, passages
from tracert.methods.trailgraph.scoring.base import Asked
from tracert.methods.trailgraph.scoring.bm25 import Bm25Scorer
from tracert.methods.trailgraph.scoring.mean import MeanScorer
from tracert.methods.trailgraph.scoring.model import ModelScorer
from tracert.methods.trailgraph.scoring.offline import ALONE, WITH_SECOND, OfflineScorer, lead
from tracert.methods.trailgraph.scoring.person import PersonScorer

QUESTION = "Which glass turned polarised light?"


@pytest.fixture
def opened(tmp_path: Path) -> OpenGraph:
    notes = {
        **CRM,
        "sales/Lead.md": note("Lead", parent="sales/Sales.md", content="Lead glass is heavy."),
        "service/Service.md": note(
            "Light", parent="entry_points/CRM.md", content="Polarised light.\n\nGlass turned it."
        ),
    }
    return open_for_walk(write(tmp_path / "g", notes), EMBEDDER)


def asked(text: str = QUESTION) -> Asked:
    return Asked(text, EMBEDDER.embed([text])[0])


def with_lead(sums: list[float]) -> list[float]:
    """The sums, the highest with its lead over the second added."""
    second, first = sorted(sums)[-2:]
    return [2 * first - second if value == first else value for value in sums]


def test_the_lead_of_the_best_note_is_its_own_alone() -> None:
    assert lead(np.array([0.5, 2.0, 1.5])).tolist() == [0.0, 0.5, 0.0]
    # Two that are equal stand out from each other by nothing, and one note from nothing.
    assert lead(np.array([1.0, 1.0, 0.2])).tolist() == [0.0, 0.0, 0.0]
    assert lead(np.array([1.0])).tolist() == [0.0]
    assert lead(np.array([])).tolist() == []


def test_the_offline_score_is_its_formula(opened: OpenGraph) -> None:
    question = asked()
    sums: list[float] = []
    for row, path in enumerate(opened.paths):
        found = opened.note(path)
        head = EMBEDDER.embed([found.head])[0]
        pieces = [f"{found.title}\n{piece}" for piece in passages(opened.graph.content(path))]
        closest = max(float(vector @ question.vector) for vector in EMBEDDER.embed(pieces))
        most = (K1 + 1) * sum(opened.bodies.weight(term) for term in question.counted)
        body = opened.bodies.scores(question.counted)[row] / most
        most = (K1 + 1) * sum(opened.heads.weight(term) for term in question.counted)
        top = opened.heads.scores(question.counted)[row] / most
        sums.append(
            0.5 * max(0, float(head @ question.vector))
            + 0.5 * max(0, closest)
            + 0.8 * body
            + 1.5 * top
        )
    for path, raw in zip(opened.paths, with_lead(sums), strict=True):
        expected = np.interp(raw, *zip(*ALONE.knots, strict=True))
        [score] = OfflineScorer(opened).score(question, [path])
        assert score.value == pytest.approx(expected, abs=1e-3)
        assert f"{score.value:.0f}: it holds" in score.reason


def test_the_second_vectors_add_their_part(opened: OpenGraph) -> None:
    other = ToyEmbedder(24)
    both = replace(opened, second=Second(other, note_vectors(opened.graph, other)))
    question = asked()
    parts = OfflineScorer(opened).parts(question)
    # The parts of the first vectors and of the words are those of the graph without second ones.
    raw = 0.5 * parts.head + 0.5 * parts.passage + 0.4 * (parts.body_words + parts.head_words)
    vector = other.embed([QUESTION])[0]
    for row, path in enumerate(opened.paths):
        found = opened.note(path)
        pieces = [f"{found.title}\n{piece}" for piece in passages(opened.graph.content(path))]
        closest = max(float(piece @ vector) for piece in other.embed(pieces))
        head = float(other.embed([found.head])[0] @ vector)
        raw[row] += 0.5 * max(0, head) + 1.0 * max(0, closest)
    expected = np.interp(with_lead(list(raw)), *zip(*WITH_SECOND.knots, strict=True))
    assert OfflineScorer(both).parts(question).score == pytest.approx(expected, abs=1e-3)


def test_a_paraphrase_without_a_common_word_is_found(tmp_path: Path) -> None:
    # No term of the question stands in any note, so that only the vectors can tell.
    notes = {
        "entry_points/Club.md": note("Club", children="Rain.md, Fee.md, Roof.md"),
        "Rain.md": note("Butts", parent="entry_points/Club.md", content="Barrels catch rain."),
        "Fee.md": note(
            "Rent", parent="entry_points/Club.md", content="A plot is 46 pounds a year."
        ),
        "Roof.md": note("Sheds", parent="entry_points/Club.md", content="Huts are painted green."),
    }
    embed = embedder("wordllama")
    opened = open_for_walk(write(tmp_path / "g", notes), embed, data=tmp_path / "data")
    text = "How expensive is membership?"
    assert not any(opened.bodies.scores(asked(text).counted))
    ranked = OfflineScorer(opened).rank(Asked(text, embed.embed([text])[0]), 4)
    assert next(path for path in ranked if not path.startswith("entry")) == "Fee.md"


def test_the_reason_names_the_words_as_they_were_asked(opened: OpenGraph) -> None:
    [score] = OfflineScorer(opened).score(asked(), ["service/Service.md"])
    assert "4 of the question's 4 words (glass, turned, polarised, light)" in score.reason


@pytest.mark.parametrize("text", [QUESTION, "", "?!", "zzzz", "the of and", "Wer? Кто? 谁"])
def test_every_scorer_stays_between_0_and_100(opened: OpenGraph, text: str) -> None:
    offline, words = OfflineScorer(opened), Bm25Scorer(opened)
    for scorer in (offline, words, MeanScorer([offline, words])):
        scores = scorer.score(asked(text), opened.paths)
        assert all(0 <= score.value <= 100 and score.reason for score in scores)
        ranked = scorer.rank(asked(text), 3)
        values = {path: score.value for path, score in zip(opened.paths, scores, strict=True)}
        assert [values[path] for path in ranked] == sorted(values.values(), reverse=True)[:3]


def test_a_question_about_something_else_scores_low(builtin: Path) -> None:
    embed = embedder("wordllama")
    opened = open_for_walk(builtin / "notes", embed)
    for text in ("How do I bake sourdough bread?", "Who won the football world cup in 1998?"):
        question = Asked(text, embed.embed([text])[0])
        scores = OfflineScorer(opened).score(question, opened.paths)
        assert max(score.value for score in scores) < 60


def test_the_mean_is_the_mean(opened: OpenGraph) -> None:
    offline, words = OfflineScorer(opened), Bm25Scorer(opened)
    [mean] = MeanScorer([offline, words]).score(asked(), ["sales/Lead.md"])
    pair = [scorer.score(asked(), ["sales/Lead.md"])[0].value for scorer in (offline, words)]
    assert mean.value == pytest.approx(sum(pair) / 2)
    assert "offline" in mean.reason and "bm25" in mean.reason


def test_a_person_is_asked_once_a_note(opened: OpenGraph) -> None:
    asked_for: list[str] = []

    def person(question: str, path: str) -> float:
        asked_for.append(path)
        return 73

    scorer = PersonScorer(person)
    assert [score.value for score in scorer.score(asked(), ["sales/Lead.md"] * 2)] == [73, 73]
    assert asked_for == ["sales/Lead.md"]
    with pytest.raises(SettingError, match="0 to 100"):
        PersonScorer(lambda question, path: 120).score(asked(), ["sales/Lead.md"])


def test_a_model_scores_from_heads_and_is_asked_once_a_note(opened: OpenGraph) -> None:
    reply = json.dumps(
        {"scores": [{"note": 1, "score": 80, "reason": "fits"}, {"note": 9, "score": 5}, "x"]}
    )
    model = ScriptedModel(f"Here: {reply}")
    scorer = ModelScorer(opened, model)
    first, second = scorer.score(asked(), ["sales/Lead.md", "sales/Sales.md"])
    assert (first.value, first.reason) == (80, "80: fits")
    assert (second.value, second.reason) == (0, "0: the model left this note out")
    assert scorer.score(asked(), ["sales/Lead.md"])[0] == first
    assert len(model.asked) == 1
    assert "heavy" not in model.asked[0][1].content
    with pytest.raises(ModelError, match="gave no scores"):
        ModelScorer(opened, ScriptedModel("I would rather not.")).score(asked(), ["sales/Lead.md"])
