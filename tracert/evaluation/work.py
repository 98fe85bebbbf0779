"""A kept run at work: its data opened, its questions asked one after the other, its results read.

`Head.ground` of a run is one of

    {kind "pool"}                      files: data and, where there is a pool of its own, passages
    {kind "corpus", corpus}            files: data; the name of a corpus of the library
    {kind "notes", folder, name}       files: data; a folder of notes, '' for the built-in ones

All methods are asked a question before the next one comes, so that a run that was stopped has the
same questions of all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from tracert.corpus.model import Corpus
from tracert.embedding.base import Embedder
from tracert.errors import CancelledError, DatasetError, TracertError
from tracert.evaluation.detail import Detail
from tracert.evaluation.evaluate import Run
from tracert.evaluation.ground import Ground, corpus_ground, notes_ground, pool_ground
from tracert.evaluation.making import OnMaking, made
from tracert.evaluation.run import Head, MethodPlan, State
from tracert.evaluation.runs import Runs
from tracert.evaluation.summary import Evaluation, Setup
from tracert.language.base import ChatModel
from tracert.methods.base import calls_of, parse_settings
from tracert.methods.registry import method
from tracert.workspace import Workspace, builtin_folder

#: What is done, in order.
STAGES: Final = ("open", "embed", "make", "ask")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: `done` of `total` in this stage.

    `seconds_left` is None before there is a pace; `item` names what is done now: a question,
    or a part of a graph that is made.
    """

    stage: str
    done: int
    total: int
    seconds_left: float | None = None
    item: str = ""


Tell = Callable[[Progress], None]
Stopped = Callable[[], bool]


def _quiet(_progress: Progress) -> None:
    return None


def _never() -> bool:
    return False


def open_ground(
    runs: Runs,
    head: Head,
    space: Workspace,
    embedder: Embedder,
    *,
    tell: Tell = _quiet,
    stopped: Stopped = _never,
) -> Ground:
    """The questions of a run and what they are searched in.

    Raises:
        DatasetError: a file is gone or cannot be used, or what is searched has changed since.
        CorpusError, KnowledgeError: the corpus or the notes are gone.
        CancelledError: `stopped` said so.
    """
    data = runs.file(head, "data")
    kind = head.ground.get("kind")
    if kind == "pool":
        passages = runs.file(head, "passages") if "passages" in head.files else None

        def embedding(_what: str, done: int, of: int) -> None:
            _check(stopped)
            tell(Progress("embed", done, of))

        ground = pool_ground(data, passages, embedder, space.path, on_progress=embedding)
    elif kind == "corpus":
        snapshot = space.open(str(head.ground.get("corpus")))
        ground = corpus_ground(snapshot, data, embedder, space.path)
    elif kind == "notes":
        folder = _notes_folder(str(head.ground.get("folder") or ""))
        name = str(head.ground.get("name") or "")
        opened = space.open_notes(folder, embedder=embedder, name=name)
        ground = notes_ground(opened, data, embedder, space.path)
    else:
        raise DatasetError("This run is of another version. Delete it and start a new one.")
    state = runs.state(head)
    if state is not None and not _same(state, ground):
        raise DatasetError(
            f"{ground.source} has changed since this run began, so its questions cannot be "
            "compared with new ones. Start a new run."
        )
    return ground


def runs_of(
    ground: Ground, head: Head, model: ChatModel | None, *, brief: bool = False
) -> list[Run]:
    """A run for each method of a kept run.

    Args:
        ground: its data.
        head: the run.
        model: asked only if the run asks one.
        brief: let a trace name no more candidates than the budget, so that the time taken is the
            method's and not that of writing down what it passed over. No result depends on it.

    Raises:
        SettingError: a setting or a method is not known any more.
    """
    asked = model if head.asks_model else None
    made = []
    for plan in head.methods:
        chosen = method(plan.name)
        known = {field.name for field in fields(chosen.settings_type)}
        kept = {"candidates_kept": head.k} if brief and "candidates_kept" in known else {}
        settings = {**kept, **plan.settings}
        made.append(Run(ground, chosen, k=head.k, settings=settings, model=asked))
    return made


def go_on(
    runs: Runs,
    head: Head,
    space: Workspace,
    embedder: Embedder,
    model: ChatModel | None,
    tell: Tell = _quiet,
    stopped: Stopped = _never,
) -> None:
    """Ask what a run has not asked yet, and keep each question as it is done.

    Raises:
        CancelledError: `stopped` said so; what was asked is kept.
        TracertError: the data cannot be used, or a method failed; what was asked is kept.
    """
    tell(Progress("open", 0, 1))
    with runs.writer(head) as writer:
        ground = open_ground(runs, head, space, embedder, tell=tell, stopped=stopped)
        each = runs_of(ground, head, model, brief=True)
        cost = [made(run, _making(tell), stopped) for run in each]
        if runs.state(head) is None:
            runs.settle(head, _state(ground, each, cost))
        done = set(runs.done(head, Detail.from_dict).details)
        total = len(ground.items) * len(each)
        begun, before = time.monotonic(), len(done)
        for question, item in enumerate(ground.items):
            for place, run in enumerate(each):
                if (place, question) in done:
                    continue
                _check(stopped)
                tell(_pace(len(done), before, total, begun, item.question))
                try:
                    detail = run.detail(question)
                except CancelledError:
                    raise
                except TracertError as error:
                    raise DatasetError(
                        f"{head.methods[place].label} failed on question {question + 1}: {error} "
                        "What was asked before is kept; resume the run when that is mended."
                    ) from error
                writer.add(place, question, detail.to_dict())
                done.add((place, question))
        tell(Progress("ask", total, total))


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """What a kept run gives so far.

    Attributes:
        evaluations: a method each, all over the same questions.
        questions: the places of these questions in the file, in order.
        total: how many questions there are.
        message: a sentence about damaged lines, or ''.
        making: what making an index cost each method: seconds, calls, tokens; empty without one.
    """

    evaluations: tuple[Evaluation, ...]
    questions: tuple[int, ...]
    total: int
    message: str
    making: tuple[Mapping[str, Any], ...]


def results(runs: Runs, head: Head) -> Results | None:
    """The questions that every method of a run was asked; None where there is none yet.

    Raises:
        DatasetError: what the run says of its data is damaged.
    """
    state = runs.state(head)
    if state is None:
        return None
    done = runs.done(head, Detail.from_dict)
    whole = [
        question
        for question in range(state.questions)
        if all((place, question) in done.details for place in range(len(head.methods)))
    ]
    if not whole:
        return None
    evaluations = tuple(
        Evaluation(
            Setup.from_dict(setup), tuple(done.details[place, question] for question in whole)
        )
        for place, setup in enumerate(state.setups)
    )
    making = tuple(dict(setup.get("making") or {}) for setup in state.setups)
    return Results(evaluations, tuple(whole), state.questions, done.message, making)


# --- calls of a model -----------------------------------------------------------------------


def model_calls(plan: MethodPlan, questions: int, over: Corpus | None) -> int:
    """About how many calls of a model a method makes for so many questions, if it has one.

    An upper end but for a walk through notes, where a question that holds several is walked for
    each; replies that are at hand already are not counted off.

    Args:
        plan: the method with its settings.
        questions: how many there are.
        over: the corpus, of which an index is made with the model; None where it is not open.

    Raises:
        SettingError: a setting or the method is unknown.
    """
    chosen = method(plan.name)
    return calls_of(chosen, parse_settings(chosen.settings_type, plan.settings), over).of(questions)


# --- inner --------------------------------------------------------------------------------


def _check(stopped: Stopped) -> None:
    if stopped():
        raise CancelledError("The run was stopped.")


def _pace(done: int, before: int, total: int, begun: float, item: str) -> Progress:
    spent = time.monotonic() - begun
    asked = done - before
    left = spent / asked * (total - done) if asked and spent > 0.5 else None
    return Progress("ask", done, total, left, item)


def _notes_folder(named: str) -> Path:
    if named:
        return Path(named)
    folder = builtin_folder()
    if folder is None:
        raise DatasetError("The built-in notes are not here. Run Tracert from its own folder.")
    return folder.parent / "notes"


def _same(state: State, ground: Ground) -> bool:
    fingerprint = ground.over.info.fingerprint
    return state.questions == len(ground.items) and all(
        setup.get("fingerprint") == fingerprint for setup in state.setups
    )


def _making(tell: Tell) -> OnMaking:
    return lambda done, of, what: tell(Progress("make", done, of, item=what))


def _state(ground: Ground, each: Sequence[Run], cost: Sequence[Mapping[str, Any]]) -> State:
    setups = [
        {**run.setup.to_dict(), "making": dict(making)}
        for run, making in zip(each, cost, strict=True)
    ]
    return State(len(ground.items), tuple(setups))
