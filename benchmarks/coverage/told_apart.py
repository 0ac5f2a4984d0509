"""How often the interval of the two-sample AUC holds the area that such a classifier has on questions it never saw.

    python -m benchmarks.coverage.told_apart [N]

N simulations a row (100). Experts' questions are drawn from the FAQ of the avr-libc manual, with noise; written
ones from the same, longer by so many words. The truth is the mean area of 200 classifiers, each fitted to as
many questions and tried on a thousand new ones.
"""

from __future__ import annotations

import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from ragassay.arrays import Floats
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace, read_passages
from ragassay.synth.ingest import ingest
from ragassay.synth.looks import Features, Passages, auc, features_of, fit_logistic, told_apart
from ragassay.synth.questions.own import read_expert_questions

CASES = ((36, 36, 0.0), (36, 36, 4.0), (20, 60, 4.0), (36, 36, 12.0))
NOISE = np.array([1.5, 8.0, 0.1, 0.05, 0.4, 0, 0, 0, 0, 0])
LONGER = np.array([1.0, 5.0, 0, 0, 0, 0, 0, 0, 0, 0])
"""A word has five letters and a space is not counted."""
CORPUS = Path(__file__).parents[2] / "corpora" / "avr-libc"
N_TRUTH, N_NEW = 200, 500


@cache
def faq() -> Floats:
    """Figures of the FAQ's questions among the manual's passages, which are without the FAQ."""
    with tempfile.TemporaryDirectory() as folder:
        home = Workspace(CORPUS, Path(folder), load_experiment(CORPUS / "experiment.toml"))
        ingest(home)
        passages = Passages([passage.text for passage in read_passages(home.passages)], "en")
    rows = [features_of(expert.text, passages, "en") for expert in read_expert_questions(home.expert_questions)]
    return np.round(np.array(rows, float), 3)


def questions(n: int, longer: float, rng: np.random.Generator) -> Floats:
    """Figures of n made-up questions."""
    points = faq()[rng.integers(0, len(faq()), n)]
    return np.asarray(points + NOISE * rng.normal(size=points.shape) + longer * LONGER)


def truth(n: int, m: int, longer: float, rng: np.random.Generator) -> float:
    """The area of a classifier of n and m questions on new ones."""
    found = []
    for _ in range(N_TRUTH):
        points = np.concatenate([questions(n, 0, rng), questions(m, longer, rng)])
        mean, spread = points.mean(0), np.maximum(points.std(0), 1e-6)
        [fitted] = fit_logistic(((points - mean) / spread)[None], np.arange(n + m) >= n, np.ones((1, n + m)))
        old, new = (((questions(N_NEW, by, rng) - mean) / spread) @ fitted[1:] for by in (0.0, longer))
        found.append(auc(new, old))
    return float(np.mean(found))


def main(n_simulations: int = 100) -> None:
    """Print the table."""
    print("| experts | written | longer by, words | the area | mean found | its sd | holds the area | width |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for n, m, longer in CASES:
        rng = np.random.default_rng(7)
        area, rows = truth(n, m, longer, rng), []
        for seed in range(n_simulations):
            sides = [[Features(*row) for row in questions(k, by, rng)] for k, by in ((n, 0.0), (m, longer))]
            rows.append(told_apart(*sides, seed=seed))
        value, low, high = np.array([(row.value, row.ci_low, row.ci_high) for row in rows if row], float).T
        holds = ((low <= area) & (area <= high)).mean()
        print(
            f"| {n} | {m} | {longer:g} | {area:.3f} | {value.mean():.3f} | {value.std():.3f} | {holds:.0%} "
            f"| {(high - low).mean():.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
