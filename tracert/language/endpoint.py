"""Where a model is reached: the base URL made regular, and the key that belongs to it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from tracert.errors import ModelError

OPENAI_URL: Final = "https://api.openai.com/v1"
OPENROUTER_URL: Final = "https://openrouter.ai/api/v1"
#: A part of a path that names a version of an interface: 'v1', 'v1beta', 'v4'.
_VERSION: Final = re.compile(r"v\d+[a-z]*", re.ASCII)
#: What people paste when they copy the address of one call instead of the base.
_CALLS: Final = ("/chat/completions", "/completions", "/embeddings", "/models", "/responses")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 a name to recognise, nothing is bound


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A base URL in regular form and its key, which no `repr` shows."""

    base_url: str
    api_key: str | None = field(default=None, repr=False)

    @property
    def needs_key(self) -> bool:
        """Whether this is a provider known to answer nobody without a key."""
        return self.base_url in (OPENAI_URL, OPENROUTER_URL)


def regular_url(given: str) -> str:
    """A base URL with scheme and version and without a slash at its end.

    'localhost:11434', 'http://localhost:11434/' and 'http://localhost:11434/v1/' mean the
    same. A path that names no version gets '/v1', as all OpenAI-compatible servers have it.

    Raises:
        ModelError: no web address, or one that carries a name, a password or a query.
    """
    text = given.strip()
    if "://" not in text:
        host = text.split("/", 1)[0].rsplit(":", 1)[0].strip("[]")
        text = f"{'http' if host in _LOOPBACK else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        usable = bool(parts.hostname) and parts.port != 0 and _is_host(parts.hostname or "")
    except ValueError:  # urlsplit's word for a port or an address that is none
        usable, parts = False, urlsplit("")
    if parts.scheme not in ("http", "https") or not usable or re.search(r"\s", text):
        raise ModelError(
            "The base URL is no web address. Pass one such as https://api.openai.com/v1 or "
            "http://localhost:11434/v1."
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ModelError(
            "The base URL carries a name, a password or a query. Leave only the address and "
            "give the key in its own place."
        )
    path = parts.path.rstrip("/")
    for call in _CALLS:
        path = path.removesuffix(call)
    if not any(_VERSION.fullmatch(part) for part in path.split("/")):
        path += "/v1"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _is_host(host: str) -> bool:
    """Whether a name can be looked up: the client lets its encoding's errors through."""
    import httpx

    try:
        host.encode("idna")
        httpx.URL(f"https://[{host}]/" if ":" in host else f"https://{host}/")
    except (UnicodeError, httpx.InvalidURL):
        return False
    return True


def endpoint(
    base_url: str | None = None,
    api_key: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Endpoint:
    """The endpoint meant by what was given, the environment standing in for what was not.

    The base URL: as given, else `TRACERT_BASE_URL`, else OpenRouter where only its key is
    set, else OpenAI. The key: as given, else `OPENROUTER_API_KEY` for OpenRouter and
    `OPENAI_API_KEY` for every other address. So no key is sent to a provider that it does
    not belong to.

    Raises:
        ModelError: the base URL or the key is unusable.
    """
    names = os.environ if environment is None else environment
    openai_key = (names.get("OPENAI_API_KEY") or "").strip() or None
    openrouter_key = (names.get("OPENROUTER_API_KEY") or "").strip() or None
    address = (base_url or names.get("TRACERT_BASE_URL") or "").strip()
    if not address:
        only_openrouter = openrouter_key is not None and openai_key is None and not api_key
        address = OPENROUTER_URL if only_openrouter else OPENAI_URL
    address = regular_url(address)
    host = urlsplit(address).hostname or ""
    at_openrouter = host == "openrouter.ai" or host.endswith(".openrouter.ai")
    key = (api_key or "").strip() or (openrouter_key if at_openrouter else openai_key)
    if key is not None and not (key.isascii() and key.isprintable()):
        # It goes into a header of ASCII, and the client's error would show it.
        raise ModelError("The key holds a character that no key has. Copy it again.")
    return Endpoint(address, key)
