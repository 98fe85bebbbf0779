"""Text that came from a document, a file's name or a saved trace, made safe for Streamlit.

`st.text` shows text as text and is used wherever it can be. Labels, headings and messages
read Markdown, with HTML left out; `literal` writes text so that they show it letter by letter.
"""

from __future__ import annotations

import re
from typing import Final

from tracert.home import place
from tracert.hosting import is_public

#: Every ASCII punctuation mark may be escaped in CommonMark.
_PUNCTUATION: Final = re.compile(r"([!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~])")
#: Emoji shortcodes, arrows and bare addresses are read after the Markdown; a word joiner between
#: their letters takes no room and breaks them.
_AFTER: Final = re.compile(
    r"(?<=:)(?=[\w+/-])|(?<=[-=<])(?=[->])|(?<=www)(?=\.)|(?<=@)(?=[\w-])", re.IGNORECASE
)
_CONTROL: Final = re.compile(r"[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]")


def literal(text: str) -> str:
    """Markdown that shows exactly this text, on one line.

    Control characters and marks that turn the direction of writing are left out, and in a public
    app the path of the data folder, which messages of errors name.
    """
    shown = text.replace(str(place()), "…") if is_public() else text
    flat = " ".join(_CONTROL.sub("", shown).split())
    return _PUNCTUATION.sub(r"\\\1", _AFTER.sub("\u2060", flat))
