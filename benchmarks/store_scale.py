"""A corpus of 100,000 passages by the embedded store and by a Chroma server: time and memory.

    python -m benchmarks.store_scale [--passages 100000] [--questions 200] [--json]

Texts are sentences of the built-in document in a shuffled order, seeded, in documents of 1,000
passages. Each measurement is a process of its own, so that its memory is its own:

- load: the texts are read, cut, embedded (WordLlama) and stored, with the snapshot made;
- open: a process that has never seen the corpus opens it, with its snapshot there, and once more
  without, so that all is paged out of the store as on a second machine beside the server;
- ask: plain top-k and the Tracert walk, each question embedded anew, no answer, no map.

Memory is the peak of the process's resident set; the server's is told apart. Processor time is
told beside the time by the clock, which is longer where others use the machine. Linux alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.serving import await_answer, end, free_port

ROOT: Final = Path(__file__).resolve().parent.parent
NAME: Final = "Scale"
SEED: Final = 0
METHODS: Final = ("native_rag", "tracert_rag")
PLACES: Final = ("embedded", "server")
_STRIDE: Final = 400  # new characters a passage: 500 with 100 shared
_DOCUMENT: Final = 1_000  # passages a document


def main() -> None:
    """Measure both and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print all figures")
    parser.add_argument("--where", choices=PLACES, action="append", help="one of them alone")
    parser.add_argument("--part", choices=("load", "open", "ask"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        part = {"load": _load, "open": _open, "ask": _ask}[given.part]
        made = part(given)
        print(json.dumps(made | {"memory": _peak(os.getpid()), "cpu": time.process_time()}))
        return
    found = {}
    with tempfile.TemporaryDirectory(prefix="tracert-scale-") as folder:
        places = given.where or PLACES
        if "embedded" in places:
            found["embedded"] = _measure(given, Path(folder) / "embedded", {})
        if "server" in places:
            with _server(Path(folder) / "server") as (url, pid):
                found["server"] = _measure(given, Path(folder) / "client", {"CHROMA_URL": url})
                found["server"]["server_memory"] = _peak(pid)
                found["server"]["server_cpu"] = _worked(pid)
    print(json.dumps(found, indent=2) if given.json else _table(given, found))


def _measure(given: argparse.Namespace, home: Path, more: dict[str, str]) -> dict[str, Any]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CHROMA_")}
    environment |= {"TRACERT_HOME": str(home), **more}

    def run(part: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "benchmarks.store_scale", "--part", part]
        command += ["--passages", str(given.passages), "--questions", str(given.questions)]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        )
        made: dict[str, Any] = json.loads(done.stdout)
        print(f"{home.name}, {part}: {made}", file=sys.stderr, flush=True)
        return made

    found = {"load": run("load"), "open": run("open"), "ask": run("ask")}
    store = home / "store"
    found["disk"] = {"bytes": _size(store) if store.is_dir() else 0}
    shutil.rmtree(home / "snapshots")
    return found | {"page": run("open")}


# --- the three parts ----------------------------------------------------------------------


def _load(given: argparse.Namespace) -> dict[str, Any]:
    from tracert.indexing import File
    from tracert.workspace import Workspace

    files = [File(name, text.encode()) for name, text in _texts(given.passages)]
    begun = time.perf_counter()
    report = Workspace().index(files, NAME)
    return {
        "seconds": time.perf_counter() - begun,
        "passages": report.chunks,
        "stages": dict(report.seconds),
    }


def _open(_: argparse.Namespace) -> dict[str, Any]:
    from tracert.workspace import Workspace

    begun = time.perf_counter()
    snapshot = Workspace().open(NAME)
    return {"seconds": time.perf_counter() - begun, "passages": len(snapshot.ids)}


def _ask(given: argparse.Namespace) -> dict[str, Any]:
    import numpy as np

    from tracert.workspace import Workspace

    lines = (ROOT / "knowledge" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines if line]
    asked = [questions[at % len(questions)] for at in range(given.questions)]
    space, found = Workspace(), {}
    for method in METHODS:
        seconds, spent = [], []
        for question in [asked[0], *asked]:
            begun, worked = time.perf_counter(), time.process_time()
            space.ask(
                question, corpus=NAME, method=method, answer=False, with_map=False, fresh=True
            )
            seconds.append(time.perf_counter() - begun)
            spent.append(time.process_time() - worked)
        # The first opens the corpus and reads the embedder's tables.
        p50, p95 = np.percentile(seconds[1:], [50, 95])
        cpu = float(np.median(spent[1:]))
        found[method] = {"p50": float(p50), "p95": float(p95), "first": seconds[0], "cpu": cpu}
    return {"methods": found}


def _texts(passages: int) -> Iterator[tuple[str, str]]:
    """Documents that are cut into about so many passages in all."""
    from tracert.corpus.sentences import sentence_spans

    sentences = []
    for path in sorted((ROOT / "knowledge" / "document").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        sentences += [text[start:end].strip() for start, end in sentence_spans(text)]
    sentences = [each for each in sentences if each and not each.startswith("#")]
    dice = random.Random(SEED)
    for number in range(-(-passages // _DOCUMENT)):
        wanted = min(_DOCUMENT, passages - number * _DOCUMENT) * _STRIDE
        some: list[str] = []
        size = 0
        while size < wanted:
            some.append(dice.choice(sentences))
            size += len(some[-1]) + 1
        yield f"{number:04}.txt", " ".join(some)[: wanted + 100]


# --- the server, memory, the table ---------------------------------------------------------


@contextmanager
def _server(folder: Path) -> Iterator[tuple[str, int]]:
    port, log_path = free_port(), folder.with_suffix(".log")
    chroma = Path(sys.executable).with_name("chroma")
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [chroma, "run", "--path", str(folder), "--port", str(port)], stdout=log, stderr=log
        )
    url = f"http://127.0.0.1:{port}"
    try:
        await_answer(f"{url}/api/v2/heartbeat", process, log_path)
        yield url, process.pid
    finally:
        end(process, 60)


def _peak(pid: int) -> int:
    """The most memory that a process has had, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def _worked(pid: int) -> float:
    """The seconds that a process has worked, whoever else had the processors meanwhile."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _table(given: argparse.Namespace, found: dict[str, Any]) -> str:
    rows: list[tuple[str, ...]] = []

    def row(name: str, tell: Any) -> None:
        rows.append((name, *(tell(one) for one in found.values())))

    def megabytes(value: int) -> str:
        return f"{value / 1e6:,.0f} MB"

    any_one = next(iter(found.values()))
    row("load", lambda one: f"{one['load']['seconds']:.0f} s")
    for stage in any_one["load"]["stages"]:
        row(f"- {stage}", lambda one, stage=stage: f"{one['load']['stages'][stage]:.1f} s")
    row("processor time of the load", lambda one: f"{one['load']['cpu']:.0f} s")
    row(
        "processor time of the server in all",
        lambda one: f"{one['server_cpu']:.0f} s" if "server_cpu" in one else "-",
    )
    row("memory while loading", lambda one: megabytes(one["load"]["memory"]))
    row(
        "memory of the server",
        lambda one: megabytes(one["server_memory"]) if "server_memory" in one else "-",
    )
    row("open, snapshot there", lambda one: f"{one['open']['seconds']:.2f} s")
    row("open, paged out of the store", lambda one: f"{one['page']['seconds']:.1f} s")
    row("memory while paging out", lambda one: megabytes(one["page"]["memory"]))
    for method in METHODS:
        for name in ("p50", "p95"):
            row(
                f"{method}, {name}",
                lambda one, m=method, n=name: f"{one['ask']['methods'][m][n] * 1000:.0f} ms",
            )
        row(
            f"{method}, processor time",
            lambda one, m=method: f"{one['ask']['methods'][m]['cpu'] * 1000:.0f} ms",
        )
    row("memory while asking", lambda one: megabytes(one["ask"]["memory"]))
    passages = any_one["load"]["passages"]
    head = f"| {passages:,} passages, {given.questions} questions | {' | '.join(found)} |"
    rule = "|---" * (1 + len(found)) + "|"
    return "\n".join([head, rule, *(f"| {' | '.join(each)} |" for each in rows)])


if __name__ == "__main__":
    main()
