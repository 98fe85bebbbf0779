"""The workspace: what pages, the command line and Python use, over one data folder.

It keeps nothing that another process could make stale: the store's record is read at every call,
and everything kept in memory (snapshots, maps, preparations) is keyed by the corpus's
fingerprint. One instance serves all sessions and threads of a process.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

from tracert import adopting, indexing, projection
from tracert.corpus.chunking import Chunking
from tracert.corpus.loaders import Limits
from tracert.corpus.model import Chunk, Document
from tracert.embedding.base import Embedder
from tracert.embedding.registry import embedder as embedder_by_name
from tracert.errors import CorpusError, SettingError, TracertError
from tracert.home import home
from tracert.hosting import Room, expire_folders
from tracert.indexing import Cancelled, File, IndexReport, Input, OnProgress
from tracert.knowledge.archive import expire_unpacked, unpacked
from tracert.knowledge.graph import open_graph
from tracert.knowledge.opened import OpenGraph
from tracert.knowledge.opened import prepared as prepared_graph
from tracert.language.answer import write_answer
from tracert.language.base import ChatModel, OnText
from tracert.language.record import Recorder
from tracert.methods.base import Method, Question, Resources, collect, parse_settings
from tracert.methods.registry import method as method_by_name
from tracert.projection import Projection
from tracert.recent import Recent
from tracert.snapshot import Snapshot, open_snapshot, prune
from tracert.store.records import CorpusRecord
from tracert.store.store import Store
from tracert.trace import Cost, Map, Replies, Trace, Value

BUILTIN: Final = "The Long Spark"
DEFAULT_METHOD: Final = "tracert_rag"
_NO_PATHS: Final = "Files of the host's machine are not read in this app. Upload the documents."


@dataclass(frozen=True, slots=True)
class MapStatus:
    """What map a corpus has now.

    `state` is 'pca' while none is asked for or the corpus is too small, 'fitting' while UMAP
    runs, 'umap' once it is there and 'failed', with the reason in `message`, if it could not
    be made; PCA is shown in all of these but 'umap'.
    """

    state: Literal["pca", "fitting", "umap", "failed"]
    message: str = ""


class Workspace:
    """All corpora of one data folder and all that can be done with them."""

    def __init__(self, path: Path | str | None = None) -> None:
        """Open the data folder `path`, or `TRACERT_HOME`, or the platform's."""
        self.path = home() if path is None else Path(path)
        self.store = Store(self.path)
        self._snapshots: Recent[Snapshot] = Recent(4)
        self._graphs: Recent[OpenGraph] = Recent(4)
        self._maps: Recent[Projection] = Recent(8)
        self._prepared: Recent[Any] = Recent(64)
        self._fits: dict[str, Thread] = {}
        self._failed: dict[str, str] = {}
        self._models: WeakKeyDictionary[ChatModel, int] = WeakKeyDictionary()
        self._numbers = count()
        self._lock = Lock()

    def owned_by(self, owner: str, room: Room | None = None) -> Workspace:
        """The same workspace as that owner has it, who may fill that room.

        What is kept in memory is shared: it is found by fingerprint, and a fingerprint only by
        a corpus that the owner may see.
        """
        other = copy.copy(self)
        other.store = self.store.owned_by(owner, room)
        return other

    def tidy(self) -> str:
        """Clean up after a process that was ended while it wrote; a sentence if there was need.

        Raises:
            StoreError: the store cannot be used.
        """
        if not self.store.tidy():
            return ""
        return (
            "The last change of a corpus was ended before it was done. What it left half-made was "
            "removed; every corpus is as it was before that change."
        )

    def expire(self, before: float) -> None:
        """Delete what browser sessions made and last changed before then, in seconds since 1970.

        Raises:
            StoreError: the store cannot be used.
        """
        if self.store.expire(before):
            with self.store.session():
                prune(self.store)
        # Notes first: their folder leads to their index.
        expire_unpacked(self.path, before)
        expire_folders(self.path, before)

    # --- corpora --------------------------------------------------------------------------

    def may_change(self, record: CorpusRecord) -> bool:
        """Whether the corpus is this owner's, and not one that the host shares."""
        return self.store.owner.has(record)

    def corpora(self) -> list[CorpusRecord]:
        """Every corpus, by name, as it is at this moment."""
        return self.store.corpora()

    def corpus(self, name: str) -> CorpusRecord:
        """One corpus's record.

        Raises:
            CorpusError: there is none of that name.
        """
        return self.store.corpus(name)

    def open(self, name: str) -> Snapshot:
        """One corpus with its chunks and vectors, as it is at this moment.

        Raises:
            CorpusError: there is none of that name.
            StoreError: the store cannot be read.
        """
        record = self.store.corpus(name)
        key = (record.id, record.changed, record.fingerprint)
        return self._snapshots.get(key, lambda: open_snapshot(self.store, name))

    def index(
        self,
        files: Sequence[Input],
        name: str,
        *,
        chunking: Chunking | None = None,
        embedder: Embedder | str | None = None,
        replace: bool = False,
        limits: Limits | None = None,
        passwords: Mapping[str, str] | None = None,
        on_progress: OnProgress | None = None,
        cancelled: Cancelled | None = None,
    ) -> IndexReport:
        """Add files to a corpus; see `tracert.indexing.index`.

        Raises:
            CorpusError: a visitor named a path: of the host's machine nothing is read.
        """
        if self.store.owner.name and not all(isinstance(each, File) for each in files):
            raise CorpusError(_NO_PATHS)
        return indexing.index(
            files,
            store=self.store,
            name=name,
            chunking=chunking,
            embedder=embedder,
            replace=replace,
            limits=limits,
            passwords=passwords,
            on_progress=on_progress,
            cancelled=cancelled,
        )

    def reindex(
        self,
        name: str,
        *,
        chunking: Chunking | None = None,
        embedder: Embedder | str | None = None,
        on_progress: OnProgress | None = None,
        cancelled: Cancelled | None = None,
    ) -> IndexReport:
        """Cut and embed a corpus anew from the texts in the store."""
        return indexing.reindex(
            store=self.store,
            name=name,
            chunking=chunking,
            embedder=embedder,
            on_progress=on_progress,
            cancelled=cancelled,
        )

    def adopt(
        self,
        folder: Path | None,
        collection: str,
        name: str,
        *,
        embedder: Embedder | str | None = None,
        replace: bool = False,
        on_progress: OnProgress | None = None,
        cancelled: Cancelled | None = None,
    ) -> IndexReport:
        """Make a corpus of a Chroma collection as it is; see `tracert.adopting.adopt`.

        Raises:
            CorpusError: a visitor asked: of the host's machine nothing is read.
        """
        if self.store.owner.name:
            raise CorpusError(_NO_PATHS)
        return adopting.adopt(
            folder,
            collection,
            store=self.store,
            name=name,
            embedder=embedder,
            replace=replace,
            on_progress=on_progress,
            cancelled=cancelled,
        )

    def rename(self, name: str, new: str) -> CorpusRecord:
        """Give a corpus another name.

        Raises:
            CorpusError: there is no such corpus, or the new name is taken or unfit.
        """
        return self.store.rename(name, new)

    def delete(self, name: str) -> None:
        """Delete a corpus.

        Raises:
            CorpusError: there is no such corpus.
        """
        indexing.delete(store=self.store, name=name)

    def remove_document(self, name: str, fingerprint: str) -> CorpusRecord:
        """Take one document out of a corpus.

        Raises:
            CorpusError: there is no such corpus or document, or it is the last one.
        """
        return indexing.remove_document(fingerprint, store=self.store, name=name)

    def ensure_builtin(self) -> CorpusRecord | None:
        """The built-in corpus, indexed if there is no corpus at all; None without its files."""
        records = self.corpora()
        if records:
            return next((record for record in records if record.name == BUILTIN), records[0])
        return self.load_builtin()

    def load_builtin(self) -> CorpusRecord | None:
        """The built-in corpus, indexed if it is not there; None without its files."""
        there = next((record for record in self.corpora() if record.name == BUILTIN), None)
        if there is not None:
            return there
        folder = builtin_folder()
        if folder is None:
            return None
        self.index([folder], BUILTIN)
        return self.corpus(BUILTIN)

    def document_text(self, name: str, fingerprint: str) -> str:
        """The whole text of a document of a corpus, exactly.

        Raises:
            CorpusError: there is no such corpus or document.
        """
        return self.open(name).document_text(fingerprint)

    def document(self, name: str, fingerprint: str) -> Document:
        """A document of a corpus as it was loaded, with its pages and headings.

        Raises:
            CorpusError: there is no such corpus or document.
        """
        return indexing.stored_document(fingerprint, store=self.store, name=name)

    def document_chunks(self, name: str, fingerprint: str) -> list[Chunk]:
        """The chunks of a document of a corpus, in order.

        Raises:
            CorpusError: there is no such corpus or document.
        """
        return self.open(name).document_chunks(fingerprint)

    # --- notes ----------------------------------------------------------------------------

    def open_notes(
        self, folder: Path | str, *, embedder: Embedder | None = None, name: str = ""
    ) -> OpenGraph:
        """A folder of notes, or a zip of one, ready to be walked.

        What has not changed comes from its index.

        Raises:
            KnowledgeError: the folder holds no notes, or the index cannot be written.
            EmbedderError: the notes could not be embedded.
        """
        found = embedder or embedder_by_name(indexing.DEFAULT_EMBEDDER)
        if Path(folder).is_file():
            name = name or Path(folder).name
            folder, _left_out = unpacked(Path(folder), self.path)
        graph = open_graph(folder, data=self.path, name=name)
        key = (str(graph.folder.root), graph.name, graph.fingerprint, found.identity)
        return self._graphs.get(key, lambda: prepared_graph(graph, found))

    def notes_projection(
        self, opened: OpenGraph, *, kind: Literal["auto", "pca"] = "auto", fit: bool = True
    ) -> Projection:
        """The map of a graph's notes, as `projection` gives it of a corpus."""
        found = self._projection(opened, kind)
        if fit and kind == "auto" and found.kind == "pca":
            self._begin_fit(opened)
        return found

    # --- the map --------------------------------------------------------------------------

    def projection(
        self, name: str, *, kind: Literal["auto", "pca"] = "auto", fit: bool = True
    ) -> Projection:
        """The map of a corpus at once: UMAP if it is there, else PCA while UMAP is fitted.

        A missing UMAP is begun in a background thread, unless `fit` is False or `kind` is
        'pca'; `map_status` tells how far it is.

        Raises:
            CorpusError: there is no such corpus.
        """
        snapshot = self.open(name)
        found = self._projection(snapshot, kind)
        if fit and kind == "auto" and found.kind == "pca":
            self._begin_fit(snapshot)
        return found

    def map_status(self, name: str) -> MapStatus:
        """What `projection` would give now, and why.

        Raises:
            CorpusError: there is no such corpus.
        """
        record = self.store.corpus(name)
        return self._status(record.fingerprint, record.size, "passages")

    def notes_map_status(self, opened: OpenGraph) -> MapStatus:
        """What `notes_projection` would give now, and why."""
        return self._status(opened.info.fingerprint, opened.info.size, "notes")

    def wait_for_map(self, name: str, seconds: float | None = None) -> MapStatus:
        """Begin the UMAP of a corpus if it is missing and wait for it, at most so long."""
        self.projection(name)
        with self._lock:
            thread = self._fits.get(self.store.corpus(name).fingerprint)
        if thread is not None:
            thread.join(seconds)
        return self.map_status(name)

    def map_of(
        self, trace: Trace, over: Snapshot | OpenGraph, kind: Literal["auto", "pca"] = "auto"
    ) -> Map:
        """The picture plane of a trace over an open corpus or graph."""
        row_of = over.ids.row if isinstance(over, Snapshot) else over.row.get
        return projection.map_of(trace, self._projection(over, kind), over.matrix, row_of)

    # --- asking ---------------------------------------------------------------------------

    def ask(
        self,
        question: str,
        *,
        corpus: str | None = None,
        knowledge: OpenGraph | Path | str | None = None,
        method: str | Method = DEFAULT_METHOD,
        settings: Mapping[str, Value] | None = None,
        goal: str | None = None,
        model: ChatModel | None = None,
        embedder: Embedder | None = None,
        answer: bool = True,
        with_map: bool | Literal["auto", "pca"] = True,
        fresh: bool = False,
        on_text: OnText | None = None,
    ) -> Trace:
        """Run a method and give its trace.

        What does not depend on the settings (embedding, the model's goal) is kept for the same
        corpus, question, goal and client of a model, so that asking again with other settings is
        arithmetic alone.

        Args:
            question: what is asked.
            corpus: the corpus's name, for the methods that walk one.
            knowledge: the folder of notes or an open graph, for the methods that walk one.
            method: its name, or the method itself.
            settings: values by name; texts are read by the setting's type.
            goal: a goal typed by hand.
            model: a language model; without one the offline stand-ins work.
            embedder: the corpus's embedder where it cannot be made by name alone (a key).
            answer: whether to write an answer.
            with_map: whether to put the nodes on the map as it is now (PCA where no UMAP is
                fitted; this fits none), on PCA's if 'pca'.
            fresh: prepare anew, with the model asked again.
            on_text: gets the answer's text as the model writes it.

        Raises:
            CorpusError: there is no such corpus.
            SettingError: the method or a setting is unknown or out of range.
            EmbedderError: the question could not be embedded.
        """
        chosen = method_by_name(method) if isinstance(method, str) else method
        values = parse_settings(chosen.settings_type, settings or {})
        begun = time.perf_counter()
        over, found = self._over(chosen, corpus, knowledge, embedder)
        heard = None if model is None else Recorder(model)
        resources = Resources(
            embed=found.embed,
            corpus=over if isinstance(over, Snapshot) else None,
            model=heard,
            knowledge=over if isinstance(over, OpenGraph) else None,
            folder=self.path,
        )
        opened = time.perf_counter() - begun
        asked = Question(question, goal)
        key = (
            chosen.name,
            over.info.name,
            over.info.fingerprint,
            found.identity,
            asked,
            self._number_of(model),
        )
        if fresh:
            self._prepared.forget(key)
        prepared, said = self._prepared.get(key, lambda: _prepared(chosen, asked, resources, model))
        trace = collect(
            chosen.walk(prepared, values, resources),
            method=chosen.name,
            question=question,
            seed=projection.SEED,
            prepared=prepared.cost,
        )
        trace = replace(trace, cost=Cost({"open": opened}).plus(trace.cost))
        if answer:
            trace = trace.with_answer(*write_answer(trace, heard, found.embed, on_text=on_text))
        for replies in (said, None if heard is None else heard.replies):
            if replies is not None:
                trace = trace.with_replies(replies)
        if with_map:
            begun = time.perf_counter()
            trace = trace.with_map(self.map_of(trace, over, "pca" if with_map == "pca" else "auto"))
            spent = Cost({"map": time.perf_counter() - begun})
            trace = replace(trace, cost=trace.cost.plus(spent))
        return trace

    # --- inner ----------------------------------------------------------------------------

    def _status(self, fingerprint: str, size: int, what: str) -> MapStatus:
        with self._lock:
            if fingerprint in self._failed:
                return MapStatus("failed", self._failed[fingerprint])
            if fingerprint in self._fits:
                return MapStatus("fitting", _fitting(size, what))
        if size < projection.FEWEST:
            return MapStatus("pca", f"PCA, since there are fewer than {projection.FEWEST} {what}.")
        if self._map_path(fingerprint).is_file():
            return MapStatus("umap", _fitted(size, what))
        return MapStatus("pca")

    def _number_of(self, model: ChatModel | None) -> int | None:
        """A number for each client: one of the same name may have another key or endpoint.

        So what a client that was refused left behind is not taken for what the next one says,
        and no client is kept alive, with its key, for the sake of a cache.
        """
        if model is None:
            return None
        with self._lock:
            return self._models.setdefault(model, next(self._numbers))

    def _over(
        self,
        method: Method,
        corpus: str | None,
        knowledge: OpenGraph | Path | str | None,
        embedder: Embedder | None,
    ) -> tuple[Snapshot | OpenGraph, Embedder]:
        if method.needs == "knowledge":
            if knowledge is None:
                raise SettingError(f"{method.name} walks through notes. Pass a folder of notes.")
            if isinstance(knowledge, OpenGraph):
                return knowledge, embedder or embedder_by_name(knowledge.info.embedder)
            found = embedder or embedder_by_name(indexing.DEFAULT_EMBEDDER)
            return self.open_notes(knowledge, embedder=found), found
        if corpus is None:
            raise SettingError(f"{method.name} walks through a corpus. Pass the name of one.")
        snapshot = self.open(corpus)
        found = embedder or embedder_by_name(snapshot.info.embedder)
        if found.identity != snapshot.record.identity:
            raise CorpusError(
                f"The corpus {corpus!r} was embedded by {snapshot.record.identity!r}, the "
                f"question would be by {found.identity!r}. Choose that embedder or re-index."
            )
        return snapshot, found

    def _map_path(self, fingerprint: str) -> Path:
        return projection.path_of(self.path / "maps", fingerprint)

    def _projection(
        self, snapshot: Snapshot | OpenGraph, kind: Literal["auto", "pca"]
    ) -> Projection:
        fingerprint = snapshot.info.fingerprint
        if kind == "auto" and snapshot.info.size >= projection.FEWEST:
            found = self._maps.peek(("umap", fingerprint))
            if found is None:
                found = projection.load(self._map_path(fingerprint), snapshot.info.size)
                if found is not None:
                    self._maps.put(("umap", fingerprint), found)
            if found is not None:
                return found
        return self._maps.get(("pca", fingerprint), lambda: projection.fit_pca(snapshot.matrix))

    def _begin_fit(self, snapshot: Snapshot | OpenGraph) -> None:
        fingerprint = snapshot.info.fingerprint
        if snapshot.info.size < projection.FEWEST:
            return
        with self._lock:
            if fingerprint in self._fits or fingerprint in self._failed:
                return
            thread = Thread(
                target=self._fit, args=(snapshot,), name=f"umap-{fingerprint[:8]}", daemon=True
            )
            self._fits[fingerprint] = thread
        thread.start()

    def _fit(self, snapshot: Snapshot | OpenGraph) -> None:
        fingerprint = snapshot.info.fingerprint
        message = "UMAP stopped before its end. PCA is shown; start Tracert again to retry."
        try:
            path = self._map_path(fingerprint)
            fitted = projection.fit_umap(snapshot.matrix)
            projection.save(fitted, path)
            self._maps.put(("umap", fingerprint), fitted)
            message = ""
        except (TracertError, OSError, ValueError, MemoryError, ImportError) as error:
            message = f"UMAP could not be fitted ({str(error)[:160]}). PCA is shown instead."
        finally:
            with self._lock:
                if message:
                    self._failed[fingerprint] = message
                del self._fits[fingerprint]


def _prepared(
    method: Method, asked: Question, resources: Resources, model: ChatModel | None
) -> tuple[Any, Replies | None]:
    """What a method prepared, with what the model said meanwhile."""
    if model is None:
        return method.prepare(asked, resources), None
    heard = Recorder(model)
    return method.prepare(asked, replace(resources, model=heard)), heard.replies


def builtin_folder() -> Path | None:
    """The folder of the built-in document, where the project's files are beside the package."""
    folder = Path(__file__).resolve().parent.parent / "knowledge" / "document"
    return folder if folder.is_dir() else None


def _fitted(size: int, what: str) -> str:
    if size <= projection.MOST_FITTED:
        return ""
    return (
        f"UMAP was fitted on {projection.MOST_FITTED:,} of {size:,} {what}, evenly spread; "
        "the others are placed among them."
    )


def _fitting(size: int, what: str) -> str:
    return f"UMAP is being fitted to {min(size, projection.MOST_FITTED):,} {what}; PCA until then."
