"""Graph RAG: retrieval over a graph of entities, relations and communities.

Edge et al., 'From Local to Global: A Graph RAG Approach to Query-Focused Summarization', 2024,
which the Tracert-RAG paper measures itself against. A graph is made of the corpus once: entities
and relations (`names` offline, `reading` by a language model), merged (`aliases`), divided into
communities in levels (`building`), each with a summary (`summaries`). A question is then answered
from the neighbourhood of its entities (local) or from the best-rated communities (global), see
`search` for the scores.

Deviations. The passages are the corpus's, so that all methods share their ids; GraphRAG cuts
longer ones. What is returned is passages, not summaries, at the budget `k`; the summaries stand in
the trace. Without a language model the extraction is capitalised names that share sentences and
a summary quotes, which is far less than what a model reads; the first step says which it was.
Scores are ours, since the published ones count tokens of a prompt.

The trace: local has the steps entities, neighbours, passages; global has communities, members,
passages. Every step has the value level. The first also tells of the graph: search, entities,
relations, communities, levels, extraction (offline, or how many passages a model read),
index_seconds, index_model_calls, index_tokens (whenever that was) and index_note where there
is something to say. Candidates carry score, parent (the id they were reached from) and, where
they are entities, community. Making the graph stands in the cost under the stages index_* of the
run that made it, and in no later one's.
"""

from __future__ import annotations

from typing import Literal

from tracert.corpus.model import Corpus
from tracert.methods._replies import Replies
from tracert.methods.asking import corpus_of, embedded
from tracert.methods.base import Calls, Outcome, Question, Resources, Walk, settings_values
from tracert.methods.graph_rag.index import Limits, most_calls
from tracert.methods.graph_rag.record import nodes
from tracert.methods.graph_rag.run import Prepared, Run, begin
from tracert.methods.graph_rag.settings import GraphRagSettings
from tracert.methods.graph_rag.steps import local, overall, plain
from tracert.trace import Stop, StopReason


class GraphRag:
    """Graph RAG as a method of the registry."""

    name = "graph_rag"
    title = "Graph RAG"
    summary = (
        "Makes a graph of the entities that the text names and of how they are related, with "
        "communities and their summaries, and retrieves along it. The graph costs time and, with "
        "a language model, many calls before the first question."
    )
    needs: Literal["corpus", "knowledge"] = "corpus"
    settings_type = GraphRagSettings

    def calls(self, settings: GraphRagSettings, corpus: Corpus | None) -> Calls:
        """Those that make the graph, and for a global search one that rates its summaries."""
        limits = Limits(settings.reading_calls, settings.summary_calls)
        made = limits.reading + limits.summaries if corpus is None else most_calls(corpus, limits)
        return Calls(question=int(settings.search == "global"), index=made)

    def prepare(self, question: Question, resources: Resources) -> Prepared:
        """Embed the question.

        Raises:
            SettingError: the question is empty.
            EmbedderError: the question could not be embedded.
        """
        text, vector, cost = embedded(question, resources)
        return Prepared(text, vector, Replies("rate"), cost)

    def walk(self, prepared: Prepared, settings: GraphRagSettings, resources: Resources) -> Walk:
        """Local or global search; the graph is made first where it is not there.

        Raises:
            CorpusError: no corpus was passed in.
            StoreError: the graph cannot be saved.
        """
        corpus = corpus_of(resources, self.name)
        run = begin(prepared, settings, resources, corpus)
        if not len(corpus.ids):
            stop = Stop(
                StopReason.EMPTY_CORRIDOR,
                "The corpus holds no passage.",
                "Load a document with text in it.",
            )
            yield plain(run)
        elif not run.graph.entities or (settings.search == "global" and not run.graph.levels):
            yield plain(run)
            stop = _fallback(run)
        else:
            yield from local(run) if settings.search == "local" else overall(run)
            stop = _stop(run)
        return Outcome(
            info=corpus.info,
            nodes=nodes(
                prepared.question, prepared.vector, run.named, run.view, corpus, run.summaries
            ),
            path=tuple(dict.fromkeys(run.path)),
            evidence=tuple(run.evidence),
            stop=stop,
            settings=settings_values(settings) | {"level": run.level},
            cost=run.cost,
        )


def _fallback(run: Run) -> Stop:
    what = "relates no two entities" if run.graph.entities else "names no entity that was found"
    return Stop(
        StopReason.FALLBACK,
        f"The text {what}, so there is no graph to search; the {len(run.evidence)} passages are "
        "plain top-k.",
        "Name a language model, which finds entities that are no capitalised names.",
    )


def _stop(run: Run) -> Stop:
    count, k = len(run.evidence), run.settings.k
    where = "entities chosen" if run.settings.search == "local" else "communities chosen"
    if count < k:
        return Stop(
            StopReason.NOTHING_NEW,
            f"The {where} stand in {count} passages; {k} were asked for.",
            "Raise 'Entities', 'Neighbours' or 'Communities'.",
        )
    return Stop(
        StopReason.HOPS_DONE, f"The {count} best passages in which the {where} stand were kept."
    )
