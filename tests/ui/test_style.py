"""The rules that the theme cannot give: words on buttons can be read, light and dark."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tracert.ui import style

CONFIG = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.1."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", ["light", "dark"])
def test_words_on_a_primary_button_stand_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(style, "theme", lambda: name)
    monkeypatch.setattr(style.st, "html", sent.append)
    style.load()
    (rules,) = sent
    said = re.search(r"button\[kind\^='primary'\].*?\{ color: (#\w{6}); \}", rules)
    # Without a rule of ours Streamlit writes white.
    ink = said.group(1) if said else "#ffffff"
    ground = tomllib.loads(CONFIG.read_text("utf-8"))["theme"][name]["primaryColor"]
    high, low = sorted((luminance(ink), luminance(ground)), reverse=True)
    # WCAG 2.1, 1.4.3: 4.5 to 1 for text.
    assert (high + 0.05) / (low + 0.05) >= 4.5
