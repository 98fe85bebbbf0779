from __future__ import annotations

import numpy as np
import pytest

from tracert.render.frames import frame, last
from tracert.render.map import COLOUR_WORDS, Ground, figure, ground_of, selected_ids, text_of_map


def _layer(made, name):
    return next((layer for layer in made.data if layer.name == name), None)


def _ground(trace):
    ids = [node.id for node in trace.nodes if node.kind.value == "chunk"]
    vectors = np.stack([trace.node(id).vector for id in ids])
    query = trace.node("query").vector
    return Ground(
        positions=np.array([trace.map.positions[id] for id in ids], dtype=np.float32),
        ids=ids,
        labels={id: trace.node(id).label for id in ids},
        similarity=vectors @ query,
        kept=np.linspace(0, 1, len(ids)).astype(np.float32),
        inside=np.arange(len(ids)) % 2 == 0,
    )


def test_the_path_grows_with_the_frame(toys):
    trace = toys.walk_trace()
    for index in range(last(trace) + 1):
        layer = _layer(figure(trace, index), "Path")
        assert (0 if layer is None else len(layer.x)) == len(frame(trace, index).order)


def test_one_arrow_a_move(toys):
    trace = toys.walk_trace()
    for index in range(last(trace) + 1):
        arrows = figure(trace, index).layout.annotations
        assert len(arrows) == index
        for arrow, (source, target) in zip(
            arrows, zip(trace.result.path, trace.result.path[1:], strict=False), strict=False
        ):
            assert (arrow.ax, arrow.ay) == pytest.approx(trace.map.positions[source])
            assert (arrow.x, arrow.y) == pytest.approx(trace.map.positions[target])


def test_zoom_survives_steps_and_settings_but_not_another_map(toys):
    one = figure(toys.walk_trace(), 1).layout.uirevision
    assert figure(toys.walk_trace(alpha=0.2), 3).layout.uirevision == one
    assert one.startswith("pca:")


@pytest.mark.parametrize("colour", list(COLOUR_WORDS))
def test_the_ground_can_be_coloured_in_every_known_way(toys, colour):
    trace = toys.walk_trace()
    ground = _ground(trace)
    assert colour in ground.colours()
    made = figure(trace, 1, ground=ground, colour=colour)
    inside = np.asarray(_layer(made, "Corridor").marker.color)
    expected = {
        "position": np.linspace(0, 1, len(ground.ids)),
        "similarity": ground.similarity,
        "kept": ground.kept,
    }[colour]
    assert inside == pytest.approx(expected[ground.inside])


def test_the_true_cosine_is_on_hover(toys):
    trace = toys.walk_trace()
    ground = _ground(trace)
    made = figure(trace, 1, ground=ground)
    # Row 3 is odd, so outside the corridor of the toy ground, where it is the second.
    assert f"{ground.similarity[3]:.3f}" in _layer(made, "Outside").text[1]
    assert f"{ground.similarity[4]:.3f}" in _layer(made, "Corridor").text[2]
    path = _layer(figure(trace, 3), "Path")
    id = path.customdata[0][0]
    cosine = float(trace.node(id).vector @ trace.node("query").vector)
    assert f"{cosine:.3f}" in path.text[0]


def test_question_and_goal_are_marked_approximate(toys):
    made = figure(toys.walk_trace(), 1)
    for name in ("Question ≈", "Goal ≈"):
        layer = _layer(made, name)
        assert layer.marker.symbol.endswith("-open")
        assert "approximate" in layer.text[0]


def test_hover_texts_are_escaped(toys):
    trace = toys.walk_trace(text=toys.HOSTILE, document=toys.HOSTILE, question=toys.HOSTILE)
    made = figure(trace, 3, ground=_ground(trace))
    for layer in made.data:
        for text in layer.text if isinstance(layer.text, tuple) else ():
            bare = text.replace("<br>", "").replace("<b>", "").replace("</b>", "")
            assert "<" not in bare


def test_the_corridor_is_drawn_from_the_ground_or_the_trace(toys):
    trace = toys.walk_trace()
    ground = _ground(trace)
    made = figure(trace, 1, ground=ground)
    assert len(_layer(made, "Corridor").x) == int(ground.inside.sum())
    assert len(_layer(made, "Outside").x) == int((~ground.inside).sum())
    # Without the corpus: every passage that a step did not put outside the radius.
    inside = trace.corpus.size - trace.steps[0].counts["outside_radius"]
    assert len(_layer(figure(trace, 1, ground=ground_of(trace)), "Corridor").x) == inside


def test_a_selection_is_checked_against_what_is_there(toys):
    trace = toys.walk_trace()
    ground = _ground(trace)

    def event(*ids):
        return {"selection": {"points": [{"customdata": [id]} for id in ids]}}

    assert selected_ids(event("toy:3", "toy:3", "goal"), trace, ground) == ["toy:3", "goal"]
    assert selected_ids(event("<script>", 5, None, "toy:999"), trace, ground) == []
    for broken in (None, {}, {"selection": None}, {"selection": {"points": [None, {}, 7]}}):
        assert selected_ids(broken, trace, ground) == []


def test_a_trace_without_a_map_has_no_figure(toys):
    trace = toys.walk_trace(with_map=False)
    assert ground_of(trace) is None
    with pytest.raises(ValueError, match="no map"):
        figure(trace, 0)


def test_the_map_has_words(toys):
    trace = toys.walk_trace()
    assert text_of_map(trace, 2).endswith("the question, then passage 1, then passage 2.")
