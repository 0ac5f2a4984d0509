"""Ragas-style samples, a file an agent: user_input, response, retrieved_contexts, reference.

https://docs.ragas.io, "Evaluation sample"; `EvaluationDataset.from_jsonl` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragassay.files import json_line, write_text
from ragassay.perturbed import FROM, link_of
from ragassay.records import Answer, Query
from ragassay.text import listed

from ...judging.engine.cases import expected_response
from .collection import Collection


def write(collection: Collection, folder: Path) -> list[str]:
    """AGENT.jsonl of every agent, or testset.jsonl where nobody answered; sentences on what they cannot hold."""
    files: Mapping[str, Mapping[str, Answer]] = collection.answers or {"testset": {}}
    failed = lost = 0
    for agent, answers in files.items():
        owed = answers if collection.answers else collection.queries
        whole = [id for id in owed if id in collection.queries and (not answers or answers[id].answer is not None)]
        failed += len(owed) - len(whole)
        lost += sum(id not in collection.passages for one in answers.values() for id in one.passages)
        rows = [_sample(collection.queries[id], answers.get(id), collection) for id in whole]
        write_text(folder / f"{agent}.jsonl", "".join(map(json_line, rows)))
    lacking = [what for what in ("rankings", "games") if collection.counts()[what]]
    said = [f"Ragas' samples cannot hold {listed(lacking)}: left out"] if lacking else []
    said += ["the ids of queries, grades of labels, tokens, cost and latency: left out"]
    said += [f"answers that failed have no place in them: {failed} left out"] if failed else []
    return said + ([f"passages whose text is not at hand: {lost} left out"] if lost else [])


def _sample(query: Query, answer: Answer | None, collection: Collection) -> dict[str, Any]:
    made: dict[str, Any] = {"user_input": query.text, **_link(query, collection)}
    if answer is not None:
        known = [id for id in answer.passages if id in collection.passages]
        made |= {"response": answer.answer, "retrieved_contexts": [collection.passages[id].text for id in known]}
        made |= {"retrieved_context_ids": known}
    if expected := expected_response(query):
        made["reference"] = expected
    right = [id for id, label in collection.qrels.get(query.id, {}).items() if label >= 1 and id in collection.passages]
    if right:
        made["reference_contexts"] = [collection.passages[id].text for id in right]
        made["reference_context_ids"] = right
    return made


def _link(query: Query, collection: Collection) -> dict[str, str]:
    """Of a perturbed query its kind and its original, by the text, since samples have no ids."""
    link = link_of(query)
    original = collection.queries.get(link.get(FROM, ""))
    return link | ({FROM: original.text} if original else {})
