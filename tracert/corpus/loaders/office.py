"""What Word's and PowerPoint's files have in common: a zip of XML parts that name each other."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tracert.corpus.loaders.base import Limits
from tracert.corpus.loaders.trees import xml_tree
from tracert.corpus.zipped import Archive, ArchiveError, Bounds, Refusal, is_zip
from tracert.errors import DocumentError

if TYPE_CHECKING:
    from lxml import etree

_OF_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OF_DRAWING: Final = "http://schemas.openxmlformats.org/drawingml/2006/main"
_OF_SLIDES: Final = "http://schemas.openxmlformats.org/presentationml/2006/main"
#: Short names for the namespaces, those of the strict form of the format included.
_PREFIXES: Final = {
    _OF_WORD: "w",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    _OF_DRAWING: "a",
    "http://purl.oclc.org/ooxml/drawingml/main": "a",
    _OF_SLIDES: "p",
    "http://purl.oclc.org/ooxml/presentationml/main": "p",
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "m",
    "http://purl.oclc.org/ooxml/officeDocument/math": "m",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "http://schemas.openxmlformats.org/drawingml/2006/diagram": "dgm",
    "http://purl.oclc.org/ooxml/drawingml/diagram": "dgm",
    "http://schemas.microsoft.com/office/powerpoint/2010/main": "p14",
}
_ADVICE: Final = {
    Refusal.DAMAGED: "Open it in the program that made it, let that repair it, and save it anew.",
    Refusal.LOCKED: "Save a copy without a password, then load that.",
    Refusal.METHOD: "Open it in the program that made it and save it anew.",
    Refusal.BOMB: "Open it in the program that made it and save it anew.",
    Refusal.LARGE: "Split it into several files, or raise the limit.",
    Refusal.MANY: "Open it in the program that made it and save it as PDF.",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part names: the last word of the relation's type, and the other part's path."""

    kind: str
    target: str


class Package:
    """The parts of an office file, opened one by one; damage is noted and what is left is read."""

    def __init__(self, data: bytes, name: str, limits: Limits) -> None:
        """Read the list of parts.

        Raises:
            DocumentError: nothing of the file can be read.
        """
        self.name = name
        #: Parts that could not be read, or not whole.
        self.damaged: list[str] = []
        self._limits = limits
        with advising():
            self._archive = Archive(data, name, bounds(limits))
        self._names = {_regular(each): each for each in self._archive.names}
        self._relations: dict[str, dict[str, Relation]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The paths of all parts."""
        return tuple(self._names)

    @property
    def mended(self) -> bool:
        """Whether the list of parts was lost and they were searched for."""
        return self._archive.mended

    def xml(self, part: str) -> etree._Element | None:
        """The tree of a part, as much of it as is sound; None where there is none.

        Raises:
            DocumentError: it is locked, beyond the limits or declares entities.
        """
        content = self.content(part)
        if content is None:
            return None
        root, sound = xml_tree(content, self.name)
        self._note(part, sound)
        return root

    def content(self, part: str) -> bytes | None:
        """The bytes of a part, as much of them as is sound; None where there is none.

        Raises:
            DocumentError: it is locked or beyond the limits.
        """
        name = self._names.get(_regular(part))
        if name is None:
            return None
        with advising():
            content, whole = self._archive.salvage(name)
        self._note(part, whole)
        return content

    def _note(self, part: str, sound: bool) -> None:
        if not sound and part not in self.damaged:
            self.damaged.append(part)

    def relations(self, part: str) -> dict[str, Relation]:
        """What a part names, by the id that it uses; '' stands for the file as a whole."""
        if part not in self._relations:
            self._relations[part] = self._related(part)
        return self._relations[part]

    def _related(self, part: str) -> dict[str, Relation]:
        folder, _, base = part.rpartition("/")
        root = self.xml(f"{folder}/_rels/{base}.rels" if folder else f"_rels/{base}.rels")
        if root is None:
            return {}
        return {
            str(each.get("Id", "")): Relation(
                str(each.get("Type", "")).rpartition("/")[2],
                _regular(posixpath.join("/", folder, str(each.get("Target", "")))),
            )
            for each in root
            if each.get("TargetMode") != "External"
        }

    def main(self, default: str) -> str:
        """The path of the part that the file is about."""
        for relation in self.relations("").values():
            if relation.kind == "officeDocument" and relation.target in self._names:
                return relation.target
        return default

    def damage(self, what: str) -> str:
        """The sentence that says what was lost, '' where nothing was."""
        if not self.damaged and not self.mended:
            return ""
        lost = f" Lost or cut short: {', '.join(self.damaged[:5])}." if self.damaged else ""
        return f"{self.name} is damaged; what can be read of {what} was.{lost}"


def bounds(limits: Limits) -> Bounds:
    """The bounds of a document that is a zip."""
    return Bounds(
        entries=20_000,
        entry_bytes=limits.max_bytes,
        total_bytes=limits.max_unpacked,
        ratio=limits.max_ratio,
    )


def parts_of(data: bytes, name: str) -> frozenset[str]:
    """The paths in a file that is a zip, as office programs compare them; none in any other."""
    if not is_zip(data):
        return frozenset()
    try:
        return frozenset(map(_regular, Archive(data, name).names))
    except ArchiveError:
        return frozenset()


def kind_of(element: etree._Element) -> str:
    """An element's name with the usual prefix of its namespace, 'w:p'; '' for what is none."""
    tag = element.tag
    if not isinstance(tag, str):
        return ""
    space, _, local = tag.rpartition("}")
    return f"{_PREFIXES.get(space[1:], '?')}:{local}"


def attribute(element: etree._Element | None, name: str) -> str | None:
    """An attribute by its name, whatever namespace it is in."""
    if element is not None:
        for key, value in element.attrib.items():
            if str(key).rpartition("}")[2] == name:
                return str(value)
    return None


def child(element: etree._Element | None, *path: str) -> etree._Element | None:
    """The first element found by going down by these names ('w:pPr')."""
    for kind in path:
        if element is None:
            return None
        element = next((each for each in element if kind_of(each) == kind), None)
    return element


def is_on(element: etree._Element | None) -> bool:
    """Whether a switch is there and not set to off."""
    return element is not None and attribute(element, "val") not in {"0", "false", "off"}


def diagram(package: Package, part: str, element: etree._Element) -> Iterator[str]:
    """The texts in the boxes of a diagram (SmartArt) that an element shows."""
    ids = next((each for each in element.iter() if kind_of(each) == "dgm:relIds"), None)
    relation = package.relations(part).get(attribute(ids, "dm") or "") if ids is not None else None
    root = package.xml(relation.target) if relation is not None else None
    if root is None:
        return
    for point in root.iter():
        if kind_of(point) == "dgm:pt":
            text = " ".join(
                "".join(each.text or "" for each in paragraph.iter() if kind_of(each) == "a:t")
                for paragraph in point.iter()
                if kind_of(paragraph) == "a:p"
            )
            if text.strip():
                yield text


@contextmanager
def advising() -> Iterator[None]:
    """Turn the refusal of a zip into that of a document, with the advice that fits one."""
    try:
        yield
    except ArchiveError as error:
        raise DocumentError(f"{error.said} {_ADVICE[error.why]}") from error


def _regular(path: str) -> str:
    """A part's path as it is compared: office programs do not tell case and slashes apart."""
    return posixpath.normpath(path.replace("\\", "/")).lstrip("/").lower()
