"""Whether to choose telling questions, those on which retrievers differ: what it finds, and what where none differs.

    python -m benchmarks.questions.telling SCIFACT CLAIMS [FAQS]

SCIFACT is BEIR's folder; its 360 written claims are results/benchmarks/questions/QUESTIONS.jsonl, which
`python -m benchmarks.questions.worth SCIFACT` leaves there. CLAIMS is the claims.jsonl of 600. FAQS is a folder that
`benchmarks.question_worth.faqs` made. How telling a question is: of four probes (BM25 with stems, without, over titles
or first halves; the embedding) the share of pairs that put its passage at different places of the first ten, whichever
of them is ahead. Of each pool as many as a share of 1 / 1.8 are drawn at random (mean of 200, standard deviation in
brackets), or the most telling ones taken (ties by chance, mean of 10). "others": of the pairs without a probe. "gain":
of resamples of the sources, the mean change of `decided` from a random set, and its standard deviation.

Under no difference: the questions are weighted so that two retrievers have the same mean (exponential tilting, Efron
1981), pools of 360 are drawn by these weights, and 200 of each at random, or the 200 most telling: how often the paired
t-test at 5% calls the two different, over pairs of retrievers.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from benchmarks.question_worth.__main__ import _embedder
from benchmarks.question_worth.collection import Question, asked, read_passages, read_people, read_questions
from benchmarks.question_worth.retrievers import rank
from benchmarks.question_worth.scores import score
from ragassay.arrays import Floats, Ints
from ragassay.evaluate.inputs.clusters import Clusters, clusters_of_rows
from ragassay.evaluate.statistics.orders import loss, pairs, tau_b
from ragassay.evaluate.validity.people import decisions, shares
from ragassay.evaluate.validity.questions import Scores
from ragassay.models.encoders import OFFLINE_MODEL

PROBES = ("bm25, k1 1.2, b 0.75", "bm25, no stems", "bm25, title", "bm25, first half", "embedding, all")
SHARE, DRAWN, TAKEN, RESAMPLES = 1.8, 200, 10, 60
POOL, KEPT, NULLS, NULL_PAIRS = 360, 200, 60, 30
QUESTIONS = Path("results") / "benchmarks" / "questions" / "QUESTIONS.jsonl"


@dataclass(frozen=True, eq=False)
class Pool:
    """Written questions of a collection, (retrievers, questions) of nDCG@10, and people's scores."""

    name: str
    people: Scores
    questions: Sequence[Question]
    values: Floats
    retrievers: Sequence[str]

    @property
    def n(self) -> int:
        """How many are chosen."""
        return round(len(self.questions) / SHARE)

    @property
    def probes(self) -> list[int]:
        """Rows of the probes."""
        return [row for row, name in enumerate(self.retrievers) if name in PROBES]

    @property
    def told(self) -> Floats:
        """(questions,): share of pairs of probes that differ."""
        of_probes, (first, second) = self.values[self.probes], pairs(len(self.probes))
        found: Floats = (np.abs(of_probes[first] - of_probes[second]) > 1e-9).mean(axis=0)
        return found


def read(folder: Path, path: Path, kinds: Mapping[str, tuple[str, ...]]) -> list[Pool]:
    """A pool of each name in `kinds`, with the kinds of its questions."""
    passages = {passage.id: passage for passage in read_passages(folder / "corpus.jsonl")}
    people = read_people(folder / "queries.jsonl", folder / "qrels" / "test.tsv", passages)
    questions = read_questions(path, passages)
    written = asked(questions)
    texts = list(dict.fromkeys([*people.texts.values(), *written.texts.values()]))
    found = rank(list(passages.values()), texts, language="en", embedder=_embedder(OFFLINE_MODEL))
    ours, values, pools = score(people, found), score(written, found).values, []
    for name, some in kinds.items():
        rows = [row for row, one in enumerate(questions) if one.kind in some]
        pools.append(Pool(name, ours, [questions[row] for row in rows], values[:, rows], list(found)))
    return pools


def figures(pool: Pool, rows: Ints, sources: Ints | None = None) -> list[float]:
    """decided, contradicted, tau, loss, and decided of the pairs without a probe. sources: what goes together."""
    named = [pool.questions[row].sources[0] for row in rows] if sources is None else list(map(str, sources))
    clusters = Clusters.named(list(map(str, range(len(rows)))), named)
    written = Scores(pool.values[:, rows], clusters)
    theirs, ours = decisions(pool.people), decisions(written)
    others = ~np.isin(pairs(len(pool.retrievers)), pool.probes).any(axis=0)
    found, means = shares(theirs, ours), (pool.people.means, written.means)
    among = shares(theirs[others], ours[others]).decided
    return [found.decided, found.contradicted, float(tau_b(*means)), float(loss(*means)), among]


def told_of(pool: Pool) -> None:
    """Print the rows of a pool."""
    rng, n, told = np.random.default_rng(7), len(pool.questions), pool.told
    _row(pool, "at random", [figures(pool, rng.choice(n, pool.n, replace=False)) for _ in range(DRAWN)])
    _row(pool, "most telling", [figures(pool, np.lexsort((rng.random(n), -told))[: pool.n]) for _ in range(TAKEN)])


def gain(pool: Pool) -> Floats:
    """(resamples,): how much more is decided by the most telling questions of resampled sources than by any."""
    rng, told = np.random.default_rng(11), pool.told
    names = np.array([one.sources[0] for one in pool.questions])
    groups = [np.flatnonzero(names == name) for name in dict.fromkeys(names)]
    found = []
    for _ in range(RESAMPLES):
        drawn = [groups[at] for at in rng.integers(0, len(groups), len(groups))]
        rows, sources = np.concatenate(drawn), np.repeat(np.arange(len(drawn)), [len(one) for one in drawn])
        chance = rng.permutation(len(rows))[: pool.n]
        most = np.lexsort((rng.random(len(rows)), -told[rows]))[: pool.n]
        one, other = (figures(pool, rows[some], sources[some])[0] for some in (most, chance))
        found.append(one - other)
    return np.array(found)


def _row(pool: Pool, name: str, found: Sequence[Sequence[float]]) -> None:
    mean, spread = np.nanmean(found, axis=0), np.nanstd(found, axis=0)
    cells = [f"{mean[0]:.1%} ({spread[0]:.1%})", f"{mean[1]:.1%}", f"{mean[2]:.2f}", f"{mean[3]:.4f}", f"{mean[4]:.1%}"]
    print(f"| {pool.name} | {name} | {pool.n} of {len(pool.questions)} | {' | '.join(cells)} |", flush=True)


def no_difference(pool: Pool) -> tuple[float, float]:
    """How often 200 of 360 at random, and the 200 most telling, decide pairs that are equal where these are drawn."""
    rng, told = np.random.default_rng(13), pool.told
    first, second = pairs(len(pool.retrievers))
    differences = pool.values[first] - pool.values[second]
    able = [row for row in differences if (row > 0).sum() >= 10 and (row < 0).sum() >= 10]
    found = []
    for row in (able[at] for at in rng.choice(len(able), min(NULL_PAIRS, len(able)), replace=False)):
        weights = tilted(row)
        for _ in range(NULLS):
            drawn = rng.choice(len(row), POOL, p=weights)
            most = drawn[np.lexsort((rng.random(POOL), -told[drawn]))[:KEPT]]
            found.append([_decides(row[rows]) for rows in (drawn[:KEPT], most)])
    at_random, by_telling = np.mean(found, axis=0).tolist()
    return at_random, by_telling


def tilted(values: Floats) -> Floats:
    """Weights, adding up to 1, proportional to exp(c * value), under which the mean is 0; both signs must be there."""

    def weights(c: float) -> Floats:
        found: Floats = np.exp(c * values)
        return found / found.sum()

    return weights(float(brentq(lambda c: float(weights(c) @ values), -50.0, 50.0)))


def _decides(differences: Floats) -> bool:
    scores = Scores(np.array([differences, np.zeros(len(differences))]), clusters_of_rows(list(map(str, range(KEPT)))))
    return bool(decisions(scores)[0] != 0)


def main(folder: Path, claims: Path, faqs: Path | None) -> None:
    """Read the collections and print both tables."""
    pools = read(folder, QUESTIONS, {"SciFact, need and blind": ("need", "blind")})
    pools += read(folder, claims, {"claims, fresh": ("fresh",), "claims, plain and fresh": ("plain", "fresh")})
    tell(pools + (read(faqs, faqs / "questions.jsonl", {"FAQs, written": ("written",)}) if faqs else []))


def tell(pools: Sequence[Pool]) -> None:
    """Print both tables."""
    print("| pool | chosen | n | decided | contradicted | tau | loss | others decided |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for pool in pools:
        told_of(pool)
    print("\n| pool | gain | no difference: 200 of 360 at random | the 200 most telling |\n|---|--:|--:|--:|")
    for pool in pools:
        gained, shares_of = gain(pool), " | ".join(f"{share:.1%}" for share in no_difference(pool))
        print(f"| {pool.name} | {gained.mean():+.1%} ({gained.std():.1%}) | {shares_of} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) == 4 else None)
