"""Bytes to text: the encoding is found from the content, newlines and oddities are settled."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final
from unicodedata import category

from tracert.corpus.language import is_english

#: Byte order marks; the four-byte ones first, since UTF-32 LE begins like UTF-16 LE.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: How much of a text is looked at to find its encoding, in bytes.
SAMPLE: Final = 64_000
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
#: Control characters that carry no text; tab, newline and form feed stay.
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff]")
#: Unicode's categories of signs that no text holds: unassigned, private, control, half.
_NO_TEXT: Final = frozenset({"Cn", "Co", "Cc", "Cs"})
_WIDE: Final = ("utf-16-le", "utf-16-be")
#: What is guessed at: the encodings that people have written in, not the whole list of IANA.
_ENCODINGS: Final = [
    *("cp1252", "cp1250", "iso8859_2", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("cp1257", "cp1258", "cp874", "cp932", "euc_jp", "gb18030", "big5", "cp949", "johab"),
    *("mac_roman", "cp437", "cp850", "cp852", "cp866"),
]
_HIGH: Final = re.compile(rb"[\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the encoding that it was read with, and whether characters were lost."""

    text: str
    encoding: str
    lossy: bool = False


def decode(data: bytes) -> Decoded | None:
    """The text of the bytes, or None where they are no text.

    In order: a byte order mark; UTF-8; UTF-16 without a mark, known by the zero bytes of its
    Latin letters; UTF-8 with some damage; then what charset-normalizer finds, windows-1252
    being preferred where it reads as well. Short texts in a one-byte encoding remain a guess.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _lossy(data[len(mark) :], encoding)
    wide = _wide(data)
    if wide is not None:
        return _lossy(data, wide)
    if is_binary(data):
        readings = [name for name in _WIDE if _reads_as_wide(data, name)]
        # An alphabet lies in few blocks of 256, so the high bytes vary less than the low ones.
        wide = min(readings, key=lambda name: len(set(data[name == "utf-16-le" :: 2])), default="")
        return _lossy(data, wide) if wide else None
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    damaged = _lossy(data, "utf-8")
    lost = damaged.text.count("\ufffd")
    if lost * 10 <= sum(character > "\x7f" for character in damaged.text) - lost:
        return damaged
    return _guess(data)


def head(data: bytes, size: int) -> bytes:
    """The first bytes, at most `size`, cut between characters: enough to tell what they are."""
    if len(data) <= size:
        return data
    part = data[: size // 4 * 4]
    if b"\x00" in part:
        return part
    # Back to behind the last line, where no character of any encoding is cut.
    return part[: part.rfind(b"\n") + 1] or part


def clean(text: str) -> str:
    """One newline sign, no control characters, no half characters: done once, before offsets.

    Pairs of surrogates become the character that they stand for; a lone one becomes U+FFFD.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub("", text)
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def unreadable(text: str) -> float:
    """The share of signs that no text holds (see `clean` for those that it drops), 0 to 1."""
    sample = [character for character in text[:SAMPLE] if not character.isspace()]
    lost = sum(character == "\ufffd" or category(character) in _NO_TEXT for character in sample)
    return lost / max(1, len(sample))


def is_binary(data: bytes) -> bool:
    """Whether the bytes are no text in any encoding that a person writes."""
    head = data[:SAMPLE]
    if not head:
        return False
    controls = sum(head.count(bytes((code,))) for code in (*range(9), 11, *range(14, 27), 28, 29))
    return controls * 200 > len(head)


def _lossy(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError:
        return Decoded(data.decode(encoding, "replace"), encoding, lossy=True)


def _wide(data: bytes) -> str | None:
    """UTF-16 without a mark: zeros in every other byte, and hardly any in between."""
    head = data[: SAMPLE // 2 * 2]
    half = len(head) // 2
    if half < 2:
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd * 10 >= half * 4 and even * 20 <= half:
        return "utf-16-le"
    if even * 10 >= half * 4 and odd * 20 <= half:
        return "utf-16-be"
    return None


def _reads_as_wide(data: bytes, encoding: str) -> bool:
    """Whether bytes that look binary are UTF-16: all signs assigned, none of control."""
    if len(data) % 2 or len(data) < 16:
        return False
    try:
        text = data[: SAMPLE // 2 * 2].decode(encoding)
    except UnicodeDecodeError as error:
        # A sample may end between the halves of a pair.
        if error.start < SAMPLE - 4:
            return False
        text = data[: error.start].decode(encoding)
    kinds = [category(character) for character in text if not character.isspace()]
    gaps = len(text) - len(kinds) + sum(kind == "Po" for kind in kinds)
    return gaps * 200 > len(text) and not any(kind in _NO_TEXT for kind in kinds)


def _guess(data: bytes) -> Decoded | None:
    """What charset-normalizer makes of bytes that are not Unicode.

    English text holds too few letters beyond ASCII for a statistical guess; for it, and where
    windows-1252 reads no worse than the best, that encoding is taken, the likeliest by far.
    """
    from charset_normalizer import from_bytes

    first = _HIGH.search(data)
    begin = max(0, (first.start() if first else 0) - SAMPLE // 8)
    found = from_bytes(data[begin : begin + SAMPLE], cp_isolation=_ENCODINGS)
    best = found.best()
    if best is None:
        return None
    mac = best.encoding.startswith("mac")
    for match in found:
        if "cp1252" in (match.encoding, *match.could_be_from_charset) and (
            (match.chaos <= best.chaos and match.coherence >= best.coherence)
            or (not mac and is_english(data[:SAMPLE].decode("cp1252", "replace")))
        ):
            return _lossy(data, "cp1252")
    return _lossy(data, best.encoding)
