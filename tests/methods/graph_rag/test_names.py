"""Names without a model: what is one, what only looks like one, and which are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.corpus.model import Chunk
from tracert.methods.graph_rag.aliases import key_of, merge
from tracert.methods.graph_rag.names import find_names, named_sentences


def passage(text: str, row: int = 0, document: str = "one", start: int = 0) -> Chunk:
    return Chunk(
        f"{document}:{row}", text, document, document, row, None, (), start, start + len(text)
    )


def names(*texts: str) -> list[str]:
    """The names in these texts, each a document of its own."""
    chunks = [passage(text, 0, f"document {place}") for place, text in enumerate(texts)]
    return [mention.name for mention in find_names(chunks)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We met Michael Faraday there.", ["Michael Faraday"]),
        ("It was read by J. J. Thomson today.", ["J J Thomson"]),
        ("She saw Mr. Darcy and Mrs. Bennet.", ["Mr Darcy", "Mrs Bennet"]),
        ("He met the Duke of Devonshire once.", ["Duke of Devonshire"]),
        ("We read of the University of the Arts here.", ["University of the Arts"]),
        ("It was Volta's pile.", ["Volta"]),
        ("It was Volta’s Como.", ["Volta", "Como"]),
        ("Then he left for Paris, London and Rome.", ["Paris", "London", "Rome"]),
        ("He came in March on a Monday.", []),
        ("He said I should go, Sir.", []),
        ("We read of it in Chapter IV there.", []),
        ("THE WHOLE HEADING IN CAPITALS", []),
        ("# Amber and Glass\n\nnothing here", []),
        ("we walk. and walk.", []),
        ("", []),
    ],
)
def test_runs_of_capitals(text: str, found: list[str]) -> None:
    assert names(text) == found


def test_the_first_word_of_a_sentence_is_no_name_by_itself() -> None:
    assert names("Rub a piece. We rub it.") == []


def test_the_first_word_is_a_name_where_the_corpus_writes_it_so_elsewhere() -> None:
    assert names("Thales rubbed amber.", "It was old Thales who did.") == ["Thales", "Thales"]


def test_a_run_of_two_names_is_taken_apart_where_both_stand_alone() -> None:
    # 'Lisbon Mara Quill' stands once, 'Lisbon' and 'Mara Quill' twice each elsewhere.
    texts = [f"They left Lisbon by {way} with Mara Quill." for way in ("sea", "land")]
    assert names("In Lisbon Mara Quill wrote.", *texts)[:2] == ["Lisbon", "Mara Quill"]


def test_a_name_cut_off_at_the_end_of_a_passage_is_left_out() -> None:
    # The document goes on in the second passage, which overlaps and holds the name whole.
    chunks = [
        passage("He wrote to Fara", 0),
        passage("to Faraday again.", 1, start=9),
    ]
    assert [mention.name for mention in find_names(chunks)] == ["Faraday"]


def test_mentions_are_where_they_say() -> None:
    text = "Once Mr.\nDarcy met Volta's friend, the Duke of Devonshire."
    for mention in find_names([passage(text)]):
        assert text[mention.start : mention.end].split()[-1] == mention.name.split()[-1]


@given(st.text(alphabet=st.sampled_from("AaBb .,'\n-#IVé"), max_size=60))
def test_any_text_is_read(text: str) -> None:
    for mention in find_names([passage(text)]):
        assert 0 <= mention.start < mention.end <= len(text)
        assert mention.name.strip()


def test_sentences_hold_the_names_that_share_them() -> None:
    chunk = passage("We saw Volta with Davy. Then came Faraday.")
    sentences = named_sentences([chunk], find_names([chunk]))
    assert [sentence.names for sentence in sentences] == [("Volta", "Davy"), ("Faraday",)]
    assert [sentence.text for sentence in sentences] == [
        "We saw Volta with Davy.",
        "Then came Faraday.",
    ]


def test_a_sentence_that_two_passages_share_counts_once() -> None:
    text = "Before it all. We saw Volta with Davy then."
    chunks = [passage(text, 0), passage(text[15:], 1, start=15)]
    assert len(named_sentences(chunks, find_names(chunks))) == 1


def test_a_cut_sentence_is_not_whole() -> None:
    chunk = passage("Volta came with Davy. We met Faraday there", 1, start=40)
    whole = [sentence.whole for sentence in named_sentences([chunk], find_names([chunk]))]
    # The first begins before the passage, the second ends behind it.
    assert whole == [False, False]


# --- aliases --------------------------------------------------------------------------------


def merged(*mentions: str, located: tuple[str, ...] = ()) -> dict[str, str]:
    return merge((name, name in located) for name in mentions)


def test_a_last_name_joins_its_only_full_name() -> None:
    keys = merged("Michael Faraday", "Faraday", "Faraday")
    assert keys["Faraday"] == keys["Michael Faraday"] == "michael faraday"


def test_a_last_name_of_two_people_joins_neither() -> None:
    keys = merged("Mr Bennet", "Mrs Bennet", "Bennet")
    assert keys["Bennet"] == "bennet"


def test_a_last_name_joins_who_has_nine_in_ten_of_the_mentions() -> None:
    assert merged(*["Ada King"] * 9, "Mary King", "King")["King"] == "ada king"
    assert merged(*["Ada King"] * 8, "Mary King", "King")["King"] == "king"


def test_a_place_is_not_what_is_named_after_it() -> None:
    keys = merged("University College London", "London", located=("London",))
    assert keys["London"] == "london"


def test_a_title_and_a_first_name_join_the_longer_name() -> None:
    keys = merged("Lady Catherine", "Lady Catherine de Bourgh")
    assert keys["Lady Catherine"] == "lady catherine de bourgh"


def test_a_first_name_alone_stays_apart() -> None:
    assert merged("Jane", "Jane Bennet")["Jane"] == "jane"


def test_what_stands_behind_of_is_another_thing() -> None:
    assert merged("Duke of Devonshire", "Devonshire")["Devonshire"] == "devonshire"


@pytest.mark.parametrize(
    ("name", "key"),
    [("The Thames", "thames"), ("J. J. Thomson", "j j thomson"), ("Volta's", "volta"), ("", "")],
)
def test_keys(name: str, key: str) -> None:
    assert key_of(name) == key


@given(st.lists(st.lists(st.sampled_from("ABCD"), min_size=1, max_size=3).map(" ".join)))
def test_every_name_gets_the_key_of_a_name(mentions: list[str]) -> None:
    keys = merged(*mentions)
    assert set(keys) == set(mentions)
    assert set(keys.values()) <= {key_of(name) for name in mentions}
