"""The store on a server: one that goes away and comes back, one that hangs, and Chroma Cloud."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import chromadb
import pytest

from tests.chroma_server import KEY, ChromaServer
from tests.toy_embedder import ToyEmbedder
from tracert import chroma, foreign
from tracert.cli import main
from tracert.corpus.chunking import Chunking
from tracert.errors import StoreError
from tracert.indexing import File, Progress
from tracert.store import session as store_session
from tracert.store.store import Store
from tracert.workspace import Workspace

LAMP = "".join(f"The lamp number {n} was lit by a pile of discs.\n" for n in range(12))
FROG = "".join(f"The leg of frog {n} twitched at the touch of metal.\n" for n in range(40))


def add(space: Workspace, text: str, name: str = "Lab", **more: object) -> None:
    options: dict[str, object] = {"chunking": Chunking(60, 20), "embedder": ToyEmbedder()}
    space.index([File("a.txt", text.encode())], name, **(options | more))  # type: ignore[arg-type]


def ask(space: Workspace, question: str = "Which lamp was lit?") -> tuple[str, ...]:
    trace = space.ask(
        question, corpus="Lab", method="native_rag", embedder=ToyEmbedder(), with_map=False
    )
    return trace.result.evidence


# --- it goes away and comes back ----------------------------------------------------------


def test_work_goes_on_in_the_same_workspace_when_the_server_is_back(
    own_chroma: ChromaServer, tmp_path: Path
) -> None:
    space = Workspace(tmp_path / "home")
    add(space, LAMP)
    before = ask(space)
    own_chroma.kill()
    for attempt in (
        space.corpora,
        lambda: ask(space),
        lambda: add(space, FROG, "More"),
        lambda: space.delete("Lab"),
        lambda: space.rename("Lab", "Lamps"),
        lambda: foreign.listed(None),
    ):
        with pytest.raises(
            StoreError, match=r"CHROMA_URL did not do as asked\. Check that it runs"
        ):
            attempt()
    own_chroma.start()
    assert [each.name for each in space.corpora()] == ["Lab"]
    assert ask(space) == before
    add(space, FROG, "More")
    assert [each.name for each in space.corpora()] == ["Lab", "More"]


def test_killed_while_a_corpus_is_replaced_it_keeps_the_old_one_whole(
    own_chroma: ChromaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_session, "BATCH", 5)
    space = Workspace(tmp_path / "home")
    add(space, LAMP)
    before = space.corpus("Lab")
    evidence = ask(space)
    stored: list[int] = []

    def kill(at: Progress) -> None:
        if at.stage == "store" and at.done:
            stored.append(at.done)
            own_chroma.kill()

    with pytest.raises(StoreError):
        add(space, FROG, replace=True, on_progress=kill)
    assert stored == [5]
    own_chroma.start()
    # From the store alone, as a process that has no snapshot would see it.
    fresh = Workspace(tmp_path / "another")
    assert fresh.corpus("Lab") == before
    assert ask(fresh) == evidence
    add(space, FROG, replace=True)
    assert "frog" in space.open("Lab").chunks([0])[0].text
    with space.store.session() as session:
        names = {each.name for each in session._client.list_collections()}
    record = space.corpus("Lab")
    assert names == {record.id, *record.parts}


def test_the_command_line_says_it_in_one_line_without_the_key(
    own_chroma: ChromaServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own_chroma.kill()
    path = tmp_path / "a.txt"
    path.write_text(LAMP)
    for command in (
        ["index", str(path), "--corpus", "Lab"],
        ["ask", "Which lamp?", "--corpus", "Lab", "--method", "native_rag"],
        ["index", "--from-chroma", "server", "--corpus", "Lab"],
    ):
        assert main(command) == 2
        said = capsys.readouterr()
        assert said.err.strip().splitlines()[-1].startswith("tracert: The Chroma server of")
        assert "Traceback" not in said.err
        assert KEY not in said.err + said.out
    own_chroma.start()
    assert main(["index", str(path), "--corpus", "Lab"]) == 0


# --- a server that does not do as it should -----------------------------------------------


def test_a_server_that_takes_the_call_and_says_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma, "THERE_SECONDS", 0.3)
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        monkeypatch.setenv("CHROMA_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(StoreError, match="Check that it runs"):
            Store(tmp_path).corpora()


def test_a_reply_has_a_limit_too(own_chroma: ChromaServer, tmp_path: Path) -> None:
    client = chroma.place_of(tmp_path).open(apart=True)
    timeout = client._server._session.timeout  # type: ignore[attr-defined]
    assert timeout.read == chroma.REPLY_SECONDS
    client.close()


def test_what_is_no_chroma_server_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cloud() as other:
        other.refuse = True
        monkeypatch.setenv("CHROMA_URL", other.url)
        monkeypatch.setenv("CHROMA_API_KEY", KEY)
        with pytest.raises(StoreError, match="CHROMA_URL") as caught:
            Store(tmp_path).corpora()
    # The server repeats the key in its refusal; the sentence does not.
    assert KEY not in str(caught.value)


# --- Chroma Cloud -------------------------------------------------------------------------


class Cloud:
    """As much of Chroma Cloud as a client asks for at first; it keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.refuse = False
        self.away = False
        cloud = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                cloud.asked.append((self.path, headers))
                status, body = cloud.answer(self.path, headers)
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Keep the test's output clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def answer(self, path: str, headers: dict[str, str]) -> tuple[int, object]:
        if self.away:
            return 502, "<html>Bad gateway</html>"
        if self.refuse:
            if path.endswith("/heartbeat"):
                return 200, {"nanosecond heartbeat": 1}
            said = headers.get("x-chroma-token", "nothing")
            return 401, {"error": "ChromaAuthError", "message": f"{said} opens nothing"}
        path = path.partition("?")[0]
        if path.endswith("/auth/identity"):
            return 200, {"user_id": "u", "tenant": "acme", "databases": ["papers"]}
        if path.endswith("/collections"):
            return 200, []
        return 200, {"id": "0" * 8, "name": path.rsplit("/", 1)[-1], "tenant": "acme"}

    def __enter__(self) -> Cloud:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    """Chroma Cloud's client as it is, but for the address that it goes to."""
    with Cloud() as one:
        there = partial(
            chromadb.CloudClient, cloud_host="127.0.0.1", cloud_port=one.port, enable_ssl=False
        )
        monkeypatch.setattr(chromadb, "CloudClient", there)
        monkeypatch.setenv("CHROMA_API_KEY", KEY)
        yield one


def test_the_cloud_is_asked_with_the_key_for_the_tenant_and_the_database(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMA_TENANT", "acme")
    monkeypatch.setenv("CHROMA_DATABASE", "papers")
    assert Store(tmp_path).corpora() == []
    tokens = {path: headers.get("x-chroma-token") for path, headers in cloud.asked}
    assert set(tokens.values()) == {KEY}, tokens
    listed = [path for path, _ in cloud.asked if "/collections" in path]
    assert listed
    for path in listed:
        assert path.startswith("/api/v2/tenants/acme/databases/papers/collections")
    assert not (tmp_path / "store").exists()
    assert not any(KEY in path for path, _ in cloud.asked)


def test_the_cloud_tells_tenant_and_database_by_the_key_alone(cloud: Cloud, tmp_path: Path) -> None:
    assert Store(tmp_path).corpora() == []
    assert any("/tenants/acme/databases/papers/" in path for path, _ in cloud.asked)


def test_a_key_that_the_cloud_refuses_is_said_and_not_shown(cloud: Cloud, tmp_path: Path) -> None:
    cloud.refuse = True
    with pytest.raises(StoreError, match="Check CHROMA_API_KEY") as caught:
        Store(tmp_path).corpora()
    assert KEY not in str(caught.value)


def test_a_proxy_whose_server_is_away_is_said_too(cloud: Cloud, tmp_path: Path) -> None:
    one = Store(tmp_path)
    assert one.corpora() == []
    cloud.away = True
    # The client that is open, and one that is opened now.
    for store_ in (one, Store(tmp_path)):
        with pytest.raises(StoreError, match="Chroma Cloud did not do as asked") as caught:
            store_.corpora()
        assert KEY not in str(caught.value)
    cloud.away = False
    assert one.corpora() == []


def test_a_url_goes_before_the_cloud(cloud: Cloud, on_server: ChromaServer, tmp_path: Path) -> None:
    assert Store(tmp_path).corpora() == []
    assert cloud.asked == []
