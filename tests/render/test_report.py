"""The report for the browser: whole, alone, both themes, and every text of the data as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from tests.evaluation.test_detail import detail
from tests.evaluation.test_export import evaluation
from tests.toy_traces import HOSTILE
from tracert.evaluation.asked import GoldPassage
from tracert.evaluation.summary import Evaluation, Setup
from tracert.render.report import _table, named, report_html


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def two(text: str = "Who?") -> list[Evaluation]:
    questions = (
        detail(question=text, type=text),
        detail(id="2", evidence=("passage:8",), filled=0, n_hops=1),
    )
    return [evaluation(*questions, method="native_rag"), evaluation(*questions)]


def test_it_states_data_settings_versions_and_seeds() -> None:
    setup = Setup(
        "d.jsonl",
        "p.jsonl",
        "pool",
        7005,
        "f1f2",
        "treehop",
        {"k": 3, "hops": 2},
        3,
        "minilm-int8",
        left_out=1,
        faults=("d.jsonl, line 9 is not JSON.",),
        versions={"python": "3.11.9"},
    )
    page = Page(report_html(named([Evaluation(setup, (detail(),))]), made="1 May"))
    for said in (
        "1 question of d.jsonl, searched in 7,005 passages of p.jsonl, at most 3 passages",
        "1 question without a gold passage there is left out",
        "embedder minilm-int8; no language model; budget 3; k 3, hops 2",
        "python 3.11.9",
        "seed 0, 10,000 draws",
        "d.jsonl, line 9 is not JSON.",
        "f1f2",
        "1 May",
    ):
        assert said in page.text


def test_hostile_text_is_text() -> None:
    calm, wild = (report_html(named(two(text))) for text in ("calm", HOSTILE))
    first, second = Page(calm), Page(wild)
    # The same tags with the same attributes, whatever the data say.
    assert [tag for tag, _ in first.tags] == [tag for tag, _ in second.tags]
    assert "window.pwned" in second.text
    assert "\u202e" not in wild
    for _, attributes in second.tags:
        assert "window.pwned" not in "".join(value or "" for value in attributes.values())


def test_it_loads_nothing_and_has_no_style_of_its_own_in_a_tag() -> None:
    text = report_html(named(two()))
    page = Page(text)
    for tag, attributes in page.tags:
        assert tag not in {"link", "img", "iframe", "object", "base", "form"}
        assert not {"src", "href", "style", "onclick", "onload"} & set(attributes)
    assert "http://" not in text
    assert "https://" not in text
    assert "url(" not in text
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_every_colour_of_a_picture_is_there_in_both_themes() -> None:
    text = report_html(named(two()))
    classes = set(re.findall(r'<g class="(m-[a-z-]+)"', text))
    assert classes == {"m-native-rag", "m-treehop"}
    for name in classes:
        assert f".{name}{{--c:var(--{name})}}" in text
        assert len(re.findall(rf"--{name}:#", text)) == 3  # light, dark by system, dark by hand


def test_two_of_a_kind_have_names_of_their_own() -> None:
    labels = [one.label for one in named([*two(), evaluation(), evaluation()])]
    assert len(set(labels)) == 4
    assert labels[0] == "Native RAG (plain top-k)"


def test_one_question_that_no_passage_holds_is_drawn_too() -> None:
    one = detail(gold=(GoldPassage((), 1),), edges=(), seconds={"all": 0.0})
    page = Page(report_html(named([evaluation(one)])))
    assert "No times were taken." in page.text


def test_a_dash_stands_under_the_words_or_numbers_of_its_column() -> None:
    made = _table({"Interval": ["0.1 to 0.2", None], "Mean": [0.15, None]})
    assert '<tr><td>–</td><td class="number">–</td></tr>' in made
