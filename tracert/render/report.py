"""An evaluation as one web page that needs nothing else: data, settings, seeds, tables, pictures.

The page loads nothing from anywhere, works without its script (which sorts tables and turns light
to dark), and shows every text of the data as text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tracert.evaluation.metrics import LEVEL, QUANTILE_RESAMPLES, RESAMPLES
from tracert.evaluation.summary import SEED, Evaluation, Setup
from tracert.methods.registry import methods
from tracert.render import report_plots as plots
from tracert.render.evaluation_intervals import measure_rows, stage_rows
from tracert.render.evaluation_tables import (
    Lot,
    Measured,
    group_rows,
    method_rows,
    question_rows,
    said_of_making,
    series_of,
    verdicts,
    walk_rows,
)
from tracert.render.numbers import count
from tracert.render.palette import PALETTES, Theme

_HERE: Final = Path(__file__).parent
#: Questions that a report lists one by one.
_MOST: Final = 2_000
_LOTS: Final[Mapping[Lot, str]] = {
    "type": "By the question's type",
    "hops": "By how many hops the question takes",
    "depth": "By how many hops from the question the gold passage lies",
}
#: Numbers of a share, of points and of milliseconds.
_PLACES: Final = {"ms": 1, "Passages": 1, "points": 1, "Points": 1, "vs ": 1, "Tokens": 0}
_MEANING: Final = (
    ("Recall", "the share of the gold passages that were returned"),
    ("Precision", "the share of the returned passages that brought a gold passage"),
    ("All found", "the share of questions of which every gold passage was returned"),
    ("MRR", "one divided by the place of the first gold passage, 0 where there is none"),
    ("nDCG", "gold passages found, weighted by 1 / log2(place + 1), as a share of the best order"),
    ("Gold in order", "of the links of the gold chain, those walked in their order"),
    ("Wasted hops", "the share of hops that brought no gold passage"),
    ("Stopped too early", "a gold passage was missing at the end, and there was room for more"),
    ("Stopped too late", "all gold was there before the last hop"),
    ("Filled up", "the share of the passages that plain top-k added up to the budget"),
)


def named(
    evaluations: Sequence[Evaluation],
    labels: Sequence[str] = (),
    makings: Sequence[Mapping[str, Any]] = (),
) -> list[Measured]:
    """Evaluations under their labels, else the titles of their methods, and what tells two apart.

    `labels` are one each, '' where there is none; `makings` say what an index cost each.
    """
    embedders = {one.setup.embedder for one in evaluations}
    called: list[str] = []
    for one, given in zip(evaluations, labels or [""] * len(evaluations), strict=True):
        label = given or _title(one.setup)
        label += f" ({one.setup.embedder})" if len(embedders) > 1 else ""
        twins = sum(each == label or each.startswith(f"{label} #") for each in called)
        called.append(f"{label} #{twins + 1}" if twins else label)
    costs = makings or [{}] * len(evaluations)
    return [
        Measured(label, one, making)
        for label, one, making in zip(called, evaluations, costs, strict=True)
    ]


def _title(setup: Setup) -> str:
    known = methods().get(setup.method)
    stage = setup.settings.get("first_stage", "dense")
    title = setup.method if known is None else known.title
    return f"{title}, {stage}" if stage != "dense" else title


def report_html(measured: Sequence[Measured], *, title: str = "", made: str = "") -> str:
    """The page.

    Args:
        measured: the methods, at least one, asked the same questions.
        title: what the run is called; the data's name without one.
        made: when the run was made, as text.
    """
    setup = measured[0].evaluation.setup
    head = title or f"Evaluation on {setup.data}"
    style = _style()
    script = (_HERE / "report.js").read_text(encoding="utf-8")
    policy = (
        "default-src 'none'; "
        f"style-src 'sha256-{_hash(style)}'; script-src 'sha256-{_hash(script)}'"
    )
    body = "".join(
        (
            _header(head, measured, made),
            _said(measured),
            _pictures(measured),
            _section("Methods", _table(method_rows(measured))),
            _groups(measured),
            _way(measured),
            _section("Every measure with its 95% interval", _table(measure_rows(measured))),
            _section("Milliseconds a question, by stage", _table(stage_rows(measured))),
            _questions(measured),
            _setups(measured),
            _meaning(),
        )
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(head)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"{body}</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )


# --- parts --------------------------------------------------------------------------------


def _header(head: str, measured: Sequence[Measured], made: str) -> str:
    one = measured[0].evaluation
    setup = one.setup
    where = {"pool": "passages of", "corpus": "passages of the corpus", "notes": "notes of"}
    budget = "as many passages as each method likes"
    if setup.budget is not None:
        budget = f"at most {count(setup.budget, 'passage')} a question"
    lines = [
        f"{count(len(one.details), 'question')} of {setup.data}, searched in {setup.size:,} "
        f"{where.get(setup.kind, 'passages of')} {setup.source}, {budget}."
    ]
    if setup.left_out:
        lines.append(
            f"{count(setup.left_out, 'question')} without a gold passage there "
            f"{'is' if setup.left_out == 1 else 'are'} left out."
        )
    if setup.faults:
        lines.append(f"{count(len(setup.faults), 'row')} could not be read.")
    made = f'<p class="faint">{_text(made)}</p>' if made else ""
    return (
        f'<header><button id="theme" type="button" hidden>Light or dark</button>'
        f'<p class="over">Tracert</p><h1>{_text(head)}</h1>'
        f"<p>{_text(' '.join(lines))}</p>{made}</header>\n"
    )


def _said(measured: Sequence[Measured]) -> str:
    items = "".join(
        f'<li class="{one.kind}"><strong>{_text(one.label)}</strong> {_text(one.text)} '
        f'<span class="faint">{_text(one.more)}</span></li>'
        for one in verdicts(measured)
    )
    costs = "".join(f"<p>{_text(cost)}</p>" for cost in map(said_of_making, measured) if cost)
    said = f'<ul class="said">{items}</ul>' if items else ""
    return _section("What it says", said + costs) if items or costs else ""


def _pictures(measured: Sequence[Measured]) -> str:
    series = series_of(measured)
    gains = [
        plots.Gain(
            one.label, one.evaluation.setup.method, one.summary.differences[one.against]["recall"]
        )
        for one in measured
        if not (one.plain and one.stage == "dense")
    ]
    figures = [
        ("Recall against passages used", plots.curves(series)),
        ("Recall against milliseconds a question", plots.costs(series)),
    ]
    if gains:
        figures.append(
            ("Points of recall over plain top-k, 95% interval over questions", plots.gains(gains))
        )
    parts = "".join(
        f"<figure><figcaption>{_text(caption)}</figcaption>{drawing}</figure>"
        for caption, drawing in figures
    )
    return _section("At a glance", f'<div class="figures">{parts}</div>')


def _groups(measured: Sequence[Measured]) -> str:
    parts = []
    for lot, caption in _LOTS.items():
        rows = group_rows(measured, lot)
        if len(next(iter(rows.values()))) > 1:
            parts.append(f"<h3>{_text(caption)}</h3>{_table(rows)}")
    return _section("Where it gains and where it loses", "".join(parts)) if parts else ""


def _way(measured: Sequence[Measured]) -> str:
    rows = walk_rows(measured)
    return _section("The way", _table(rows)) if rows else ""


def _questions(measured: Sequence[Measured]) -> str:
    total = len(measured[0].evaluation.details)
    chosen = next((place for place, one in enumerate(measured) if not one.plain), 0)
    rows = {name: list(values)[:_MOST] for name, values in question_rows(measured, chosen).items()}
    shown = f"the first {_MOST:,} of {total:,}" if total > _MOST else f"all {total:,}"
    label = measured[chosen].label
    return (
        f"<details><summary>Every question ({shown}), {_text(label)} against plain top-k"
        f"</summary>{_table(rows)}</details>\n"
    )


def _setups(measured: Sequence[Measured]) -> str:
    first = measured[0].evaluation.setup
    rows = [
        ("Questions", first.data),
        ("Searched in", f"{first.source} ({first.size:,})"),
        ("Fingerprint", first.fingerprint),
        ("Versions", ", ".join(f"{name} {each}" for name, each in first.versions.items())),
        (
            "Intervals",
            f"{LEVEL:.0%} percentile bootstrap over questions, seed {SEED}, {RESAMPLES:,} draws "
            f"({QUANTILE_RESAMPLES:,} for milliseconds); differences in pairs, question by "
            "question, at the same number of passages",
        ),
        *(("Row left out", fault) for fault in first.faults[:50]),
    ]
    lines = "".join(
        f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in rows
    )
    lines += "".join(
        f"<tr><th>{_text(one.label)}</th><td>{_text(_settings(one.evaluation.setup))}</td></tr>"
        for one in measured
    )
    return _section(
        "How it was made", f'<div class="wide"><table class="plain">{lines}</table></div>'
    )


def _settings(setup: Setup) -> str:
    values = ", ".join(f"{name} {value}" for name, value in setup.settings.items())
    model = f"; language model {setup.model}" if setup.model else "; no language model"
    budget = "no budget" if setup.budget is None else f"budget {setup.budget}"
    return f"{setup.method}; embedder {setup.embedder}{model}; {budget}; {values}"


def _meaning() -> str:
    items = "".join(f"<dt>{_text(name)}</dt><dd>{_text(words)}</dd>" for name, words in _MEANING)
    return f"<details><summary>What the measures mean</summary><dl>{items}</dl></details>\n"


# --- pieces -------------------------------------------------------------------------------


def _section(caption: str, inside: str) -> str:
    return f"<section><h2>{_text(caption)}</h2>{inside}</section>\n"


def _table(rows: Mapping[str, Sequence[Any]], places: int = 3) -> str:
    """A table; numbers of no known kind have that many decimal places."""
    names = list(rows)
    kinds = [
        ' class="number"' if any(isinstance(value, int | float) for value in rows[name]) else ""
        for name in names
    ]
    head = "".join(
        f'<th scope="col"{kind}>{_text(name)}</th>' for name, kind in zip(names, kinds, strict=True)
    )
    lines = []
    for values in zip(*rows.values(), strict=True):
        cells = "".join(
            f"<td{kind}>–</td>" if _absent(value) else _cell(name, value, places)
            for name, kind, value in zip(names, kinds, values, strict=True)
        )
        lines.append(f"<tr>{cells}</tr>")
    return (
        f'<div class="wide"><table class="sorts"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _cell(name: str, value: Any, default: int) -> str:
    if isinstance(value, str):
        return f"<td>{_text(value)}</td>"
    if isinstance(value, int):
        return f'<td class="number" data-value="{value}">{value:,}</td>'
    places = next((digits for key, digits in _PLACES.items() if key in name), default)
    signed = name.endswith(("points", "Points")) or name.startswith("vs ")
    shown = f"{value:+.{places}f}".replace("-", "−") if signed else f"{value:,.{places}f}"
    return f'<td class="number" data-value="{value!r}">{shown}</td>'


def _text(value: str) -> str:
    """Text of the data as text of the page; what turns the writing direction is left out."""
    return html.escape("".join(letter for letter in value if letter not in _TURNING), quote=True)


_TURNING: Final = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _style() -> str:
    """The style sheet with both themes' colours."""
    light, dark = (_colours(theme) for theme in ("light", "dark"))
    sheet = (_HERE / "report.css").read_text(encoding="utf-8")
    sheet += "".join(f".{name}{{--c:var(--{name})}}\n" for name in plots.colours("light"))
    return (
        f":root{{color-scheme:light;{light}}}"
        f"@media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;"
        f"{dark}}}}}:root[data-theme=dark]{{color-scheme:dark;{dark}}}\n{sheet}"
    )


def _colours(theme: Theme) -> str:
    palette = PALETTES[theme]
    names = ("paper", "panel", "ink", "faint", "goal", "path", "rejected")
    looks = "".join(f"--{name}:{colour};" for name, colour in plots.colours(theme).items())
    return "".join(f"--{name}:{palette.colour(name)};" for name in names) + looks


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
