"""Trees of notes for tests, written to a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write(root: Path, notes: Mapping[str, str]) -> Path:
    """Write the notes and give the folder."""
    for path, text in notes.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return root


def note(
    title: str,
    *,
    summary: str = "A summary.",
    parent: str = "",
    children: str = "",
    related: str = "",
    points: str = '"A point"',
    content: str = "Some content here.",
) -> str:
    """The text of a TrailGraph note."""
    return (
        f"# {title}\n\nsummary: {summary}\nparent: {parent}\nchildren: [{children}]\n"
        f"related: [{related}]\nkey_points: [{points}]\n\n## Content\n\n{content}\n"
    )


#: The graph of the source's article, shortened.
CRM = {
    "entry_points/CRM.md": note("CRM", children="sales/Sales.md, service/Service.md"),
    "entry_points/Security.md": note("Security"),
    "sales/Sales.md": note(
        "Sales", parent="entry_points/CRM.md", children="Lead.md, sales/Opportunity.md"
    ),
    "sales/Lead.md": note("Lead", parent="sales/Sales.md", related="sales/Opportunity.md"),
    "sales/Opportunity.md": note("Opportunity", parent="Sales.md"),
    "service/Service.md": note("Service", parent="entry_points/CRM.md"),
}
