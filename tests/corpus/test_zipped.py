"""A zip within its bounds: bombs, damage, names that climb, and what is left of a broken file."""

from __future__ import annotations

import io
import random
import stat
import struct
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.corpus.zipped import (
    Archive,
    ArchiveError,
    Bounds,
    Refusal,
    UnsafeNameError,
    is_zip,
    safe_name,
)

WORDS = b" ".join(f"word{number}".encode() for number in range(40_000))


def packed(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, mode: int = 0) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = method
            entry.external_attr = mode << 16
            out.writestr(entry, content)
    return buffer.getvalue()


def streamed(files: dict[str, bytes]) -> bytes:
    """A zip whose sizes stand behind each entry, as a program writes that cannot seek."""

    class OneWay(io.RawIOBase):
        def __init__(self) -> None:
            self.data = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            self.data += data
            return len(data)

    out = OneWay()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[arg-type]
        for name, content in files.items():
            archive.writestr(name, content)
    return bytes(out.data)


def refusal(data: bytes, bounds: Bounds | None = None) -> ArchiveError:
    with pytest.raises(ArchiveError) as caught:
        archive = Archive(data, "x.zip", bounds)
        for entry in archive.entries:
            archive.read(entry)
    assert str(caught.value).startswith("x.zip ")
    assert str(caught.value).endswith(".")
    return caught.value


@given(st.dictionaries(st.text("abc/é.", min_size=1, max_size=9), st.binary(max_size=300)))
def test_what_was_packed_comes_out(files: dict[str, bytes]) -> None:
    files = {name: content for name, content in files.items() if not name.endswith("/")}
    for data in (packed(files), packed(files, zipfile.ZIP_STORED), streamed(files)):
        archive = Archive(data, "x.zip")
        assert not archive.mended
        assert {name: archive.read(name) for name in archive.names} == files


@pytest.mark.parametrize("make", [packed, streamed])
def test_without_the_list_at_its_end_the_entries_are_found(make: object) -> None:
    files = {"a.txt": WORDS, "b/é.txt": b"second", "c.txt": WORDS[:999]}
    data = make(files)  # type: ignore[operator]
    archive = Archive(data[: data.find(b"PK\x01\x02")], "x.zip")
    assert archive.mended
    assert {entry.name: archive.salvage(entry) for entry in archive.entries} == {
        name: (content, True) for name, content in files.items()
    }


@pytest.mark.parametrize("make", [packed, streamed])
def test_of_a_cut_file_the_beginning_is_left(make: object) -> None:
    data = make({"a.txt": b"first", "b.txt": WORDS})  # type: ignore[operator]
    archive = Archive(data[: len(data) // 2], "x.zip")
    assert archive.salvage("a.txt") == (b"first", True)
    content, whole = archive.salvage("b.txt")
    # Half of the packed bytes hold about half of the words.
    assert not whole
    assert WORDS.startswith(content)
    assert len(content) > len(WORDS) // 4
    with pytest.raises(ArchiveError, match=r"damaged at 'b\.txt'"):
        archive.read("b.txt")


def test_of_a_flipped_byte_what_stands_before_it_is_left() -> None:
    data = bytearray(packed({"a.txt": WORDS}))
    place = len(data) // 2
    data[place : place + 40] = random.Random(3).randbytes(40)
    content, whole = Archive(bytes(data), "x.zip").salvage("a.txt")
    assert not whole
    assert content[: len(WORDS) // 4] == WORDS[: len(WORDS) // 4]


def test_a_wrong_checksum_is_noticed() -> None:
    data = bytearray(packed({"a.txt": b"abcdef"}, zipfile.ZIP_STORED))
    data[data.find(b"abcdef")] = ord("x")
    assert Archive(bytes(data), "x.zip").salvage("a.txt") == (b"xbcdef", False)
    assert refusal(bytes(data)).why is Refusal.DAMAGED


def test_a_bomb_is_stopped_on_its_way() -> None:
    error = refusal(packed({"a.txt": bytes(50_000_000)}))
    assert error.why is Refusal.BOMB
    assert "200 times" in str(error)
    # An archive that lies about the packed size is no better off: what is there is counted.
    data = bytearray(packed({"a.txt": bytes(50_000_000)}))
    place = data.find(b"PK\x01\x02")
    data[place + 20 : place + 24] = struct.pack("<L", 2**31)
    assert refusal(bytes(data)).why is Refusal.BOMB


def test_one_file_and_all_together_are_bounded() -> None:
    noise = random.Random(1).randbytes(3_000)
    files = {f"{number}.bin": noise for number in range(5)}
    assert refusal(packed(files), Bounds(entry_bytes=2_999)).why is Refusal.LARGE
    assert refusal(packed(files), Bounds(total_bytes=14_999)).why is Refusal.LARGE
    archive = Archive(packed(files), "x.zip", Bounds(entry_bytes=3_000, total_bytes=15_000))
    assert [archive.read(name) for name in files] == [noise] * 5


def test_the_beginning_of_a_file_can_be_asked_for() -> None:
    archive = Archive(packed({"a.txt": WORDS}), "x.zip", Bounds(entry_bytes=10_000))
    assert archive.read("a.txt", 7) == WORDS[:7]
    with pytest.raises(ArchiveError, match="Split it"):
        archive.read("a.txt")


def test_entries_are_counted() -> None:
    data = packed({str(number): b"" for number in range(9)})
    assert refusal(data, Bounds(entries=8)).why is Refusal.MANY
    assert refusal(data, Bounds(entries=2)).why is Refusal.MANY
    assert refusal(data[: data.find(b"PK\x01\x02")], Bounds(entries=8)).why is Refusal.MANY
    assert len(Archive(data, "x.zip", Bounds(entries=9)).entries) == 9


def test_a_locked_file_and_an_odd_method_are_named() -> None:
    data = bytearray(packed({"a.txt": b"secret"}))
    for place in (6, data.find(b"PK\x01\x02") + 8):
        data[place] |= 1
    assert refusal(bytes(data)).why is Refusal.LOCKED
    assert refusal(packed({"a.txt": b"x" * 99}, zipfile.ZIP_LZMA)).why is Refusal.METHOD


def test_links_are_told_from_files() -> None:
    data = packed({"a": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777)
    archive = Archive(data, "x.zip")
    assert archive.names == ()
    assert [(entry.name, entry.regular) for entry in archive.entries] == [("a", False)]


def test_what_is_no_zip() -> None:
    assert refusal(b"PK\x03\x04 and nothing").why is Refusal.DAMAGED
    assert refusal(b"nothing").why is Refusal.DAMAGED
    assert is_zip(packed({}))
    assert not is_zip(b"%PDF")
    assert Archive(packed({}), "x.zip").entries == ()


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ArchiveError, match="holds no 'b'"):
        Archive(packed({"a": b""}), "x.zip").read("b")


@given(st.binary(max_size=300), st.integers(0, 1_000))
def test_any_bytes_give_entries_or_a_sentence(noise: bytes, place: int) -> None:
    data = packed({"a.txt": WORDS[:500], "b.txt": b"more"})
    place %= len(data)
    for hostile in (noise, data[:place] + noise, data[:place] + noise + data[place:]):
        try:
            archive = Archive(hostile, "x.zip")
            for entry in archive.entries:
                archive.salvage(entry)
        except ArchiveError as error:
            assert str(error).endswith(".")


def test_an_end_of_stream_inside_the_output_is_not_lost() -> None:
    # A content that is an exact multiple of what is unpacked at a time, and one that packs to
    # next to nothing: both leave output behind when the packed bytes are used up.
    for content in (random.Random(5).randbytes(2_000_000), bytes(900_000)):
        archive = Archive(packed({"a": content}), "x.zip")
        assert zlib.crc32(archive.read("a")) == zlib.crc32(content)


@pytest.mark.parametrize("name", ["a.md", "a/b.txt", "é/ü.docx", "a..b/c", ".hidden"])
def test_names_that_lie_inside(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/a",
        "../a",
        "a/../b",
        "a//b",
        "./a",
        "C:/a",
        "a\\b",
        "a\x00b",
        "．．/a",
        "a/ /b",
        "a/..／b",
    ],
)
def test_names_that_do_not(name: str) -> None:
    with pytest.raises(UnsafeNameError) as caught:
        safe_name(name)
    assert str(caught.value).endswith(".")
