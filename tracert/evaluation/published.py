"""Rows of the published files of four data sets in the form that `datasets` reads.

- HotpotQA (`hotpot_train_v1.1.json`) and 2WikiMultiHopQA (`train.json`): one JSON list of
  {_id, question, answer, type, supporting_facts [[title, sentence]], context [[title,
  [sentences]]]}, 2WikiMultiHopQA with evidences [[subject, relation, object]] besides.
- MuSiQue (`musique_ans_v1.0_train.jsonl`): lines of {id, question, answer, paragraphs [{title,
  paragraph_text, is_supporting}], question_decomposition [{question, answer,
  paragraph_support_idx}]}.
- MultiHop-RAG (`MultiHopRAG.json`): one JSON list of {query, answer, question_type, evidence_list
  [{title, author, url, source, category, published_at, fact}]}. Its passages are the articles of
  `corpus.json`, see `tracert.evaluation.articles`.

Questions with gold by quotation, {question, passages [{document, quote}], notes [path]}, are put
in our form, too. Every other row is given back as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_PARALLEL: Final = "parallel_comparison"


def row(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row in our form.

    Raises:
        KeyError, TypeError, ValueError: it looks like a published row and is damaged.
    """
    if "context" in data and "supporting_facts" in data:
        return _by_titles(data)
    if "question_decomposition" in data:
        return _musique(data)
    if "evidence_list" in data:
        return _multihop_rag(data)
    if "passages" in data and "paragraphs" not in data:
        return _quoted(data)
    return data


def _multihop_rag(data: Mapping[str, Any]) -> dict[str, Any]:
    """A row has no order, and its facts stand in articles of a file of their own."""
    kind = str(data["question_type"]).removesuffix("_query")
    facts = [
        {"title": str(each["title"]), "text": str(each["fact"]).strip(), "is_supporting": True}
        for each in data["evidence_list"]
    ]
    return {
        "dataset": "multihop-rag",
        "question": data["query"],
        "answer": str(data["answer"]),
        "type": kind,
        "n_hops": len(facts),
        "order_source": _PARALLEL if kind == "comparison" else "unknown",
        "paragraphs": facts,
    }


def _quoted(data: Mapping[str, Any]) -> dict[str, Any]:
    """The quotations as paragraphs, titled by their document, in the order of the hops."""
    quotes = [
        {"title": str(each["document"]), "text": str(each["quote"]), "is_supporting": True}
        for each in data["passages"]
    ]
    return {
        **{key: data[key] for key in ("id", "question", "answer", "type", "notes") if key in data},
        "dataset": "quoted",
        "n_hops": data.get("hops", len(quotes)),
        "support_order": list(range(len(quotes))),
        "order_source": "quoted",
        "paragraphs": quotes,
    }


def _musique(data: Mapping[str, Any]) -> dict[str, Any]:
    hops = [
        {
            "question": str(each["question"]),
            "answer": str(each["answer"]),
            "paragraph_index": each["paragraph_support_idx"],
        }
        for each in data["question_decomposition"]
    ]
    order = [hop["paragraph_index"] for hop in hops if hop["paragraph_index"] is not None]
    return {
        "id": str(data["id"]),
        "dataset": "musique",
        "question": data["question"],
        "answer": str(data["answer"]),
        "type": str(data["id"]).split("__")[0],
        "n_hops": len(hops),
        "hops": hops,
        "support_order": order,
        "order_source": "official_decomposition",
        "paragraphs": [
            {
                "title": each["title"],
                "text": each["paragraph_text"],
                "is_supporting": each["is_supporting"] is True,
            }
            for each in data["paragraphs"]
        ],
    }


def _by_titles(data: Mapping[str, Any]) -> dict[str, Any]:
    titles = [str(title) for title, _ in data["context"]]
    texts = ["".join(sentences).strip() for _, sentences in data["context"]]
    named = {str(title) for title, _ in data["supporting_facts"]}
    gold = [place for place, title in enumerate(titles) if title in named]
    evidences = data.get("evidences") or []
    kind = str(data["type"])
    hops: list[dict[str, Any]] = []
    if evidences:
        hops = _evidence_hops(evidences, titles)
        order, source = [hop["paragraph_index"] for hop in hops], "official_evidences"
        if None in order or set(order) != set(gold):
            order, source = [], "unknown"
        elif kind == "bridge_comparison":
            order, source = _two_chains(evidences, titles)
    elif kind == "comparison":
        order, source = gold, _PARALLEL
    else:
        order, source = _answer_last(str(data["answer"]), gold, texts)
    return {
        "id": str(data["_id"]),
        "dataset": "2wikimultihopqa" if evidences else "hotpotqa",
        "question": data["question"],
        "answer": str(data["answer"]),
        "type": kind,
        "n_hops": len(gold),
        "hops": hops,
        "support_order": list(dict.fromkeys(order)),
        "order_source": source,
        "paragraphs": [
            {"title": title, "text": text, "is_supporting": title in named}
            for title, text in zip(titles, texts, strict=True)
        ],
    }


def _evidence_hops(
    evidences: Sequence[Sequence[str]], titles: Sequence[str]
) -> list[dict[str, Any]]:
    """A hop a triple, answered in the paragraph whose title is its subject."""
    return [
        {
            "question": f"{subject} >> {relation}",
            "answer": value,
            "paragraph_index": titles.index(subject) if subject in titles else None,
        }
        for subject, relation, value in evidences
    ]


def _two_chains(evidences: Sequence[Sequence[str]], titles: Sequence[str]) -> tuple[list[int], str]:
    """The order A, B, X, Y of two chains, A to X and B to Y, by who is the object of whom."""
    objects = {value for _, _, value in evidences}
    firsts = [each for each in evidences if each[0] not in objects]
    order = [titles.index(subject) for subject, _, _ in firsts]
    order += [titles.index(value) for _, _, value in firsts if value in titles]
    if len(order) != 4 or len(set(order)) != 4:
        return [], "unknown"
    return order, "official_evidences"


def _answer_last(answer: str, gold: Sequence[int], texts: Sequence[str]) -> tuple[list[int], str]:
    """HotpotQA gives no order: the one paragraph that holds the answer is taken to be the last."""
    holding = [place for place in gold if answer.casefold() in texts[place].casefold()]
    if len(gold) != 2 or len(holding) != 1:
        return [], "unknown"
    return [
        *(place for place in gold if place not in holding),
        *holding,
    ], "heuristic_answer_in_last"
