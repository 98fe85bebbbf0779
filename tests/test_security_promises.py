"""Each promise of docs/SECURITY.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_test_that_a_promise_names_is_there() -> None:
    text = (ROOT / "docs" / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", text)
    assert len(named) > 30
    missing = [
        f"{file}::{name}"
        for file, name in named
        if f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")
    ]
    assert missing == []
