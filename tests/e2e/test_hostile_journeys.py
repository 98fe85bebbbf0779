"""Documents, notes, names and replies that are full of markup, on every page of a real browser.

What is shown must be text: nothing runs, nothing is fetched, no element is made of it, and no
mark of direction turns the app's own words around. Each probe has a word (`zq…`) that stands
alone in the page only if what surrounds it was taken for markup.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Server
from tests.e2e.steps import STAGE, enter, settle
from tests.servers import ChatServer
from tracert.indexing import File
from tracert.workspace import Workspace

LONG = 300_000
FAR = "http://198.51.100.7/zq"
#: Markup of every kind that something on the way to the screen might read.
MARKUP = (
    "<img src=x onerror='window.pwned=1'><script>window.pwned=1</script>"
    f'<a href="javascript:window.pwned=1">href</a> ![zqpicture]({FAR}.png) [zqlink]({FAR}) '
    "**zqbold** :red[zqred] :material/zqicon: $zqtex^2$ `zqcode` &lt;zqtag&gt;"
)
#: A direction that is turned and never turned back.
TURNED = "\u202ezqturned\u2067zqend"
HOSTILE = f"{MARKUP} {TURNED}"
NAME = f"zqcorpus {MARKUP[:36]}> **zqbold** :red[zqred] $zqtex$ [zqlink]({FAR})"
PAPER = "zqfile<img src=x onerror=window.pwned=1> **zqbold** :red[zqred] \u202ezqend"
WORD = "zq" + "w" * 300
QUESTION = f"Who lit the lamp? {MARKUP} {TURNED}"

#: Everything on the page, shadow roots too, that is not the text it should be.
FOUND = """() => {
  const wrong = [];
  const alone = [[/zqbold/, "**"], [/zqred/, ":red["], [/zqlink/, "["], [/zqpicture/, "!["],
    [/zqicon/, ":material/"], [/zqtex/, "$"], [/zqcode/, "`"], [/zqtag/, "&lt;"]];
  const isolates = (box) => {
    const style = getComputedStyle(box);
    return style.display !== "inline" && style.display !== "contents"
      || /isolate|plaintext/.test(style.unicodeBidi);
  };
  const ours = (url) => {
    try { return new URL(url, location.href).origin === location.origin; } catch { return false; }
  };
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.data.replaceAll("\\u2060", "");
      if (/^(SCRIPT|STYLE)$/.test(node.parentNode.nodeName)) {
        if (text.includes("zq")) wrong.push(`${node.parentNode.nodeName}: ${text.slice(0, 200)}`);
        return;
      }
      for (const [probe, before] of alone) {
        for (let at = text.search(probe); at >= 0;) {
          if (!text.slice(0, at).endsWith(before)) wrong.push(`read as markup: ${text.slice(
            Math.max(0, at - 40), at + 20)} in ${node.parentNode.nodeName}`);
          const next = text.slice(at + 1).search(probe);
          at = next < 0 ? -1 : at + 1 + next;
        }
      }
      if (/[\\u202a-\\u202e\\u2066-\\u2069]/.test(text)) {
        let box = node.parentNode;
        while (box.parentElement && !isolates(box)) box = box.parentElement;
        // What follows on the same line: a block within or after begins a line of its own.
        let rest = node.data;
        const follow = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
        follow.currentNode = node;
        while (follow.nextNode()) {
          let inner = follow.currentNode.parentNode;
          while (inner !== box && !isolates(inner)) inner = inner.parentElement;
          if (inner !== box) break;
          rest += follow.currentNode.data;
        }
        rest = rest.split("\\n")[0];
        const end = rest.search("zqend");
        const open = (rest.slice(0, end).match(/[\\u202a\\u202b\\u202d\\u202e]/g) || []).length
          - (rest.match(/\\u202c/g) || []).length;
        const named = rest.slice(end + 5).replace(/^\\.(md|txt|pdf|jsonl)$/, "");
        const tail = named.split("\\u2069").pop();
        if (end >= 0 && open > 0 && /[A-Za-z]/.test(tail) && !rest.includes("\\u2069"))
          wrong.push(`turned around: ${tail.slice(0, 80)} in ${box.nodeName}.${box.className}`);
      }
      return;
    }
    if (node.nodeType === Node.ELEMENT_NODE) {
      for (const { name, value } of node.attributes) {
        if (name.startsWith("on") && value.includes("pwned")) wrong.push(`${name}=${value}`);
        if (/^(src|srcset|href|xlink:href|action|formaction|poster|data|srcdoc)$/.test(name)
            && /pwned|198\\.51|^x$/.test(value) && !ours(value))
          wrong.push(`${node.nodeName} ${name}=${value}`);
      }
      if (node.shadowRoot) for (const child of node.shadowRoot.childNodes) visit(child);
    }
    for (const child of node.childNodes) visit(child);
  };
  visit(document.documentElement);
  if (window.pwned !== undefined) wrong.push("a script ran");
  if (document.querySelector("img[src='x']")) wrong.push("an image was made");
  return [...new Set(wrong)];
}"""


def harmless(page: Any, *, formatted: bool = False) -> None:
    """Nothing on the page is more than text; where notes are read, their Markdown is formatted.

    Even there a link leads to a web address alone, and only when it is clicked.
    """
    wrong = page.evaluate(FOUND)
    if formatted:
        allowed = ("read as markup", "A href=http://")
        wrong = [one for one in wrong if not one.startswith(allowed)]
    assert not wrong, "\n".join(wrong)


def paper(number: int) -> File:
    """A document of one passage."""
    subject = (
        "Ingrid Falk lit the lamp of the tower.",
        "The tower was built by Anders Holm.",
        "Anders Holm learned to grind lenses in Bergen.",
        "Bergen sent oil for the lamp by ship.",
    )[number % 4]
    text = f"# {number} {MARKUP}\n\n{subject} {number} {WORD if number == 3 else ''} {TURNED}\n"
    return File(f"{number}{PAPER}.txt", text.encode())


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with ChatServer() as running:
        running.say(f"{MARKUP} Ingrid Falk lit the lamp [1]. {TURNED}")
        yield running


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, model: ChatServer) -> Iterator[Server]:
    """A server whose only corpus is hostile, and so is its model."""
    home = tmp_path_factory.mktemp("hostile")
    Workspace(home / "data").index([paper(number) for number in range(8)], NAME)
    env = {"TRACERT_MODEL": "tiny", "TRACERT_BASE_URL": model.url, "OPENAI_API_KEY": "none"}
    one = Server(home, env=env)
    try:
        one.wait()
        yield one
    finally:
        one.stop()


@pytest.fixture
def quiet(page: Any) -> Iterator[Any]:
    """A page on which no dialog may open."""
    said: list[str] = []

    def hear(dialog: Any) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", hear)
    yield page
    assert said == []


def ask(page: Any, server: Server, path: str) -> Any:
    """Ask by a link, for what is in it is as hostile as the rest."""
    query = urlencode({"corpus": NAME, "question": QUESTION})
    page.goto(f"{server.url}/{path}{'&' if '?' in path else '?'}{query}")
    page.wait_for_selector(f"{STAGE}[data-revision]", timeout=LONG)
    page.wait_for_selector(".js-plotly-plot", timeout=LONG)
    settle(page)
    return page.locator(STAGE).first


@pytest.mark.parametrize(
    "path",
    ["", "treehop", "baselines?method=native_rag", "baselines?method=iterative_rewrite",
     "baselines?method=graph_rag"],
)  # fmt: skip
def test_a_walk_over_hostile_texts_shows_them_as_text(
    quiet: Any, hostile: Server, path: str
) -> None:
    stage = ask(quiet, hostile, path)
    assert quiet.get_by_text("window.pwned=1").count() > 0
    harmless(quiet)
    for key in ("Home", "ArrowRight", "End"):
        stage.focus()
        quiet.keyboard.press(key)
        settle(quiet)
        harmless(quiet)
    write = quiet.get_by_role("button", name="Write the answer with tiny")
    if write.count():
        write.click()
        settle(quiet)
    quiet.get_by_text("The path in words").first.click()
    # What the mouse shows of a node is text too.
    box = stage.bounding_box()
    for across in range(1, 12):
        quiet.mouse.move(box["x"] + box["width"] * across / 12, box["y"] + box["height"] / 2)
    harmless(quiet)
    quiet.get_by_role("button", name="Share and export").click()
    quiet.get_by_label("Link to what this page shows").wait_for()
    harmless(quiet)


def test_a_comparison_shows_them_as_text(quiet: Any, hostile: Server) -> None:
    query = urlencode({"corpus": NAME, "question": QUESTION})
    quiet.goto(f"{hostile.url}/compare?{query}")
    expect(quiet.locator(".board .card").first).to_be_visible(timeout=LONG)
    quiet.wait_for_selector(".js-plotly-plot", timeout=LONG)
    settle(quiet)
    harmless(quiet)
    quiet.locator(".matrix tr.passage button.pick").first.click()
    settle(quiet)
    harmless(quiet)


def test_library_inspector_and_settings_show_them_as_text(quiet: Any, hostile: Server) -> None:
    for path in ("library", "settings", f"inspect?{urlencode({'corpus': NAME})}"):
        quiet.goto(f"{hostile.url}/{path}")
        quiet.wait_for_selector("[data-testid=stApp]")
        settle(quiet)
        harmless(quiet)
    for view in ("Lengths", "Alike", "Cut"):
        button = quiet.get_by_test_id("stButtonGroup").get_by_text(view, exact=False).first
        button.click()
        settle(quiet)
        harmless(quiet)
    quiet.goto(f"{hostile.url}/library")
    settle(quiet)
    bad = [
        {"name": f"{PAPER}.pdf", "mimeType": "application/pdf", "buffer": b"no pdf"},
        {"name": f"{PAPER}.txt", "mimeType": "text/plain", "buffer": HOSTILE.encode()},
        {"name": f"{PAPER}.jsonl", "mimeType": "text/plain", "buffer": b'{"title": 1}\n["\\u0000'},
    ]
    quiet.locator("input[type=file]").first.set_input_files(bad)
    index = quiet.get_by_role("button", name="Index 3 documents")
    expect(index).to_be_enabled(timeout=LONG)
    settle(quiet)
    enter(quiet, quiet.get_by_label("Name of the corpus"), f"2 {NAME}")
    index.click()
    expect(quiet.get_by_text(re.compile("now has")).first).to_be_visible(timeout=LONG)
    settle(quiet)
    harmless(quiet)


def test_notes_run_and_fetch_nothing(quiet: Any, hostile: Server, tmp_path: Path) -> None:
    note = (
        f"# Lamp {MARKUP}\n\nsummary: {MARKUP} lamp {TURNED}\nparent: entry_points/<b>House.md\n"
        f"children: []\nrelated: []\nkey_points: [{MARKUP.replace('[', '(').replace(']', ')')}]\n\n"
        f"## Content\n\nIngrid Falk lit the lamp. <img src=x onerror='window.pwned=1'>"
        f"<script>window.pwned=1</script> ![zqpicture]({FAR}.png) :red[zqred] $zqtex^2$ {TURNED}\n"
    )
    house = (
        f"# House {MARKUP}\n\nsummary: The house of the lamp {MARKUP}\nparent: null\n"
        "children: [rooms/<i>Lamp.md]\nrelated: []\nkey_points: []\n\n## Content\n\nA house.\n"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("entry_points/<b>House.md", house)
        archive.writestr("rooms/<i>Lamp.md", note)
    path = tmp_path / "zqfile<img src=x onerror=window.pwned=1> **zqbold**.zip"
    path.write_bytes(buffer.getvalue())
    quiet.goto(f"{hostile.url}/trailgraph")
    quiet.wait_for_selector(f"{STAGE}[data-revision]", timeout=LONG)
    settle(quiet)
    quiet.get_by_role("button", name="Load notes").click()
    quiet.locator("input[type=file]").first.set_input_files(str(path))
    quiet.get_by_role("button", name="Open them").click()
    expect(quiet.get_by_text("2 notes").first).to_be_visible(timeout=LONG)
    settle(quiet)
    harmless(quiet, formatted=True)
    field = quiet.get_by_label("Question", exact=True)
    enter(quiet, field, QUESTION)
    quiet.wait_for_selector(f"{STAGE}[data-revision]", timeout=LONG)
    settle(quiet)
    harmless(quiet, formatted=True)
    read = quiet.get_by_role("button", name="Read the whole note")
    if read.count():
        read.first.click()
        settle(quiet)
    harmless(quiet, formatted=True)
    quiet.get_by_text("You are the agent").click()
    settle(quiet)
    harmless(quiet, formatted=True)
