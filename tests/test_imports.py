"""What an import loads, and that the rules of imports name what there is."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tracert.methods.registry import methods

ROOT = Path(__file__).resolve().parent.parent
HEAVY = (
    "streamlit",
    "umap",
    "numba",
    "plotly",
    "pyvis",
    "chromadb",
    "openai",
    "wordllama",
    "onnxruntime",
    "tokenizers",
    "pypdf",
    "torch",
    "sklearn",
    "pandas",
)


def loaded_by(statement: str) -> set[str]:
    """The top-level modules in a fresh interpreter after a statement."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    ["import tracert", "import tracert.cli", "import tracert.workspace", "import tracert.render"],
)
def test_an_import_loads_nothing_heavy(statement):
    assert loaded_by(statement).isdisjoint(HEAVY)


def test_the_test_sees_what_is_loaded():
    assert {"json", "streamlit"} <= loaded_by("import json, streamlit")


def test_help_and_a_wrong_command_load_nothing_heavy():
    for arguments in (["--help"], ["ask", "--help"], ["nonsense"]):
        statement = (
            f"import contextlib, io, tracert.cli\n"
            f"with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
            f"    tracert.cli.main({arguments!r})"
        )
        assert loaded_by(statement).isdisjoint(HEAVY)


def test_every_method_is_named_by_the_rule_that_methods_import_no_other():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [
        contract
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "independence"
    ]
    # tracert.methods.treehop.method is of the method tracert.methods.treehop.
    used = {".".join(type(each).__module__.split(".")[:3]) for each in methods().values()}
    assert used <= set(contract["modules"])


@pytest.mark.parametrize(
    "path",
    sorted(
        path.relative_to(ROOT).as_posix() for path in [ROOT / "app.py", *ROOT.glob("pages/*.py")]
    ),
)
def test_a_page_knows_streamlit_and_our_own_code_alone(path):
    # The tool checks the package; pages and app.py stand outside of it.
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            named.add((node.module or "").partition(".")[0])
    assert named - set(sys.stdlib_module_names) <= {"streamlit", "tracert"}
