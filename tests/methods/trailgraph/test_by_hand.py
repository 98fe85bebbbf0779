"""A person walks with the model's tool; the built-in notes stand for the graph."""

from __future__ import annotations

import pytest

from tracert.embedding.registry import embedder
from tracert.knowledge.opened import open_for_walk
from tracert.methods.base import Question, Resources
from tracert.methods.trailgraph import TrailGraph, TrailGraphSettings
from tracert.methods.trailgraph.by_hand import HandCall, walk_by_hand
from tracert.trace import StopReason, Trace

SETTINGS = TrailGraphSettings(entry="fixed", entries=1)
ENTRY = "entry_points/Telegraph.md"
HUB = "telegraph/Writers_wires_and_news.md"
LEAF = "telegraph/Paul_Reuter.md"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    from pathlib import Path

    notes = Path(__file__).resolve().parents[3] / "knowledge" / "notes"
    return open_for_walk(notes, embedder("wordllama"), data=tmp_path_factory.mktemp("hand"))


@pytest.fixture(scope="module")
def prepared(opened):
    resources = Resources(embed=embedder("wordllama").embed, knowledge=opened)
    return TrailGraph().prepare(Question("Who sent news by pigeon?"), resources)


def test_before_the_first_call_the_entry_points_are_offered(opened, prepared):
    walk = walk_by_hand(opened, prepared, SETTINGS, [])
    assert walk.at is None
    assert not walk.over
    assert walk.offered == opened.graph.entry_points


def test_a_call_shows_the_children_and_related_notes(opened, prepared):
    walk = walk_by_hand(opened, prepared, SETTINGS, [HandCall(ENTRY, 80, "it is about wires")])
    note = opened.note(ENTRY)
    assert walk.at == ENTRY
    assert walk.offered == tuple(dict.fromkeys((*note.children, *note.related)))
    assert walk.visited == {ENTRY: 80}
    assert set(walk.before) == set(opened.graph.entry_points) - set(walk.offered)


def test_a_high_score_opens_a_leaf_and_ends_the_walk(opened, prepared):
    calls = [HandCall(ENTRY, 80), HandCall(HUB, 85), HandCall(LEAF, 98, "pigeons")]
    walk = walk_by_hand(opened, prepared, SETTINGS, calls)
    assert walk.over
    assert walk.trace.result.path == ("query", ENTRY, HUB, LEAF)
    assert walk.trace.result.stop.reason is StopReason.ANSWERED
    assert "You gave" in walk.trace.result.stop.message
    assert walk.trace.node(LEAF).text == opened.graph.content(LEAF)
    assert Trace.from_json(walk.trace.to_json()).settings["scoring"] == "person"


def test_a_low_score_ends_the_trail(opened, prepared):
    walk = walk_by_hand(opened, prepared, SETTINGS, [HandCall(ENTRY, 20)])
    assert walk.over
    assert walk.trace.result.stop.reason is StopReason.FALLBACK


def test_with_searched_entries_a_low_score_turns_back(opened, prepared):
    first = walk_by_hand(opened, prepared, TrailGraphSettings(), []).offered[0]
    walk = walk_by_hand(opened, prepared, TrailGraphSettings(), [HandCall(first, 20)])
    assert not walk.over
    assert walk.turned_to is not None
    assert walk.offered == (walk.turned_to,)


def test_stopping_keeps_the_way_and_speaks_of_the_person(opened, prepared):
    walk = walk_by_hand(opened, prepared, SETTINGS, [HandCall(HUB, 90), HandCall(ENTRY, 70)])
    # HUB was not offered at the question: the tool refuses it and the walk is over.
    assert walk.over
    walk = walk_by_hand(opened, prepared, SETTINGS, [HandCall(ENTRY, 90), HandCall(HUB, 70)])
    assert walk.trace.result.path == ("query", ENTRY, HUB)
    assert walk.trace.result.stop.message.startswith("You stopped here.")
    reasons = [item.reason for step in walk.trace.steps for item in step.candidates]
    assert not any("model" in reason for reason in reasons)
