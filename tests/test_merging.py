"""Which documents a corpus has once files were added, by hand and by property."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracert.merging import Arrival, Place, merge


def arrival(source: str, fingerprint: str) -> Arrival:
    """A file 'x/a.md' wants to be called 'a.md', and 'x/a.md' where that is taken."""
    name = source.rpartition("/")[2]
    return Arrival(tuple(dict.fromkeys((name, source))), source, fingerprint)


def listed(places: tuple[Place, ...]) -> list[tuple[str, str, str]]:
    return [(place.name, place.source, place.fingerprint) for place in places]


def test_a_file_of_the_same_name_is_another_document() -> None:
    made = merge([Place("a.md", "x/a.md", "1")], [arrival("y/a.md", "2")])
    assert listed(made.places) == [("a.md", "x/a.md", "1"), ("y/a.md", "y/a.md", "2")]
    assert made.messages == ("Called 'y/a.md', since there is another 'a.md'.",)


def test_a_file_that_comes_again_takes_its_own_place_whatever_it_is_called() -> None:
    entries = [Place("x/a.md", "x/a.md", "1"), Place("y/a.md", "y/a.md", "2")]
    made = merge(entries, [arrival("x/a.md", "3")])
    assert listed(made.places) == [("x/a.md", "x/a.md", "3"), ("y/a.md", "y/a.md", "2")]
    assert made.messages == ("Took the place of the earlier 'x/a.md'.",)


def test_two_files_may_change_places() -> None:
    entries = [Place("a.md", "a.md", "1"), Place("b.md", "b.md", "2")]
    made = merge(entries, [arrival("a.md", "2"), arrival("b.md", "1")])
    assert listed(made.places) == [("a.md", "a.md", "2"), ("b.md", "b.md", "1")]


def test_a_file_that_now_says_what_another_says_leaves() -> None:
    entries = [Place("a.md", "a.md", "1"), Place("b.md", "b.md", "2")]
    made = merge(entries, [arrival("a.md", "2")])
    assert listed(made.places) == [("b.md", "b.md", "2")]
    assert "'b.md'" in made.messages[0]
    assert "earlier 'a.md' was taken out" in made.messages[0]


def test_entries_from_before_sources_were_kept_are_known_by_name() -> None:
    entries = [Place("a.md", "", "1"), Place("b.md", "", "2")]
    made = merge(entries, [arrival("x/a.md", "3"), arrival("y/b.md", "2")])
    assert listed(made.places) == [("a.md", "x/a.md", "3"), ("b.md", "y/b.md", "2")]
    assert made.messages == ("Took the place of the earlier 'a.md'.", "")


def test_where_all_names_are_taken_there_is_a_number_before_the_suffix() -> None:
    entries = [Place("a.md", "1/x/a.md", "1"), Place("x/a.md", "2/x/a.md", "2")]
    made = merge(entries, [Arrival(("a.md", "x/a.md"), "3/x/a.md", "3")])
    assert made.places[-1].name == "a (2).md"


sources = st.sampled_from(["a.md", "x/a.md", "y/a.md", "b.md", "y/b.md"])
prints = st.sampled_from("123456")


@given(
    st.lists(st.tuples(sources, prints), unique_by=(lambda x: x[0], lambda x: x[1])),
    st.lists(st.tuples(sources, prints), unique_by=lambda x: x[0]),
)
def test_no_text_is_lost_and_no_old_one_stays(
    before: list[tuple[str, str]], coming: list[tuple[str, str]]
) -> None:
    entries = [Place(source, source, print_) for source, print_ in before]
    made = merge(entries, [arrival(source, print_) for source, print_ in coming])
    after = [place.fingerprint for place in made.places]
    again = dict(coming)
    # A text is there if a file that came holds it, or one that is in and did not come again.
    expected = {*again.values(), *(print_ for source, print_ in before if source not in again)}
    assert set(after) == expected
    assert len(set(after)) == len(after)
    names = [place.name for place in made.places]
    assert len(set(names)) == len(names)
    assert len(made.messages) == len(coming)
    for place in made.places:
        held = {source for source, print_ in [*before, *coming] if print_ == place.fingerprint}
        assert place.source in held
