"""Do figures corrected by a dear judge's labels hold what it would say of everything? Simulated cheap and dear judges.

    python -m benchmarks.coverage.second_judge [SIMULATIONS]

Two agents, graded 0 to 2 on every query. The cheap judge is kinder to the second agent; what it calls 1 it is unsure
of, and that is drawn three times as often for the dear judge. What is to be covered is the mean of the dear judge's
labels over all queries that such a test set is drawn from; beside it stands the cheap judge's mean error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from ragassay.evaluate.human_labels.corrections import Judged, correct_figures, second_labels
from ragassay.evaluate.human_labels.sheet import draw_frame
from ragassay.evaluate.inputs.findings import Findings, Material
from ragassay.evaluate.results import CorrectedFigure
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Answer, Judgment, Query

AGENTS = ("bm25", "knn")
SHARES = {"bm25": (0.3, 0.3, 0.4), "knn": (0.4, 0.3, 0.3)}
"""Of the dear judge's labels 0, 1 and 2."""
KIND = {"bm25": 0.1, "knn": 0.35}
"""How often the cheap judge gives one grade more."""
CRITERION = "accuracy"
CELLS = [(queries, labels) for queries in (100, 300) for labels in (50, 100)]


def judged(queries: tuple[str, ...], generator: np.random.Generator) -> tuple[list[Judgment], list[Judgment]]:
    """What the dear and what the cheap judge say of everything."""
    dear, cheap = [], []
    for agent in AGENTS:
        labels = generator.choice(3, len(queries), p=SHARES[agent]).astype(np.float64)
        seen = np.minimum(2.0, labels + (generator.random(len(queries)) < KIND[agent]))
        for rows, judge, given in ((dear, "dear", labels), (cheap, "cheap", seen)):
            rows += [
                Judgment(query_id=query, subject=agent, judge=judge, criterion=CRITERION, label=label)
                for query, label in zip(queries, given.tolist(), strict=True)
            ]
    return dear, cheap


def corrected(queries: tuple[str, ...], n: int, seed: int, generator: np.random.Generator) -> list[CorrectedFigure]:
    """One experiment: both agents' means and their difference."""
    answers = {(q, agent): Answer(query_id=q, agent=agent, answer="an answer") for q in queries for agent in AGENTS}
    material = Material(tuple(Query(_id=q, text="?") for q in queries), AGENTS, {}, answers)
    dear, cheap = judged(queries, generator)
    findings = Findings(material, pointwise=tuple(cheap))
    frame = draw_frame(findings, [CRITERION], 5, n=n, seed=seed, kinds=["answers"])
    values = {a: {CRITERION: {row.query_id: row.label for row in cheap if row.subject == a}} for a in AGENTS}
    people = second_labels(frame, dear).people
    draws = resamples(queries, 2, seed)
    return list(correct_figures(findings, Judged({}, values, ()), people, AGENTS, [CRITERION], 5, draws).figures)


def cell(n_queries: int, labels: int, simulations: int) -> str:
    """A row of the table."""
    generator, queries = np.random.default_rng(7), tuple(f"q{i:04}" for i in range(n_queries))
    means = [float(np.arange(3) @ np.array(SHARES[agent])) for agent in AGENTS]
    truth = np.array([*means, means[0] - means[1]])
    held, errors, cheap = [], [], []
    for seed in range(simulations):
        found = corrected(queries, labels, seed, generator)
        ends = [(f.corrected.ci_low, f.corrected.ci_high) for f in found]
        held.append(
            [
                low is not None and high is not None and low <= t <= high
                for (low, high), t in zip(ends, truth, strict=True)
            ]
        )
        errors.append([(f.corrected.value or 0.0) - t for f, t in zip(found, truth, strict=True)])
        cheap.append([(f.judged.value or 0.0) - t for f, t in zip(found, truth, strict=True)])
    shares = np.array(held).mean(axis=0)
    mean, error = np.mean(errors, axis=0), np.std(errors, axis=0) / np.sqrt(simulations)
    off = [f"{m:+.3f} ± {e:.3f}" for m, e in zip(mean, error, strict=True)]
    bar = "yes" if shares.min() >= 0.93 else "NO"
    said = " | ".join(f"{share:.3f}" for share in shares)
    uncorrected = " | ".join(f"{each:+.3f}" for each in np.mean(cheap, axis=0))
    return f"| {n_queries} | {labels} | {said} | {bar} | {' | '.join(off)} | {uncorrected} |"


def cells(simulations: int = 400) -> Iterator[str]:
    """Every row, as they are done."""
    for n_queries, labels in CELLS:
        yield cell(n_queries, labels, simulations)


HEADER = (
    "| queries | labels | covers bm25 | covers knn | covers difference | bar .93 "
    "| error of bm25 | of knn | of difference "
    "| cheap judge's error: bm25 | knn | difference |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
)

if __name__ == "__main__":
    print(HEADER)
    for row in cells(int(sys.argv[1]) if len(sys.argv) > 1 else 400):
        print(row, flush=True)
