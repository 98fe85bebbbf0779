"""A key that an endpoint repeats is seen by nobody, however it comes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracert.language.base import Reply, ToolCall
from tracert.language.veil import HIDDEN, Veil

KEY = "sk-k3ymark-ababab-abc"


@given(st.lists(st.integers(1, 30), max_size=12), st.integers(0, 3))
def test_pieces_hide_the_key_wherever_they_are_cut(cuts: list[int], times: int) -> None:
    whole = "Before sk-k3ymark-aba, " + f"{KEY}{KEY[:9]} and {KEY} " * times + KEY[:7]
    seen: list[str] = []
    pieces = Veil(KEY).over(seen.append)
    at = 0
    for size in [*cuts, len(whole)]:
        pieces(whole[at : at + size])
        at += size
    pieces.end()
    assert "".join(seen) == whole.replace(KEY, HIDDEN)


def test_without_a_key_every_piece_passes_as_it_is() -> None:
    for key in (None, "none"):
        seen: list[str] = []
        pieces = Veil(key).over(seen.append)
        for piece in ("none ", "", "of n", "one"):
            pieces(piece)
        pieces.end()
        assert seen == ["none ", "of n", "one"]
        assert Veil(key).text("none") == "none"


def test_a_reply_is_veiled_with_the_calls_of_its_tools() -> None:
    reply = Reply(f"It is {KEY}.", (ToolCall("1", "open", f'{{"path": "{KEY}"}}'),), 3, 4)
    hidden = Veil(KEY).reply(reply)
    assert KEY not in repr(hidden)
    assert (hidden.prompt_tokens, hidden.completion_tokens) == (3, 4)
