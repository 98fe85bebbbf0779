"""The walk, worked by hand on small graphs, and against a plain greedy walk written apart."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.methods.trailgraph.graphs import path, tree, walked
from tracert.trace import StopReason

#     e
#    / \
#   a   b        c is related to b
#  / \   \
# c   d   f
SMALL = {"e": "a b", "a": "c d", "b": "f"}
PLAIN = {"plain": "true"}


def moves(steps) -> list[tuple[str, str, str | None]]:
    short = {"entry_points/e.md": "e", "query": "query"}

    def name(id: str | None) -> str | None:
        return None if id is None else short.get(id, id.removesuffix(".md"))

    return [(step.action, name(step.source), name(step.target)) for step in steps]


def test_the_plain_walk_goes_down_to_the_leaf_that_answers(tmp_path: Path) -> None:
    opened = tree(tmp_path / "g", SMALL)
    steps, end = walked(opened, {"e": 61, "a": 80, "b": 70, "c": 97, "d": 65}, **PLAIN)
    assert moves(steps) == [
        ("entry", "query", "e"),
        ("explore", "e", "a"),
        ("explore", "a", "c"),
        ("focus", "c", "c"),
    ]
    assert end.stop.reason is StopReason.ANSWERED
    assert end.path == ("entry_points/e.md", "a.md", "c.md")
    assert end.final == "c.md"
    rules = {item.id: (item.rule, item.values["score"]) for item in steps[1].candidates}
    assert rules == {"a.md": ("chosen", 80), "b.md": ("lower_score", 70)}
    assert [step.values["hop"] for step in steps] == [1, 1, 2, 3]
    assert steps[-1].values["view"] == "focused"


def test_a_note_below_the_threshold_is_not_followed(tmp_path: Path) -> None:
    steps, end = walked(tree(tmp_path / "g", SMALL), {"e": 61, "a": 59.9, "b": 40}, **PLAIN)
    assert moves(steps) == [
        ("entry", "query", "e"),
        ("explore", "e", None),
        ("fallback", "e", "e"),
    ]
    assert {item.rule for item in steps[1].candidates} == {"below_threshold"}
    assert end.stop.reason is StopReason.FALLBACK
    assert "Did you mean that?" in end.stop.message


def test_a_dead_end(tmp_path: Path) -> None:
    steps, end = walked(tree(tmp_path / "g", SMALL), {"e": 61, "b": 80, "f": 90}, **PLAIN)
    assert moves(steps)[-2:] == [("explore", "f", None), ("fallback", "f", "f")]
    assert end.stop.reason is StopReason.DEAD_END
    assert end.final == "f.md"


def test_too_many_hops(tmp_path: Path) -> None:
    chain = {"e": "a", "a": "b", "b": "c", "c": "d", "d": "f", "f": "g"}
    scores = dict.fromkeys("eabcdf", 70) | {"g": 99}
    opened = tree(tmp_path / "g", chain)
    steps, end = walked(opened, scores, **PLAIN)
    # Five notes are visited: e, a, b, c, d.
    assert end.stop.reason is StopReason.MAX_HOPS
    assert max(step.values["hop"] for step in steps[:-1]) == 4
    steps, end = walked(opened, scores, **PLAIN, max_hops=7)
    assert (end.stop.reason, end.final) == (StopReason.ANSWERED, "g.md")


def test_a_note_with_children_shows_them_first(tmp_path: Path) -> None:
    opened = tree(tmp_path / "g", SMALL)
    # 'a' would be opened, and its child 'd', too: the child is.
    steps, end = walked(opened, {"e": 61, "a": 98, "c": 70, "d": 96}, **PLAIN)
    assert moves(steps)[1:] == [("explore", "e", "a"), ("explore", "a", "d"), ("focus", "d", "d")]
    # No child reaches 95: 'a' is opened after all.
    steps, end = walked(opened, {"e": 61, "a": 98, "c": 70, "d": 94}, **PLAIN)
    assert moves(steps)[1:] == [("explore", "e", "a"), ("explore", "a", None), ("focus", "a", "a")]
    # Switched off: 'a' is opened at once.
    steps, end = walked(opened, {"e": 61, "a": 98, "d": 96}, **PLAIN, children_first="false")
    assert moves(steps)[1:] == [("explore", "e", "a"), ("focus", "a", "a")]
    assert end.final == "a.md"


def test_related_notes_lead_on_and_no_note_is_visited_twice(tmp_path: Path) -> None:
    opened = tree(tmp_path / "g", SMALL, {"b": "c", "c": "b"})
    steps, end = walked(opened, {"e": 61, "b": 80, "c": 85, "f": 10}, **PLAIN)
    assert moves(steps)[1:4] == [
        ("explore", "e", "b"),
        ("explore", "b", "c"),
        ("explore", "c", None),
    ]
    assert {item.id: item.rule for item in steps[3].candidates} == {"b.md": "visited"}
    assert end.final == "c.md"


def test_a_beam_keeps_the_second_best_alive(tmp_path: Path) -> None:
    opened = tree(tmp_path / "g", SMALL)
    scores = {"e": 61, "a": 80, "b": 70, "c": 65, "d": 62, "f": 99}
    _steps, one = walked(opened, scores, entry="fixed", entries=1, beam=1)
    assert one.stop.reason is not StopReason.ANSWERED
    steps, two = walked(opened, scores, entry="fixed", entries=1, beam=2)
    assert (two.final, two.stop.reason) == ("f.md", StopReason.ANSWERED)
    assert two.path == ("entry_points/e.md", "b.md", "f.md")
    kept = [item.id for item in steps[1].candidates if item.kept]
    assert kept == ["a.md", "b.md"]


def test_the_walk_falls_back_from_one_entry_point_to_the_next(tmp_path: Path) -> None:
    opened = tree(tmp_path / "g", {**SMALL, "x": "y"})
    # By search 'd' comes first, then 'x', from where 'y' is reached that search cannot see.
    scores = {"d": 90, "x": 85, "y": 99}
    steps, end = walked(opened, scores, ranks=["d", "x"], entries=2, beam=1)
    assert moves(steps) == [
        ("entry", "query", "d"),
        ("explore", "d", None),
        ("turn_back", "d", "x"),
        ("explore", "x", "y"),
        ("focus", "y", "y"),
    ]
    assert end.path == ("x.md", "y.md")


def test_a_single_note(tmp_path: Path) -> None:
    opened = tree(tmp_path / "g", {"e": ""})
    for score, reason in ((99, StopReason.ANSWERED), (70, StopReason.DEAD_END)):
        _steps, end = walked(opened, {"e": score})
        assert (end.stop.reason, end.final) == (reason, "entry_points/e.md")


def test_a_note_whose_file_is_gone_is_not_opened(tmp_path: Path) -> None:
    opened = tree(tmp_path / "g", SMALL)
    (tmp_path / "g" / "c.md").unlink()
    _steps, end = walked(opened, {"e": 61, "a": 80, "c": 97, "d": 66}, **PLAIN)
    assert end.stop.reason is not StopReason.ANSWERED
    assert end.final != "c.md"


# --- width 1 is the plain walk ----------------------------------------------------------------

NAMES = [f"n{number}" for number in range(7)]


def greedy(children, related, scores, hops: int) -> tuple[list[str], str | None]:
    """The source's walk, plainly: always to the best on offer; the note opened, if any."""
    here, visited = "e", ["e"]
    while True:
        kids = children.get(here, [])
        if scores[here] >= 95:
            better = [kid for kid in kids if scores[kid] >= 95 and kid not in visited]
            if not better or len(visited) >= hops:
                return visited, here
            here = max(better, key=lambda name: (scores[name], -kids.index(name)))
            visited.append(here)
            continue
        if len(visited) >= hops:
            return visited, None
        offered = [name for name in [*kids, *related.get(here, [])] if name not in visited]
        offered = [name for name in dict.fromkeys(offered) if scores[name] >= 60]
        if not offered:
            return visited, None
        here = max(offered, key=lambda name: (scores[name], -offered.index(name)))
        visited.append(here)


@st.composite
def graphs_of_notes(draw):
    # Every note hangs below an earlier one, so that there is one tree; related links are free.
    children: dict[str, list[str]] = {}
    for place, name in enumerate(NAMES):
        above = draw(st.sampled_from(["e", *NAMES[:place]]))
        children.setdefault(above, []).append(name)
    line = {name: {*children.get(name, [])} for name in ["e", *NAMES]}
    for above, below in children.items():
        for name in below:
            line[name].add(above)
    related = {
        name: [
            other
            for other in draw(st.lists(st.sampled_from(NAMES), max_size=2, unique=True))
            if other != name and other not in line[name]
        ]
        for name in NAMES
    }
    scores = {name: draw(st.sampled_from([10, 59, 60, 61, 75, 75.5, 94, 95, 99])) for name in NAMES}
    return children, related, {**scores, "e": draw(st.sampled_from([30, 70, 96]))}


@given(graphs_of_notes(), st.integers(1, 6))
@settings(max_examples=80, deadline=None)
def test_width_one_from_a_fixed_entry_is_the_plain_walk(made, hops: int) -> None:
    children, related, scores = made
    with tempfile.TemporaryDirectory() as folder:
        opened = tree(
            Path(folder) / "g",
            {name: " ".join(below) for name, below in children.items()},
            {name: " ".join(others) for name, others in related.items()},
        )
        steps, end = walked(opened, scores, entry="fixed", entries=1, beam=1, max_hops=hops)
        visited, found = greedy(children, related, scores, hops)
        walked_through = [step.target for step in steps if step.action in ("entry", "explore")]
        assert [target for target in walked_through if target] == [path(name) for name in visited]
        if found is not None:
            assert (end.final, end.stop.reason) == (path(found), StopReason.ANSWERED)
        else:
            assert end.stop.reason is not StopReason.ANSWERED
        again, same = walked(opened, scores, plain="true", max_hops=hops)
        assert moves(again) == moves(steps) and same.stop == end.stop


@given(graphs_of_notes(), st.integers(1, 4), st.sampled_from(["fixed", "search"]))
@settings(max_examples=60, deadline=None)
def test_every_walk_obeys_its_rules(made, beam: int, entry: str) -> None:
    children, related, scores = made
    by_path = {path(name): score for name, score in scores.items()}
    with tempfile.TemporaryDirectory() as folder:
        opened = tree(
            Path(folder) / "g",
            {name: " ".join(below) for name, below in children.items()},
            {name: " ".join(others) for name, others in related.items()},
        )
        steps, end = walked(opened, scores, beam=beam, entry=entry)
    visited: list[str] = []
    for step in steps:
        ids = [item.id for item in step.candidates]
        assert len(set(ids)) == len(ids)
        assert sum(step.counts.values()) == len(ids)
        for item in step.candidates:
            assert item.kept == (item.rule == "chosen")
            assert item.values["score"] == by_path[item.id]
            if item.rule == "below_threshold":
                assert by_path[item.id] < 60
            if step.action == "explore":
                note = opened.note(step.source)
                assert item.id in (*note.children, *note.related)
                if item.rule in ("chosen", "lower_score"):
                    assert by_path[item.id] >= 60
                if item.rule == "visited":
                    assert item.id in visited or any(
                        item.id in [c.id for c in other.candidates if c.kept] for other in steps
                    )
        if step.action in ("entry", "turn_back"):
            visited.append(step.target)
        if step.action == "explore":
            visited += [item.id for item in step.candidates if item.kept]
    assert len(set(visited)) == len(visited)
    answered = [step for step in steps if step.action == "focus"]
    if end.stop.reason is StopReason.ANSWERED:
        assert by_path[end.final] >= 95
        assert [step.target for step in answered] == [end.final]
    else:
        assert not answered
        assert steps[-1].action == "fallback" and steps[-1].target == end.final
        seen = {item.id for step in steps for item in step.candidates}
        assert by_path[end.final] == max(by_path[id] for id in seen)


@pytest.mark.parametrize("name", ["beam", "entries", "max_hops"])
def test_settings_out_of_range_are_refused(tmp_path: Path, name: str) -> None:
    from tracert.errors import SettingError

    with pytest.raises(SettingError, match="out of range"):
        walked(tree(tmp_path / "g", {"e": ""}), {"e": 1}, **{name: 0})
