"""Who looks at the app: the host, where it is private; in public a browser session or a person."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Final

import streamlit as st

from tracert.embedding.registry import DEFAULT
from tracert.home import home
from tracert.hosting import Hosting, folder_of, hosting, person_owner, session_owner
from tracert.knowledge.archive import Room

_ID: Final = "visitor:id"


def hosted() -> Hosting:
    """How the app is hosted.

    Raises:
        SettingError: a bound in the environment is none.
    """
    return hosting()


def public() -> bool:
    """Whether strangers use the app."""
    return hosted().public


def owner() -> str:
    """Who owns what is made here: '' in a private app."""
    if not public():
        return ""
    person = signed_in()
    if person is not None:
        return person_owner(*person)
    if _ID not in st.session_state:
        st.session_state[_ID] = uuid.uuid4().hex
    return session_owner(st.session_state[_ID])


def signed_in() -> tuple[str, str] | None:
    """Issuer and subject of who signed in; None where nobody did.

    Both come from the provider's signed token, and a subject alone is no person: two providers
    may use the same.
    """
    user = st.user
    if not user.get("is_logged_in"):
        return None
    issuer, subject = user.get("iss"), user.get("sub")
    if not isinstance(issuer, str) or not isinstance(subject, str) or not subject:
        return None
    return issuer, subject


def can_sign_in() -> bool:
    """Whether the host set up a provider to sign in with (`[auth]` in the secrets)."""
    return "is_logged_in" in st.user


def folder() -> Path:
    """Where what this visitor makes beside corpora is kept."""
    return folder_of(home(), owner())


def upload_mb() -> int | None:
    """The most megabytes that are handed in at once; None where each file has Streamlit's limit."""
    found = hosted()
    if not found.public:
        return None
    return min(found.upload_mb, int(st.get_option("server.maxUploadSize")))


def room_for_notes() -> Room:
    """How much an upload of notes may hold."""
    found = hosted()
    if not found.public:
        return Room()
    return Room(found.notes_mb * 1_000_000, found.all_notes_mb * 1_000_000)


def embedder() -> str:
    """The embedder that the host chose (`TRACERT_EMBEDDER`), else the default."""
    return os.environ.get("TRACERT_EMBEDDER", "").strip() or DEFAULT
