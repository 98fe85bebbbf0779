"""Bytes of many encodings, damaged ones, and bytes that are no text."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.corpus.encoding import clean, decode, head, is_binary, unreadable

FRENCH = "Les élèves étaient très fatigués après le cours, où l’on avait étudié la forêt. "
RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива. "
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"
CHINESE = "道可道，非常道。名可名，非常名。無名天地之始；有名萬物之母。"
KOREAN = "모든 국민은 법 앞에 평등하다. 누구든지 성별에 의하여 차별을 받지 아니한다. "
POLISH = "Zażółć gęślą jaźń, proszę pana. Łódź jest piękna, a żółw śpi. "
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy. Děti čekaly na večeři. "
GREEK = "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια. "
GERMAN = "Über die Größe der Häuser läßt sich nichts sagen, weil die Straße öde ist. "
ENGLISH = "The café in which they met was naïve to ask for £5 — “never”, said the owner’s son. "


@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, JAPANESE, "plain"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"]
)
def test_unicode_with_and_without_its_mark(text: str, encoding: str) -> None:
    decoded = decode((text * 3).encode(encoding))
    assert decoded is not None
    assert decoded.text == text * 3
    assert not decoded.lossy


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "cp1252"),
        (GERMAN, "cp1252"),
        (GERMAN, "latin-1"),
        (ENGLISH, "cp1252"),
        (POLISH, "cp1250"),
        (CZECH, "cp1250"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (GREEK, "cp1253"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc-jp"),
        (CHINESE, "big5"),
        (CHINESE, "gb18030"),
        (KOREAN, "euc-kr"),
    ],
)
def test_encodings_of_before_unicode(text: str, encoding: str) -> None:
    decoded = decode((text * 5).encode(encoding))
    assert decoded is not None
    assert decoded.text == text * 5


def test_high_bytes_far_behind_are_found() -> None:
    # The only letters beyond ASCII stand after what the guess would look at from the start.
    text = "Alles ist gut. " * 10_000 + CZECH * 3
    decoded = decode(text.encode("cp1250"))
    assert decoded is not None
    assert decoded.text == text


def test_utf8_with_a_few_bad_bytes_stays_utf8() -> None:
    data = (FRENCH * 20).encode() + b"\xff" + FRENCH.encode()
    decoded = decode(data)
    assert decoded is not None
    assert decoded.encoding == "utf-8"
    assert decoded.lossy
    assert decoded.text == FRENCH * 20 + "\ufffd" + FRENCH


def test_utf16_cut_in_the_middle_of_a_character_is_lossy() -> None:
    decoded = decode("Grüße an alle".encode("utf-16")[:-1])
    assert decoded is not None
    assert decoded.lossy
    assert decoded.text == "Grüße an all\ufffd"


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 4,
        b"\x00" * 100,
        random.Random(1).randbytes(5_000),
        b"\x89PNG\r\n\x1a\n" + bytes(200),
        b"ordinary words, then " + bytes(range(1, 9)) * 3,
    ],
)
def test_no_text(data: bytes) -> None:
    assert decode(data) is None


def test_empty_is_text() -> None:
    assert not is_binary(b"")
    decoded = decode(b"")
    assert decoded is not None
    assert decoded.text == ""


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.just("\n")))
def test_text_in_utf8_is_read_as_it_is(text: str) -> None:
    decoded = decode(text.encode())
    assert decoded is not None
    assert decoded.text == text.removeprefix("\ufeff")


@given(st.binary(max_size=300))
def test_no_bytes_raise_or_leave_half_characters(data: bytes) -> None:
    decoded = decode(data)
    if decoded is not None:
        clean(decoded.text).encode("utf-8")


def test_clean_settles_newlines_and_controls() -> None:
    assert clean("a\r\nb\rc\nd\r\r\ne") == "a\nb\nc\nd\n\ne"
    assert clean("\ufeffa\x00b\x07\tc\x0cd\x1b") == "ab\tc\x0cd"


def test_clean_joins_pairs_and_replaces_lone_halves() -> None:
    assert clean("\ud83d\ude00") == "😀"
    assert clean("a\ud83db") == "a\ufffdb"


@given(st.text(alphabet=st.characters(categories=None), max_size=100))
def test_clean_twice_is_clean_once(text: str) -> None:
    once = clean(text)
    once.encode("utf-8")
    assert clean(once) == once
    assert os.linesep == "\n" or "\r" not in once


def test_head_is_cut_between_characters() -> None:
    data = ("é" * 9 + "\n").encode() * 10  # 19 bytes a line
    assert head(data, 1_000) == data
    assert head(data, 50) == data[:38], "two whole lines"
    # Without a line end the cut is where it falls, at a multiple of four for wide characters.
    assert head(b"x" * 50, 23) == b"x" * 20
    wide = "ab\ncd".encode("utf-16-le") * 9
    assert head(wide, 18).decode("utf-16-le") == "ab\ncdab\n"


def test_unreadable_is_the_share_of_signs_that_are_none() -> None:
    assert unreadable("") == 0.0
    assert unreadable("Grüße 吾輩 😀 €") == 0.0
    # Of eight signs a replacement, a private and an unassigned one are no text.
    assert unreadable("abcde \ufffd\ue000\u0378") == 3 / 8
