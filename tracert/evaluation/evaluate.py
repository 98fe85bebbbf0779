"""A method on questions whose gold passages are known, beside plain top-k at equal budget.

The budget is the number of passages that a method may return in all. A method that returns
fewer is filled up with plain top-k, and the share filled is told. The baseline is native_rag
with the same embedder and the same first stage, given question by question as many passages as
the method returned; plain top-k by vectors and BM25 stand beside it at the same number.

`evaluate` measures a method on a file in one call. A `Run` does the same question by question,
so that a page can show how far it is, stop it and go on with it later:

    ground = pool_ground(data, passages, embedder, folder)
    run = Run(ground, method("treehop"), k=10)
    details = [run.detail(index) for index in range(len(run.items))]
    report = run.evaluation(details)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from tracert.embedding.base import Embedder
from tracert.errors import SettingError
from tracert.evaluation.asked import Asked
from tracert.evaluation.detail import BASELINE, BM25, DENSE, Detail, gathered
from tracert.evaluation.ground import Ground, pool_ground
from tracert.evaluation.summary import Evaluation, Setup, versions
from tracert.language.base import ChatModel
from tracert.methods.base import (
    Method,
    Question,
    Resources,
    collect,
    parse_settings,
    settings_values,
)
from tracert.methods.native_rag import NativeRag
from tracert.trace import Trace, Value

OnProgress = Callable[[str, int, int], None]

#: Passages that a method may return where neither `k` nor the settings say so.
BUDGET: Final = 5


class Run:
    """One method with its settings over one ground, question by question.

    Threads may ask different questions at once, where method, embedder and model allow it.
    """

    def __init__(
        self,
        ground: Ground,
        method: Method,
        *,
        k: int = BUDGET,
        hops: int | None = None,
        settings: Mapping[str, Value] | None = None,
        model: ChatModel | None = None,
    ) -> None:
        """Check the settings; nothing is asked yet.

        Args:
            ground: where the questions are sought.
            method: one that walks what the ground is.
            k: the budget; the method's `k` unless `settings` give one.
            hops: the method's `hops`, if it has any.
            settings: the method's own settings.
            model: a chat model for a method that asks one.

        Raises:
            SettingError: the method walks something else, or a setting is wrong.
        """
        self.ground = ground
        self.method = method
        self.model = model
        self._settings = _settings(ground, method, k, hops, settings or {})
        self.settings: Mapping[str, Value] = settings_values(self._settings)
        per_hop = self.settings.get("k_per_hop") is not None
        most = self.settings.get(_places(method) or "", k)
        #: The passages that the method may return in all; None: as many as it likes.
        self.budget = None if per_hop else int(str(most))

    @property
    def items(self) -> Sequence[Asked]:
        """The questions, in the order of their file."""
        return self.ground.items

    @property
    def setup(self) -> Setup:
        """All that has to be said for another to repeat the run."""
        ground = self.ground
        return Setup(
            data=ground.data,
            source=ground.source,
            kind=ground.kind,
            size=ground.size,
            fingerprint=ground.over.info.fingerprint,
            method=self.method.name,
            settings=self.settings,
            budget=self.budget,
            embedder=ground.embedder.name,
            model="" if self.model is None else self.model.name,
            left_out=ground.left_out,
            faults=ground.faults,
            versions=versions(),
        )

    def detail(self, index: int) -> Detail:
        """Ask one question and measure what came.

        Raises:
            TracertError: the method failed on it, see its own errors.
        """
        item = self.items[index]
        memory = _Memory(self.ground.embedder)
        begun = time.perf_counter()
        trace = self._ask(item.question, memory, self.method, self._settings)
        spent = time.perf_counter() - begun
        own = list(dict.fromkeys(trace.result.evidence))
        if self.budget is not None:
            own = own[: self.budget]
        count = len(own) if self.budget is None else self.budget
        vector = memory.vector(item.question)
        stage = str(self.settings.get("first_stage", DENSE))
        nearest = self.ground.nearest

        baseline = nearest(item.question, vector, stage, count)
        dense = baseline if stage == DENSE else nearest(item.question, vector, DENSE, count)
        words = baseline if stage == BM25 else nearest(item.question, vector, BM25, count)
        evidence = list(own)
        if len(own) < count:
            wider = nearest(item.question, vector, stage, count + len(own))
            evidence += [id for id in wider if id not in set(own)][: count - len(own)]
        return Detail(
            id=item.id,
            question=item.question,
            type=item.type,
            n_hops=item.n_hops,
            gold=item.gold,
            edges=item.edges,
            evidence=tuple(evidence),
            filled=len(evidence) - len(own),
            references={BASELINE: tuple(baseline), DENSE: tuple(dense), BM25: tuple(words)},
            hops=gathered(trace),
            stop=trace.result.stop.reason.value,
            seconds={**trace.cost.seconds, "all": spent},
            model_calls=trace.cost.model_calls,
            tokens=trace.cost.prompt_tokens + trace.cost.completion_tokens,
        )

    def trace(self, index: int) -> Trace:
        """The method's walk on one question, asked anew, to be looked at."""
        item = self.items[index]
        return self._ask(item.question, _Memory(self.ground.embedder), self.method, self._settings)

    def baseline_trace(self, index: int, count: int) -> Trace | None:
        """Plain top-k of the same first stage at `count` passages; None over notes."""
        if self.ground.needs != "corpus":
            return None
        method = NativeRag()
        stage = self.settings.get("first_stage", DENSE)
        settings = parse_settings(method.settings_type, {"k": count, "first_stage": stage})
        question = self.items[index].question
        return self._ask(question, _Memory(self.ground.embedder), method, settings)

    def evaluation(self, details: Sequence[Detail]) -> Evaluation:
        """What the questions asked so far amount to; at least one."""
        return Evaluation(self.setup, tuple(details))

    def _ask(self, question: str, memory: _Memory, method: Method, settings: Any) -> Trace:
        over = self.ground.over
        notes = self.ground.needs == "knowledge"
        resources = Resources(
            memory.embed,
            None if notes else over,
            self.model,
            over if notes else None,
            self.ground.folder,
        )
        prepared = method.prepare(Question(question), resources)
        walk = method.walk(prepared, settings, resources)
        return collect(walk, method=method.name, question=question, prepared=prepared.cost)


def evaluate(
    data: Path,
    passages: Path | None,
    method: Method,
    embedder: Embedder,
    folder: Path,
    *,
    k: int = BUDGET,
    hops: int | None = None,
    settings: Mapping[str, Value] | None = None,
    model: ChatModel | None = None,
    on_progress: OnProgress = lambda _what, _done, _of: None,
) -> Evaluation:
    """Run a method on each question of a file.

    Args:
        data: the questions, see `tracert.evaluation.datasets`.
        passages: the pool that they are searched in; None pools the questions' own paragraphs.
        method: one that walks a corpus.
        embedder: makes the vectors of passages and questions.
        folder: the data folder, where vectors are kept between runs.
        k: the budget; the method's `k` unless `settings` give one.
        hops: the method's `hops`, if it has any.
        settings: the method's own settings.
        model: a chat model for a method that asks one.
        on_progress: gets what is done now, how much of how many.

    Raises:
        DatasetError: a file cannot be used, or no question has a gold passage in the pool.
        SettingError: the method walks no corpus, or a setting is wrong.
    """
    ground = pool_ground(data, passages, embedder, folder, on_progress=on_progress)
    return finish(Run(ground, method, k=k, hops=hops, settings=settings, model=model), on_progress)


def finish(run: Run, on_progress: OnProgress = lambda _what, _done, _of: None) -> Evaluation:
    """Ask every question of a run."""
    details = []
    for index in range(len(run.items)):
        details.append(run.detail(index))
        on_progress("ask", index + 1, len(run.items))
    return run.evaluation(details)


class _Memory:
    """Embeds, and knows the last vectors by text: plain search takes the method's own."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = self._embedder.embed(texts)
        self._known.update(zip(texts, vectors, strict=True))
        return vectors

    def vector(self, text: str) -> npt.NDArray[np.float32]:
        if text not in self._known:
            self.embed([text])
        return self._known[text]


def suits(method: Method, needs: Literal["corpus", "knowledge"]) -> None:
    """Say that a method cannot be measured where its questions are sought.

    Raises:
        SettingError: the method walks a corpus and these are notes, or the other way round.
    """
    if method.needs != needs:
        walked, here = ("notes", "a corpus") if needs == "corpus" else ("a corpus", "notes")
        raise SettingError(
            f"The method {method.name!r} walks {walked}; these questions are sought in {here}."
        )


def _places(method: Method) -> str | None:
    """The setting that says how many passages or notes the method returns, if it has one."""
    known = {field.name for field in fields(method.settings_type)}
    return next((name for name in ("k", "evidence") if name in known), None)


def _settings(
    ground: Ground, method: Method, k: int, hops: int | None, given: Mapping[str, Value]
) -> Any:
    suits(method, ground.needs)
    known = {field.name for field in fields(method.settings_type)}
    values: dict[str, Value] = {}
    places = _places(method)
    if places is not None:
        values[places] = k
    if hops is not None:
        if "hops" not in known:
            raise SettingError(f"The method {method.name!r} has no setting 'hops'. Leave it out.")
        values["hops"] = hops
    return parse_settings(method.settings_type, {**values, **given})
