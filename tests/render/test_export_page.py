"""The run as one page: what is in the file. That it works is tested in a real browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from tracert.errors import TraceError
from tracert.render.export.page import to_page
from tracert.trace import Trace


class Reader(HTMLParser):
    """The elements of a page with their attributes, and the text of each script."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.lasttag == "script" and self.scripts:
            self.scripts[-1] += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


def data_of(page: str) -> dict:
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1]
    )


def test_it_names_no_address_and_loads_nothing(toys):
    for tag, attributes in read(to_page(toys.walk_trace())).found:
        assert tag not in {"link", "iframe", "img", "object", "embed", "base", "form"}
        assert not {"src", "href", "action", "srcset"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)


def test_the_policy_allows_these_scripts_alone(toys):
    page = to_page(toys.walk_trace())
    reader = read(page)
    policy = next(
        attributes["content"]
        for tag, attributes in reader.found
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in rules["script-src"]
    ours = {
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    }
    assert set(rules["script-src"].split()) == ours
    # Before the policy stands no script that it would not bind.
    assert page.index("Content-Security-Policy") < page.index("<script")


def test_the_page_carries_the_trace(toys):
    trace = toys.walk_trace()
    data = data_of(to_page(trace))
    back = Trace.from_json(json.dumps(data["trace"]))
    assert back.to_json() == trace.to_json(vectors=False)
    assert len(data["run"]["path"]) == len(trace.steps) + 1
    assert [step["all"] for step in data["run"]["steps"]] == [
        sum(step.counts.values()) for step in trace.steps
    ]


def test_hostile_texts_end_no_element(toys):
    hostile = toys.HOSTILE + "<!--<script>]]>\u2028\x00\ud800"
    trace = toys.walk_trace(text=hostile, document=hostile, question=hostile)
    page, plain = to_page(trace), to_page(toys.walk_trace())
    page.encode()
    assert [tag for tag, _ in read(page).found] == [tag for tag, _ in read(plain).found]
    inside = re.search(r'id="data">(.*?)</script>', page)[1]
    assert not set("<>&\u2028") & set(inside)


def test_a_method_that_is_not_known_is_said(toys):
    from dataclasses import replace

    with pytest.raises(TraceError, match="cannot show"):
        to_page(replace(toys.walk_trace(), method="<b>other</b>"))
