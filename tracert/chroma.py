"""How Chroma is reached: the data folder, a server of one's own, or Chroma Cloud.

Chroma's HTTP client waits for a reply without end. So a server is first asked whether it is
there, with a limit, and every later request has one, too.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from tracert.errors import StoreError, TracertError

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

#: Seconds until a server must have said that it is there, and for a reply to a request.
THERE_SECONDS: Final = 10.0
REPLY_SECONDS: Final = 120.0
#: Rows read out of Chroma at once: all at once needs four times the memory.
ROWS: Final = 5_000
#: Quotas of Chroma Cloud (docs.trychroma.com/cloud/quotas-limits, read in 2026): rows of one
#: request, and bytes of a document. A value in a collection's metadata has 256 bytes there.
CLOUD_ROWS: Final = 300
CLOUD_DOCUMENT_BYTES: Final = 16_384
_KEY: Final = "x-chroma-token"
_OPENING: Final = Lock()


@dataclass(frozen=True, slots=True)
class Place:
    """Where collections lie and how a client is opened.

    `trouble` is the sentence for when it fails. With neither `folder` nor `url` it is Chroma
    Cloud.
    """

    embedded: bool
    trouble: str
    folder: str = ""
    url: str = ""

    @property
    def narrow(self) -> bool:
        """Whether the quotas of Chroma Cloud hold: `CLOUD_ROWS`, and short metadata."""
        host = urlsplit(self.url).hostname or ""
        return not self.embedded and (not self.url or host.endswith(".trychroma.com"))

    @property
    def rows(self) -> int:
        """The most rows that one request gives or takes."""
        return CLOUD_ROWS if self.narrow else ROWS

    def open(self, *, apart: bool) -> Client:
        """A client; `apart` gives one that shares no cache with the others of this process.

        Call it within `errors`.
        """
        import chromadb
        from chromadb.config import DEFAULT_DATABASE, DEFAULT_TENANT, Settings

        settings = Settings(anonymized_telemetry=False)
        if self.embedded:
            # Chroma shares one system, with its index of vectors, among the clients of one path.
            folder = os.path.join(self.folder, ".") if apart else self.folder  # noqa: PTH118 a Path drops the dot
            with _OPENING:
                try:
                    return cast("Client", chromadb.PersistentClient(folder, settings=settings))
                except AttributeError:
                    # An attempt that failed leaves a system that chromadb 1.5.9 takes for one
                    # that runs, and drops on failing with it; now it begins anew.
                    return cast("Client", chromadb.PersistentClient(folder, settings=settings))
        tenant = os.environ.get("CHROMA_TENANT")
        database = os.environ.get("CHROMA_DATABASE")
        key = os.environ.get("CHROMA_API_KEY")
        if not self.url:
            # Named, since chromadb 1.5.9 sends the word 'None' where it is left to find the key.
            cloud = chromadb.CloudClient(
                tenant=tenant, database=database, api_key=key, settings=settings
            )
            return _hurried(cloud)
        parts = urlsplit(self.url)
        host, port = parts.hostname or "localhost", parts.port
        port = port or (443 if parts.scheme == "https" else 8000)
        headers = {_KEY: key} if key else None
        _is_there(host, port, "https" if parts.scheme == "https" else "http", headers)
        server = chromadb.HttpClient(
            host=host,
            port=port,
            ssl=parts.scheme == "https",
            headers=headers,
            settings=settings,
            tenant=tenant or DEFAULT_TENANT,
            database=database or DEFAULT_DATABASE,
        )
        return _hurried(server)


def place_of(path: Path) -> Place:
    """The server of `CHROMA_URL`, else Chroma Cloud where there is a key, else the data folder."""
    return elsewhere() or Place(
        True,
        "The store in the data folder cannot be used. Check that the disk has room and that the "
        "folder may be written, or set TRACERT_HOME to another one",
        folder=str(path / "store"),
    )


def elsewhere() -> Place | None:
    """The server or the cloud that the environment names, or None."""
    url = os.environ.get("CHROMA_URL", "").strip()
    if url:
        return Place(
            False,
            "The Chroma server of CHROMA_URL did not do as asked. Check that it runs "
            "and that the address is right, or unset CHROMA_URL",
            url=url,
        )
    if os.environ.get("CHROMA_API_KEY"):
        return Place(
            False,
            "Chroma Cloud did not do as asked. Check CHROMA_API_KEY, CHROMA_TENANT and "
            "CHROMA_DATABASE, or unset them",
        )
    return None


@contextmanager
def errors(place: Place) -> Iterator[None]:
    """Chroma's errors as ours, without a key in them."""
    import httpx
    from chromadb.errors import ChromaError

    try:
        yield
    except TracertError:
        raise
    except (ChromaError, httpx.HTTPError, sqlite3.Error, OSError, ValueError) as error:
        said = str(error)
        key = os.environ.get("CHROMA_API_KEY")
        told = said.replace(key, "***") if key else said
        # An error that repeats the key is no cause: whoever logs the one logs the other.
        cause = error if told == said else None
        raise StoreError(f"{place.trouble} ({told[:160]})") from cause


def every_collection(client: Client) -> Iterator[Collection]:
    """Every collection; a server gives at most some hundred in one reply."""
    size, offset = 100, 0
    while True:
        some = client.list_collections(limit=size, offset=offset)
        yield from some
        if len(some) < size:
            return
        offset += size


def _is_there(host: str, port: int, scheme: str, headers: dict[str, str] | None) -> None:
    """Raise an error of httpx unless the server answers in time."""
    import httpx

    shown = f"[{host}]" if ":" in host else host
    address = f"{scheme}://{shown}:{port}/api/v2/heartbeat"
    httpx.get(address, headers=headers, timeout=THERE_SECONDS).raise_for_status()


def _hurried(client: Any) -> Client:
    """The client with a limit on each reply, which chromadb 1.5.9 has no setting for.

    A refusal that is none of Chroma's, such as that of a proxy whose server is away, becomes an
    error of httpx; chromadb would raise a plain Exception.
    """
    session = client._server._session
    session.timeout = REPLY_SECONDS
    session.event_hooks["response"].append(_refuse_strangers)
    return cast("Client", client)


def _refuse_strangers(response: Any) -> None:
    from chromadb.errors import error_types

    if not response.is_error:
        return
    response.read()
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or body.get("error") not in error_types:
        response.raise_for_status()
