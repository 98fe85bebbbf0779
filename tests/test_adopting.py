"""Collections of other programs: read and never written, whole, and as good as a corpus of ours."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from hypothesis import given
from hypothesis import strategies as st

from tests.chroma_server import ChromaServer
from tests.toy_embedder import ToyEmbedder
from tracert import adopting, foreign
from tracert.cli import main
from tracert.corpus.chunking import Chunking
from tracert.embedding.registry import embedder
from tracert.errors import CancelledError, CorpusError, StoreError
from tracert.foreign import made
from tracert.indexing import File, IndexReport, index, reindex
from tracert.store.store import Store
from tracert.workspace import Workspace

ASK = ["ask", "Which lamp had 9 discs?", "--corpus", "Lamps", "--method", "tracert_rag"]
TEXTS = [f"Lamp {n} was lit by a pile of {n + 2} discs, said the keeper." for n in range(12)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Other]:
    made_ = Other(tmp_path / "other")
    yield made_
    made_.close()


class Other:
    """Another program's store, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client: Any = chromadb.PersistentClient(
            str(folder), settings=Settings(anonymized_telemetry=False)
        )

    def add(
        self,
        texts: Sequence[str | None],
        metadatas: Sequence[dict[str, Any]] | None = None,
        *,
        name: str = "theirs",
        vectors: Any = None,
        metadata: dict[str, Any] | None = None,
        space: str = "cosine",
    ) -> None:
        collection = self.client.get_or_create_collection(
            name,
            metadata=metadata,
            embedding_function=None,
            configuration={"hnsw": {"space": space}},
        )
        if vectors is None:
            vectors = ToyEmbedder().embed([text or "" for text in texts])
        first = collection.count()
        collection.add(
            ids=[f"row-{first + i}" for i in range(len(texts))],
            documents=list(texts),
            embeddings=vectors,
            metadatas=metadatas,
        )

    def close(self) -> None:
        self.client.close()


def state(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file of a folder by its content and the time of its last change."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in folder.rglob("*")
        if path.is_file()
    }


def adopt(store: Store, other: Other, **more: Any) -> IndexReport:
    options = {"collection": "theirs", "name": "Lamps", "embedder": ToyEmbedder()} | more
    return adopting.adopt(other.folder, store=store, **options)


def rows(store: Store, name: str = "Lamps") -> list[str]:
    snapshot = Workspace(store.path).open(name)
    return [each.text for each in snapshot.chunks(range(len(snapshot.ids)))]


# --- read only ----------------------------------------------------------------------------


def test_the_folder_is_byte_for_byte_as_before(store: Store, other: Other) -> None:
    # More rows than Chroma keeps in its journal (1,000), so that there is an index of vectors.
    other.add([f"{text} ({n})" for n in range(100) for text in TEXTS])
    other.close()
    before = state(other.folder)
    assert len(before) > 1
    assert [each.name for each in foreign.listed(other.folder)] == ["theirs"]
    report = adopt(store, other)
    assert (report.ok, report.chunks) == (True, 1_200)
    assert state(other.folder) == before


def test_a_folder_on_a_read_only_disk_is_read(store: Store, other: Other) -> None:
    other.add(TEXTS)
    other.close()
    paths = [other.folder, *other.folder.rglob("*")]
    try:
        for path in paths:
            path.chmod(0o555 if path.is_dir() else 0o444)
        assert adopt(store, other).chunks == len(TEXTS)
    finally:
        for path in paths:
            path.chmod(0o755)


def test_while_the_other_program_has_it_open_it_can_be_read(store: Store, other: Other) -> None:
    other.add(TEXTS)
    assert adopt(store, other).chunks == len(TEXTS)
    other.add(["One lamp more, at the end of the pier."])
    assert adopt(store, other, replace=True).chunks == len(TEXTS) + 1


def test_a_folder_that_changes_while_it_is_copied_is_not_taken(
    store: Store, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    other.add(TEXTS)
    copy = foreign.shutil.copyfile

    def meanwhile(path: Path, to: Path) -> None:
        copy(path, to)
        with (other.folder / "chroma.sqlite3").open("ab") as file:
            file.write(b"\0" * 4096)

    monkeypatch.setattr(foreign.shutil, "copyfile", meanwhile)
    with pytest.raises(StoreError, match="Stop the program"):
        adopt(store, other)
    assert store.corpora() == []


def test_a_folder_of_an_older_version_is_read_and_not_migrated(
    store: Store, tmp_path: Path
) -> None:
    # Written by chromadb 0.5.23: 12 passages of one source, by the toy embedder, with an index.
    folder = tmp_path / "old"
    with zipfile.ZipFile(Path(__file__).parent / "data" / "chroma-0.5.23.zip") as packed:
        packed.extractall(folder)
    before = state(folder)
    assert [(each.name, each.rows, each.space) for each in foreign.listed(folder)] == [
        ("old-books", 12, "cosine")
    ]
    adopting.adopt(folder, "old-books", store=store, name="Old", embedder=ToyEmbedder())
    expected = [f"Old passage {n} of the keeper's book." for n in range(12)]
    assert rows(store, "Old") == expected
    matrix = Workspace(store.path).open("Old").matrix
    np.testing.assert_allclose(matrix, ToyEmbedder().embed(expected), atol=1e-6)
    record = store.corpus("Old").documents[0]
    assert (record.name, record.pages) == ("old.pdf", 3)
    assert state(folder) == before


class Runs:
    """Leaves a file where it is unpickled by Python."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Path.touch, (self.path,)


def test_a_pickle_in_the_folder_runs_nothing(store: Store, tmp_path: Path) -> None:
    folder, mark = tmp_path / "old", tmp_path / "it ran"
    with zipfile.ZipFile(Path(__file__).parent / "data" / "chroma-0.5.23.zip") as packed:
        packed.extractall(folder)
    index_of = next(folder.glob("*/index_metadata.pickle"))
    index_of.write_bytes(pickle.dumps(Runs(mark)))
    with pytest.raises(StoreError, match="is whole"):
        adopting.adopt(folder, "old-books", store=store, name="Old", embedder=ToyEmbedder())
    assert not mark.exists()
    pickle.loads(index_of.read_bytes())
    assert mark.exists()  # it would have, had anyone asked Python to


def test_our_own_store_has_no_collection_of_another_program(store: Store) -> None:
    index([File("a.txt", b"text " * 40)], store=store, name="Ours", embedder=ToyEmbedder())
    assert foreign.listed(store.path / "store") == []


def test_a_folder_without_a_store_is_said(store: Store, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none", Path("a\0b")):
        with pytest.raises(CorpusError, match=r"chroma\.sqlite3"):
            foreign.listed(folder)
    with pytest.raises(CorpusError, match="no home folder"):
        foreign.listed(Path("~nobody-of-that-name/x"))
    (tmp_path / "chroma.sqlite3").write_bytes(b"no database at all" * 400)
    with pytest.raises(StoreError, match="made by Chroma"):
        foreign.listed(tmp_path)


# --- what it becomes ----------------------------------------------------------------------


def test_texts_and_vectors_are_the_others_and_every_method_walks_them(
    store: Store, other: Other
) -> None:
    other.add(TEXTS, [{"source": f"/srv/books/{n % 2}.pdf", "page": n} for n in range(12)])
    report = adopt(store, other)
    assert [file.status for file in report.files] == ["indexed"]
    assert "cosine 1.00" in report.files[0].message
    space = Workspace(store.path)
    snapshot = space.open("Lamps")
    expected = [*TEXTS[0::2], *TEXTS[1::2]]
    assert [each.text for each in snapshot.chunks(range(12))] == expected
    np.testing.assert_allclose(snapshot.matrix, ToyEmbedder().embed(expected), atol=1e-6)
    for method in ("native_rag", "tracert_rag", "treehop", "graph_rag"):
        trace = space.ask(
            "Which lamp was lit by 9 discs?",
            corpus="Lamps",
            method=method,
            embedder=ToyEmbedder(),
            answer=False,
        )
        assert trace.result.evidence
        assert trace.map is not None
        shown = trace.to_json()
        assert "/srv" not in shown


def test_metadata_become_documents_pages_headings_and_order(store: Store, other: Other) -> None:
    placed = [(2, 1), (0, 0), (2, 0), (1, 0)]  # (page, place in it), as they arrived
    other.add(
        TEXTS[:4],
        [
            {"source": "C:\\books\\lamps.pdf", "page": page, "start_index": at, "title": "Lamps"}
            for page, at in placed
        ],
    )
    adopt(store, other)
    record = store.corpus("Lamps")
    assert [(each.name, each.kind, each.pages) for each in record.documents] == [
        ("lamps.pdf", "chroma", 3)
    ]
    assert record.origin == "Chroma collection theirs"
    found = Workspace(store.path).document_chunks("Lamps", record.documents[0].fingerprint)
    # In the order of pages, which this program counts from 0, and of places.
    assert [each.text for each in found] == [TEXTS[1], TEXTS[3], TEXTS[2], TEXTS[0]]
    assert [each.page for each in found] == [1, 2, 3, 3]
    assert {each.heading_path for each in found} == {("Lamps",)}


def test_the_text_of_a_document_has_every_passage_at_its_place(store: Store, other: Other) -> None:
    whole = " ".join(TEXTS)
    # Windows that share 40 characters, then a passage that shares none with the one before.
    texts = [whole[at : at + 200] for at in range(0, 640, 160)] + ["Afterwards it was dark."]
    other.add(texts)
    adopt(store, other)
    space = Workspace(store.path)
    record = store.corpus("Lamps")
    text = space.document_text("Lamps", record.documents[0].fingerprint)
    assert text == whole[:680] + "\n\nAfterwards it was dark."
    assert len(text) == record.documents[0].characters
    for each in space.document_chunks("Lamps", record.documents[0].fingerprint):
        assert text[each.start : each.end] == each.text
    # Of five passages four follow another; three of them share 40 characters, one none.
    assert record.chunking == Chunking(200, 40)


def test_it_can_be_cut_anew_and_added_to(store: Store, other: Other) -> None:
    other.add(TEXTS, [{"source": "lamps.txt", "page_number": n // 4 + 1} for n in range(12)])
    adopt(store, other)
    index([File("frog.txt", b"A frog. " * 30)], store=store, name="Lamps", embedder=ToyEmbedder())
    record = store.corpus("Lamps")
    assert [each.name for each in record.documents] == ["lamps.txt", "frog.txt"]
    assert record.origin
    reindex(store=store, name="Lamps", chunking=Chunking(100, 0), embedder=ToyEmbedder())
    again = store.corpus("Lamps")
    assert (again.origin, again.chunking) == ("", Chunking(100, 0))
    found = Workspace(store.path).document_chunks("Lamps", again.documents[0].fingerprint)
    assert "".join(each.text for each in found) == "\n\n".join(TEXTS)
    assert found[-1].page == 3


def test_rows_without_a_text_are_left_out_and_counted(store: Store, other: Other) -> None:
    other.add([*TEXTS[:3], None, "  \n", None])
    report = adopt(store, other)
    assert report.files[0].status == "partial"
    assert "3 of 6 rows have no text" in report.files[0].message
    assert rows(store) == TEXTS[:3]
    other.add([None, None], name="bare")
    with pytest.raises(CorpusError, match="Index the documents"):
        adopt(store, other, collection="bare", name="Bare")


@pytest.mark.parametrize("space", ["cosine", "l2", "ip"])
def test_vectors_are_brought_to_length_one_with_a_note(
    store: Store, other: Other, space: str
) -> None:
    lengths = np.linspace(0.5, 3.0, len(TEXTS), dtype=np.float32)[:, None]
    other.add(TEXTS, vectors=ToyEmbedder().embed(TEXTS) * lengths, space=space)
    assert foreign.listed(other.folder)[0].space == space
    message = adopt(store, other).files[0].message
    assert "length 1" in message
    assert (f"({space})" in message) == (space != "cosine")
    matrix = Workspace(store.path).open("Lamps").matrix
    np.testing.assert_allclose(matrix, ToyEmbedder().embed(TEXTS), atol=1e-6)


def test_more_sources_than_a_corpus_lists_become_headings(
    store: Store, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adopting, "_MOST_SOURCES", 3)
    other.add(TEXTS[:4], [{"source": f"{n}.txt"} for n in range(4)])
    assert "4 sources" in adopt(store, other).files[0].message
    record = store.corpus("Lamps")
    assert [each.name for each in record.documents] == ["theirs"]
    found = Workspace(store.path).document_chunks("Lamps", record.documents[0].fingerprint)
    assert [each.heading_path for each in found] == [(f"{n}.txt",) for n in range(4)]


# --- the embedder -------------------------------------------------------------------------


def test_another_dimension_is_said(store: Store, other: Other) -> None:
    other.add(TEXTS)
    with pytest.raises(CorpusError, match="have 16 numbers, those of wordllama have 256"):
        adopt(store, other, embedder="wordllama")


def test_without_a_name_for_the_embedder_it_must_be_chosen(store: Store, other: Other) -> None:
    other.add(TEXTS, metadata={"embedding_model": "acme/embed-9"})
    with pytest.raises(CorpusError, match=r"'acme/embed-9'.*16 numbers.*wordllama"):
        adopt(store, other, embedder=None)


def test_vectors_of_another_model_are_told_though_their_length_fits(
    store: Store, other: Other
) -> None:
    other.add(TEXTS)
    report = adopt(store, other, embedder=ToyEmbedder(version="2"))
    assert report.files[0].status == "partial"
    assert "gives other vectors" in report.files[0].message


@pytest.mark.parametrize(
    ("function", "metadata", "dimension", "expected"),
    [
        (None, {}, 384, ("", "")),
        ({"type": "known", "name": "default", "config": {}}, {}, 384, ("Chroma's default, "
         "all-MiniLM-L6-v2", "minilm")),
        # The default is named, but its vectors have another length: it did not make them.
        ({"type": "known", "name": "default", "config": {}}, {}, 1536, ("", "")),
        ({"type": "known", "name": "default", "config": {}}, {"embedder": "wordllama"}, 256,
         ("wordllama", "wordllama")),
        ({"type": "known", "name": "openai", "config": {"model_name": "text-embedding-3-small"}},
         {}, 1536, ("openai text-embedding-3-small", "openai:text-embedding-3-small")),
        ({"type": "known", "name": "ollama", "config": {"model_name": "nomic-embed-text"}},
         {}, 768, ("ollama nomic-embed-text", "openai:nomic-embed-text")),
        ({"type": "known", "name": "sentence_transformer",
          "config": {"model_name": "all-MiniLM-L6-v2"}}, {}, 384,
         ("sentence_transformer all-MiniLM-L6-v2", "minilm")),
        ({"type": "known", "name": "cohere", "config": {"model_name": "embed-v4"}}, {}, 1024,
         ("cohere embed-v4", "")),
        ({"type": "legacy"}, {"embedding_model": "text-embedding-ada-002"}, 1536,
         ("text-embedding-ada-002", "openai:text-embedding-ada-002")),
        ("nonsense", {"embedder": 7, "model": ["x"]}, 3, ("", "")),
    ],
)  # fmt: skip
def test_what_made_the_vectors_is_read_from_the_collection(
    function: Any, metadata: dict[str, Any], dimension: int, expected: tuple[str, str]
) -> None:
    assert made(function, metadata, dimension) == expected


# --- names, cancelling, a server ----------------------------------------------------------


def test_a_name_that_is_taken_is_kept_unless_it_may_be_replaced(store: Store, other: Other) -> None:
    other.add(TEXTS)
    adopt(store, other)
    with pytest.raises(CorpusError, match="already"):
        adopt(store, other)
    id = store.corpus("Lamps").id
    adopt(store, other, replace=True)
    assert store.corpus("Lamps").id == id
    with pytest.raises(CorpusError, match="'theirs'"):
        adopt(store, other, collection="nothing", name="N")


def test_cancelled_it_leaves_nothing(store: Store, other: Other) -> None:
    other.add(TEXTS)
    with pytest.raises(CancelledError):
        adopt(store, other, cancelled=lambda: True)
    assert store.corpora() == []


def test_hostile_names_and_texts_are_kept_as_text(store: Store, other: Other) -> None:
    nasty = "<script>alert(1)</script>\u202e[x](javascript:alert(1)) " + "w" * 3_000
    other.add(
        [nasty, *TEXTS[:2]],
        [{"source": "../../etc/<b>passwd\u0007</b>\n.txt", "title": nasty}, *[{"source": "x"}] * 2],
    )
    adopt(store, other)
    record = store.corpus("Lamps")
    assert record.documents[0].name == "b> .txt"  # the last part of the path, on one line
    assert rows(store)[0] == nasty
    assert json.loads(Workspace(store.path).ask(
        "script", corpus="Lamps", method="native_rag", embedder=ToyEmbedder(), answer=False
    ).to_json())  # fmt: skip


def test_a_collection_on_the_server_is_taken_and_stays(
    on_server: ChromaServer, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    client: Any = chromadb.HttpClient(
        "127.0.0.1", on_server.port, database=os.environ["CHROMA_DATABASE"],
        settings=Settings(anonymized_telemetry=False),
    )  # fmt: skip
    collection = client.create_collection("theirs", embedding_function=None)
    collection.add(
        ids=[str(n) for n in range(12)], documents=TEXTS, embeddings=ToyEmbedder().embed(TEXTS)
    )
    assert [each.name for each in foreign.listed(None)] == ["theirs"]
    adopting.adopt(None, "theirs", store=store, name="Lamps", embedder=ToyEmbedder())
    assert rows(store) == TEXTS
    assert (collection.count(), collection.metadata) == (12, None)
    # Neither the corpus that is there now nor its parts are collections of another program.
    assert [each.name for each in foreign.listed(None)] == ["theirs"]
    client.close()


def test_without_a_server_it_says_how_to_name_one() -> None:
    with pytest.raises(CorpusError, match="CHROMA_URL"):
        foreign.listed(None)


@given(st.text("ab", max_size=60), st.text("ab", max_size=60), st.integers(0, 60))
def test_what_two_passages_share_is_a_true_overlap(left: str, right: str, cut: int) -> None:
    after = left[-cut:] + right if cut else right
    common = adopting._common(left, after)
    assert common == 0 or (
        20 <= common < len(after) and common < len(left) and left[-common:] == after[:common]
    )


# --- the command line ---------------------------------------------------------------------


def test_the_command_takes_a_collection_and_asks_it(
    other: Other, capsys: pytest.CaptureFixture[str]
) -> None:
    other.add(TEXTS, vectors=embedder("wordllama").embed(TEXTS), metadata={"embedder": "wordllama"})
    command = ["index", "--from-chroma", str(other.folder), "--corpus", "Lamps"]
    assert main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["chunks"], report["embedder"]) == (12, "wordllama")
    assert report["files"][0]["path"] == "theirs"
    assert main([*ASK, "--json"]) == 0
    trace = json.loads(capsys.readouterr().out)
    assert {node["text"] for node in trace["nodes"] if node["kind"] == "chunk"} <= set(TEXTS)
    assert main(command) == 2
    assert "already" in capsys.readouterr().err
    assert main([*command, "--replace", "--collection", "theirs"]) == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--collection", "x"], "--from-chroma"),
        ([], "Nothing to index"),
        (["a.txt", "--from-chroma", "x"], "Leave out paths"),
        (["--from-chroma", "x", "--sentences"], "Leave out paths"),
        (["--from-chroma", "server"], "CHROMA_URL"),
    ],
)
def test_what_does_not_go_together_is_said(
    more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", "--corpus", "Lamps", *more]) == 2
    assert said in capsys.readouterr().err


def test_of_several_collections_one_must_be_named(
    other: Other, capsys: pytest.CaptureFixture[str]
) -> None:
    other.add(TEXTS)
    other.add(TEXTS, name="more")
    assert main(["index", "--from-chroma", str(other.folder), "--corpus", "Lamps"]) == 2
    assert "'more', 'theirs'" in capsys.readouterr().err
