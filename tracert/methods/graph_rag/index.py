"""The graph of a corpus: made once, kept in memory and on disk by the corpus's fingerprint.

With a model, blocks of passages are read by it up to a limit, spread over the corpus, and the
rest by the offline extractor; so are summaries. Every reply is saved, so that what was
interrupted, stopped by a budget or by the person, goes on where it was, and a higher limit only
adds. A graph that a failing model left incomplete is used, says so, and is not kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock
from typing import Final, Literal

from tracert.corpus.model import Chunk, Corpus
from tracert.errors import CancelledError, ModelError, StoreError
from tracert.home import derived
from tracert.language.base import ChatModel, Message
from tracert.methods._replies import Replies
from tracert.methods.graph_rag import reading, summaries
from tracert.methods.graph_rag.building import Extraction, Links, communities, link
from tracert.methods.graph_rag.graph import Community, Entity, Graph, Relation
from tracert.methods.graph_rag.names import find_names, named_sentences
from tracert.recent import Recent
from tracert.trace import Cost
from tracert.whole import whole

#: Raised when the same text would give another graph.
VERSION: Final = 1
#: Calls of the model at once.
_THREADS: Final = 4
#: Passages read out of the corpus at once.
_PAGE: Final = 4096
_GRAPHS: Final[Recent[Graph]] = Recent(4)


@dataclass(frozen=True, slots=True)
class Limits:
    """How many calls of the model the reading and the summaries may take."""

    reading: int
    summaries: int


@dataclass(frozen=True, slots=True)
class Making:
    """How far the making is: `done` of `total` passages named, calls of the model, or summaries."""

    stage: Literal["names", "reading", "communities", "summaries"]
    done: int
    total: int


OnMaking = Callable[[Making], None]
Cancelled = Callable[[], bool]


def graph_of(
    corpus: Corpus,
    model: ChatModel | None,
    limits: Limits,
    root: Path,
    *,
    on_progress: OnMaking | None = None,
    cancelled: Cancelled | None = None,
) -> tuple[Graph, Cost]:
    """The graph of a corpus, and what making it cost just now: nothing where it was there.

    Args:
        corpus: the passages.
        model: what reads and sums up; None works offline.
        limits: how often the model is asked; 0 asks nothing.
        root: the data folder.
        on_progress: told how far it is, from the threads that ask the model too.
        cancelled: asked between two pieces of work; the replies that came are kept.

    Raises:
        CancelledError: `cancelled` said so.
        StoreError: the graph cannot be saved.
    """
    model, key, path = _place(corpus, model, limits, root)
    spent: list[Cost] = []

    def make() -> Graph:
        saved = _saved(corpus, path)
        if saved is not None:
            return saved
        watch = _Watch(on_progress or (lambda _: None), cancelled or (lambda: False))
        graph, cost = _make(corpus, model, limits, path.parent, watch)
        spent.append(cost)
        if not incomplete(graph):
            _save(graph.to_json(), path)
        return graph

    graph = _GRAPHS.get(key, make)
    if incomplete(graph):
        _GRAPHS.forget(key)
    return graph, spent[0] if spent else Cost()


def is_made(corpus: Corpus, model: ChatModel | None, limits: Limits, root: Path) -> bool:
    """Whether `graph_of` would find this graph whole, and so ask nothing and make nothing."""
    _, _, path = _place(corpus, model, limits, root)
    return _saved(corpus, path) is not None


def most_calls(corpus: Corpus, limits: Limits) -> int:
    """How many calls of the model the making may take at most, replies at hand not counted off."""
    return min(len(reading.blocks(_all(corpus))), limits.reading) + limits.summaries


def _place(
    corpus: Corpus, model: ChatModel | None, limits: Limits, root: Path
) -> tuple[ChatModel | None, tuple[str, int, str], Path]:
    """The model that is asked in the end, the key in memory and the file on disk."""
    if limits == Limits(0, 0):
        model = None
    info = corpus.info
    made = f"{model.name} {limits.reading} {limits.summaries}" if model else "offline"
    name = hashlib.sha256(made.encode()).hexdigest()[:16]
    path = derived(root, info.fingerprint) / f"graph-v{VERSION}-{name}.json"
    return model, (info.fingerprint, info.size, made), path


def _saved(corpus: Corpus, path: Path) -> Graph | None:
    saved = _load(path)
    return saved if saved is not None and saved.passages == corpus.info.size else None


def forget_graphs() -> None:
    """Drop the graphs kept in memory; those on disk are read again."""
    _GRAPHS.clear()


_STOPPED: Final = "The model stopped"


def incomplete(graph: Graph) -> bool:
    """Whether a failing model left it unfinished, so that it is made again the next time."""
    return any(note.startswith(_STOPPED) for note in graph.notes)


# --- making ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Watch:
    """Whom to tell how far it is, and whom to ask whether to go on."""

    on_progress: OnMaking
    cancelled: Cancelled

    def at(
        self, stage: Literal["names", "reading", "communities", "summaries"], done: int, total: int
    ) -> None:
        """Tell, and stop if asked to."""
        self.on_progress(Making(stage, done, total))
        self.stop_if_asked()

    def stop_if_asked(self) -> None:
        if self.cancelled():
            raise CancelledError(
                "The making of the graph was stopped. What a model has read is kept for next time."
            )


def _make(
    corpus: Corpus, model: ChatModel | None, limits: Limits, folder: Path, watch: _Watch
) -> tuple[Graph, Cost]:
    """The graph, and what its making cost now (replies that were saved cost nothing again)."""
    asking = _Asking(model, folder, watch)
    begun = time.perf_counter()
    watch.at("names", 0, len(corpus.ids))
    chunks = _all(corpus)
    notes: list[str] = []
    try:
        extraction = _extract(chunks, asking, limits.reading, notes)
        extracted = time.perf_counter()
        watch.at("communities", 0, 1)
        links = link(extraction)
        levels = communities(len(links.entities), links.relations)
        linked = time.perf_counter()
        found = _communities(extraction, links, levels, asking, limits.summaries)
        summed = time.perf_counter()
    finally:
        asking.save()
    if asking.failure:
        notes.append(f"{_STOPPED} before its end, the rest was done offline: {asking.failure}")
    seconds = {
        "index_extract": extracted - begun,
        "index_graph": linked - extracted,
        "index_summaries": summed - linked,
    }
    # Calls run at once and may be older than this run; the time that a person waits is counted.
    graph = Graph(
        entities=_with_communities(links.entities, found, len(levels)),
        relations=links.relations,
        communities=tuple(found),
        levels=len(levels),
        passages=len(chunks),
        read=len(extraction.read),
        cost=replace(asking.total, seconds=seconds),
        notes=tuple(notes),
    )
    return graph, replace(asking.now, seconds=seconds)


def _extract(chunks: Sequence[Chunk], asking: _Asking, limit: int, notes: list[str]) -> Extraction:
    mentions = find_names(chunks)
    read = reading.Read()
    rows: set[int] = set()
    if asking.model is not None and limit:
        blocks = reading.blocks(chunks)
        order = _spread(len(blocks))[:limit]
        replies = asking.ask_all(
            [reading.reading_messages(blocks[place]) for place in order],
            reading.TOKENS,
            "reading",
        )
        for place, text in sorted(zip(order, replies, strict=True)):
            if text is not None:
                part = reading.parse_reading(text, blocks[place])
                rows.update(blocks[place].rows)
                read.mentions += part.mentions
                read.said += part.said
                read.invented += part.invented
                for name, about in part.described.items():
                    read.described.setdefault(name, about)
        if read.invented:
            notes.append(f"{read.invented} names that the model gave stand in no passage.")
        if len(rows) < len(chunks):
            notes.append(
                f"The model read {len(rows)} of {len(chunks)} passages, the offline extractor the "
                "others. Raise the calls for reading to let it read more."
            )
    together = [mention for mention in mentions if mention.row not in rows] + read.mentions
    together.sort(key=lambda mention: (mention.row, mention.start, mention.end))
    return Extraction(
        together,
        named_sentences(chunks, together),
        read.said,
        read.described,
        frozenset(rows),
    )


def _communities(
    extraction: Extraction,
    links: Links,
    levels: Sequence[Sequence[Sequence[int]]],
    asking: _Asking,
    limit: int,
) -> list[Community]:
    """The communities of all levels with their summaries, the coarsest level first."""
    sentences = summaries.Sentences(extraction.sentences, links.of_name)
    flat = [(level, members) for level, groups in enumerate(levels) for members in groups]
    inner = _inner_relations(flat, links.relations)
    central = [
        sentences.central(summaries.weights_of(members, relations))
        for (_, members), relations in zip(flat, inner, strict=True)
    ]
    told: Mapping[int, str] = {}
    if asking.model is not None and limit:
        order = sorted(range(len(flat)), key=lambda place: (-len(flat[place][1]), place))[:limit]
        replies = asking.ask_all(
            [
                summaries.summary_messages(
                    flat[place][1], links.entities, inner[place], central[place]
                )
                for place in order
            ],
            summaries.TOKENS,
            "summaries",
        )
        told = {
            place: summaries.parse_summary(text)
            for place, text in zip(order, replies, strict=True)
            if text is not None and summaries.parse_summary(text)
        }
    return [
        Community(
            level,
            tuple(members),
            summaries.title_of(members, links.entities),
            told.get(place) or " ".join(central[place]),
            "model" if place in told else "extract",
        )
        for place, (level, members) in enumerate(flat)
    ]


def _inner_relations(
    flat: Sequence[tuple[int, Sequence[int]]], relations: Sequence[Relation]
) -> list[list[Relation]]:
    """The relations inside each community."""
    inner: list[list[Relation]] = [[] for _ in flat]
    of: dict[tuple[int, int], int] = {
        (level, member): place for place, (level, members) in enumerate(flat) for member in members
    }
    levels = {level for level, _ in flat}
    for relation in relations:
        for level in levels:
            place = of.get((level, relation.source))
            if place is not None and place == of.get((level, relation.target)):
                inner[place].append(relation)
    return inner


def _with_communities(
    entities: Sequence[Entity], found: Sequence[Community], levels: int
) -> tuple[Entity, ...]:
    of: list[list[int | None]] = [[None] * levels for _ in entities]
    for index, community in enumerate(found):
        for member in community.members:
            of[member][community.level] = index
    return tuple(
        replace(entity, communities=tuple(of[place])) for place, entity in enumerate(entities)
    )


def _all(corpus: Corpus) -> list[Chunk]:
    chunks: list[Chunk] = []
    for start in range(0, len(corpus.ids), _PAGE):
        chunks += corpus.chunks(range(start, min(start + _PAGE, len(corpus.ids))))
    return chunks


def _spread(count: int) -> list[int]:
    """The numbers below `count` in an order of which every beginning is spread evenly."""
    golden = 0.6180339887498949
    return sorted(range(count), key=lambda place: ((place * golden) % 1.0, place))


# --- asking the model -------------------------------------------------------------------------


class _Asking:
    """The model, what it has said before, and what it cost; `failure` is why it was given up."""

    def __init__(self, model: ChatModel | None, folder: Path, watch: _Watch) -> None:
        self.model = model
        self._watch = watch
        self.now = self.total = Cost()
        self.failure = ""
        self._replies = Replies("index")
        self._path: Path | None = None
        if model is not None:
            name = hashlib.sha256(model.name.encode()).hexdigest()[:16]
            self._path = folder / f"replies-{name}.json"
            text = _read(self._path)
            if text is not None:
                with contextlib.suppress(StoreError):
                    self._replies.load(text)

    def ask_all(
        self,
        conversations: Sequence[Sequence[Message]],
        tokens: int,
        stage: Literal["reading", "summaries"],
    ) -> list[str | None]:
        """The replies in order, several at once; None from the first failure on.

        Raises:
            CancelledError: the person stopped it; the replies that came are not lost.
        """
        model, stopped, watch = self.model, Event(), self._watch
        total, done, lock = len(conversations), 0, Lock()
        if model is None or self.failure:
            return [None] * total

        def ask(messages: Sequence[Message]) -> tuple[str, Cost, bool] | ModelError | None:
            nonlocal done
            if stopped.is_set() or watch.cancelled():
                return None
            try:
                answer = self._replies.ask(model, messages, tokens)
            except ModelError as error:
                stopped.set()
                return error
            with lock:
                done += 1
                watch.on_progress(Making(stage, done, total))
            return answer

        watch.at(stage, 0, total)
        with ThreadPoolExecutor(_THREADS) as pool:
            answers = list(pool.map(ask, conversations))
        out: list[str | None] = []
        for answer in answers:
            if isinstance(answer, ModelError):
                self.failure = self.failure or str(answer)
            out.append(None)
            if isinstance(answer, tuple):
                text, cost, asked_now = answer
                out[-1] = text
                self.total = self.total.plus(cost)
                if asked_now:
                    self.now = self.now.plus(cost)
        watch.stop_if_asked()
        return out

    def save(self) -> None:
        """Keep the replies of the model for the next time."""
        if self._path is not None and self.now.model_calls:
            _save(self._replies.to_json(), self._path)


# --- files ------------------------------------------------------------------------------------


def _load(path: Path) -> Graph | None:
    """The graph saved there; None where there is none or it is damaged, and it is made anew."""
    text = _read(path)
    if text is None:
        return None
    try:
        return Graph.from_json(text)
    except StoreError:
        return None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _save(text: str, path: Path) -> None:
    """Write a file whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise StoreError(
            f"The knowledge graph cannot be saved ({error.strerror}). Make room in the data folder "
            "or set TRACERT_HOME to another one."
        ) from error
