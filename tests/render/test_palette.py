from __future__ import annotations

import itertools

import numpy as np
import pytest

from tracert.render.palette import PALETTES
from tracert.render.words import words_for

#: Machado, Oliveira and Fernandes (2009), severity 1: linear RGB as the colour-blind see it.
BLINDNESS = {
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def _linear(code):
    rgb = np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _luminance(code):
    return float(_linear(code) @ [0.2126, 0.7152, 0.0722])


def _contrast(one, two):
    high, low = sorted((_luminance(one), _luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _lab(linear):
    xyz = np.clip(linear, 0, 1) @ np.array(
        [[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]]
    )
    xyz = xyz / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_marks_stand_out_from_the_paper(theme):
    palette = PALETTES[theme]
    assert _contrast(palette.ink, palette.paper) >= 7
    assert _contrast(palette.faint, palette.paper) >= 4.5
    # WCAG 1.4.11 asks 3 to 1 of marks; the rejected ones are meant to recede.
    for name in ("query", "goal", "path", "kept"):
        assert _contrast(palette.colour(name), palette.paper) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", list(BLINDNESS))
def test_the_colour_blind_tell_question_goal_and_path_apart(theme, kind):
    palette = PALETTES[theme]
    seen = {
        name: _lab(np.array(BLINDNESS[kind]) @ _linear(palette.colour(name)))
        for name in ("query", "goal", "path")
    }
    for one, two in itertools.combinations(seen.values(), 2):
        # A difference of 2.3 in Lab is just seen; 10 is told apart at a glance.
        assert np.linalg.norm(one - two) > 10


@pytest.mark.parametrize("method", ["tracert_rag", "native_rag"])
def test_no_two_rules_differ_by_colour_alone(method):
    looks = [(rule.look.shape, rule.look.line) for rule in words_for(method).rules]
    assert len(set(looks)) == len(looks)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_scale_is_even_in_lightness(theme):
    values = [_luminance(code) for code in PALETTES[theme].scale]
    assert values == sorted(values, reverse=theme == "light")
