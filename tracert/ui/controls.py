"""Controls made from a method's settings dataclass: label, help, range and kind come from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, fields
from typing import Any, Final

import streamlit as st

from tracert.errors import SettingError
from tracert.methods.base import cut
from tracert.trace import Value

#: Where a field has no upper end, the slider's.
_ENDS: Final[Mapping[str, tuple[float, float]]] = {"radius_scale": (0.0, 3.0), "delta": (0.0, 1.2)}

_AUTO: Final = "Let the method find the value; the slider shows what it found."


def field_named(kind: type[Any], name: str) -> Field[Any]:
    """The field of a settings dataclass."""
    return next(field for field in fields(kind) if field.name == name)


def control(kind: type[Any], name: str, *, key: str, disabled: bool = False) -> Value:
    """One control for a field that always has a value; it is kept for the session.

    `disabled` is for a field that other settings leave unused.
    """
    field = field_named(kind, name)
    label = str(field.metadata["label"] or name)
    return _control(field, label, key=f"{key}:{name}", disabled=disabled)


@dataclass(frozen=True, slots=True)
class Open:
    """A control of a field that may be left open: its value, and where to show what was found."""

    field: Field[Any]
    value: float | None
    place: Any
    key: str

    def found(self, value: float | None) -> None:
        """Show, where nothing can be moved, which value the method found by itself, if any."""
        if self.value is not None:
            return
        if value is None:
            self.place.text_input(
                str(self.field.metadata["label"]),
                "none found",
                disabled=True,
                key=f"{self.key}:none",
                help=self.field.metadata["help"],
            )
            return
        low, high = _range(self.field)
        at = min(max(value, low), high)
        st.session_state[f"{self.key}:found"] = at
        self.place.slider(
            str(self.field.metadata["label"]),
            low,
            high,
            step=0.001,
            format="%.3f",
            disabled=True,
            key=f"{self.key}:found",
            help=self.field.metadata["help"],
        )


def open_control(kind: type[Any], name: str, *, key: str) -> Open:
    """A slider with a switch that leaves the value to the method."""
    field = field_named(kind, name)
    key = f"{key}:{name}"
    low, high = _range(field)
    left, right = st.columns([3, 1.35], vertical_alignment="bottom", gap="small", wrap=False)
    st.session_state.setdefault(f"{key}:auto", True)
    auto = right.toggle("Auto", key=f"{key}:auto", persist_state="session", help=_AUTO)
    place = left.empty()
    if auto:
        return Open(field, None, place, key)
    if f"{key}:value" not in st.session_state:
        found = st.session_state.get(f"{key}:found", (low + high) / 2)
        st.session_state[f"{key}:value"] = round(float(found), 3)
    value = place.slider(
        str(field.metadata["label"]),
        low,
        high,
        step=0.001,
        format="%.3f",
        key=f"{key}:value",
        help=field.metadata["help"],
        persist_state="session",
    )
    return Open(field, float(value), place, key)


def preset(kind: type[Any], values: Mapping[str, Value], *, key: str) -> None:
    """Set the controls of a settings dataclass: to these values, else to the defaults.

    Call it from a callback, before the controls are drawn.
    """
    for field in fields(kind):
        value: Any = values.get(field.name, field.default)
        if "None" in str(field.type):
            st.session_state[f"{key}:{field.name}:on"] = value is not None
            st.session_state[f"{key}:{field.name}:auto"] = value is None
            if value is not None:
                st.session_state[f"{key}:{field.name}:value"] = float(value)
        if value is not None:
            whole = not str(field.type).startswith("float")
            st.session_state[f"{key}:{field.name}"] = value if whole else float(value)


def fits(kind: type[Any], name: str, value: Value) -> None:
    """Whether the control of a setting can show this value.

    Raises:
        SettingError: its slider ends before; the message says where.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    low, high = _range(field_named(kind, name))
    if not low <= value <= high:
        raise SettingError(
            f"{name}={cut(value)} is beyond what the page can show. Pass {low:g} to {high:g}."
        )


def optional(kind: type[Any], name: str, start: int, *, key: str) -> int | None:
    """A switch for a whole number that may be left out, and its slider while it is on."""
    field = field_named(kind, name)
    key = f"{key}:{name}"
    st.session_state.setdefault(f"{key}:on", field.default is not None)
    label, help_ = str(field.metadata["label"]), field.metadata["help"]
    on = st.toggle(label, key=f"{key}:on", help=help_, persist_state="session")
    if not on:
        return None
    low, high = _range(field)
    st.session_state.setdefault(key, start)
    return int(
        st.slider(
            label,
            int(low),
            int(high),
            step=1,
            key=key,
            label_visibility="collapsed",
            persist_state="session",
        )
    )


def _control(field: Field[Any], label: str, *, key: str, disabled: bool) -> Value:
    default: Any = field.default
    help_, kind = field.metadata["help"], str(field.type)
    more: dict[str, Any] = {
        "help": help_,
        "key": key,
        "disabled": disabled,
        "persist_state": "session",
    }
    # The value is set through the session alone, so that a preset may change it too.
    st.session_state.setdefault(key, float(default) if kind.startswith("float") else default)
    if field.metadata["choices"]:
        choices = list(field.metadata["choices"])
        return str(st.selectbox(label, choices, **more))
    if kind.startswith("bool"):
        return bool(st.checkbox(label, **more))
    low, high = _range(field)
    if kind.startswith("int"):
        return int(st.slider(label, int(low), int(high), step=1, **more))
    step = float(field.metadata["step"] or 0.01)
    return float(st.slider(label, low, high, step=step, **more))


def _range(field: Field[Any]) -> tuple[float, float]:
    low, high = field.metadata["low"], field.metadata["high"]
    if field.name in _ENDS:
        return _ENDS[field.name]
    return float(low if low is not None else 0.0), float(high if high is not None else 1.0)


def controls(kind: type[Any], names: Iterable[str], *, key: str) -> dict[str, Value]:
    """Several controls, one under the other."""
    return {name: control(kind, name, key=key) for name in names}


def names(kind: type[Any]) -> list[str]:
    """The names of the settings, in their order."""
    return [field.name for field in fields(kind)]
