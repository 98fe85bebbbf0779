"""A passage in its source, cut into pieces of plain text, with one sentence marked.

Offsets are our own, from the loader on; nothing is searched for in the text and no model
is asked where the answer stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Span = tuple[int, int]
Piece = tuple[str, str]
Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]

#: Characters of the document shown before and after the passage.
AROUND = 900
_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"\s*#{1,6}\s")


def nearest_sentence(
    text: str, spans: Sequence[Span], question: str, embed: Embed | None = None
) -> Span | None:
    """The span of the sentence of `text` nearest to the question.

    By cosine where an embedder is at hand, else by the share of the question's words;
    None where there is no sentence or none has anything in common with the question. A heading
    of Markdown counts as a sentence only where there is nothing else.
    """
    kept = [(start, end) for start, end in spans if text[start:end].strip()]
    kept = [span for span in kept if not _HEADING.match(text[slice(*span)])] or kept
    if not kept:
        return None
    sentences = [text[start:end] for start, end in kept]
    if embed is not None:
        vectors = embed([question, *sentences])
        return kept[int(np.argmax(vectors[1:] @ vectors[0]))]
    wanted = {word for word in _WORD.findall(question.lower()) if len(word) > 2}
    scores = [_overlap(wanted, sentence) for sentence in sentences]
    best = int(np.argmax(scores))
    return kept[best] if scores[best] > 0 else None


def _overlap(wanted: set[str], sentence: str) -> float:
    words = _WORD.findall(sentence.lower())
    return len(wanted & set(words)) / (1 + 0.05 * len(words))


def glimpse(text: str, length: int) -> str:
    """A passage on one line, of whole words: most are cut in the middle of one.

    A word that begins with neither a small letter nor a digit is whole.

    >>> glimpse("ductor, driven hard by coils", 20)
    '… driven hard by…'
    """
    line = " ".join(text.split())
    if " " in line and (line[0].islower() or line[0].isdigit()):
        line = f"… {line.split(' ', 1)[1]}"
    return line if len(line) <= length else f"{line[: length + 1].rsplit(' ', 1)[0]}…"


def pieces(
    document: str, start: int, end: int, sentence: Span | None, around: int = AROUND
) -> list[Piece]:
    """The passage `document[start:end]` with its surroundings, as (role, text).

    `sentence` is a span of the passage, counted from its own start. Joined, the pieces are
    `document[max(0, start - around):end + around]`, widened to whole words, but for the
    ellipses where the document goes on.
    """
    first = _word_before(document, max(0, start - around))
    until = _word_after(document, min(len(document), end + around))
    out: list[Piece] = []
    before, after = document[first:start], document[end:until]
    if before:
        out.append(("around", ("… " if first else "") + before))
    if sentence is None:
        out.append(("here", document[start:end]))
    else:
        a, b = start + sentence[0], start + sentence[1]
        for role, text in (
            ("here", document[start:a]),
            ("sentence", document[a:b]),
            ("here", document[b:end]),
        ):
            if text:
                out.append((role, text))
    if after:
        out.append(("around", after + (" …" if until < len(document) else "")))
    return out


def _word_before(text: str, at: int) -> int:
    if at <= 0:
        return 0
    space = text.rfind(" ", max(0, at - 40), at)
    return at if space < 0 else space + 1


def _word_after(text: str, at: int) -> int:
    if at >= len(text):
        return len(text)
    space = text.find(" ", at, at + 40)
    return at if space < 0 else space
