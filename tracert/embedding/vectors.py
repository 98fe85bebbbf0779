"""What all embedders do at their end: unit rows, never undefined."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tracert.errors import EmbedderError


def unit_rows(matrix: npt.NDArray[np.float32], name: str) -> npt.NDArray[np.float32]:
    """The rows divided by their lengths, shape (n, d), float32, C order.

    A row of zeros (an empty text, say) becomes the first axis, so that every distance to it
    is defined: a fixed direction that no meaning chose.

    Raises:
        EmbedderError: a component is not finite; `name` is the embedder's.
    """
    matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    if not np.isfinite(matrix).all():
        raise EmbedderError(
            f"The embedder {name} returned numbers that are not finite. Choose another embedder."
        )
    # Scaled by the largest component first, so that the squares of tiny numbers do not vanish.
    largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    empty = largest[:, 0] == 0.0
    scaled = matrix / np.where(largest == 0.0, np.float32(1.0), largest)
    scaled[empty, 0] = 1.0
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.ascontiguousarray(scaled, dtype=np.float32)


def whole(text: str) -> str:
    """The text without lone surrogates, which no tokenizer and no network takes."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
