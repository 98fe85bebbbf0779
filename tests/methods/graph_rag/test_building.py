"""The graph by hand: weights of relations, communities, central sentences, JSON."""

import json
from itertools import pairwise

import networkx
import numpy as np
import pytest

from tracert.errors import StoreError
from tracert.methods.graph_rag.building import Extraction, Said, communities, link
from tracert.methods.graph_rag.graph import Community, Entity, Graph, Relation
from tracert.methods.graph_rag.names import Mention, NamedSentence
from tracert.methods.graph_rag.search import View, in_turn, mention_weights
from tracert.methods.graph_rag.summaries import Sentences, weights_of
from tracert.trace import Cost


def extraction(*sentences: tuple[int, str], **more: object) -> Extraction:
    """Sentences as (row, names of one word each)."""
    mentions = [Mention(row, 0, 1, name) for row, names in sentences for name in names.split()]
    told = [
        NamedSentence(row, f"It told of {names}.", tuple(names.split()), True)
        for row, names in sentences
    ]
    return Extraction(mentions, told, **more)


def weights(found: Extraction) -> dict[tuple[str, str], float]:
    links = link(found)
    return {
        (links.entities[each.source].key, links.entities[each.target].key): each.weight
        for each in links.relations
    }


def test_a_sentence_adds_one_to_the_ties_of_each_of_its_entities() -> None:
    # Three entities: 1 / 2 a pair. Two: 1.
    assert weights(extraction((0, "Ada Bob Cy"), (1, "Ada Bob"))) == {
        ("ada", "bob"): 1.5,
        ("ada", "cy"): 0.5,
        ("bob", "cy"): 0.5,
    }


def test_a_list_of_names_relates_nobody() -> None:
    assert weights(extraction((0, " ".join(f"N{place}" for place in range(13))))) == {}


def test_where_a_model_read_its_statements_are_the_relations() -> None:
    found = extraction(
        (0, "Ada Bob"),
        (1, "Cy Dee"),
        said=[Said("Ada", "Cy", 0, "Ada taught Cy."), Said("Ada", "Nobody", 0, "")],
        read=frozenset({0}),
    )
    assert weights(found) == {("ada", "cy"): 1.0, ("cy", "dee"): 1.0}
    assert [each.text for each in link(found).relations] == [
        "Ada taught Cy.",
        "It told of Cy Dee.",
    ]


def test_entities_know_their_passages_and_how_they_are_written() -> None:
    [ada] = link(extraction((3, "Ada"), (1, "Ada"), (1, "ada"))).entities
    assert (ada.key, ada.name, ada.rows, ada.aliases) == ("ada", "Ada", (1, 3), ("Ada", "ada"))


def two_triangles() -> list[Relation]:
    edges = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]
    return [Relation(a, b, 1.0, (0,), "") for a, b in edges] + [Relation(2, 3, 0.1, (0,), "")]


def test_communities_are_the_two_triangles() -> None:
    # Entity 6 is tied to nobody and belongs nowhere.
    levels = communities(7, two_triangles())
    assert sorted(sorted(members) for members in levels[0]) == [[0, 1, 2], [3, 4, 5]]


def test_levels_run_from_large_to_small_and_each_divides_the_one_before() -> None:
    graph = networkx.connected_caveman_graph(24, 5)
    relations = [Relation(min(e), max(e), 1.0, (0,), "") for e in graph.edges]
    levels = communities(120, relations)
    assert len(levels) > 1
    sizes = [len(level) for level in levels]
    assert sizes == sorted(sizes)
    for coarse, fine in pairwise(levels):
        for members in fine:
            assert sum(set(members) <= set(larger) for larger in coarse) == 1
    assert communities(120, relations) == levels


def test_no_relation_no_community() -> None:
    assert communities(3, []) == []


def test_central_sentences_name_the_weightiest_and_then_others() -> None:
    links = link(extraction((0, "Ada Bob"), (1, "Ada"), (2, "Cy")))
    of = links.of_name
    told = Sentences(extraction((0, "Ada Bob"), (1, "Ada"), (2, "Cy")).sentences, of)
    # Ada 0.5, Bob 0.3, Cy 0.2: the first sentence weighs 0.8, then Ada's own 0.125, Cy's 0.2.
    weights = {of["Ada"]: 0.5, of["Bob"]: 0.3, of["Cy"]: 0.2}
    assert told.central(weights) == ["It told of Ada Bob.", "It told of Cy."]


def test_weights_of_members_sum_to_one() -> None:
    shares = weights_of([0, 1, 2], two_triangles()[:3])
    assert shares == pytest.approx({0: 1 / 3, 1: 1 / 3, 2: 1 / 3})


# --- lookups --------------------------------------------------------------------------------


def graph() -> Graph:
    """Ada (rows 0, 1) - Bob (row 1) - Cy (row 2), one community of the first two."""
    entities = (
        Entity("ada", "Ada", ("Ada",), (0, 1), (0,)),
        Entity("bob", "Bob", ("Bob",), (1,), (0,)),
        Entity("cy", "Cy", ("Cy",), (2,), (None,)),
    )
    relations = (Relation(0, 1, 2.0, (1,), "Ada met Bob."), Relation(1, 2, 1.0, (2,), ""))
    found = (Community(0, (0, 1), "Ada, Bob", "Ada met Bob.", "extract"),)
    return Graph(entities, relations, found, 1, 3, 0, Cost({"index_extract": 0.5}), ("A note.",))


def test_entities_score_by_name_and_by_passages() -> None:
    term, mean = View(graph()).entities("Who is Ada?", np.array([0.2, 0.4, 0.9]), lambda _: 1.0)
    assert term.tolist() == [1.0, 0.0, 0.0]
    assert mean.tolist() == pytest.approx([0.3, 0.4, 0.9])


def test_neighbours_by_hand() -> None:
    # Of Bob's ties Ada's weighs most: 0.5 * 2 / 2 on top of Ada's own 0.3; Cy's is half of it.
    found = View(graph()).neighbours([1], np.array([0.3, 0.4, 0.9]))
    assert found == {0: (pytest.approx(0.8), 1, 0), 2: (pytest.approx(1.15), 1, 1)}


def test_a_passage_that_names_two_stands_above_one_that_names_one() -> None:
    bonus, parent = View(graph()).mentions({0: 1.0, 1: 0.5}, 3)
    assert bonus.tolist() == pytest.approx([0.2, 0.2, 0.0])
    bonus, _ = View(graph()).mentions({0: 0.5, 1: 0.5}, 3)
    assert bonus.tolist() == pytest.approx([0.2 * 0.5, 0.2 * 0.75, 0.0])
    assert parent == {0: 0, 1: 0}


def test_weights_of_mentions_are_shares_of_the_best() -> None:
    assert mention_weights([0], [1, 2], np.array([0.8, 0.4, -0.1])) == {0: 1.0, 1: 0.25, 2: 0.0}
    assert mention_weights([0], [], np.array([-0.5])) == {0: 0.0}


def test_passages_are_taken_in_turn_and_none_twice() -> None:
    groups = [np.array([1, 2, 3]), np.array([1, 4]), np.array([], dtype=int)]
    assert in_turn(groups, 9) == [(0, 1), (1, 4), (0, 2), (0, 3)]
    assert in_turn(groups, 1) == [(0, 1)]
    assert in_turn([], 3) == []


# --- JSON -----------------------------------------------------------------------------------


def test_json_brings_back_the_same_graph() -> None:
    assert Graph.from_json(graph().to_json()) == graph()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.update(schema="tracert.graph/0"),
        lambda data: data.pop("relations"),
        lambda data: data["relations"][0].update(target=9),
        lambda data: data["entities"][0].update(rows=[7]),
        lambda data: data["entities"][0].update(communities=[]),
        lambda data: data["communities"][0].update(members=[-1]),
        lambda data: data["cost"].update(seconds=3),
    ],
)
def test_a_damaged_graph_is_refused(damage) -> None:
    data = json.loads(graph().to_json())
    damage(data)
    with pytest.raises(StoreError, match="damaged"):
        Graph.from_json(json.dumps(data))


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"schema": "tracert.graph/1"}'])
def test_what_is_no_graph_is_refused(text: str) -> None:
    with pytest.raises(StoreError):
        Graph.from_json(text)
