"""Every export of every method's walk over texts, names and replies that are full of markup.

The walks are real: a hostile corpus is indexed and asked with a hostile model. What a reader of
the format makes of the file must have the same elements as of a harmless one, and the marks that
turn the direction of writing reach no sentence of the app's own.
"""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import networkx as nx
import pytest
from markdown_it import MarkdownIt

from tests.evaluation.test_detail import detail
from tests.evaluation.test_export import evaluation
from tests.scripted_model import ScriptedModel
from tests.toy_embedder import ToyEmbedder
from tracert.evaluation.asked import GoldPassage
from tracert.evaluation.export import to_csv, to_json
from tracert.evaluation.summary import Evaluation
from tracert.indexing import File
from tracert.methods.registry import methods
from tracert.render.export.graphml import to_graphml
from tracert.render.export.markdown import to_markdown
from tracert.render.export.page import to_page
from tracert.render.network import export_html
from tracert.render.report import named, report_html
from tracert.render.tables import path_in_words
from tracert.render.words import words_for
from tracert.trace import Trace
from tracert.workspace import Workspace

MARKUP = (
    "<img src=x onerror='window.pwned=1'><script>window.pwned=1</script></script></style></title>"
    '<a href="javascript:window.pwned=1">href</a> ![p](http://198.51.100.7/p.png) '
    "[l](http://198.51.100.7/l) **b** :red[r] :material/x: $x^2$ `c` &lt;t&gt; ]]> --> http://a.b"
)
TURNED = "\u202eturned\u2067"
LONG = "w" * 5000
HOSTILE = f"{MARKUP} {TURNED}"
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
WALKS = sorted(name for name in methods() if name != "trailgraph")


def walk(method: str, home: Path, said: str) -> Trace:
    """A walk over four documents in which everything that can be named or written is `said`."""
    subjects = (
        "Ingrid Falk lit the lamp of the tower.",
        "The tower was built by Anders Holm.",
        "Anders Holm learned to grind lenses in Bergen.",
        f"Bergen sent oil for the lamp by ship. {LONG if said == HOSTILE else ''}",
    )
    files = [
        File(f"{number}{said[:20]}.txt", f"{said}\n\n{subject}\n\n{said}".encode())
        for number, subject in enumerate(subjects)
    ]
    space = Workspace(home)
    embedder = ToyEmbedder()
    name = f"corpus {said[:20]}"
    space.index(files, name, embedder=embedder)
    model = ScriptedModel(*[f"{said} Ingrid Falk lit the lamp [1]."] * 60, name=said[:60])
    asked = f"Who lit the lamp? {said}"
    return space.ask(asked, corpus=name, method=method, model=model, embedder=embedder)


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trace]:
    home = tmp_path_factory.mktemp("walks")
    return {name: walk(name, home / name, HOSTILE) for name in WALKS}


class Elements(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def check_page(text: str) -> None:
    """No element of it fetches, leads anywhere or runs what an attribute says."""
    for tag, attributes in Elements(text).found:
        assert tag not in {"a", "img", "iframe", "object", "embed", "link", "base", "form", "svg"}
        assert not {"src", "href", "action", "srcset", "srcdoc"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert not any("pwned" in (value or "") for value in attributes.values())


@pytest.mark.parametrize("method", WALKS)
def test_a_page_has_no_element_of_what_was_written(walks: dict[str, Trace], method: str) -> None:
    page = to_page(walks[method])
    check_page(page)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert data is not None
    # Nothing in it can end the element that it stands in, or begin another.
    assert "<" not in data[1]
    back = json.loads(data[1])
    assert "pwned" in json.dumps(back["trace"])
    for frame in back["stage"]["frames"]:
        assert not TURNING.search(frame["say"])


@pytest.mark.parametrize("method", WALKS)
def test_the_graph_alone_has_none_either(walks: dict[str, Trace], method: str) -> None:
    page = export_html(walks[method])
    found = [tag for tag, _ in Elements(page).found]
    assert not {"a", "img", "iframe", "link", "object", "embed", "form"} & set(found)
    assert "198.51.100.7" not in page
    assert "window.pwned" not in page


@pytest.mark.parametrize("method", WALKS)
def test_markdown_makes_nothing_of_it(walks: dict[str, Trace], method: str) -> None:
    text = to_markdown(walks[method])
    assert not TURNING.search(text)
    made = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    tags = set(re.findall(r"<(/?\w+)", made))
    assert tags <= {"h1", "/h1", "h2", "/h2", "p", "/p", "ol", "/ol", "ul", "/ul", "li", "/li",
                    "strong", "/strong", "em", "/em", "blockquote", "/blockquote"}  # fmt: skip
    assert "window.pwned" in made
    assert made.count("<h1") == 1


@pytest.mark.parametrize("method", WALKS)
def test_graphml_and_trace_hold_it_as_it_was(walks: dict[str, Trace], method: str) -> None:
    trace = walks[method]
    text = to_graphml(trace)
    assert {each.tag.rpartition("}")[2] for each in ET.fromstring(text).iter()} == {
        "graphml", "key", "graph", "node", "edge", "data",
    }  # fmt: skip
    graph = nx.parse_graphml(text)
    assert graph.graph["question"] == trace.question
    assert Trace.from_json(trace.to_json()).to_json() == trace.to_json()


@pytest.mark.parametrize("method", WALKS)
def test_no_sentence_of_the_app_is_turned_around(walks: dict[str, Trace], method: str) -> None:
    said = path_in_words(walks[method], words_for(method))
    assert said
    assert not TURNING.search("".join(said))


def test_the_report_of_an_evaluation_is_text() -> None:
    def measured(text: str) -> list[Evaluation]:
        gold = (GoldPassage(("passage:3",), 1),)
        one = evaluation(detail(question=text, type=text, id=text, gold=gold))
        setup = replace(one.setup, data=text, source=text, model=text, embedder=text)
        return [replace(one, setup=setup)]

    page = report_html(named(measured(HOSTILE)), title=HOSTILE, made=HOSTILE)
    calm = report_html(named(measured("calm")), title="calm", made="calm")
    assert [tag for tag, _ in Elements(page).found] == [tag for tag, _ in Elements(calm).found]
    assert not TURNING.search(page)
    for _, attributes in Elements(page).found:
        assert not {"src", "href", "onclick", "onerror"} & set(attributes)
        assert "pwned" not in "".join(value or "" for value in attributes.values())
    (row,) = csv.DictReader(io.StringIO(to_csv(measured(HOSTILE))))
    assert row["question"] == HOSTILE
    report = json.loads(to_json(measured(HOSTILE)))
    assert "window.pwned" in json.dumps(report)
