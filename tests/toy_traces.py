"""Traces made by hand for the tests of the pictures and the pages: small, seeded, realistic.

The walk below is the plain arithmetic of Tracert-RAG over a toy corpus, written apart from
`tracert.methods`, so that the pictures can be tested without it.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from tracert.trace import (
    Answer,
    Candidate,
    CorpusInfo,
    Cost,
    Map,
    Node,
    NodeKind,
    Result,
    Sentence,
    Source,
    Step,
    Stop,
    StopReason,
    Trace,
)

SENTENCES = (
    "Humphry Davy took on a bookbinder's apprentice at the Royal Institution.",
    "Michael Faraday wound two coils on an iron ring and saw the needle jerk.",
    "James Clerk Maxwell read the lines of force as a theory of a field.",
    "Heinrich Hertz made sparks answer one another across a dark hall.",
    "Guglielmo Marconi carried the waves from a garden to an ocean.",
    "A pile of silver and zinc discs gave a steady current for the first time.",
    "The needle of a compass turned when the wire above it was joined.",
    "An ocean cable fell silent three weeks after its first message.",
)
DIMENSION = 24
CHUNKS = 48

HOSTILE = (
    '<script>window.pwned = true</script><img src=x onerror="window.pwned = true"> '
    '</script><b>bold</b> [link](javascript:alert(1)) href="x" **stars** $x^2$ :material/home: '
    ":red[red] # heading `code` &lt;tag&gt; \u202e reversed"
)


def _unit(vector: np.ndarray) -> np.ndarray:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def _space(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chunks strewn about an arc from the question to the goal; shapes (n, d), (d,), (d,)."""
    rng = np.random.default_rng(seed)
    start, end = (_unit(rng.normal(size=DIMENSION)) for _ in range(2))
    share = rng.uniform(0, 1, size=(CHUNKS, 1))
    chunks = (1 - share) * start + share * end + rng.normal(size=(CHUNKS, DIMENSION)) * 0.13
    chunks /= np.linalg.norm(chunks, axis=1, keepdims=True)
    return chunks.astype(np.float32), start, end


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(1 - a.astype(np.float64) @ b.astype(np.float64))


def _penalty(u: np.ndarray, v: np.ndarray, goal: np.ndarray) -> float:
    a, b = v.astype(np.float64) - u, goal.astype(np.float64) - u
    return float(1 - a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def walk_trace(
    *,
    alpha: float = 0.6,
    delta: float = 0.4,
    scale: float = 0.85,
    seed: int = 7,
    max_hops: int = 8,
    min_passages: int = 4,
    text: str | None = None,
    with_map: bool = True,
    document: str = "05-the-bookbinders-apprentice.md",
    question: str = "What did Davy's apprentice find that reached Marconi?",
) -> Trace:
    """A walk over the toy corpus; with text given, every passage and label carries it."""
    chunks, query, goal = _space(seed)
    ids = [f"toy:{row}" for row in range(CHUNKS)]
    vectors = dict(zip(ids, chunks, strict=True)) | {"query": query, "goal": goal}
    radius = scale * _distance(query, goal)
    inside = [i for i in ids if _distance(query, vectors[i]) <= radius]

    steps: list[Step] = []
    path = ["query"]
    reason = StopReason.DEAD_END if inside else StopReason.EMPTY_CORRIDOR
    while inside and len(steps) < max_hops:
        here = path[-1]
        judged: list[Candidate] = []
        for name in [*ids, "goal"]:
            if name == here:
                continue
            distance = _distance(vectors[here], vectors[name])
            penalty = _penalty(vectors[here], vectors[name], goal) if name != "goal" else 0.0
            early = name == "goal" and len(path) - 1 < min_passages
            if name != "goal" and name not in inside:
                rule, why = "outside_radius", "farther from the question than the radius"
            elif name in path:
                rule, why = "visited", "already on the path"
            elif distance > delta or early:
                rule, why = "no_edge", "no edge: farther than delta"
            else:
                rule, why = "dearer", "a cheaper neighbour was taken"
            values = {
                "distance_to_query": _distance(query, vectors[name]),
                "distance": distance,
                "penalty": penalty,
                "cost": distance + alpha * penalty,
            }
            judged.append(Candidate(name, False, rule, why, values))
        open_ = [c for c in judged if c.rule == "dearer"]
        target = min(open_, key=lambda c: c.values["cost"]).id if open_ else None
        order = {"dearer": 1, "no_edge": 2, "visited": 3, "outside_radius": 4}
        judged = [
            Candidate(c.id, True, "chosen", "the lowest cost of all", c.values)
            if c.id == target
            else c
            for c in judged
        ]
        judged.sort(key=lambda c: (0 if c.kept else order[c.rule], c.values["cost"]))
        steps.append(
            Step(
                len(steps),
                "walk",
                here,
                target,
                {
                    "radius": radius,
                    "delta": delta,
                    "alpha": alpha,
                    "distance_to_goal": _distance(vectors[here], goal),
                },
                Counter(c.rule for c in judged),
                tuple(judged),
            )
        )
        if target is None:
            reason = StopReason.DEAD_END
            break
        path.append(target)
        if target == "goal":
            reason = StopReason.GOAL_REACHED
            break
    else:
        if inside:
            reason = StopReason.MAX_HOPS
    return _trace(locals())


def _trace(run: dict) -> Trace:
    path, ids, vectors = run["path"], run["ids"], run["vectors"]
    nodes = [
        Node("query", NodeKind.QUERY, "Question", run["question"], None, run["query"]),
        Node(
            "goal", NodeKind.GOAL, "Goal", "Transmission: waves that carry words", None, run["goal"]
        ),
    ]
    for row, name in enumerate(ids):
        text = run["text"] or " ".join(SENTENCES[(row + k) % len(SENTENCES)] for k in range(3))
        source = Source(
            run["document"],
            row // 6 + 1,
            ("Chapter 5", f"Section {row // 8 + 1}"),
            row * 180,
            row * 180 + len(text),
        )
        nodes.append(Node(name, NodeKind.CHUNK, text[:40] + "…", text, source, vectors[name]))
    evidence = tuple(i for i in path if i not in {"query", "goal"})
    messages = {
        StopReason.GOAL_REACHED: ("The goal was reached.", ""),
        StopReason.DEAD_END: (
            "No unvisited neighbour is left.",
            "Raise delta or the radius scale.",
        ),
        StopReason.MAX_HOPS: ("The hop limit was reached.", "Raise the hop limit."),
        StopReason.EMPTY_CORRIDOR: ("No passage lies in the radius.", "Raise the radius scale."),
    }
    answer = (
        Answer((Sentence(SENTENCES[0], (evidence[0],)),), "extract", "Sentences of the passages.")
        if evidence
        else None
    )
    axes = np.linalg.svd(np.stack([vectors[i] for i in ids]), full_matrices=False)[2][:2]
    plane = (
        Map(
            "pca",
            0,
            {name: tuple(map(float, axes @ vector)) for name, vector in vectors.items()},
            np.stack([axes @ vectors[i] for i in ids]).astype(np.float32),
        )
        if run["with_map"]
        else None
    )
    return Trace(
        method="tracert_rag",
        question=run["question"],
        settings={
            "alpha": run["alpha"],
            "delta": run["delta"],
            "radius_scale": run["scale"],
            "max_hops": run["max_hops"],
            "goal_source": "offline",
        },
        seed=0,
        corpus=CorpusInfo("The Long Spark", "f" * 64, "toy", DIMENSION, CHUNKS),
        nodes=tuple(nodes),
        steps=tuple(run["steps"]),
        result=Result(tuple(path), evidence, Stop(run["reason"], *messages[run["reason"]]), answer),
        map=plane,
        cost=Cost({"embed": 0.002, "walk": 0.0007}),
    )
