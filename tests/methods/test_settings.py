"""Settings read from text: what they take and the sentences for what they do not."""

from __future__ import annotations

from dataclasses import dataclass, fields

import pytest

from tracert.errors import SettingError
from tracert.methods.base import parse_settings, setting


@dataclass(frozen=True, slots=True)
class Toy:
    """One field of each type."""

    weight: float | None = setting(None, "", low=0.0)
    share: float = setting(0.5, "", low=0.0, high=1.0)
    most: int = setting(3, "", high=9)
    loud: bool = setting(False, "")
    way: str = setting("up", "", choices=("up", "down"))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("weight", "-1", "weight='-1' is out of range. Pass 0 or more."),
        ("share", "2", "share='2' is out of range. Pass 0 to 1."),
        ("most", "10", "most='10' is out of range. Pass at most 9."),
        ("weight", "nan", "weight='nan' is no finite number. Pass one, or auto."),
        ("share", "inf", "share='inf' is no finite number. Pass one."),
        ("most", "1.5", "most='1.5' is no usable whole number. Pass one."),
        ("most", "9" * 400, f"most='{'9' * 40}'… is no usable whole number. Pass one."),
        ("loud", "maybe", "loud='maybe' is neither true nor false. Pass one of the two."),
        ("way", "x" * 5000, f"way='{'x' * 40}'… is unknown. Supported: up, down."),
    ],
)
def test_what_is_wrong_with_a_value(name: str, value: str, said: str) -> None:
    with pytest.raises(SettingError) as caught:
        parse_settings(Toy, {name: value})
    assert str(caught.value) == said


def test_a_long_name_is_not_repeated_whole() -> None:
    with pytest.raises(SettingError, match="Supported: loud, most, share, way, weight") as caught:
        parse_settings(Toy, {"x" * 5000: 1})
    assert len(str(caught.value)) < 150


def test_values_are_read_by_the_type_of_the_field() -> None:
    texts = {"weight": "auto", "share": "0.25", "most": "2", "loud": "yes", "way": "down"}
    assert parse_settings(Toy, texts) == Toy(None, 0.25, 2, True, "down")
    assert {each.name for each in fields(Toy)} == texts.keys()
