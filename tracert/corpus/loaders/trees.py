"""XML and HTML to trees, by lxml: no entity, no network, no file besides the one that is read."""

from __future__ import annotations

import re
from html.entities import html5
from typing import TYPE_CHECKING, Any, Final

from tracert.errors import DocumentError

if TYPE_CHECKING:
    from lxml import etree

#: The five names that XML itself knows.
_OF_XML: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_NAMED: Final = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_DECLARATION: Final = re.compile(r"\A\s*<\?xml[^>]*>")
_XHTML: Final = re.compile(r"\A\s*+(?:<\?xml\b|(?:<![^>]*+>\s*+)*+<html\b[^>]*\bxmlns\s*=)")
#: Elements that XHTML closes in one tag and an HTML parser takes to be left open.
_CLOSED: Final = re.compile(
    r"<(title|script|style|iframe|textarea|a|span|div|p|i|b|em|strong|td|th|li)\b([^<>]*)/>"
)


def xml_tree(data: bytes, name: str) -> tuple[etree._Element | None, bool]:
    """The root of an XML file, and whether all of it could be read; what can be is kept.

    Raises:
        DocumentError: it declares entities of its own, the door of XML bombs.
    """
    from lxml import etree

    for recover in (False, True):
        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            dtd_validation=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
            recover=recover,
        )
        try:
            root = etree.fromstring(data, parser)
        except (etree.XMLSyntaxError, ValueError):
            if b"<!ENTITY" in data.replace(b"\x00", b"")[:100_000]:
                raise _entities(name) from None
            continue
        if root is None:
            break
        dtd: Any = root.getroottree().docinfo.internalDTD
        if dtd is not None and dtd.entities():
            raise _entities(name)
        return root, not recover
    return None, False


def html_tree(text: str, name: str) -> tuple[etree._Element | None, bool]:
    """The root of a web page, and whether all of it could be read.

    XHTML is read as XML where it is sound, and as browsers read HTML where it is not.

    Raises:
        DocumentError: an XHTML page declares entities of its own.
    """
    from lxml import etree

    body = _DECLARATION.sub("", text)
    if _XHTML.match(text[:4096]):
        root, whole = xml_tree(_NAMED.sub(_character, body).encode("utf-8", "replace"), name)
        if root is not None and whole:
            return root, True
        body = _CLOSED.sub(r"<\1\2></\1>", body)
    parser = etree.HTMLParser(
        encoding="utf-8",
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        huge_tree=True,
    )
    try:
        root = etree.fromstring(body.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):  # no element at all
        return None, True
    stopped = any(error.level == etree.ErrorLevels.FATAL for error in parser.error_log)
    return root, not stopped


def tag_of(element: etree._Element) -> str:
    """The name of an element without its namespace; '' for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def _character(found: re.Match[str]) -> str:
    """What HTML means by a name that XML does not know."""
    if found[1] in _OF_XML:
        return found[0]
    return html5.get(found[1] + ";", found[0])


def _entities(name: str) -> DocumentError:
    return DocumentError(
        f"{name} declares entities of its own, which can be made to fill the memory; it is not "
        "read. Save it anew by the program that made it, or as PDF."
    )
