"""The toy traces, loaded by path since tests are no package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def toys() -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "toy_traces.py"
    spec = importlib.util.spec_from_file_location("toy_traces", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
