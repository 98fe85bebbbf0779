"""Text for a terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.commands.say import clean, progress_line, say


@pytest.mark.parametrize("bad", ["\x1b[2J", "\x07", "\x9b", "\u202e", "\u2066", "\u200f", "\x00"])
def test_what_a_terminal_obeys_is_left_out(bad):
    assert bad[0] not in clean(f"a{bad}b")


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"]), min_size=1))
def test_letters_of_all_scripts_stay(text):
    assert clean(text) == text


def test_what_joins_letters_and_emoji_stays():
    joined = "\u0645\u06cc\u200c\u0631\u0648\u062f \U0001f469\u200d\U0001f52c"
    assert clean(joined) == joined


def test_a_paragraph_hangs_under_its_first_word(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    say("one two three four five six seven", first=" 1. ")
    lines = capsys.readouterr().out.splitlines()
    assert lines == [" 1. one two three four five", "    six seven"]


def test_what_leads_a_paragraph_commands_the_terminal_as_little_and_keeps_its_blanks(capsys):
    say("text", first="  \x1b[2Jno\nte\u202e  ")
    assert capsys.readouterr().out == "  [2Jnote  text\n"


class Terminal(io.StringIO):
    """A stream that says somebody watches."""

    def isatty(self) -> bool:
        return True


def test_progress_takes_the_place_of_the_last_line_and_is_wiped():
    stream = Terminal()
    with progress_line(stream) as show:
        show("embed: 10 of 20")
        show("store")
    screen = ""
    for line in stream.getvalue().split("\r")[1:]:
        screen = line + screen[len(line) :]
    assert screen.strip() == ""
    assert "embed: 10 of 20" in stream.getvalue()


def test_progress_is_silent_where_nobody_watches():
    stream = io.StringIO()
    with progress_line(stream) as show:
        show("embed")
    assert stream.getvalue() == ""
