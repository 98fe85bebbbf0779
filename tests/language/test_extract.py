"""The answer without a model: which sentences, and that they are whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.passages import passage, trace, whole
from tracert.corpus.sentences import sentence_spans
from tracert.language.extract import NO_SENTENCE, NOTE, NOTHING, extract
from tracert.trace import Answer, Node, NodeKind, Source

BOOK = (
    "Humphry Davy took on a bookbinder's apprentice in 1813. The apprentice was Michael Faraday. "
    "Mr. Faraday wound two coils on an iron ring and saw the needle jerk. It rained that day. "
    "James Clerk Maxwell read the lines of force as a field. Nobody had asked him to do so."
)
SENTENCES = [BOOK[start:end] for start, end in sentence_spans(BOOK)]


def texts(answer: Answer) -> list[str]:
    return [sentence.text for sentence in answer.sentences]


def test_the_fixture_has_six_sentences():
    assert len(SENTENCES) == 6


def test_the_sentence_that_answers_comes_with_its_passage():
    nodes = [
        whole("Amber attracts straw when it is rubbed. Thales is said to have known it.", "a"),
        whole("The pile was built by Alessandro Volta in 1800. It was made of discs.", "b"),
    ]
    answer = extract(trace("Who built the pile?", nodes))
    (first,) = [s for s in answer.sentences if "Volta" in s.text]
    assert first.citations == ("b:0",)
    assert answer.source == "extract"
    assert answer.note == NOTE


def test_sentences_stand_in_the_order_of_the_evidence():
    nodes = [
        whole("Maxwell read Faraday with great care at Cambridge.", "late"),
        whole("Faraday was taken on by Davy at the institution.", "early"),
    ]
    answer = extract(trace("Who took on the man whom Maxwell read?", nodes))
    assert [s.citations[0] for s in answer.sentences] == ["late:0", "early:0"]


@given(
    st.lists(st.tuples(st.integers(0, len(BOOK) - 1), st.integers(1, 200)), min_size=1, max_size=5)
)
def test_no_half_sentence_wherever_the_cuts_fall(cuts):
    nodes = {start: passage(BOOK, start, min(start + length, len(BOOK))) for start, length in cuts}
    answer = extract(trace("Who saw the needle of the ring jerk?", list(nodes.values())))
    if answer.note == NO_SENTENCE:
        assert all(text.startswith("…") and text.endswith("…") for text in texts(answer))
        return
    for sentence in answer.sentences:
        assert sentence.text in SENTENCES
        (cited,) = sentence.citations
        assert cited in {node.id for node in nodes.values()}


def test_a_cut_inside_an_abbreviation_makes_no_sentence_of_the_rest():
    start = BOOK.index("Mr.") + 1
    answer = extract(trace("Who wound two coils?", [passage(BOOK, start, len(BOOK))]))
    assert set(texts(answer)) <= set(SENTENCES[3:])


def test_a_passage_that_begins_a_paragraph_begins_a_sentence():
    text = BOOK + "\n\nThe pile was built by Volta. It was"
    answer = extract(trace("Who built the pile?", [passage(text, len(BOOK), len(text))]))
    assert texts(answer) == ["The pile was built by Volta."]


def test_a_sentence_cut_by_two_passages_that_touch_is_whole_again():
    at = BOOK.index("coils")
    nodes = [passage(BOOK, at, len(BOOK)), passage(BOOK, 0, at)]
    answer = extract(trace("Who wound coils on an iron ring?", nodes))
    assert SENTENCES[2] in texts(answer)


def test_the_last_full_stop_may_be_an_abbreviation():
    text = "The apprentice was poor. The two coils of the ring were wound by Mr. Faraday."
    end = text.index("Mr.") + len("Mr.")
    answer = extract(trace("Who wound the coils of the ring?", [passage(text, 0, end)]))
    assert texts(answer) == ["The apprentice was poor."]


def test_passages_of_one_length_are_cut_anywhere_whatever_they_look_like():
    # Both slices look like sentences and are halves of one: "... Michael Faraday went far away."
    text = "Then Michael Faraday went far away. Then Humphry Davies stayed at home."
    nodes = [passage(text, 13, 35), passage(text, 49, 71)]
    assert [node.text for node in nodes] == ["Faraday went far away.", "Davies stayed at home."]
    answer = extract(trace("Who went away?", nodes))
    assert answer.note == NO_SENTENCE


def test_passages_cut_at_sentences_keep_their_first_and_last():
    # Offsets behind the start, lengths that differ, every edge the edge of a sentence.
    spans = sentence_spans(BOOK)
    nodes = [passage(BOOK, *spans[1]), passage(BOOK, *spans[4])]
    assert len({len(node.text) for node in nodes}) == 2
    answer = extract(trace("Which apprentice did Maxwell read?", nodes))
    assert texts(answer) == [SENTENCES[1], SENTENCES[4]]


def test_one_sentence_in_two_passages_is_told_once():
    nodes = [whole("The pile was built by Volta.", "a"), whole("The pile was built by Volta.", "b")]
    answer = extract(trace("Who built the pile?", nodes))
    assert [sentence.citations for sentence in answer.sentences] == [("a:0",)]


def test_the_second_sentence_continues_the_first():
    # Both name no term of the question; one goes on with the name that the first brought in.
    nodes = [
        whole("The coils were wound by Michael Faraday.", "a"),
        whole("The weather in London was wet and cold.", "b"),
        whole("The son of a blacksmith, Faraday had little schooling.", "c"),
    ]
    answer = extract(trace("Whose were the wound coils?", nodes), most=2)
    assert [sentence.citations[0] for sentence in answer.sentences] == ["a:0", "c:0"]


def test_the_embedder_decides_where_no_word_is_shared():
    nodes = [whole("Cats sleep on the warm roof.", "a"), whole("Dogs bark at the gate.", "b")]

    def embed(given):
        """The question and what speaks of dogs point one way, the rest the other."""
        rows = [[0.0, 1.0] if "Cats" in text else [1.0, 0.0] for text in given]
        return np.array(rows, dtype=np.float32)

    question = "Hounds?"
    assert texts(extract(trace(question, nodes), embed, most=1)) == ["Dogs bark at the gate."]
    assert texts(extract(trace(question, nodes), None, most=1)) == ["Cats sleep on the warm roof."]


def test_a_sentence_that_points_to_one_left_out_comes_after_one_that_does_not():
    nodes = [whole("He built the pile at home.", "a"), whole("Men built the pile at home.", "b")]
    answer = extract(trace("Where was the pile built?", nodes), most=1)
    assert texts(answer) == ["Men built the pile at home."]


def test_a_term_that_is_covered_counts_half():
    # All three terms of the question stand in two sentences and so weigh the same, w. The first
    # choice covers pile and lamp. Then "pile and lamp" again is worth w/2 + w/2 and "cable" is
    # worth w: a tie, which goes to what stands first. Counted in full, the repetition would win.
    nodes = [
        whole("so the pile and the lamp are there.", "a"),
        whole("so the cable is over there too.", "b"),
        whole("now the pile and the lamp are there.", "c"),
        whole("now the cable lies over there.", "d"),
    ]
    answer = extract(trace("pile, lamp, cable?", nodes), most=2)
    assert [sentence.citations[0] for sentence in answer.sentences] == ["a:0", "b:0"]


def test_a_third_sentence_must_be_worth_it():
    nodes = [
        whole("The pile was built by hand.", "a"),
        whole("A pile needs copper and zinc.", "b"),
        whole("The weather stayed fine and dry.", "c"),
    ]
    answer = extract(trace("What is a pile?", nodes))
    assert [sentence.citations[0] for sentence in answer.sentences] == ["a:0", "b:0"]


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("When was the pile made?", "The pile is from the year 1800."),
        ("How many discs has the pile?", "The pile is of 60 discs."),
        ("Who made the pile?", "The pile is by Alessandro Volta."),
    ],
)
def test_the_kind_of_thing_asked_for_counts(question, wanted):
    nodes = [
        whole("The pile is of silver and zinc. " + "The pile is round and tall.", "a"),
        whole("The pile is by Alessandro Volta.", "b"),
        whole("The pile is of 60 discs.", "c"),
        whole("The pile is from the year 1800.", "d"),
    ]
    assert wanted in texts(extract(trace(question, nodes), most=2))


def test_headings_tables_scraps_and_bibliographies_are_no_sentences():
    text = (
        "# The pile of Volta\n\nYes. | pile | Volta | 1800 | yes |.\n\n"
        "Giuliano Pancaldi, Volta: Science and Culture, Princeton University Press, 2003.\n\n"
        "The pile of Volta gave a steady current."
    )
    answer = extract(trace("Who made the pile of Volta?", [whole(text, "a")]))
    assert texts(answer) == ["The pile of Volta gave a steady current."]


def test_marks_of_markdown_are_left_out():
    answer = extract(
        trace("What is the pile?", [whole("- The **pile** is a `battery` of discs.", "a")])
    )
    assert texts(answer) == ["The pile is a battery of discs."]


def test_a_note_has_no_offsets_and_is_whole():
    note = Node("a.md", NodeKind.NOTE, "Pile", "The pile was built by Volta. He lived at Como.")
    assert len(extract(trace("Who built the pile?", [note])).sentences) == 2


def _note(path: str, text: str, opened: bool) -> Node:
    source = Source(path, None, ("Notes", path), 250, 250 + len(text)) if opened else None
    return Node(path, NodeKind.NOTE, path, text, source)


def test_an_opened_note_is_whole_though_its_content_begins_below_its_head():
    # Its content begins at 250 and has no full stop at its end: nothing is cut there.
    note = _note("a.md", "The pile was built by Volta. He lived at Como.", True)
    assert len(extract(trace("Who built the pile?", [note])).sentences) == 2


def test_of_an_opened_note_a_sentence_is_always_told():
    opened = _note("a.md", "Pictures are overwritten after three days.", True)
    others = [
        _note(f"{place}.md", f"The video of the {place} door is stored in a box.", False)
        for place in ("front", "back", "side", "cellar", "roof")
    ]
    said = extract(trace("How long is the video of the door stored?", [opened, *others]))
    assert said.sentences[0].text == "Pictures are overwritten after three days."


def test_nothing_found_is_said():
    assert extract(trace("Who?", [])) == Answer((), "extract", NOTHING)


def test_evidence_without_any_sentence_is_shown_as_it_is():
    answer = extract(trace("Who?", [whole("no sentence in here", "a")]))
    assert texts(answer) == ["… no sentence in here …"]
    assert answer.note == NO_SENTENCE
    assert answer.sentences[0].citations == ("a:0",)


def test_never_more_than_asked_for():
    nodes = [
        whole(f"The pile number {n} was built by Volta in town {n}.", str(n)) for n in range(9)
    ]
    assert len(extract(trace("Who built the pile?", nodes)).sentences) == 4


def test_a_row_of_a_file_of_passages_is_whole_though_the_document_goes_on_around_it():
    text = "The barque was owned by Marta."
    row = Node("a:1", NodeKind.CHUNK, "", text, Source("f.jsonl", None, (), 60, 60 + len(text)))
    assert texts(extract(trace("Who owned the barque?", [row]))) == [text]
