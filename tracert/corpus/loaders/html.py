"""HTML: a saved web page, or a page that Confluence exported, as the text that a reader sees."""

from __future__ import annotations

import codecs
import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from tracert.corpus.encoding import SAMPLE, decode, head
from tracert.corpus.loaders.base import Content, Limits
from tracert.corpus.loaders.building import Builder, as_title
from tracert.corpus.loaders.markup import blocks, is_left_out, words
from tracert.corpus.loaders.mhtml import is_mhtml, page_in
from tracert.corpus.loaders.trees import html_tree, tag_of

if TYPE_CHECKING:
    from lxml import etree

#: A file that is called so needs a few tags only to be a page.
_NAMES: Final = (".html", ".htm", ".xhtml")
#: Where a page says in which encoding it is written, in bytes.
_DECLARED_WITHIN: Final = 4096
_DECLARED: Final = re.compile(
    rb"<meta\b[^>]{0,500}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})"
    rb"|\A\s*<\?xml\b[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{2,40})",
    re.IGNORECASE,
)
#: What browsers take instead of the encoding that a page names.
_TAKEN: Final = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "latin1": "cp1252",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "sjis": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "macintosh": "mac_roman",
    "x-mac-roman": "mac_roman",
}
_OTHERS: Final = re.compile(
    r"windows-125\d|cp125\d|windows-874|iso-?8859-\d{1,2}|koi8-[ru]|gb18030|big5-?hkscs|euc-jp"
    r"|iso-2022-(?:jp|kr)|utf-?8|windows-31j|ibm866|cp866"
)
#: Encodings in which a letter is several bytes, so that few texts of another kind fit them.
_STRICT: Final = ("gb", "big5", "cp932", "cp949", "euc", "iso-2022", "windows-31j")
_BEGINS: Final = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?:(?!-->).)*+-->\s*+)*+"
    r"<(?:!doctype\s+html|(?:html|head|body|title|meta)\b)",
    re.DOTALL | re.IGNORECASE,
)
_TAG: Final = re.compile(
    r"</?(?:html|head|body|title|meta|div|p|span|h[1-6]|table|t[rdh]|ul|ol|li|a|br|img|script|style"
    r"|section|article|main|font|b|i|form|link|pre)\b[^<>]*>",
    re.IGNORECASE,
)


class HtmlLoader:
    """Web pages: a mark at each heading, below the title of the page."""

    kind = "html"
    title = "HTML"
    suffixes = (*_NAMES, ".mhtml", ".mht")

    def recognises(self, data: bytes, name: str) -> bool:
        """Whether the text begins as a page does, or is called so and has some tags."""
        if is_mhtml(data):
            return True
        if name.lower().endswith(_NAMES):
            text = decoded_page(head(data, SAMPLE))[0]
            return _BEGINS.match(text) is not None or len(_TAG.findall(text)) > 1
        start = data[:_DECLARED_WITHIN]
        if b"<" not in start:
            return False
        decoded = decode(head(data, 4 * _DECLARED_WITHIN))
        return decoded is not None and _BEGINS.match(decoded.text) is not None

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        """The text that a reader sees, in the page's order; see `markup.blocks`.

        The text of `main` is taken where a page has it, of `#main-content` where Confluence
        wrote it (its breadcrumb and title give the outermost headings), of the body otherwise.
        """
        builder = Builder(name, limits)
        text, lossy = decoded_page(data)
        if is_mhtml(data):
            page = page_in(data)
            text, lossy = decoded_page(*page) if page is not None else ("", False)
        if lossy:
            builder.warnings.append(
                f"Some bytes of {name} fit no encoding and show as \ufffd; save it as UTF-8 to "
                "mend them."
            )
        root, whole = html_tree(text, name)
        if root is not None:
            _fill(builder, root)
        if not whole and not builder.empty:
            builder.warnings.append(
                f"{name} is damaged or nested too deep to be read whole; what follows that place "
                "is left out. Open it in a browser and save it as PDF or text to have all of it."
            )
        what = "shows no text by itself" if whole else "is damaged or nested too deep to be read"
        return builder.done(
            f"{name} {what}. Open it in a browser and save it as PDF, then load that."
        )


def _fill(builder: Builder, root: etree._Element) -> None:
    """The page's title and blocks."""
    exported = _by_id(root, "main-content")
    titled = _by_id(root, "title-text")
    if exported is not None and titled is not None:
        content = exported
        path = _breadcrumb(root, titled)
        builder.root(*path)
        builder.block(path[-1])
        only = 0
    else:
        content = _content(root)
        title = next((words(each) for each in root.iter() if _is_title(each)), "")
        builder.root(title)
        only = _stands_for(title, content)
    for block in blocks(content):
        if block.level:
            if block.level == only:
                builder.root()
            builder.heading(block.level, block.text)
        builder.block(block.text, tight=block.tight)
        if builder.full:
            break


def _stands_for(title: str, content: etree._Element) -> int:
    """The level of the one highest heading where the title has its words; 0 where there is none.

    Such a heading needs none above it that says the same again.
    """
    for tag in ("h1", "h2", "h3"):
        heads = list(islice((each for each in content.iter() if tag_of(each) == tag), 2))
        if heads:
            head = as_title(words(heads[0])) if len(heads) == 1 else ""
            return int(tag[1]) if head and head.casefold() in title.casefold() else 0
    return 0


def _breadcrumb(root: etree._Element, titled: etree._Element) -> tuple[str, ...]:
    """Space, parent pages and title of an exported page, from the outermost inwards."""
    trail = _by_id(root, "breadcrumbs")
    items = [] if trail is None else [each for each in trail.iter() if tag_of(each) == "li"]
    crumbs = [crumb for crumb in map(words, items) if crumb]
    title = words(titled)
    if crumbs:
        title = title.removeprefix(f"{crumbs[0]} : ")
    return (*crumbs, title)


def _content(root: etree._Element) -> etree._Element:
    """What a page marks as its main part, where it marks one that has words; else all of it."""
    marked = [
        each
        for each in root.iter()
        if (tag_of(each) == "main" or each.get("role") == "main") and not is_left_out(each)
    ]
    if len(marked) == 1 and words(marked[0]):
        return marked[0]
    return root


def _is_title(element: etree._Element) -> bool:
    parent = element.getparent()
    return tag_of(element) == "title" and (parent is None or tag_of(parent) in {"head", "html"})


def _by_id(root: etree._Element, name: str) -> etree._Element | None:
    return next((each for each in root.iter() if each.get("id") == name), None)


def decoded_page(data: bytes, encoding: str = "") -> tuple[str, bool]:
    """The text of a page and whether some of it was lost.

    `encoding` is what is said of it from outside, '' for nothing. In order: a byte order mark; an
    encoding of several bytes a letter that is named, there or in the page, and that fits; UTF-8
    where that fits, whatever is named; the encoding that is; what the bytes show; and at last
    windows-1252.
    """
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        found = decode(data)
        if found is not None:
            return found.text, found.lossy
    named = _taken(encoding) or _named(data[:_DECLARED_WITHIN])
    candidates = [named] if named.startswith(_STRICT) else []
    for candidate in (*candidates, "utf-8", *([named] if named else [])):
        try:
            return data.decode(candidate), False
        except (UnicodeDecodeError, LookupError):
            continue
    found = decode(data)
    if found is not None:
        return found.text, found.lossy
    return data.decode(named or "cp1252", "replace"), True


def _named(start: bytes) -> str:
    """The encoding that a page says it is written in, as browsers take it; '' for none known."""
    found = _DECLARED.search(start)
    if found is None:
        return ""
    return _taken((found[1] or found[2]).decode("ascii"))


def _taken(label: str) -> str:
    label = label.strip().lower()
    if label in _TAKEN:
        return _TAKEN[label]
    return label if _OTHERS.fullmatch(label) else ""
