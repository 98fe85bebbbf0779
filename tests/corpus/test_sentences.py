"""Where sentences end, by example, and what must hold for every text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.corpus.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("One", ["One"]),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("  One.  Two. ", ["One.", "Two."]),
        # Titles, initials and Latin shorthand end no sentence.
        ("Mr. Bennet spoke. Mrs. Long left.", ["Mr. Bennet spoke.", "Mrs. Long left."]),
        ("J. R. R. Tolkien wrote it.", ["J. R. R. Tolkien wrote it."]),
        ("Fruit, e.g. Pears, is dear.", ["Fruit, e.g. Pears, is dear."]),
        # 'No.' before a number is a number, and else an answer.
        ("See No. 5 and Fig. 2. Then stop.", ["See No. 5 and Fig. 2.", "Then stop."]),
        ("He said no. She left.", ["He said no.", "She left."]),
        # The pronoun I is no initial.
        ("It was I. He knew.", ["It was I.", "He knew."]),
        # Numbers hold stops without a gap.
        ("Pi is 3.14 or so. Good.", ["Pi is 3.14 or so.", "Good."]),
        # What goes on in small letters goes on.
        ("“Is he?” cried she. “No!”", ["“Is he?” cried she.", "“No!”"]),
        ("He waited ... and left.", ["He waited ... and left."]),
        # Closing quotes and brackets belong to the sentence that they close.
        ("(He left.) She stayed.", ["(He left.)", "She stayed."]),
        ('"Go." He went.', ['"Go."', "He went."]),
        # A line break is a gap; a blank line ends even what has no stop.
        ("One two\nthree. Four", ["One two\nthree.", "Four"]),
        ("A title\n\nThe text.", ["A title", "The text."]),
        # Markdown: headings and items stand alone.
        ("# Head\nText here.", ["# Head", "Text here."]),
        ("Text\n## Head\nMore.", ["Text", "## Head", "More."]),
        ("Buy:\n- milk\n- eggs\n2. bread", ["Buy:", "- milk", "- eggs", "2. bread"]),
        # Scripts that set no gaps.
        ("吾輩は猫である。名前はまだ無い。", ["吾輩は猫である。", "名前はまだ無い。"]),
        ("ما اسمك؟ أنا هنا.", ["ما اسمك؟", "أنا هنا."]),
        ("राम आया। सीता गई।", ["राम आया।", "सीता गई।"]),
    ],
)
def test_examples(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet='aZ1.!?。 \n\t-#*"”)I', max_size=200) | st.text(max_size=200))
def test_every_visible_character_is_in_exactly_one_span(text: str) -> None:
    spans = sentence_spans(text)
    covered = [place for start, end in spans for place in range(start, end)]
    assert covered == sorted(set(covered)), "in order, no overlap"
    left_out = set(range(len(text))) - set(covered)
    assert all(text[place].isspace() for place in left_out)
    for start, end in spans:
        assert start < end
        assert not text[start].isspace()
        assert not text[end - 1].isspace()


def test_a_long_run_of_headings_and_blanks_is_no_trouble() -> None:
    # One recursion a heading would break Python's limit here.
    text = "# a\n" * 5_000 + " " * 100_000 + "." * 100_000
    assert len(sentence_spans(text)) >= 5_000
