"""`index PATH... --corpus NAME`: files into a corpus."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from getpass import getpass
from pathlib import Path
from typing import Any

from tracert.commands.say import clean, progress_line, say
from tracert.corpus.chunking import Chunking
from tracert.corpus.loaders import Limits, supported
from tracert.corpus.loaders.limits import LIMITS, changed, from_environment
from tracert.errors import CorpusError, SettingError
from tracert.foreign import listed
from tracert.home import home
from tracert.indexing import IndexReport, OnProgress, Progress
from tracert.workspace import Workspace

#: Nothing was indexed and nothing was there already.
REFUSED = 2


def add(commands: Any) -> None:
    """Add the command to the sub-parsers."""
    parser = commands.add_parser(
        "index",
        help="read files into a corpus",
        description="Read documents into a corpus: chunk, embed, store. Read are "
        f"{supported()}, and a zip of such files. Files that are in already change nothing; one "
        "that cannot be read stops no other.",
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", type=Path, help="a file or a folder")
    parser.add_argument("--corpus", required=True, metavar="NAME", help="the corpus; free text")
    parser.add_argument(
        "--chunk-size", type=int, metavar="N", help="characters a chunk (500, or as the corpus is)"
    )
    parser.add_argument(
        "--overlap", type=int, metavar="N", help="characters that chunks share (100)"
    )
    parser.add_argument("--sentences", action="store_true", help="end chunks at sentences")
    parser.add_argument("--embedder", metavar="NAME", help="wordllama unless named otherwise")
    parser.add_argument(
        "--replace", action="store_true", help="let these files be the whole corpus"
    )
    parser.add_argument(
        "--from-chroma",
        metavar="FOLDER",
        help="take a collection of another program out of this Chroma folder, or out of the "
        "server of CHROMA_URL if it is the word 'server'; texts and vectors stay as they are and "
        "nothing is written to it",
    )
    parser.add_argument("--collection", metavar="NAME", help="the collection of --from-chroma")
    parser.add_argument(
        "--password",
        metavar="TEXT",
        help="the password of the encrypted files among them; '-' asks for it, so that no list "
        "of processes and no history of commands shows it",
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=N",
        help=f"how much of a file is read, and what that may take: {', '.join(LIMITS)}",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Index, report, and say whether anything came of it."""
    limits, password = _limits(given.limit), _password(given.password)
    mended = Workspace(home()).tidy()
    if mended:
        print(f"tracert: {mended}", file=sys.stderr)
    with progress_line(sys.stderr) as show:

        def tell(at: Progress) -> None:
            if at.stage == "embed" and at.item:
                show("")
                back = "\r" if sys.stderr.isatty() else ""
                print(f"{back}tracert: {clean(at.item)}", file=sys.stderr)
            left = f", {at.seconds_left:.0f} s left" if at.seconds_left else ""
            show(f"{at.stage}: {at.done:,} of {at.total:,}{left}")

        report = _index(given, limits, password, tell)
    if given.json:
        print(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        _tell(report)
    if report.ok:
        return 0
    why = next((file.message for file in report.files), "No file was named.")
    print(f"tracert: nothing was indexed. {clean(why)}", file=sys.stderr)
    return REFUSED


def _index(
    given: argparse.Namespace, limits: Limits, password: str, tell: OnProgress
) -> IndexReport:
    chunking = _chunking(given)
    if given.from_chroma is None:
        if given.collection is not None:
            raise SettingError("--collection belongs to --from-chroma. Name its folder, too.")
        if not given.paths:
            raise SettingError("Nothing to index. Name a file or a folder, or --from-chroma.")
        return Workspace(home()).index(
            given.paths,
            name=given.corpus,
            chunking=chunking,
            embedder=given.embedder,
            replace=given.replace,
            limits=limits,
            passwords={"": password} if password else None,
            on_progress=tell,
        )
    if given.paths or chunking is not None:
        raise SettingError(
            "--from-chroma takes a collection as it is. Leave out paths and the ways of cutting."
        )
    folder = None if given.from_chroma == "server" else Path(given.from_chroma)
    return Workspace(home()).adopt(
        folder,
        given.collection or _only(folder),
        given.corpus,
        embedder=given.embedder,
        replace=given.replace,
        on_progress=tell,
    )


def _only(folder: Path | None) -> str:
    """The name of the collection where there is one alone."""
    found = listed(folder)
    if len(found) == 1:
        return found[0].name
    names = ", ".join(repr(each.name) for each in found[:20]) or "none"
    raise CorpusError(f"Name one of its collections by --collection: {names}.")


def _limits(given: Sequence[str]) -> Limits:
    """The limits of the environment with those that were given."""
    named = dict(each.partition("=")[::2] for each in given)
    return changed(from_environment(), named)


def _password(given: str | None) -> str:
    """The password given, or typed unseen where '-' asks for that."""
    if given != "-":
        return given or ""
    try:
        return getpass("Password of the encrypted files: ", sys.stderr)
    except EOFError:
        raise SettingError("No password was typed. Pass it behind --password.") from None


def _chunking(given: argparse.Namespace) -> Chunking | None:
    """The chunking asked for; None leaves it to the corpus."""
    asked = {"size": given.chunk_size, "overlap": given.overlap}
    named = {name: value for name, value in asked.items() if value is not None}
    if not named and not given.sentences:
        return None
    return replace(Chunking(sentences=given.sentences), **named)


def _tell(report: IndexReport) -> None:
    for file in report.files:
        pages = f", {file.pages} pages" if file.pages else ""
        what = f"{file.chunks:,} chunks ({file.kind}{pages})" if file.kind else ""
        path, message = file.path, file.message
        # A sentence that begins with the file's name says it once, with its folder.
        for name in (path, Path(path).name):
            if name and message.startswith(f"{name} "):
                path, message = "", path + message.removeprefix(name)
                break
        say(" ".join(part for part in (f"{file.status}:", path, what, message) if part))
    if not report.chunks:
        return
    spent = sum(report.seconds.values())
    say(
        f"The corpus {report.corpus!r} has {report.chunks:,} chunks ({report.embedder}); "
        f"{spent:.1f} s."
    )
