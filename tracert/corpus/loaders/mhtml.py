"""Pages saved as one file (.mhtml), which Confluence's export to Word is as well."""

from __future__ import annotations

import re
from email import policy
from email.errors import MessageError
from email.message import Message
from email.parser import BytesParser
from typing import Final

_HEAD: Final = re.compile(
    rb"\A\s*(?:[A-Za-z-]+:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*\r?\n){1,40}", re.IGNORECASE
)
_TYPE: Final = re.compile(
    rb"^content-type:\s*(?:multipart/(?:related|mixed|alternative)|text/html)\b",
    re.IGNORECASE | re.MULTILINE,
)
_PAGE: Final = re.compile(rb"^content-type:\s*text/html\b", re.IGNORECASE | re.MULTILINE)
_VERSION: Final = re.compile(rb"^mime-version:", re.IGNORECASE | re.MULTILINE)
_HEAD_WITHIN: Final = 8_000
#: More boundaries than this are no page, and would nest the parser too deep.
_MAX_PARTS: Final = 5_000


def is_mhtml(data: bytes) -> bool:
    """Whether the bytes begin with the head of a message that holds a page."""
    head = _HEAD.match(data[:_HEAD_WITHIN])
    if head is None or not (_VERSION.search(head[0]) and _TYPE.search(head[0])):
        return False
    return _PAGE.search(data) is not None


def page_in(data: bytes) -> tuple[bytes, str] | None:
    """The page in a message and the encoding that its part names; None where there is none."""
    if data.count(b"\n--") > 2 * _MAX_PARTS:
        return None
    try:
        message = BytesParser(policy=policy.compat32).parsebytes(data)
        for part in message.walk():
            if part.get_content_type() == "text/html":
                return _content(part), str(part.get_content_charset("") or "")
    except (MessageError, LookupError, ValueError, TypeError, RecursionError):
        return None
    return None


def _content(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""
