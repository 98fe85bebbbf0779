"""The language model of this session: where it is, its key, its limits, and whether it answers."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from tracert.errors import TracertError
from tracert.language.connection import check_connection
from tracert.ui.glossary import explain
from tracert.ui.model import PROVIDERS, ModelSettings, Provider, keep, make, provider, settings
from tracert.ui.safe import literal


def show(*, key: str) -> None:
    """The form, what is in force, and the button that checks the connection."""
    now = settings()
    _state(now, key=key)
    refused = st.session_state.pop(f"{key}:refused", None)
    if refused:
        st.error(literal(refused))
    names = [one.name for one in PROVIDERS]
    chosen = st.segmented_control(
        "Provider",
        names,
        default=now.provider if now.provider in names else names[0],
        required=True,
        key=f"{key}:provider",
    )
    preset = provider(str(chosen))
    with st.form(f"{key}:form"):
        left, right = st.columns(2)
        with left:
            base_url, model, secret = _connection(now, preset, key=key)
        with right:
            limits = _limits(now, key=key)
        if st.form_submit_button("Use these settings", type="primary"):
            # A key belongs to its provider's address and is not taken along to another.
            same = preset.name == now.provider and base_url == (now.base_url or preset.base_url)
            connected = replace(
                limits,
                provider=preset.name,
                base_url=base_url,
                model=model,
                key=secret or (now.key if same else ""),
            )
            _use(connected, key=key)


def _connection(now: ModelSettings, preset: Provider, *, key: str) -> tuple[str, str, str]:
    """The fields that tell where the model is: address, name and key as typed."""
    same = preset.name == now.provider
    base_url = st.text_input(
        "Base URL",
        now.base_url if same and now.base_url else preset.base_url,
        key=f"{key}:url:{preset.name}",
    )
    model = st.text_input(
        "Model",
        now.model if same else "",
        placeholder=f"for example {preset.example}",
        key=f"{key}:model:{preset.name}",
        help="The name that the provider gives it. Empty: no model is asked.",
    )
    secret = st.text_input(
        "Key",
        "",
        type="password",
        placeholder="A key is kept; type to change it" if now.key else _wants(preset.name),
        key=f"{key}:key:{st.session_state.get(f'{key}:serial', 0)}",
        help="Kept in this browser session only. It is never shown again, saved, logged "
        "or put into a trace.",
        autocomplete="off",
    )
    return base_url.strip(), model.strip(), secret.strip()


def _limits(now: ModelSettings, *, key: str) -> ModelSettings:
    """The fields that bound the calls, as settings that differ from `now` in them alone."""
    timeout = st.number_input(
        "Time-out in seconds", 1.0, 600.0, now.timeout, 5.0, format="%.0f", key=f"{key}:timeout"
    )
    retries = st.number_input("Retries", 0, 10, now.retries, 1, key=f"{key}:retries")
    calls = st.number_input(
        "Budget: calls (0 for no limit)",
        0,
        100_000,
        now.calls,
        10,
        key=f"{key}:calls",
        help=explain("budget"),
    )
    tokens = st.number_input(
        "Budget: tokens (0 for no limit)",
        0,
        100_000_000,
        now.tokens,
        10_000,
        key=f"{key}:tokens",
    )
    return replace(
        now, timeout=float(timeout), retries=int(retries), calls=int(calls), tokens=int(tokens)
    )


def _wants(name: str) -> str:
    if provider(name).needs_key:
        return "The key of your account there"
    return "Mostly none is needed"


def _use(new: ModelSettings, *, key: str) -> None:
    # A fresh widget, so that the typed key does not stay in the page, whatever comes of it.
    st.session_state[f"{key}:serial"] = st.session_state.get(f"{key}:serial", 0) + 1
    try:
        if new.model:
            make(new)
    except TracertError as error:
        st.session_state[f"{key}:refused"] = str(error)
        st.rerun()
    keep(new)
    st.session_state.pop(f"{key}:checked", None)
    st.rerun()


def _state(now: ModelSettings, *, key: str) -> None:
    with st.container(border=True):
        if not now.model:
            st.markdown("**No model is asked.** Goals and answers are made on this machine.")
            return
        st.text(f"Model {now.model} at {now.base_url or 'the default address'}")
        st.caption(
            f"Key: {'kept for this session' if now.key else 'none typed; the environment is used'}"
        )
        with st.container(horizontal=True):
            if st.button(
                "Check the connection", key=f"{key}:check", icon=":material/wifi_tethering:"
            ):
                st.session_state[f"{key}:checked"] = _check(now)
            if st.button("Ask no model", key=f"{key}:none"):
                keep(replace(now, model="", key=""))
                st.session_state.pop(f"{key}:checked", None)
                st.rerun()
        checked = st.session_state.get(f"{key}:checked")
        if checked is not None:
            sound, said = checked
            (st.success if sound else st.error)(literal(said))


def _check(now: ModelSettings) -> tuple[bool, str]:
    with st.spinner("Asking the model for one word…"):
        try:
            return True, check_connection(make(now))
        except TracertError as error:
            return False, str(error)
