"""The other dialects, each on a small tree of its kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.knowledge.trees import CRM, write
from tracert.errors import KnowledgeError
from tracert.knowledge.digest import digest
from tracert.knowledge.graph import open_graph
from tracert.knowledge.markup import links, plain_line, wikilinks


def page(title: str, *head: str, text: str = "A sentence with five words.") -> str:
    return "\n".join(["---", f"title: {title}", *head, "---", "", text, ""])


def test_front_matter_names_the_parent_by_title(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g",
        {
            "nav.md": page("Navigation", "nav_order: 2"),
            "home.md": page("Home", "nav_order: 1", text="See [it](nav.md#top) and {% x %}."),
            "z.md": page("First child", "parent: Navigation", "nav_order: 1"),
            "a.md": page("Second child", "parent: Navigation ", "nav_order: 2"),
            "p.md": page("By path", "parent: nav.md"),
        },
    )
    graph = open_graph(folder)
    assert graph.report.dialect == "frontmatter"
    assert graph.note("nav.md").children == ("z.md", "a.md", "p.md")
    assert graph.note("home.md").related == ("nav.md",)
    assert graph.note("z.md").parent == "nav.md"


def test_of_parents_with_one_title_the_grandparent_decides(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g",
        {
            "x.md": page("X"),
            "y.md": page("Y"),
            "xs.md": page("S", "parent: X"),
            "ys.md": page("S", "parent: Y"),
            "leaf.md": page("Leaf", "parent: S", "grand_parent: Y"),
            "deep.md": page("Deep", "parent: S", "ancestor: X"),
        },
    )
    graph = open_graph(folder)
    assert graph.note("leaf.md").parent == "ys.md"
    assert graph.note("deep.md").parent == "xs.md"


def test_links_of_jekyll(tmp_path: Path) -> None:
    text = (
        "[a]({% link docs/a.md %}#x) [b]({{ site.baseurl }}/b/) [c]({{ site.url }}{{ x }}) "
        "`[no](docs/a.md)` ![pic](pic.png) [web](https://example.org/a.md)\n\n"
        "```\n[code](docs/zz.md)\n```\n"
    )
    folder = write(
        tmp_path / "g",
        {
            "docs/a.md": page("A", "parent: Home"),
            "b.md": page("B", "permalink: /b/", "parent: Home"),
            "index.md": page("Home", "has_children: true", text=text),
            "from.md": page("From", "parent: Home", text=text),
        },
    )
    graph = open_graph(folder)
    assert set(graph.note("from.md").related) == {"docs/a.md", "b.md"}
    assert graph.report.unresolved == 0


def test_yaml_that_is_none_is_read_line_by_line_and_reported(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g",
        {
            "a.md": page("A: with a colon", "parent: B"),
            "b.md": page("B"),
            "t.md": page("2021", "parent: B", "tags: [one, two]", "aliases: T"),
            "bomb.md": page("!!python/object/apply:os.system ['true']", "parent: B"),
        },
    )
    graph = open_graph(folder)
    assert graph.note("a.md").title == "A: with a colon"
    assert graph.note("a.md").parent == "b.md"
    assert [(fault.file, fault.line) for fault in graph.faults if fault.kind == "syntax"] == [
        ("a.md", 2)
    ]
    # A title stays the text that it is, and no tag makes an object.
    assert graph.note("t.md").title == "2021"
    assert graph.note("t.md").tags == ("one", "two")
    assert "bomb.md" in graph.notes


def test_dotted_names_and_wikilinks(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g",
        {
            "root.md": page("Root"),
            "dev.md": page("Dev"),
            "dev.git.hooks.md": page("Hooks", "desc: How hooks run", text="[[The words|dev]]"),
            "dev.cli.md": page(
                "CLI",
                text="[[dendron://vault/dev.git.hooks#top]] ![[dev]] [[gone.note]] [[Root]] "
                "[[dev|shown]] [[#here]] `[[dev.git]]`",
            ),
        },
    )
    graph = open_graph(folder)
    assert graph.report.dialect == "wikilinks"
    # There is no note 'dev.git', so the nearest one above is meant.
    assert graph.note("dev.git.hooks.md").parent == "dev.md"
    assert graph.note("dev.md").parent == "root.md"
    assert graph.note("dev.git.hooks.md").summary == "How hooks run"
    assert graph.note("dev.cli.md").related == ("dev.git.hooks.md", "root.md")
    assert [fault.message for fault in graph.faults if fault.kind == "dangling_link"] == [
        "The linked note '[[gone.note]]' is not there."
    ]


def test_wikilinks_in_folders_know_titles_and_aliases(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g",
        {
            "Physics/Physics.md": page("Physics", text="[[Ohm]] and [[the law]]"),
            "Physics/Ohm.md": page("Georg Ohm", text="[[Physics|up]]"),
            "Law.md": page("Ohm's law", "aliases: [the law]", text="[[Georg Ohm]]"),
        },
    )
    graph = open_graph(folder)
    assert graph.note("Physics/Ohm.md").parent == "Physics/Physics.md"
    assert graph.note("Physics/Physics.md").related == ("Law.md",)
    assert graph.note("Law.md").related == ("Physics/Ohm.md",)


def test_a_summary_page_gives_the_tree(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g",
        {
            "SUMMARY.md": "# Summary\n\n[Foreword](fore.md)\n\n- [One](one.md)\n  "
            "- [One A](one-a.md)\n    - [Deep](deep.md)\n  - [One B](one-b.md)\n"
            "- [Two](two.md)\n",
            "fore.md": "# Foreword\n\nGo to [two](two.html#x) now please.\n",
            "one.md": "# One\n\nSee [b][b].\n\n[b]: one-b.html\n",
            "one-a.md": "## One A\n\nText of it here.\n",
            "deep.md": "# Deep\n\nText of it here.\n",
            "one-b.md": "# One B\n\nText of it here.\n",
            "two.md": "# Two\n\nText [out](../std/x.html) here.\n",
            "loose.md": "# Loose\n\nOn no list at all.\n",
        },
    )
    graph = open_graph(folder)
    assert graph.report.dialect == "folders"
    assert graph.note("one.md").children == ("one-a.md", "one-b.md")
    assert graph.note("deep.md").parent == "one-a.md"
    assert graph.note("fore.md").related == ("two.md",)
    # A child that is also linked in the text is a child.
    assert graph.note("one.md").related == ()
    assert graph.note("one-a.md").title == "One A"
    assert graph.report.unresolved == 0


def test_index_pages_give_the_tree(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g",
        {
            "README.md": "# All\n\nStart at [a](a/) please.\n",
            "a/index.md": "# A\n\nWords of it here.\n",
            "a/x.md": "# X\n\nBack to [top](../README.md#a).\n",
            "a/b/y.md": "# Y\n\nWords of it here.\n",
        },
    )
    graph = open_graph(folder)
    assert graph.note("a/x.md").parent == "a/index.md"
    assert graph.note("a/b/y.md").parent == "a/index.md"
    assert graph.note("a/index.md").parent == "README.md"
    assert graph.entry_points == ("README.md",)


def test_a_dialect_can_be_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", CRM)
    assert open_graph(folder, dialect="folders").report.dialect == "folders"
    assert open_graph(folder).note("sales/Lead.md").parent == "sales/Sales.md"
    with pytest.raises(KnowledgeError, match="Supported: trailgraph, frontmatter"):
        open_graph(folder, dialect="nothing")


def test_summary_is_the_first_sentence_and_points_are_headings_and_the_centre() -> None:
    text = (
        "# Wires\n\n![pic](a.png)\n\nA **wire** carries [current](x.md). It is thin.\n\n"
        "## Copper\n\nThe copper wire carries most current of any cheap wire. A cat sleeps.\n\n"
        "| a | b |\n|---|---|\n\n```\nnot a sentence here.\n```\n"
    )
    summary, points = digest(text, 0, "Wires")
    assert summary == "A wire carries current."
    assert points[0] == "Copper"
    # 'copper', 'wire', 'carries' and 'current' recur; 'cat' and 'sleeps' do not.
    assert "The copper wire carries most current of any cheap wire." in points
    assert not any("cat" in point or "sentence here" in point for point in points)


def test_of_nothing_nothing_is_made() -> None:
    assert digest("", 0, "T") == ("", ())
    assert digest("\n\n```\ncode\n```\n", 0, "T") == ("", ())


def test_links_stand_in_their_lines() -> None:
    text = "one [a](a.md)\n\n`[b](b.md)`\n<!-- [c](c.md) -->\n[d]( <d e.md> 'title')\n[f]: f.md\n"
    assert [(link.target, link.line) for link in links(text)] == [
        ("a.md", 1),
        ("d e.md", 5),
        ("f.md", 6),
    ]
    assert [link.target for link in wikilinks("[[a|b]] \\[[c]] ![[d#e]]")] == ["a|b", "d#e"]


def test_a_plain_line_has_no_markup() -> None:
    assert plain_line("**a** _b_ `c` [d](e) <i>f</i> {: .g } ![h](i) snake_case") == (
        "a b c d f snake_case"
    )


@pytest.mark.shared
@pytest.mark.parametrize(
    ("tree", "dialect", "least", "unresolved"),
    [
        ("just-the-docs", "frontmatter", 46, 0),
        ("rust-book/src", "folders", 110, 0),
        ("dendron-site/vault", "wikilinks", 1_000, 200),
    ],
)
def test_real_trees_load_whole(
    shared: Path, tree: str, dialect: str, least: int, unresolved: int
) -> None:
    folder = shared / "data" / "knowledge" / tree
    graph = open_graph(folder)
    assert graph.report.dialect == dialect
    assert len(graph.notes) == len(list(folder.rglob("*.md"))) >= least
    assert graph.report.unresolved <= unresolved
    long = [note for note in graph.notes.values() if note.end - note.start > 400]
    assert sum(bool(note.summary) for note in long) > 0.99 * len(long)
    reached = set(graph.entry_points)
    open_ = list(reached)
    while open_:
        for child in graph.note(open_.pop()).children:
            if child not in reached:
                reached.add(child)
                open_.append(child)
    assert reached == set(graph.notes)
