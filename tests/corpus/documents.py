"""What tests of the loaders share: what every document keeps to, and where a phrase stands."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterator, Mapping

from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import load_document
from tracert.corpus.model import Document, Mark
from tracert.errors import DocumentError


def check(document: Document) -> None:
    """What every document must keep to."""
    document.text.encode("utf-8")
    assert "\r" not in document.text
    assert "\x00" not in document.text
    assert document.text.strip()
    assert document.marks[0].start == 0
    starts = [mark.start for mark in document.marks]
    assert starts == sorted(set(starts))
    assert starts[-1] < len(document.text)
    assert len(document.fingerprint) == 64
    pages = [mark.page for mark in document.marks]
    if document.pages is None:
        assert set(pages) == {None}
    else:
        assert pages == sorted(pages)
        assert 1 <= pages[0] <= pages[-1] <= document.pages
    for mark in document.marks:
        for title in mark.heading_path:
            assert title == " ".join(title.split())
            assert 0 < len(title) <= 200
    for piece in chunk(document, Chunking(50, 10)):
        assert piece.text == document.text[piece.start : piece.end]


def at(document: Document, phrase: str) -> Mark:
    """The mark in force where a phrase stands, which it must do exactly once."""
    assert document.text.count(phrase) == 1, (phrase, document.text)
    place = document.text.index(phrase)
    return [mark for mark in document.marks if mark.start <= place][-1]


def path(document: Document, phrase: str) -> tuple[str, ...]:
    """The heading path of a phrase that stands in the text once."""
    return at(document, phrase).heading_path


def blocks(document: Document) -> list[str]:
    """The text as what stands between blank lines."""
    return document.text.split("\n\n")


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip of parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in parts.items():
            out.writestr(name, content)
    return buffer.getvalue()


def parts_of(data: bytes) -> dict[str, bytes]:
    """The parts of a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(data: bytes, parts: Mapping[str, str | bytes | None]) -> bytes:
    """A zip with some parts put in place of others, or taken out where there is None."""
    return packed({k: v for k, v in {**parts_of(data), **parts}.items() if v is not None})


def hurt(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """The file cut short, with bytes flipped, with a piece missing, with a piece doubled."""
    chance = random.Random(seed)
    for number in range(count):
        place, length = chance.randrange(len(data)), chance.randrange(1, 200)
        if number % 4 == 0:
            yield data[:place]
        elif number % 4 == 1:
            flipped = bytearray(data)
            for _ in range(chance.randrange(1, 30)):
                flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            yield bytes(flipped)
        elif number % 4 == 2:
            yield data[:place] + data[place + length :]
        else:
            yield data[:place] + data[place : place + length] + data[place:]


def survives(data: bytes, name: str) -> str | None:
    """The text of a file, or None where it is refused; anything else fails."""
    try:
        document = load_document(data, name)
    except DocumentError as error:
        text = str(error)
        assert text.endswith("."), text
        assert "\n" not in text
        return None
    check(document)
    return document.text
