"""From what is handed in to documents: zips opened, passwords, limits, one sentence each."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.corpus.pdfs import pdf
from tracert.corpus.loaders import Limits
from tracert.corpus.loaders.limits import LIMITS, changed, from_environment, value
from tracert.errors import CancelledError, SettingError
from tracert.inputs import File, source_of
from tracert.reading import Read, read


def zipped(files: Mapping[str, bytes], *, stored: bool = False) -> bytes:
    out = io.BytesIO()
    method = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def one(data: bytes, name: str, limits: Limits | None = None, **passwords: str) -> Read:
    (found,) = read([File(name, data)], limits=limits, passwords=passwords)
    return found


def told(found: list[Read]) -> dict[str, str]:
    """Path and text, or the sentence of the refusal."""
    return {each.path: each.document.text if each.document else each.message for each in found}


# --- zips ---------------------------------------------------------------------------------

MIXED = {
    "export/index.html": b"<html><body><h1>Index</h1><p>Of pages.</p></body></html>",
    "export/a/page.md": b"# Page\n\nWords.\n",
    "export/a/paper.pdf": pdf(["A paper"]),
    "export/broken.pdf": b"%PDF-1.7 nothing",
    "export/attachments/picture.png": b"\x89PNG....",
    "export/.hidden.md": b"# Hidden",
    "__MACOSX/export/._page.md": b"# Fork",
    "export/empty.txt": b"",
    "export/inner.zip": zipped({"a.txt": b"text"}),
}


def test_a_zip_stands_for_the_files_in_it_and_bad_ones_are_named() -> None:
    found = read([File("export.zip", zipped(MIXED))])
    said = told(found)
    assert said["export.zip/export/a/page.md"] == "# Page\n\nWords.\n"
    assert said["export.zip/export/a/paper.pdf"] == "A paper"
    assert "Of pages." in said["export.zip/export/index.html"]
    assert "damaged" in said["export.zip/export/broken.pdf"]
    assert "empty" in said["export.zip/export/empty.txt"]
    assert "archive in an archive" in said["export.zip/export/inner.zip"]
    # As in a folder, hidden files and other kinds are left out.
    assert len(said) == 6
    page = next(each for each in found if each.path.endswith("page.md"))
    assert page.document is not None
    assert page.document.name == "export/a/page.md"
    assert page.names == ("export/a/page.md", "export.zip/export/a/page.md")
    assert page.source == "export.zip/export/a/page.md"


def test_a_zip_in_a_folder_is_opened_and_its_files_keep_their_source(tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_bytes(zipped({"x.txt": b"in the zip"}))
    (tmp_path / "a.txt").write_text("beside it")
    found = read([tmp_path])
    assert [each.names[0] for each in found] == ["a.txt", "x.txt"]
    assert found[1].source == f"{source_of(str((tmp_path / 'b.zip').resolve()))}/x.txt"


def test_names_that_lead_outside_are_refused_and_the_rest_is_read() -> None:
    bad = ["../up.md", "/root.md", "C:/x.md", "a/../../b.md", "a\\b.md"]
    said = told(read([File("z.zip", zipped(dict.fromkeys(bad, b"x") | {"good.md": b"good"}))]))
    assert said.pop("z.zip/good.md") == "good"
    assert len(said) == len(bad)
    assert all("path" in message for message in said.values())


def test_a_name_given_twice_is_read_once() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a.md", b"first")
        archive.writestr("a.md", b"second")
    found = read([File("z.zip", out.getvalue())])
    assert [each.document.text for each in found if each.document] == ["first"]
    assert "twice" in found[1].message


def test_links_are_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        link = zipfile.ZipInfo("link.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert "link" in one(out.getvalue(), "z.zip").message


def test_a_bomb_is_refused_and_the_files_beside_it_are_read() -> None:
    data = zipped({"bomb.txt": bytes(30_000_000).replace(b"\0", b"a"), "good.txt": b"good"})
    said = told(read([File("z.zip", data)]))
    assert "bomb" in said["z.zip/bomb.txt"]
    assert said["z.zip/good.txt"] == "good"


def test_counts_and_sizes_are_bounded() -> None:
    many = zipped({f"{number}.txt": b"text" for number in range(5)})
    assert "5 files, more than the 4" in one(many, "z.zip", Limits(max_members=4)).message
    wide = zipped({f"{n}.txt": str(n).encode() * 400_000 for n in range(4)}, stored=True)
    said = list(told(read([File("z.zip", wide)], limits=Limits(max_unpacked=1_000_000))).values())
    assert said[0].startswith("000")
    assert said[1].startswith("111")
    assert all("unpacks to more than 1 MB" in message for message in said[2:])


def test_a_zip_of_nothing_to_read_says_so() -> None:
    assert "holds no file that can be read" in one(zipped({"a.png": b"x"}), "z.zip").message
    assert "holds no file that can be read" in one(zipped({}), "z.zip").message


def test_a_zip_that_packs_nothing_is_a_zip_whatever_its_first_file_is() -> None:
    data = zipped({"a.pdf": pdf(["In the zip"]), "b.txt": b"beside it"}, stored=True)
    assert told(read([File("z.zip", data)])) == {
        "z.zip/a.pdf": "In the zip",
        "z.zip/b.txt": "beside it",
    }


def test_a_file_of_another_kind_by_a_zips_name() -> None:
    assert one(b"Just words.", "z.zip").document is not None
    inner = told(read([File("z.zip", zipped({"a.txt": zipped({"b.txt": b"deep"})}))]))
    assert "archive in an archive" in inner["z.zip/a.txt"]


# --- passwords ----------------------------------------------------------------------------


def test_a_password_opens_its_file_and_no_other() -> None:
    first, second = (pdf([word], user_password=word) for word in ("one", "two"))
    files = [File("1.pdf", first), File("2.pdf", second), File("3.pdf", pdf(["open"]))]
    found = read(files)
    assert [each.locked for each in found] == [True, True, False]
    found = read(files, passwords={"1.pdf": "one"})
    assert [each.locked for each in found] == [False, True, False]
    found = read(files, passwords={"1.pdf": "one", "": "two"})
    assert [each.document.text for each in found if each.document] == ["one", "two", "open"]
    (wrong,) = read(files[:1], passwords={"1.pdf": "other"})
    assert wrong.locked
    assert "not the password" in wrong.message
    assert "other" not in wrong.message


def test_a_password_opens_a_file_in_a_zip() -> None:
    data = zipped({"in/secret.pdf": pdf(["Secret"], user_password="key"), "a.txt": b"open"})
    assert [each.locked for each in read([File("z.zip", data)])] == [True, False]
    for path in ("z.zip/in/secret.pdf", "z.zip", ""):
        found = read([File("z.zip", data)], passwords={path: "key"})
        assert [each.document.text for each in found if each.document] == ["Secret", "open"]


# --- limits -------------------------------------------------------------------------------


def test_limits_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACERT_LIMIT_PAGES", "1")
    document = one(pdf(["One", "Two"]), "a.pdf").document
    assert document is not None
    assert document.text == "One"
    monkeypatch.setenv("TRACERT_LIMIT_CHARACTERS", "3")
    assert "more than the 3" in one(b"four", "a.txt").message
    monkeypatch.setenv("TRACERT_LIMIT_PAGES", "none")
    with pytest.raises(SettingError, match="limit pages is 'none'"):
        read([])


@pytest.mark.parametrize("name", list(LIMITS))
def test_each_limit_has_a_name_a_unit_and_a_range(name: str) -> None:
    limits = changed(Limits(), {name: "7"})
    assert value(limits, name) == 7
    assert limits != Limits()
    assert from_environment({f"TRACERT_LIMIT_{name.upper().replace('-', '_')}": "7"}) == limits
    for wrong in ("0", "-1", "1.5", "", "x", str(LIMITS[name].most + 1)):
        with pytest.raises(SettingError, match=name):
            changed(Limits(), {name: wrong})


def test_an_unknown_limit_is_told_with_those_that_there_are() -> None:
    with pytest.raises(SettingError, match="There are: file-mb, pages"):
        changed(Limits(), {"speed": "1"})


# --- stopping -----------------------------------------------------------------------------


def test_progress_names_the_files_and_a_stop_ends_it() -> None:
    seen: list[tuple[int, int, str]] = []
    files = [File("z.zip", zipped({"a.txt": b"1", "b.txt": b"2"})), File("c.txt", b"3")]
    read(files, on_read=lambda *at: seen.append(at))
    assert seen == [
        (0, 2, ""),
        (0, 2, "z.zip/a.txt"),
        (0, 2, "z.zip/b.txt"),
        (1, 2, "z.zip"),
        (1, 2, "c.txt"),
        (2, 2, "c.txt"),
    ]
    stop = threading.Event()
    stop.set()
    with pytest.raises(CancelledError):
        read([File("a.pdf", pdf(["One"]))], cancelled=stop.is_set)
