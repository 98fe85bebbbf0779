"""Fits TreeHop's light gates by InfoNCE over the full corpus, from the forget rule on.

For a hop (q, c, d) and q' = model(q, c),

    loss = -log( exp(q'.d / t) / (exp(q'.d / t) + sum over negatives e of w_e exp(q'.e / t)) )

van den Oord et al., 'Representation Learning with Contrastive Predictive Coding', 2018. t is the
temperature; w_e is 1, or `logical` for a logical distractor. The embedder is frozen. After each
epoch the weights are measured as they are used, by recall at equal budget on questions held
out; the best epoch is kept, the forget rule being epoch 0, and training stops after some without
a gain. Every epoch seeds itself, so that a run that was resumed equals one that was not.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import torch
from safetensors.numpy import save

from tracert.embedding.base import Embedder
from tracert.errors import DatasetError, SettingError
from tracert.evaluation.datasets import Item, read_items
from tracert.evaluation.metrics import recall
from tracert.evaluation.pool import vectors
from tracert.methods.treehop import TreeHopSettings, alone_flags, retrieve
from tracert.methods.treehop.gates import ForgetRule, QueryModel
from tracert.methods.treehop.weights import Tensors, model_of
from tracert.training.composition import compose
from tracert.training.contrast import Contrast, Space, contrast, distinct_passages
from tracert.training.gates import LightGates
from tracert.training.topology import Checked, Dropped, check
from tracert.whole import whole

#: Budgets at which held-out questions are measured, as in the README's table.
BUDGETS: Final = (5, 8, 10)
#: Logits that take no part in a softmax.
_OUT: Final = -1e9

OnProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How the gates are fitted.

    `rank` None trains full matrices, 0 diagonals, else that low rank. `logical` is the weight of
    a logical distractor in the loss. `shortcuts` keeps hops whose passage in hand holds the
    answer already. `models` are trained with seeds of their own and their weights averaged:
    they start at one point, so that the average lies between them and is less noisy.
    """

    gamma: float = 0.3
    rank: int | None = None
    temperature: float = 0.03
    learning_rate: float = 4e-4
    epochs: int = 10
    patience: int = 3
    batch: int = 64
    dropout: float = 0.5
    logical: float = 1.0
    shortcuts: bool = True
    held_out: float = 0.1
    models: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            SettingError: a value is out of its range.
        """
        checks = (
            ("temperature", self.temperature > 0, "above 0"),
            ("learning_rate", self.learning_rate > 0, "above 0"),
            ("epochs", self.epochs >= 1, "at least 1"),
            ("patience", self.patience >= 1, "at least 1"),
            ("batch", self.batch >= 1, "at least 1"),
            ("dropout", 0 <= self.dropout < 1, "0 to below 1"),
            ("logical", self.logical > 0, "above 0"),
            ("held_out", 0 < self.held_out < 1, "between 0 and 1"),
            ("models", self.models >= 1, "at least 1"),
            ("rank", self.rank is None or self.rank >= 0, "0 or more"),
        )
        for name, holds, wanted in checks:
            if not holds:
                raise SettingError(f"{name}={getattr(self, name)} is out of range. Pass {wanted}.")


@dataclass(frozen=True, slots=True)
class Epoch:
    """The mean loss and the held-out gain over top-k, in points, after an epoch.

    Before the first epoch there is no loss, None.
    """

    number: int
    loss: float | None
    gain: float


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What was trained on what, and what came of it.

    `gains` are points of recall over plain top-k at equal budget on held-out questions, by
    budget, of the weights and of the forget rule from which they started.
    """

    data: tuple[str, ...]
    datasets: tuple[str, ...]
    embedder: str
    dimension: int
    settings: TrainingSettings
    questions: int
    held_out: int
    hops: int
    passages: int
    dropped: dict[str, int]
    history: tuple[tuple[Epoch, ...], ...]
    gains: dict[str, float]
    forget_rule_gains: dict[str, float]
    parameters: int

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON, schema `tracert.training/1`."""
        return {"schema": "tracert.training/1", **asdict(self)}


def train(
    data: Sequence[Path],
    embedder: Embedder,
    out: Path,
    folder: Path,
    settings: TrainingSettings | None = None,
    *,
    resume: bool = False,
    on_progress: OnProgress = lambda _line: None,
) -> TrainingReport:
    """Train gates for an embedder and write them to `out` as float16 safetensors.

    Args:
        data: files of questions, see `tracert.evaluation.datasets`.
        embedder: whose vectors the gates are for; it stays as it is.
        out: the file of weights.
        folder: where vectors are kept between runs.
        settings: how to fit.
        resume: go on from the checkpoint beside `out`, if it is of the same data and settings.
        on_progress: gets a line on what is done.

    Raises:
        DatasetError: a file cannot be used, or no hop is left to learn.
        SettingError: `out` cannot be written, or the checkpoint is of another run.
    """
    settings = settings or TrainingSettings()
    if out.suffix != ".safetensors":
        raise SettingError(f"{out.name} has to end in .safetensors.")
    items = [item for path in data for item in read_items(path)]
    space = _space(items, embedder, folder, on_progress)
    inside, outside = _split(items, settings)
    checked = check(compose(inside), shortcuts=settings.shortcuts)
    hops = contrast(checked.kept, space)
    if len(hops) == 0 or not outside:
        raise DatasetError(
            "No hop is left to learn from. Name files whose questions have ordered hops, and "
            "some of them to hold out."
        )
    on_progress(_summary(checked, hops, outside))
    run = _Run(space, hops, _Held(space, outside), settings, embedder.identity)
    checkpoint = _Checkpoint(out.with_suffix(".checkpoint"), run.key(data), resume)
    finished = [run.fit(number, checkpoint, on_progress) for number in range(settings.models)]
    tensors = _average([tensors for tensors, _ in finished])
    _save(out, tensors, settings, embedder)
    checkpoint.remove()
    model = model_of(tensors, {"gamma": str(settings.gamma)}, out.stem)
    return TrainingReport(
        data=tuple(path.name for path in data),
        datasets=tuple(sorted({item.dataset for item in items if item.dataset})),
        embedder=embedder.identity,
        dimension=space.questions.shape[1],
        settings=settings,
        questions=len(checked.kept),
        held_out=len(outside),
        hops=len(hops),
        passages=len(space.passages),
        dropped={reason.value: checked.dropped.get(reason, 0) for reason in Dropped},
        history=tuple(history for _, history in finished),
        gains=run.held.gains(model),
        forget_rule_gains=run.held.gains(ForgetRule(settings.gamma)),
        parameters=sum(tensor.size for tensor in tensors.values()),
    )


def _space(
    items: Sequence[Item], embedder: Embedder, folder: Path, on_progress: OnProgress
) -> Space:
    rows = distinct_passages(items)
    texts = [passage.embedded for passage in rows]
    passages = vectors(
        texts, embedder, folder, lambda done, of: on_progress(f"embed: {done:,} of {of:,}")
    )
    questions = vectors([item.question for item in items], embedder, folder)
    return Space(tuple(items), rows, questions, passages)


def _split(items: Sequence[Item], settings: TrainingSettings) -> tuple[list[Item], list[Item]]:
    """Learn from and held out, by a hash of the question's id: the same in every run."""
    inside: list[Item] = []
    outside: list[Item] = []
    for item in items:
        digest = hashlib.sha256(item.id.encode()).digest()
        share = int.from_bytes(digest[:8], "big") / 2**64
        (outside if share < settings.held_out and item.supporting else inside).append(item)
    return inside, outside


def _summary(checked: Checked, hops: Contrast, outside: Sequence[Item]) -> str:
    lost = ", ".join(f"{count} since {reason.value}" for reason, count in checked.dropped.items())
    return (
        f"{len(hops)} hops of {len(checked.kept)} questions; dropped {lost or 'none'}; "
        f"{len(outside)} questions held out"
    )


# --- measuring ----------------------------------------------------------------------------


class _Held:
    """The questions held out, and what plain top-k finds for them."""

    def __init__(self, space: Space, items: Sequence[Item]) -> None:
        place = {id(item): index for index, item in enumerate(space.items)}
        self._matrix = space.passages
        self._vectors = space.questions[[place[id(item)] for item in items]]
        self._questions = [item.question for item in items]
        self._gold = [
            {space.rows[item.paragraphs[paragraph]] for paragraph in item.supporting}
            for item in items
        ]
        self._baseline = {
            budget: self._recall(ForgetRule(), TreeHopSettings(k=budget, hops=1))
            for budget in BUDGETS
        }

    def gains(self, model: QueryModel) -> dict[str, float]:
        """Points of recall over plain top-k, by budget."""
        return {
            str(budget): 100.0
            * (self._recall(model, TreeHopSettings(k=budget)) - self._baseline[budget])
            for budget in BUDGETS
        }

    def _recall(self, model: QueryModel, settings: TreeHopSettings) -> float:
        alone = alone_flags(self._questions, settings)
        found = retrieve(model, self._vectors, self._matrix, settings, alone)
        return float(
            np.mean([recall(each.rows, gold) for each, gold in zip(found, self._gold, strict=True)])
        )


# --- fitting ------------------------------------------------------------------------------


class _Run:
    """One model after another on the same hops."""

    def __init__(
        self, space: Space, hops: Contrast, held: _Held, settings: TrainingSettings, identity: str
    ) -> None:
        self.space, self.hops, self.held, self.settings = space, hops, held, settings
        self._identity = identity
        # A copy: the vectors may be a read-only map of a file, which torch does not take.
        self._questions = torch.from_numpy(np.array(space.questions))
        self._passages = torch.from_numpy(np.array(space.passages))

    def key(self, data: Sequence[Path]) -> str:
        """What a checkpoint has to agree on."""
        digest = hashlib.sha256()
        for part in (
            self._identity,
            json.dumps(asdict(self.settings), sort_keys=True),
            *(path.name for path in data),
        ):
            digest.update(part.encode() + b"\0")
        for rows in (self.hops.query, self.hops.start, self.hops.end):
            digest.update(rows.tobytes())
        return digest.hexdigest()

    def fit(
        self, number: int, checkpoint: _Checkpoint, on_progress: OnProgress
    ) -> tuple[Tensors, tuple[Epoch, ...]]:
        """Train the model of that number; its best tensors and its history."""
        settings = self.settings
        seed = settings.seed + number
        torch.manual_seed(seed)
        size = self.space.questions.shape[1]
        model = LightGates(size, settings.gamma, settings.rank, settings.dropout)
        optimiser = torch.optim.AdamW(
            model.parameters(), lr=settings.learning_rate, weight_decay=0.0
        )
        state = checkpoint.load(number)
        if state is None:
            start = _gain(self.held.gains(ForgetRule(settings.gamma)))
            progress = _Progress([Epoch(0, None, start)], model.tensors())
        else:
            model.load_state_dict(state["model"])
            optimiser.load_state_dict(state["optimiser"])
            progress = _Progress(
                [Epoch(*entry) for entry in state["history"]],
                {name: tensor.numpy() for name, tensor in state["best"].items()},
            )
        while not progress.done(settings):
            epoch = len(progress.history)
            loss = self._epoch(model, optimiser, epoch, seed)
            tensors = model.tensors()
            gained = _gain(
                self.held.gains(model_of(tensors, {"gamma": str(settings.gamma)}, "training"))
            )
            progress.add(Epoch(epoch, loss, gained), tensors)
            checkpoint.save(number, model, optimiser, progress)
            on_progress(
                f"model {number + 1} of {settings.models}, epoch {epoch} of {settings.epochs}: "
                f"loss {loss:.4f}, held-out gain {gained:+.2f} points (at the start "
                f"{progress.history[0].gain:+.2f})"
            )
        return progress.best, tuple(progress.history)

    def _epoch(
        self, model: LightGates, optimiser: torch.optim.Optimizer, epoch: int, seed: int
    ) -> float:
        """One pass over the hops in an order of its own; the mean loss."""
        settings, hops = self.settings, self.hops
        order = np.random.default_rng((seed, epoch)).permutation(len(hops))
        torch.manual_seed(1_000_003 * seed + epoch)
        model.train()
        starts = range(0, len(order), settings.batch)
        steps = len(starts) * settings.epochs
        total = 0.0
        for place, start in enumerate(starts):
            done = (epoch - 1) * len(starts) + place
            for group in optimiser.param_groups:
                # Falls evenly to zero over all epochs.
                group["lr"] = settings.learning_rate * (1.0 - done / steps)
            batch = order[start : start + settings.batch]
            loss = self._loss(model, batch)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            total += float(loss.detach()) * len(batch)
        model.eval()
        return total / len(order)

    def _loss(self, model: LightGates, batch: np.ndarray) -> torch.Tensor:
        hops = self.hops
        moved = model(self._questions[hops.query[batch]], self._passages[hops.start[batch]])
        logits = moved @ self._passages.T / self.settings.temperature
        if self.settings.logical != 1.0:
            logits = logits + self._weights(batch)
        rows = np.concatenate([np.full(len(hops.excluded[hop]), n) for n, hop in enumerate(batch)])
        columns = np.concatenate([hops.excluded[hop] for hop in batch])
        logits = logits.index_put(
            (torch.from_numpy(rows.astype(np.int64)), torch.from_numpy(columns.astype(np.int64))),
            torch.tensor(_OUT),
        )
        return torch.nn.functional.cross_entropy(
            logits, torch.from_numpy(hops.end[batch].astype(np.int64))
        )

    def _weights(self, batch: np.ndarray) -> torch.Tensor:
        """The log of w for the logical distractors, 0 for all else: adding it multiplies by w."""
        weights = torch.zeros(len(batch), len(self._passages))
        for place, hop in enumerate(batch):
            weights[place, self.hops.logical[hop]] = math.log(self.settings.logical)
        return weights


def _gain(gains: dict[str, float]) -> float:
    return sum(gains.values()) / len(gains)


@dataclass(slots=True)
class _Progress:
    """The epochs so far and the tensors of the best."""

    history: list[Epoch]
    best: Tensors

    def add(self, epoch: Epoch, tensors: Tensors) -> None:
        if epoch.gain > max(each.gain for each in self.history):
            self.best = tensors
        self.history.append(epoch)

    def done(self, settings: TrainingSettings) -> bool:
        best = max(range(len(self.history)), key=lambda place: self.history[place].gain)
        last = len(self.history) - 1
        return last >= settings.epochs or last - best >= settings.patience


class _Checkpoint:
    """Where a run stands, beside its weights; removed when they are written."""

    def __init__(self, path: Path, key: str, resume: bool) -> None:
        self._path, self._key = path, key
        self._states: dict[int, Any] = {}
        if resume and path.is_file():
            # weights_only: a checkpoint is tensors and numbers, nothing that runs.
            saved = torch.load(path, weights_only=True)
            if saved["key"] != key:
                raise SettingError(
                    f"{path.name} is of other data or settings. Delete it or leave out --resume."
                )
            self._states = saved["states"]

    def load(self, number: int) -> Any:
        return self._states.get(number)

    def save(
        self,
        number: int,
        model: LightGates,
        optimiser: torch.optim.Optimizer,
        progress: _Progress,
    ) -> None:
        self._states[number] = {
            "model": model.state_dict(),
            "optimiser": optimiser.state_dict(),
            "history": [(each.number, each.loss, each.gain) for each in progress.history],
            "best": {
                name: torch.from_numpy(np.array(tensor)) for name, tensor in progress.best.items()
            },
        }
        kept = {"key": self._key, "states": self._states}
        _written(self._path, lambda file: torch.save(kept, file))

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)


def _average(models: Sequence[Tensors]) -> Tensors:
    return {
        name: np.stack([tensors[name] for tensors in models]).mean(axis=0).astype(np.float32)
        for name in models[0]
    }


def _save(out: Path, tensors: Tensors, settings: TrainingSettings, embedder: Embedder) -> None:
    metadata = {
        "format": "tracert.treehop/1",
        "architecture": "light",
        "gamma": str(settings.gamma),
        "embedder": embedder.identity,
        "seed": str(settings.seed),
    }
    half = {name: tensor.astype(np.float16) for name, tensor in tensors.items()}
    data = save(half, metadata)
    _written(out, lambda file: file.write(data))


def _written(path: Path, write: Callable[[BinaryIO], object]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as file:
            write(file)
    except OSError as error:
        raise SettingError(
            f"{path} cannot be written ({error.strerror}). Name another file."
        ) from error


def with_values(settings: TrainingSettings, **values: Any) -> TrainingSettings:
    """The settings with those values that are not None."""
    return replace(settings, **{name: value for name, value in values.items() if value is not None})
