"""What every journey does: wait for the page, and read the stage and the layout."""

from __future__ import annotations

from typing import Any

STAGE = "section.stage"
#: Milliseconds that a page may take on a busy machine, where a graph is made before it is drawn.
PATIENCE = 240_000


#: Milliseconds without work after which a page counts as settled: what was just done by hand
#: reaches the app within them.
CALM = 300


def settle(page: Any) -> None:
    """Wait until no script has run and nothing on the page was stale for a moment."""
    page.evaluate("() => { delete window.calmSince; }")
    page.wait_for_function(
        """(calm) => {
            const busy = document.querySelector('[data-testid=stApp]')?.dataset.testScriptState
                !== 'notRunning' || document.querySelector('[data-stale=true]');
            if (busy) { delete window.calmSince; return false; }
            window.calmSince ??= performance.now();
            return performance.now() - window.calmSince > calm;
        }""",
        arg=CALM,
        timeout=PATIENCE,
    )


def enter(page: Any, field: Any, text: str) -> None:
    """Type into a field of a page at rest, send it off, and wait until the page is at rest again.

    A page that is still being drawn may put a field in the place of the one that is typed into.
    """
    settle(page)
    field.fill(text)
    field.press("Enter")
    settle(page)


def step(stage: Any) -> int:
    """The step that the stage shows, counted from 0."""
    return int(stage.get_attribute("data-step"))


def revision(stage: Any) -> str:
    """What tells one drawing of the stage from the next."""
    return str(stage.get_attribute("data-revision"))


def too_wide(page: Any) -> int:
    """By how many pixels the page's content is wider than its window; 0 or less where it fits."""
    return int(
        page.evaluate(
            "() => document.querySelector('[data-testid=stMain]').scrollWidth - innerWidth"
        )
    )
