"""The three stages of the training data, each worked by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tracert.evaluation.datasets import Hop, Item, Passage
from tracert.training.comparison import fit
from tracert.training.composition import Composed, Link, compose
from tracert.training.contrast import Space, contrast, distinct_passages
from tracert.training.topology import Dropped, acyclic, check, fault

TEXTS = ("The film was made by Ann.", "Ann was born in Rome.", "Another film.", "Bob.")


def item(
    order: Sequence[int] = (0, 1),
    *,
    supporting: Sequence[int] = (0, 1),
    answer: str = "Rome",
    hops: Sequence[Hop] = (),
    kind: str = "compositional",
) -> Item:
    passages = tuple(Passage(f"T{place}", text) for place, text in enumerate(TEXTS))
    return Item(
        id="i",
        dataset="d",
        question="Where was the maker of the film born?",
        answer=answer,
        type=kind,
        n_hops=2,
        hops=tuple(hops),
        order=tuple(order),
        order_source="official_evidences",
        paragraphs=passages,
        supporting=tuple(supporting),
    )


def one(**changes) -> Composed:
    return compose([item(**changes)])[0]


def test_a_chain_becomes_hops_with_their_answers() -> None:
    composed = one(hops=[Hop("film >> maker", "Ann", 0), Hop("Ann >> born", "Rome", 1)])
    assert composed.links == (Link(0, 1, "Ann"),)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"kind": "comparison"}, Dropped.NO_HOP),
        ({"order": (0, 2)}, Dropped.NOT_GOLD),
        ({"order": (0, 1, 0)}, Dropped.CYCLE),
        ({"supporting": (0, 1, 3)}, Dropped.DISCONNECTED),
        ({"hops": [Hop("maker", "Zoe", 0)]}, Dropped.ANSWER_MISSING),
        ({"hops": [Hop("maker", "ANN", 0)]}, None),
        ({"answer": "film"}, Dropped.SHORTCUT),
        ({"answer": "fil"}, None),
        ({"answer": "yes"}, None),
    ],
)
def test_what_is_dropped_and_why(changes: dict, reason: Dropped | None) -> None:
    assert fault(one(**changes)) is reason


def test_every_dropped_question_is_counted() -> None:
    composed = [one(), one(answer="film"), one(answer="film"), one(kind="comparison")]
    checked = check(composed)
    assert len(checked.kept) == 1
    assert checked.dropped == {Dropped.SHORTCUT: 2, Dropped.NO_HOP: 1}
    assert len(check(composed, shortcuts=True).kept) == 3


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(0, 1), (1, 2)], True),
        ([(0, 2), (1, 2)], True),
        ([(0, 1), (0, 2), (1, 2)], True),
        ([(0, 1), (1, 0)], False),
        ([(2, 2)], False),
        ([(0, 1), (1, 2), (2, 1)], False),
    ],
)
def test_acyclic(pairs: list[tuple[int, int]], expected: bool) -> None:
    assert acyclic([Link(start, end, "") for start, end in pairs]) is expected


def test_the_contrast_of_a_hop() -> None:
    # Passages at 10, 20, 30 and 40 degrees, the question at 0; gold are 0 and 1. The hop leads
    # from 0 to 1; 0 is neither right nor wrong. The nearest that is no gold is passage 2.
    one_item = item()
    angles = np.deg2rad([10.0, 20.0, 30.0, 40.0])
    matrix = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    rows = distinct_passages([one_item, one_item])
    assert list(rows.values()) == [0, 1, 2, 3]
    space = Space((one_item,), rows, np.array([[1.0, 0.0]], np.float32), matrix)
    hops = contrast(compose([one_item]), space, near=1)
    assert (hops.query.tolist(), hops.start.tolist(), hops.end.tolist()) == ([0], [0], [1])
    assert hops.excluded[0].tolist() == [0]
    assert hops.logical[0].tolist() == [2]
    assert contrast(compose([one_item]), space, near=9).logical[0].tolist() == [2, 3]


def test_the_classifier_finds_the_word_that_tells() -> None:
    # 'or' stands in every comparison and in nothing else; names are too rare to count.
    questions = [f"Who is older, name{n} or other{n}?" for n in range(20)]
    questions += [f"Who is the father of name{n}?" for n in range(20)]
    bias, weights = fit(questions, [True] * 20 + [False] * 20, strength=0.5)
    assert bias < 0 or weights.get("father", 0) < 0 or weights["or"] > 0
    assert all("name" not in feature for feature in weights)
    positive = {feature for feature, weight in weights.items() if weight > 0}
    assert positive & {"or", "older", ",", "is older", "older ,", "who is"}


def test_a_stronger_penalty_leaves_fewer_words() -> None:
    questions = [f"Who is older, a{n % 3} or b?" for n in range(30)]
    questions += [f"Who is the father of a{n % 3}?" for n in range(30)]
    labels = [True] * 30 + [False] * 30
    sizes = [len(fit(questions, labels, strength=strength)[1]) for strength in (0.1, 5.0, 100.0)]
    assert sizes[0] >= sizes[1] >= sizes[2] == 0
