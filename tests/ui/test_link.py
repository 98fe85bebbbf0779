"""Links: what a page says comes back, and a link of whoever made it does no harm."""

from __future__ import annotations

from dataclasses import fields
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.errors import SettingError
from tracert.methods.registry import method, methods
from tracert.ui.link import (
    LONGEST,
    Link,
    Several,
    query,
    query_of_several,
    read,
    read_several,
)

TRACERT = method("tracert_rag").settings_type
TREEHOP = method("treehop").settings_type
words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=30)


def given_by(text: str) -> dict[str, str]:
    return dict(parse_qsl(text))


def values_of(kind):
    """Any settings that the page's controls can make."""
    made = {}
    for one in fields(kind):
        low, high = one.metadata["low"], one.metadata["high"]
        if one.metadata["choices"]:
            made[one.name] = st.sampled_from(one.metadata["choices"])
        elif str(one.type).startswith("bool"):
            made[one.name] = st.booleans()
        elif str(one.type).startswith("int"):
            made[one.name] = st.integers(int(low or 0), int(high or 100))
        elif str(one.type).startswith("float"):
            steps = st.integers(0, 1000)
            made[one.name] = steps.map(
                lambda n, a=low or 0.0, b=high or 3.0: a + (b - a) * n / 1000
            )
    return st.fixed_dictionaries({}, optional=made)


@pytest.mark.parametrize("name", sorted(methods()))
def test_every_method_s_settings_come_back(name):
    kind = method(name).settings_type

    @given(values_of(kind), words, st.none() | st.integers(0, 50))
    def check(settings, question, step):
        link = Link("Corpus", "ab" * 32, question, name, settings, step)
        back, said = read(given_by(query(link, kind)), kind)
        assert said == []
        assert (back.corpus, back.question, back.method, back.step) == (
            "Corpus", question, name, step,
        )  # fmt: skip
        assert back.fingerprint == "ab" * 8
        defaults = {one.name: one.default for one in fields(kind)}
        for one, value in settings.items():
            got = (defaults | dict(back.settings))[one]
            assert got == (pytest.approx(value, rel=1e-5) if isinstance(value, float) else value)

    check()


def test_only_what_differs_from_the_defaults_is_in_a_link():
    settings = {one.name: one.default for one in fields(TRACERT)}
    assert query(Link("C", question="Q", settings=settings), TRACERT) == "corpus=C&question=Q"
    changed = {**settings, "alpha": 0.7, "strict": True}
    assert query(Link("C", settings=changed), TRACERT) == "corpus=C&set.alpha=0.7&set.strict=true"


def test_no_path_of_a_file_leaves_or_enters_by_a_link():
    assert query(Link("C", settings={"model": "/home/me/secret.pt"}), TREEHOP) == "corpus=C"
    allowed = {"model": ("auto", "forget_rule")}
    for text in ("/etc/passwd", "../weights.pt", "weights", "file"):
        back, said = read({"set.model": text}, TREEHOP, words=allowed)
        assert back.settings == {}
        assert len(said) == 1
    back, said = read({"set.model": "forget_rule"}, TREEHOP, words=allowed)
    assert (dict(back.settings), said) == ({"model": "forget_rule"}, [])


@pytest.mark.parametrize(
    "given_",
    [
        {"set.alpha": "99"},
        {"set.alpha": "nan"},
        {"set.alpha": "1e999"},
        {"set.alpha": "<script>"},
        {"set.max_hops": "2.5"},
        {"set.max_hops": "9" * 500},
        {"set.strict": "perhaps"},
        {"set.start": "elsewhere"},
        {"set.nothing": "1"},
        {"set.": "1"},
        {"set.__class__": "1"},
        {"step": "-1"},
        {"step": "9" * 40},
        {"step": "1.5"},
        {"step": "٣"},
        {"at": "xyz"},
        {"at": "a" * 100},
        {"question": "q" * 3000},
        {"corpus": "c" * 3000},
        {"goal": "g" * 5000},
        {"question": "\ud800"},
        {"utm_source": "x"},
    ],
)
def test_what_cannot_be_used_is_one_sentence_and_the_rest_holds(given_):
    back, said = read({"set.min_passages": "3", "corpus": "C"} | given_, TRACERT)
    assert len(said) == 1
    assert said[0].endswith(".")
    assert "\n" not in said[0]
    assert len(said[0]) < 300
    assert back.settings == {"min_passages": 3}
    assert len(back.question or "") <= LONGEST["question"]


def test_a_value_that_the_control_cannot_show_is_left_out():
    def check(name, value):
        raise SettingError(f"{name}={value} is beyond the slider.")

    back, said = read({"set.radius_scale": "50"}, TRACERT, check)
    assert back.settings == {}
    assert "beyond the slider" in said[0]


@given(st.dictionaries(st.text(max_size=12), st.text(max_size=40), max_size=90))
def test_any_parameters_are_read_without_harm(given_):
    given_ = dict(given_) | {f"set.{n}": n for n in list(given_)[:9]}
    link, said = read(given_, TRACERT)
    query(link, TRACERT)
    assert all("\n" not in one for one in said)


def test_a_link_to_a_comparison_comes_back():
    kinds = {name: one.settings_type for name, one in methods().items() if one.needs == "corpus"}
    asked = Several(
        Link("C", "ab" * 8, "Q?"), ("tracert_rag", "treehop"), 9, {"tracert_rag": {"alpha": 0.7}}
    )
    text = query_of_several(asked, kinds)
    back, said = read_several(given_by(text), kinds, lambda name: lambda *_: None, (1, 50))
    assert said == []
    assert (back.methods, back.budget, back.settings) == (asked.methods, 9, asked.settings)
    assert (back.link.corpus, back.link.question) == ("C", "Q?")


def test_a_bad_link_to_a_comparison_is_said():
    kinds = {"tracert_rag": TRACERT}
    given_ = {
        "methods": "tracert_rag,nothing,<b>",
        "budget": "999999",
        "set.tracert_rag.alpha": "7",
        "set.other.alpha": "0.1",
    }
    back, said = read_several(given_, kinds, lambda name: lambda *_: None, (1, 50))
    assert back.methods == ("tracert_rag",)
    assert (back.budget, back.settings) == (None, {})
    assert len(said) == 4
