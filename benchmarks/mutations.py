"""Documents damaged on purpose: nothing may crash, hang or eat memory, whatever the damage.

Each of the documents (by default the 46 in `../shared/data/documents`) is damaged again and again,
by a seed: cut off, bits turned, a piece of another document set in, a piece doubled, a piece
zeroed; of a zip (DOCX, EPUB) half of the times a file inside it, so that the damage reaches the
parsers behind the unpacking. Every result goes through the same door as an upload, with the
bounds below, and ends in text or in a sentence.

    python -m benchmarks.mutations [--count 2000] [--seed 7] [--documents FOLDER]

prints the counts and exits with status 1 where the reading process died, ran out of its time or
of its memory.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from tracert.corpus.apart import Archive, Parser
from tracert.corpus.loaders import Limits
from tracert.errors import DocumentError, PasswordError

#: Far below the usual ones, so that what is slow or large shows.
BOUNDS: Final = Limits(max_seconds=30, max_memory=500_000_000)
DOCUMENTS: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "documents"
KINDS: Final = ("cut", "turned", "spliced", "doubled", "zeroed")
#: What a sentence says of a process that had to be ended, or ended itself.
_DEATHS: Final = ("ended the process", "was not read within", "needs more than")


@dataclass(frozen=True)
class Outcome:
    """What became of one damaged document."""

    name: str
    kind: str
    result: str
    seconds: float
    said: str = ""

    @property
    def dead(self) -> bool:
        """Whether the process that read it was ended or ended itself."""
        return self.result == "ended"


def damaged(data: bytes, others: Sequence[bytes], rng: random.Random) -> tuple[bytes, str]:
    """The bytes with one kind of damage, and which; one to 40 places of it."""
    kind = rng.choice(KINDS)
    inside = data[:2] == b"PK" and rng.random() < 0.5
    return (_inside(data, others, rng, kind) if inside else _hurt(data, others, rng, kind)), kind


def _hurt(data: bytes, others: Sequence[bytes], rng: random.Random, kind: str) -> bytes:
    if not data:
        return data
    if kind == "cut":
        return data[: rng.randrange(len(data))]
    out = bytearray(data)
    for _ in range(rng.choice((1, 2, 8, 40))):
        place = rng.randrange(max(1, len(out)))
        length = min(rng.choice((1, 16, 300, 5000)), len(data) // 4 + 1)
        if kind == "turned" and out:
            out[place] ^= 1 << rng.randrange(8)
        elif kind == "spliced":
            other = rng.choice(others)
            start = rng.randrange(max(1, len(other)))
            out[place : place + length] = other[start : start + length]
        elif kind == "doubled":
            out[place:place] = out[place : place + length]
        elif kind == "zeroed":
            length = len(out[place : place + length])
            out[place : place + length] = bytes(length)
    return bytes(out)


def _inside(data: bytes, others: Sequence[bytes], rng: random.Random, kind: str) -> bytes:
    """A zip with one of the files in it damaged and the whole packed anew."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except (zipfile.BadZipFile, NotImplementedError):
        return _hurt(data, others, rng, kind)
    hit = rng.randrange(len(files))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (name, content) in enumerate(files):
            changed = _hurt(content, others, rng, kind) if number == hit else content
            archive.writestr(name, changed)
    return out.getvalue()


def outcome(parser: Parser, data: bytes, name: str, kind: str) -> Outcome:
    """What the parser makes of it."""
    begun = time.perf_counter()
    said = ""
    try:
        loaded = parser.load(data, name)
        if isinstance(loaded, Archive):
            result = "a zip"
        else:
            result = "partial" if loaded.warnings else "text"
    except PasswordError as error:
        result, said = "locked", str(error)
    except DocumentError as error:
        said = str(error)
        result = "ended" if any(death in said for death in _DEATHS) else "refused"
    return Outcome(name, kind, result, time.perf_counter() - begun, said)


def run(files: Sequence[Path], count: int, seed: int) -> tuple[list[Outcome], int]:
    """That many damaged documents, all files in turn, and the most memory seen, in bytes."""
    contents = [file.read_bytes() for file in files]
    found: list[Outcome] = []
    most = 0
    others = set(psutil.Process().children())
    with Parser(BOUNDS) as parser:
        for number in range(count):
            rng = random.Random(f"{seed}:{number}")
            at = number % len(files)
            data, kind = damaged(contents[at], contents, rng)
            found.append(outcome(parser, data, files[at].name, kind))
            for reader in set(psutil.Process().children()) - others:
                most = max(most, reader.memory_info().rss)
            if (number + 1) % 100 == 0:
                print(f"{number + 1:,} of {count:,}", file=sys.stderr, flush=True)
    return found, most


def main() -> int:
    """Damage, read, count."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--count", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=7)
    arguments.add_argument("--documents", type=Path, default=DOCUMENTS)
    given = arguments.parse_args()
    files = sorted(path for path in given.documents.glob("*/*") if path.is_file())
    if not files:
        print(f"There are no documents in {given.documents}.", file=sys.stderr)
        return 2
    found, most = run(files, given.count, given.seed)
    results = ("text", "partial", "locked", "refused", "a zip", "ended")
    print(f"{len(found):,} damaged documents of {len(files)} files, seed {given.seed}")
    print(f"{'':10}" + "".join(f"{result:>10}" for result in results))
    for kind in KINDS:
        tally = Counter(each.result for each in found if each.kind == kind)
        print(f"{kind:10}" + "".join(f"{tally[result]:>10,}" for result in results))
    slowest = max(found, key=lambda each: each.seconds)
    print(f"slowest: {slowest.seconds:.1f} s ({slowest.name}, {slowest.kind})")
    print(f"most memory of the reading process, after a file: {most / 1e6:.0f} MB")
    for each in found:
        if each.dead:
            print(f"ended: {each.name} ({each.kind}): {each.said}")
    return int(any(each.dead for each in found))


if __name__ == "__main__":
    raise SystemExit(main())
