"""How fast Tracert is on this machine, each figure beside plain NumPy doing the same arithmetic.

Three things are measured, all in a temporary data folder, medians over several runs:

- indexing: a book loaded, chunked (500 and 100 characters), embedded by the default embedder
  and stored, warm (the embedder's tables and the store's libraries are loaded);
- ask: a whole Tracert run on the book without a model, the settings as they come;
- large: the same on 100,000 passages with delta given and the matrix loaded, in a process of
  its own, whose peak memory is told. These passages are the book's, each vector turned a
  little at random.

The ratio is Tracert's time over that of `plain_pooling`, or of `plain_run`, which find the
same without exactness, trace or explanation. It tells what those cost.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tracert.corpus.chunking import Chunking
from tracert.corpus.sentences import sentence_spans
from tracert.embedding.registry import embedder
from tracert.errors import CorpusError, TracertError
from tracert.indexing import File
from tracert.language.words import STOP
from tracert.methods.base import Question, Resources, collect, parse_settings
from tracert.methods.registry import method
from tracert.snapshot import Snapshot, build, folder_of
from tracert.store.records import CorpusRecord, DocumentRecord, Page
from tracert.trace import Trace
from tracert.workspace import Workspace

SCHEMA: Final = "tracert.bench/1"
SEED: Final = 7
#: Characters of Pride and Prejudice in the edition of Project Gutenberg, for the made-up text.
BOOK: Final = 690_000
LARGE: Final = 100_000
RUNS: Final = 5
#: The threshold given in the large corpus.
DELTA: Final = 0.5
QUESTIONS: Final = 12
#: Share of noise in a vector of the large corpus: cosine about 0.9 to the passage it is of.
_NOISE: Final = 0.45
_METHOD: Final = "tracert_rag"
_LARGE_FOLDER: Final = "large"
#: The settings of the walk that are whole numbers.
_WHOLE: Final = ("max_hops", "min_passages", "min_candidates")
_CHARACTERS_PER_TOKEN: Final = 4

Matrix = npt.NDArray[np.float32]
OnProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the figures come from."""

    cpu: str
    cores: int
    system: str
    python: str
    numpy: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A median in seconds, the same arithmetic in plain NumPy, and their ratio.

    `stages` are seconds by stage; `about` holds counts that tell what was done.
    """

    seconds: float
    numpy_seconds: float
    ratio: float
    stages: dict[str, float]
    about: dict[str, float]


@dataclass(frozen=True, slots=True)
class Report:
    """All figures; `peak_mb` is the peak memory of the process of `large`, in 10^6 bytes."""

    machine: Machine
    book: str
    characters: int
    chunks: int
    runs: int
    indexing: Figure
    ask: Figure
    large: Figure
    peak_mb: float | None

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON, schema `tracert.bench/1`; times in seconds."""
        return {"schema": SCHEMA, **asdict(self)}


def bench(
    book: Path | None = None,
    *,
    runs: int = RUNS,
    large: int = LARGE,
    on_progress: OnProgress = lambda _: None,
) -> Report:
    """Measure everything.

    Args:
        book: a text to index; None makes one up.
        runs: how often each thing is done; at least 1.
        large: passages of the large corpus.
        on_progress: gets a line on what is measured now.

    Raises:
        CorpusError: the book cannot be read.
    """
    name, data = _book(book)
    with tempfile.TemporaryDirectory(prefix="tracert-bench-") as folder:
        workspace = Workspace(Path(folder))
        on_progress("indexing")
        indexing = _indexing(workspace, name, data, runs)
        on_progress("asking")
        questions = _questions(workspace.open("0"))
        ask = _asking(workspace, questions, runs)
        on_progress(f"making {large:,} passages")
        record = _enlarge(workspace.open("0"), large, Path(folder))
        on_progress(f"asking among {large:,} passages")
        among_many, peak = _apart(record, Path(folder), questions, runs)
        return Report(
            machine=machine(),
            book=name if book is not None else f"made up, seed {SEED}",
            characters=len(data.decode("utf-8", "replace")),
            chunks=workspace.corpus("0").size,
            runs=runs,
            indexing=indexing,
            ask=ask,
            large=among_many,
            peak_mb=None if peak is None else peak / 1e6,
        )


# --- plain NumPy --------------------------------------------------------------------------


def plain_pooling(table: Matrix, texts: Sequence[npt.NDArray[np.intp]]) -> Matrix:
    """Mean token vectors at unit length: what WordLlama computes once the tokens are known.

    Args:
        table: a vector a token, shape (t, d).
        texts: the tokens of each text.
    """
    means: Matrix = np.stack([table[tokens].mean(axis=0) for tokens in texts])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return means


def plain_delta(passages: Matrix, to_query: Matrix, to_goal: Matrix) -> float:
    """The longest edge of the minimax path from question to goal: Prim's algorithm.

    The tree grows from the question by its shortest edge until that into the goal is the
    shortest; infinite where there is no passage.
    """
    reach, expanded = to_query.copy(), np.zeros(len(passages), dtype=bool)
    delta, into_goal = 0.0, np.inf
    while True:
        edges = np.where(expanded, np.inf, reach)
        shortest = float(edges.min(initial=np.inf))
        if into_goal <= max(delta, shortest):
            return max(delta, into_goal)
        if shortest == np.inf:
            return np.inf
        nearest = int(np.argmin(edges))
        delta = max(delta, shortest)
        expanded[nearest] = True
        into_goal = min(into_goal, float(to_goal[nearest]))
        reach = np.minimum(reach, 1 - passages @ passages[nearest])


@dataclass(frozen=True, slots=True)
class Plain:
    """The settings of the walk that `plain_run` knows; see `tracert.methods.tracert_rag`."""

    alpha: float
    delta: float | None
    max_hops: int
    min_passages: int
    min_candidates: int

    @staticmethod
    def of(trace: Trace, delta: float | None) -> Plain:
        """Those in force in a trace, delta as it was given."""
        known = {name: float(str(trace.settings[name])) for name in ("alpha", *_WHOLE)}
        return Plain(known["alpha"], delta, **{name: int(known[name]) for name in _WHOLE})


def plain_run(matrix: Matrix, query: Matrix, goal: Matrix, settings: Plain) -> list[int]:
    """Radius, threshold and greedy walk (equations 1 to 6, algorithm 2) in float32; the rows.

    With a = v_v - v_u and b = v_g - v_u of unit vectors, a.b = d(u,v) + d(u,g) - d(v,g) and
    |a| = sqrt(2 d(u,v)), so that one product a hop gives costs, as in `tracert.methods`.
    """
    to_query = 1 - matrix @ query
    inside = np.flatnonzero(to_query <= 1 - query @ goal)
    fewest = min(settings.min_candidates, len(matrix))
    if len(inside) < fewest:
        inside = np.sort(np.argpartition(to_query, fewest - 1)[:fewest])
    passages = matrix[inside]
    to_goal = 1 - passages @ goal
    delta = settings.delta
    if delta is None:
        delta = plain_delta(passages, to_query[inside], to_goal)
    path: list[int] = []
    node, gap = query, float(1 - query @ goal)
    open_ = np.ones(len(inside), dtype=bool)
    while len(path) < settings.max_hops:
        distance = np.maximum(1 - passages @ node, 1e-7)
        penalty = 1 - (distance + gap - to_goal) / np.sqrt(4 * distance * max(gap, 1e-7))
        cost = distance + settings.alpha * penalty
        cost[~open_ | (distance > delta)] = np.inf
        best = int(np.argmin(cost))
        arrives = len(path) >= settings.min_passages and gap <= min(delta, cost[best])
        if arrives or not np.isfinite(cost[best]):
            break
        path.append(int(inside[best]))
        open_[best] = False
        node, gap = passages[best], float(to_goal[best])
    return path


# --- the measurements ---------------------------------------------------------------------


def _indexing(workspace: Workspace, name: str, data: bytes, runs: int) -> Figure:
    reports, spent = [], []
    for run in range(runs + 1):
        begun = time.perf_counter()
        reports.append(workspace.index([File(name, data)], str(run)))
        spent.append(time.perf_counter() - begun)
    chunks = reports[0].chunks
    if not chunks:
        raise CorpusError(f"{name} holds no text to measure with. {reports[0].files[0].message}")
    # The first run loads libraries and tables; it counts as the warm-up.
    warm = reports[1:]
    stages = {
        stage: statistics.median(report.seconds[stage] for report in warm)
        for stage in warm[0].seconds
    }
    rng = np.random.default_rng(SEED)
    # A fifth of the text is in two chunks: 100 characters shared of 500.
    tokens = len(data) * 5 // 4 // _CHARACTERS_PER_TOKEN
    table = rng.normal(size=(32_000, 256)).astype(np.float32)
    texts = np.array_split(rng.integers(0, len(table), tokens), chunks)
    plain = _median(lambda: plain_pooling(table, texts), runs)
    about = {"chunks": chunks, "tokens": tokens, "first_seconds": spent[0]}
    return _figure(statistics.median(spent[1:]), plain, stages, about)


def _asking(workspace: Workspace, questions: Sequence[str], runs: int) -> Figure:
    def ask(question: str) -> Trace:
        return workspace.ask(
            question, corpus="0", method=_METHOD, answer=False, with_map=False, fresh=True
        )

    snapshot = workspace.open("0")
    return _walks(ask, questions, np.array(snapshot.matrix), None, runs)


def _walks(
    ask: Callable[[str], Trace],
    questions: Sequence[str],
    matrix: Matrix,
    delta: float | None,
    runs: int,
) -> Figure:
    """The median run over all questions, beside plain NumPy from the same two vectors."""
    spent: list[float] = []
    plain: list[float] = []
    stages: dict[str, list[float]] = {}
    hops: list[int] = []
    inside: list[int] = []
    for question in questions:
        ask(question)
        for _ in range(runs):
            begun = time.perf_counter()
            trace = ask(question)
            spent.append(time.perf_counter() - begun)
            for stage, seconds in trace.cost.seconds.items():
                stages.setdefault(stage, []).append(seconds)
        hops.append(len(trace.steps))
        outside = trace.steps[0].counts.get("outside_radius", 0) if trace.steps else len(matrix)
        inside.append(len(matrix) - outside)
        vectors = {node.id: node.vector for node in trace.nodes}
        query, goal = vectors["query"], vectors["goal"]
        if query is None or goal is None or not trace.steps:
            continue
        settings = Plain.of(trace, delta)
        begun = time.perf_counter()
        for _ in range(runs):
            plain_run(matrix, query, goal, settings)
        plain.append((time.perf_counter() - begun) / runs)
    about = {
        "questions": len(questions),
        "passages": len(matrix),
        "in_corridor": statistics.median(inside),
        "steps": statistics.median(hops),
        "slowest": max(spent),
    }
    medians = {stage: statistics.median(values) for stage, values in stages.items()}
    return _figure(statistics.median(spent), statistics.median(plain), medians, about)


def _enlarge(small: Snapshot, size: int, folder: Path) -> CorpusRecord:
    """A snapshot of so many passages: those of the book, each vector turned at random."""
    fingerprint = f"{SEED:064x}"
    document = DocumentRecord("large.txt", "text", fingerprint, size, size * 500, None, "")
    record = replace(small.record, name="large", documents=(document,))
    rng = np.random.default_rng(SEED)
    block = 10_000

    def pages() -> Iterator[Page]:
        for first in range(0, size, block):
            rows = np.arange(first, min(first + block, size))
            base = small.matrix[rows % len(small.matrix)]
            noise = rng.normal(size=base.shape).astype(np.float32) / np.sqrt(base.shape[1])
            vectors = base + np.float32(_NOISE) * noise
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            chunks = [
                replace(
                    chunk,
                    id=f"{fingerprint[:12]}:{row}",
                    document=document.name,
                    document_fingerprint=fingerprint,
                    position=int(row),
                )
                for row, chunk in zip(
                    rows, small.chunks((rows % len(small.matrix)).tolist()), strict=True
                )
            ]
            yield Page(chunks, vectors, [() for _ in chunks])

    build(record, pages(), folder / _LARGE_FOLDER)
    return record


def _apart(
    record: CorpusRecord, folder: Path, questions: Sequence[str], runs: int
) -> tuple[Figure, float | None]:
    """Measure the large corpus in a process of its own, so that its memory is its own."""
    order = {
        "record": asdict(record),
        "folder": str(folder),
        "questions": list(questions),
        "runs": runs,
    }
    done = subprocess.run(
        [sys.executable, "-c", "from tracert.bench import large_main; large_main()"],
        input=json.dumps(order),
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        raise TracertError(f"The process of the large corpus failed ({last}). Free some memory.")
    found = json.loads(done.stdout)
    return Figure(**found["figure"]), found["peak"]


def large_main() -> None:
    """What the process of `_apart` runs: an order as JSON in, figure and peak memory out."""
    order = json.load(sys.stdin)
    given = order["record"]
    record = CorpusRecord(
        **given
        | {
            "chunking": Chunking(**given["chunking"]),
            "documents": tuple(DocumentRecord(**each) for each in given["documents"]),
        }
    )
    figure, peak = _asking_large(record, Path(order["folder"]), order["questions"], order["runs"])
    json.dump({"figure": asdict(figure), "peak": peak}, sys.stdout)


def _asking_large(
    record: CorpusRecord, folder: Path, questions: Sequence[str], runs: int
) -> tuple[Figure, float | None]:
    # An open store, as a process of the app has one: its memory counts.
    Workspace(folder).corpora()
    snapshot = Snapshot(record, folder_of(folder / _LARGE_FOLDER, record.fingerprint))
    resources = Resources(embed=embedder(record.embedder).embed, corpus=snapshot)
    chosen = method(_METHOD)
    settings = parse_settings(chosen.settings_type, {"delta": DELTA})
    # The matrix is loaded: every page of the mapped file is touched once.
    snapshot.matrix.sum()

    def ask(question: str) -> Trace:
        prepared = chosen.prepare(Question(question), resources)
        return collect(
            chosen.walk(prepared, settings, resources),
            method=chosen.name,
            question=question,
            prepared=prepared.cost,
        )

    for question in questions:
        ask(question)
    peak = peak_memory()
    return _walks(ask, questions, snapshot.matrix, DELTA, runs), peak


def peak_memory() -> float | None:
    """The most memory that this process has had, in bytes; None where the system tells none.

    Linux's own count is asked first: `getrusage` starts with the parent's memory there.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return float(status.split("VmHWM:", 1)[1].split()[0]) * 1024
    except (OSError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return None
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _median(work: Callable[[], object], runs: int) -> float:
    spent = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begun)
    return statistics.median(spent)


def _figure(
    seconds: float, plain: float, stages: dict[str, float], about: dict[str, float]
) -> Figure:
    return Figure(seconds, plain, seconds / plain, stages, about)


# --- what is measured with ----------------------------------------------------------------


def _book(path: Path | None) -> tuple[str, bytes]:
    if path is None:
        return "made-up.txt", made_up(BOOK).encode()
    try:
        return path.name, path.read_bytes()
    except OSError as error:
        raise CorpusError(
            f"The book {path} cannot be read ({error.strerror}). Check the path."
        ) from error


def made_up(characters: int, seed: int = SEED) -> str:
    """A text of chapters and sentences of about that length, with the word lengths of English.

    Half of the words are English function words, the others are made of syllables and drawn
    by Zipf's law.
    """
    rng = np.random.default_rng(seed)
    syllables = [a + b for a in "bcdfglmnprstvw" for b in ("a", "e", "i", "o", "u", "er", "in")]
    names = ["".join(rng.choice(syllables, rng.integers(1, 4))) for _ in range(4000)]
    common = sorted(STOP)
    out: list[str] = []
    length = 0
    while length < characters:
        if len(out) % 40 == 0:
            out.append(f"\n\nChapter {len(out) // 40 + 1}\n\n")
        words = [
            names[min(int(rng.zipf(1.3)), len(names)) - 1] if rng.random() < 0.5 else word
            for word in rng.choice(common, rng.integers(6, 30))
        ]
        out.append(" ".join(words).capitalize() + ". ")
        length += len(out[-1])
    return "".join(out)


def _questions(snapshot: Snapshot) -> list[str]:
    """Questions of the words of evenly spaced passages, so that any book serves."""
    rows = np.linspace(0, snapshot.info.size - 1, QUESTIONS).astype(int)
    questions = []
    for chunk in snapshot.chunks(rows.tolist()):
        start, end = max(sentence_spans(chunk.text), key=lambda span: span[1] - span[0])
        words = chunk.text[start:end].split()[:14]
        questions.append(f"What came before and after {' '.join(words)}?")
    return questions


def machine() -> Machine:
    """The machine of the figures."""
    return Machine(
        cpu=_cpu(),
        cores=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        numpy=np.__version__,
    )


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


# --- telling ------------------------------------------------------------------------------


def in_words(report: Report) -> str:
    """The report as a table to read."""
    here = report.machine
    rows = (
        (f"{report.chunks:,} passages loaded, chunked, embedded, stored", report.indexing),
        ("a Tracert run on them, no model", report.ask),
        (f"a run on {report.large.about['passages']:,.0f} passages, delta given", report.large),
    )
    lines = [
        f"{here.cpu}, {here.cores} cores, {here.system}, Python {here.python}, NumPy {here.numpy}",
        f"Book: {report.book}, {report.characters:,} characters; medians of {report.runs} runs.",
        "",
        f"{'':52} {'Tracert':>10} {'NumPy':>10} {'ratio':>7}",
    ]
    for label, figure in rows:
        lines.append(
            f"{label:52} {seconds(figure.seconds):>10} {seconds(figure.numpy_seconds):>10} "
            f"{figure.ratio:>6.1f}x"
        )
        stages = ", ".join(f"{stage} {seconds(value)}" for stage, value in figure.stages.items())
        lines.append(f"  {stages}")
    if report.peak_mb is not None:
        lines += ["", f"Peak memory of the process of the last: {report.peak_mb:.0f} MB."]
    return "\n".join(lines)


def seconds(value: float) -> str:
    """A duration with a fitting unit."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.2f} ms"
