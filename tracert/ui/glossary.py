"""The words of the field, each explained once; every page takes its `help` from here."""

from __future__ import annotations

from typing import Final

TERMS: Final[dict[str, str]] = {
    "passage": "A slice of a document, by default 500 characters long, that is searched as one.",
    "embedding": "A list of numbers for a text, made so that texts of like meaning point in like "
    "directions.",
    "cosine": "The cosine of the angle between two vectors: 1 for the same direction, 0 for "
    "nothing in common.",
    "cosine distance": "1 minus the cosine: 0 for the same direction, 1 for nothing in common.",
    "goal": "A guess of what the answer talks about, as a text and its vector. The walk tries to "
    "arrive there.",
    "corridor": "The passages no farther from the question than the radius. Only these can be "
    "walked.",
    "radius": "The cosine distance from the question to the goal, times the radius scale.",
    "delta": "The largest cosine distance that an edge may have. Auto takes the smallest that "
    "joins question and goal.",
    "alpha": "How much it costs to turn away from the goal. 0 ignores the goal and walks to the "
    "nearest passage.",
    "penalty": "0 for a move straight towards the goal, 1 for a move sideways, 2 for a move "
    "straight away from it.",
    "top-k": "The k passages most similar to the question, found at once and without a walk.",
    "UMAP": "A map that tries to keep neighbours together. Distances across it mean little.",
    "PCA": "A flat shadow of the vectors along the two directions in which they differ most.",
    "kept": "The share of a passage's ten nearest neighbours that are also its nearest on the "
    "map. It says how far to trust the picture.",
    "extract": "Sentences taken word for word from the passages; no model wrote them.",
    "chunk size": "How many characters a passage has.",
    "overlap": "How many characters two passages in a row share, so that no thought is cut in two.",
    "embedder": "What turns text into vectors. WordLlama runs offline and knows English.",
    "budget": "The most calls and tokens that a session may spend on a model.",
    "knowledge graph": "Notes in markdown, each with a summary, key points, a parent, children and "
    "related notes.",
    "note": "One markdown file of the graph. Exploration shows its summary and key points; only an "
    "opened note shows its content.",
    "score": "How well a note fits the question, from 0 to 100. Below the lower threshold a note "
    "is not followed, from the upper one on it is opened.",
    "beam": "How many notes are followed at once. With 1 the walk follows the best alone.",
    "tool": "get_knowledge_context(node, view, score, reason): all that a model can do. It shows "
    "a note and its neighbours, never the whole graph.",
    "gates": "Two small networks that look at the query q and a passage c. Forget says what to "
    "take from q, since c has resolved it; Update says what to add, since c brings it.",
    "gold": "The passages that hold the answer and the steps to it, known for the built-in "
    "questions. Recall is the share of them that was found.",
    "entity": "Someone or something that the text names: a person, a place, a thing.",
    "community": "Entities more tied to one another than to the rest, found by Louvain's method, "
    "with a summary. Drawn as a circle around those that the walk named.",
    "gold chain": "A question with its gold passages in the order in which one leads to the next.",
    "budget of passages": "How many passages a method may return in all. Every method gets the "
    "same; one that returns fewer is filled up with plain top-k.",
    "recall": "The share of the gold passages that were among those returned.",
    "precision": "The share of the returned passages that were gold. With few gold passages and "
    "a large budget it is small for every method.",
    "all found": "The share of questions of which every gold passage was returned.",
    "MRR": "Mean reciprocal rank: 1 if the first passage is gold, 1/2 if the second is the first "
    "gold one, 1/3 for the third; the mean over questions.",
    "nDCG": "Normalised discounted cumulative gain: gold passages count more the earlier they "
    "stand; 1 if they all come first.",
    "paired difference": "Recall less the recall of plain top-k at the same number of passages, "
    "question by question, in points: hundredths of the gold passages.",
    "bootstrap interval": "A 95% interval over questions: where the mean would lie if other "
    "questions of the same kind had been asked. Two methods whose difference's interval holds 0 "
    "cannot be told apart by these questions.",
    "passages used": "How many passages were returned, on average.",
    "filled up": "The share of the passages that plain top-k filled in, since the method returned "
    "fewer than the budget.",
    "p50": "Milliseconds a question in the median: half took less.",
    "p95": "Milliseconds a question at the 95th percentile: one in twenty took more.",
    "model calls": "How often a language model was asked, on average a question.",
    "tokens": "Tokens that the language model read and wrote, on average a question.",
    "gold in order": "Of the steps from one gold passage to the next, the share of which both were "
    "gathered, the first no later than the second.",
    "hops that gathered": "How many hops brought a passage that was not there before.",
    "wasted hops": "The share of hops that brought no gold passage that was not there before.",
    "stopped too early": "The share of questions that ended with gold missing and room left.",
    "stopped too late": "The share of questions that went on after all gold was there.",
    "hops too many": "The hops after all gold was there, where it was.",
    "stops": "How often the method stopped for which reason.",
    "won and lost": "Won: the method returned more of the gold than plain top-k at as many "
    "passages. Lost: less. Tied: as much.",
    "corpus": "A set of documents, cut into passages and turned into vectors with one embedder.",
}


def explain(term: str) -> str:
    """The explanation of a term, for `help=`.

    Raises:
        KeyError: the glossary does not have it.
    """
    return TERMS[term]
