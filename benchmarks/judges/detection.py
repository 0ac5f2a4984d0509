"""Evaluators that need no judge, held against people's labels: area under the ROC curve, and kappa at the threshold.

    python -m benchmarks.judges.detection DATA [ROWS]

DATA holds `nq301` (castorini/qa-eval, MIT: whether people accept an answer, beside those expected) and `factcheckgpt`
(yuxiaw/Factcheck-GPT, Apache-2.0: whether evidence supports a claim; ROWS, 500, of its rows, seeded). Embeddings are
all-MiniLM-L6-v2's. The area is the share of pairs of one row with people's yes and one without in which the first has
the higher figure, ties half (Hanley and McNeil 1982). Whole questions, or claims, are resampled for the intervals.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.judges.agreement import pair, shown
from benchmarks.judges.meta_sets import nq301_answers
from benchmarks.machine import machine
from ragassay import judges
from ragassay.arrays import Floats, Truths
from ragassay.evaluate.agreement.estimates import bootstrap_interval, draws
from ragassay.evaluate.agreement.labelled_sets import LabelledRow, read_rows, sample
from ragassay.evaluate.judging.catalog import built_in
from ragassay.evaluate.judging.engine.cases import Setup
from ragassay.records import Assessment

ROWS, SEED, REPLICATES = 500, 7, 1000
MODEL = "all-MiniLM-L6-v2"


@dataclass(frozen=True)
class Held:
    """An evaluator, what it is given, and people's yes of each row, by what is asked of them."""

    name: str
    columns: dict[str, list[Any]]
    people: dict[str, Truths]
    clusters: Sequence[str]
    options: dict[str, str]


def area(scores: Floats, yes: Truths, weights: Floats | None = None) -> float:
    """The area under the ROC curve, 0 to 1; NaN where all rows are alike. weights: how often each row counts."""
    weight = np.ones(len(scores)) if weights is None else weights
    _, place = np.unique(scores, return_inverse=True)
    above = np.bincount(place, weight * yes, place.max() + 1)
    below = np.bincount(place, weight * ~yes, place.max() + 1)
    pairs = above.sum() * below.sum()
    return float((above * (np.cumsum(below) - below / 2)).sum() / pairs) if pairs else float("nan")


def area_figure(scores: Floats, yes: Truths, clusters: Sequence[str]) -> str:
    """`0.812 [0.790, 0.834]`"""
    names, which = np.unique(np.array(clusters), return_inverse=True)
    value = area(scores, yes)
    again = np.array([area(scores, yes, weights[which]) for weights in draws(len(names), REPLICATES, SEED)])
    low, high = bootstrap_interval(2 * value - 1, 2 * again - 1, len(names), bounded=True)
    if low is None or high is None:
        return f"{value:.3f}"
    return f"{value:.3f} [{(low + 1) / 2:.3f}, {(high + 1) / 2:.3f}]"


def of_nq301(folder: Path) -> Iterator[Held]:
    """What compares an answer with the expected ones."""
    rows = nq301_answers(folder).rows
    columns = {
        "query": [row.case.query.text for row in rows],
        "answer": [row.case.answers[0].text for row in rows],
        "expected_response": [str(row.case.query.metadata["expected_response"]) for row in rows],
    }
    people = {"nq301, people accept the answer": np.array([row.label == 1.0 for row in rows])}
    for name in ("bleu", "rouge", "classification", "semantic_similarity", "sentence_similarity"):
        options = {"embedding": MODEL} if "similarity" in name else {}
        yield Held(name, columns, people, [row.cluster for row in rows], options)


def of_factcheckgpt(folder: Path, n: int) -> Iterator[Held]:
    """What compares an answer, or a question, with what was retrieved: a claim with one passage of evidence."""
    rows = sample(read_rows(folder / "subtask3_claim_evidence_stance.jsonl"), n, SEED).rows
    claims = [row.case.answers[0].text for row in rows]
    columns = {"query": claims, "answer": claims, "contexts": [[row.case.passages[0].text] for row in rows]}
    clusters = [row.cluster for row in rows]
    people = {
        "factcheckgpt, completely supported": _labelled(rows, {"completely-support"}),
        "factcheckgpt, supported at least partly": _labelled(rows, {"completely-support", "partially-support"}),
    }
    options = {"embedding": MODEL}
    yield Held("groundedness_embeddings", columns, people, clusters, options)
    relevant = {"completely-support", "partially-support", "refute"}
    to_it = {"factcheckgpt, relevant to the claim": _labelled(rows, relevant)}
    yield Held("context_relevancy_soft", columns, to_it, clusters, options)


def _labelled(rows: Sequence[LabelledRow], yes: set[str]) -> Truths:
    return np.array([row.label in yes for row in rows])


def lines(held: Held) -> Iterator[str]:
    """A line for each criterion and each of people's questions."""
    said = judges.named(held.name)(**held.columns, **held.options)
    by_row: list[dict[str, Assessment]] = [one if isinstance(one, dict) else {one.criterion: one} for one in said]
    for criterion in built_in()[held.name](Setup("openai:none")).criteria:
        records = [row[criterion.name] for row in by_row if criterion.name in row]
        if not records or criterion.threshold is None:
            continue
        known = np.array([one.label is not None for one in records])
        scores = np.array([one.label for one in records if one.label is not None], dtype=np.float64)
        clusters = [cluster for cluster, has in zip(held.clusters, known, strict=True) if has]
        for what, people in held.people.items():
            yes = people[known]
            passes = ["Yes" if score >= criterion.threshold else "No" for score in scores]
            columns = {"people": ["Yes" if one else "No" for one in yes], "evaluator": passes}
            kappa = (
                shown(pair(what, columns, clusters, "Yes").figures["kappa"]) if len(set(passes)) > 1 else "undefined"
            )
            area_shown = area_figure(scores, yes, clusters)
            yield (
                f"| {what} | `{criterion.name}` | {area_shown} | {kappa} from {criterion.threshold:g} "
                f"| {len(records)} | {int((~known).sum())} |"
            )


def main(data: Path, n: int) -> None:
    """Print the table."""
    print("| set, and what people said | figure | area under the curve | kappa at the threshold | n | failed |")
    print("|---|---|---|---|---|---|")
    for held in (*of_nq301(data / "nq301"), *of_factcheckgpt(data / "factcheckgpt", n)):
        print("\n".join(lines(held)), flush=True)
    print(f"\n{machine()}; {n:,} rows of factcheckgpt; embeddings of {MODEL}.")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else ROWS)
