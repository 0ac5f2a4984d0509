"""What written questions are worth by which evidence, in which number, drawn or chosen.

    python -m benchmarks.questions.pooled_worth SCIFACT PDFS

Takes the graded pools of `benchmarks.questions.pools`, for claims about SciFact's abstracts and questions written for
two FAQs, and sets them beside people's queries of either, on the 26 retrievers of `benchmarks.question_worth`, by
nDCG@10. Evidence: "own" is the passage that a question was written from alone; "hybrid's d" what was graded 1 or 2
among the first d of the hybrid, and the own passage; "d of three" the same of BM25, KNN and the hybrid each. "kept" and
"rejected" are what the evidence step had made of the claims. "answered" are those of whose pool something has grade 2.
A hundred of people's claims were graded alike: beside their labels they say what comes of the grades and what of the
questions. Sets of n are drawn as the stage `questions` draws them (`choose_looking`), or are those of the answered that
come nearest to sharing as many words with their best passage as questions of people's do: the eight that the writer
saw, or eight of the hundred graded ones, drawn by the seed. Of sets that a seed draws the mean over all seeds is told,
and the 2.5th and 97.5th percentile of the seeds. People's own are beside all of people's, of which they are a part, and
beside the others alone, as any new set would be. In the first table intervals resample both sides. A pool might favour
the kind of retriever that it comes from: so the third table has what fusions are ahead of the others, and tau among the
others alone. A written question costs one request more, which grades its pool: passages and input tokens are below.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.judges.take_replies import WHO_JUDGED, WORK
from benchmarks.question_worth.__main__ import CACHE
from benchmarks.question_worth.collection import Asked, read_passages, read_people
from benchmarks.question_worth.measured import Measured, Words, measure
from benchmarks.question_worth.retrievers import rank
from benchmarks.question_worth.scores import score
from benchmarks.questions.pools import EXPERT, NAME, RANKERS, Graded
from benchmarks.questions.pools import main as graded
from benchmarks.questions.write import N_EXPERTS
from ragassay.arrays import Floats
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.statistics.orders import place, tau_b
from ragassay.evaluate.validity.people import decisions, shares
from ragassay.evaluate.validity.questions import Scores
from ragassay.experiment.tables import QuestionsSettings
from ragassay.files import read_records
from ragassay.models.encoders import OFFLINE_MODEL
from ragassay.prompts import count_tokens
from ragassay.records import Passage, Query
from ragassay.retrieval.rankers.embedding import Embedder, model_identity
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache
from ragassay.retrieval.rankers.ranker import Ranking, indexed_text
from ragassay.synth.questions.choose import choose_looking
from ragassay.synth.questions.find import shared_words

SEEDS = range(7, 107)
RESAMPLES = 400
SIZES = (30, 60, 100, 200)
MODEL = "file:claude-a"


class Pool(NamedTuple):
    """The first `depth` of each of some rankers, and the own passage."""

    by: tuple[str, ...]
    depth: int

    def __str__(self) -> str:
        return f"hybrid's {self.depth}" if self.by == ("hybrid",) else f"{self.depth} of three"

    def ids(self, one: Graded) -> set[str]:
        """The passages of a question's pool."""
        own = {one.source} if one.source else set[str]()
        return own.union(*(one.places[name][: self.depth] for name in self.by))


DEFAULT = Pool(QuestionsSettings().pool_by, QuestionsSettings().pool_depth)
POOLS = (*(Pool(("hybrid",), depth) for depth in (2, 3, 5)), *(Pool(RANKERS, depth) for depth in (2, 3, 5)))
ALL = POOLS[-1]
"""Everything that was graded."""


class Bench(NamedTuple):
    """One collection, ranked."""

    name: str
    people: Scores
    rankings: Mapping[str, Mapping[str, Ranking]]
    passages: Mapping[str, Passage]
    written: Sequence[Graded]
    experts: Sequence[Graded]
    asked: Sequence[Graded]

    def scores(self, questions: Sequence[Graded]) -> Scores:
        """By the grades of those that have evidence; the others are failed."""
        return self._scores(questions, {one.id: {id: g for id, g in one.grades.items() if g} for one in questions})

    def scores_by_own(self, questions: Sequence[Graded]) -> Scores:
        """By the passage that each was written from."""
        return self._scores(questions, {one.id: {str(one.source): 1} for one in questions})

    def _scores(self, questions: Sequence[Graded], qrels: Mapping[str, Mapping[str, int]]) -> Scores:
        some = [one for one in questions if qrels[one.id]]
        texts = {one.id: one.text for one in some}
        clusters = Clusters.named(list(texts), [one.source or one.id for one in some])
        found = {one.id: dict(qrels[one.id]) for one in some}
        return score(Asked(texts, found, clusters, len(questions) - len(some)), self.rankings)

    def cut(self, pool: Pool) -> Bench:
        """With the grades of such pools alone."""

        def within(one: Graded) -> Graded:
            ids = pool.ids(one)
            return one.model_copy(update={"grades": {id: grade for id, grade in one.grades.items() if id in ids}})

        return Bench(*self[:4], *([within(one) for one in rows] for rows in self[4:]))

    def scored(self, n: int, seed: int) -> Scores:
        """Of n that are drawn."""
        return self.scores(chosen(self, n, seed))

    def share(self, one: Graded) -> float | None:
        """`shared_words` with the best of the passages that answer it."""
        return max((self._shared(one, id) for id, grade in one.grades.items() if grade == 2), default=None)

    def _shared(self, one: Graded, id: str) -> float:
        passage = self.passages[id]
        return shared_words(one.text, f"{passage.title}\n{passage.text}", "en")


def answered(questions: Sequence[Graded]) -> list[Graded]:
    """Those that a passage of their pool answers."""
    return [one for one in questions if 2 in one.grades.values()]


def target_of(bench: Bench, questions: Sequence[Graded]) -> list[float]:
    """The shares of those that are answered."""
    return [share for one in questions if (share := bench.share(one)) is not None]


def drawn(questions: Sequence[Graded], n: int, seed: int) -> list[Graded]:
    """n of them, or all there are."""
    return random.Random(f"{seed}:{n}").sample(list(questions), min(n, len(questions)))


def chosen(bench: Bench, n: int, seed: int) -> list[Graded]:
    """n of those that are answered, as the stage `questions` draws them."""
    return looked_up(bench, n, seed)[0]


def looked_up(bench: Bench, n: int, seed: int) -> tuple[list[Graded], int]:
    """(what is chosen, of how many questions evidence was looked for)."""
    known = {one.id: one for one in bench.written}
    pool = {
        one.id: Query(
            id=one.id,
            text=one.text,
            metadata={"model": MODEL, "kind": "fact", "doc": str(one.source), "section": str(one.source)}
            | ({"blind": True} if one.kind == "blind" else {}),
        )
        for one in bench.written
    }
    looked = set[str]()

    def look(ids: Collection[str]) -> Sequence[Query]:
        looked.update(ids)
        for id in ids:
            if 2 not in known[id].grades.values():
                del pool[id]
        return list(pool.values())

    some_blind = 0.5 if any(one.kind == "blind" for one in bench.written) else 0.0
    settings = QuestionsSettings(quota={MODEL: n}, kinds={"fact": 1.0}, seed=seed, blind=some_blind)
    return [known[query.id] for query in choose_looking(look, settings).queries], len(looked)


def by_words(bench: Bench, n: int, target: Sequence[float]) -> list[Graded]:
    """n of the answered whose shares are nearest to the target's quantiles, one for each (sum of differences)."""
    questions = answered(bench.written)
    aims = np.quantile(target, (np.arange(n) + 0.5) / n, method="hazen")
    rows, _ = linear_sum_assignment(np.abs(np.array(target_of(bench, questions))[:, None] - aims[None, :]))
    return [questions[row] for row in rows]


def by_words_of_some(bench: Bench, cut: Bench, n: int, seed: int) -> Scores:
    """The same by eight of people's graded claims, which the seed draws. cut: whose grades count."""
    return cut.scores(by_words(cut, n, target_of(bench, drawn(bench.asked, N_EXPERTS, seed))))


def read(name: str, folder: Path, left_out: Sequence[str], work: Path) -> Bench:
    """The collection with all rankings; people's queries but those shown to the writer."""
    passages = {one.id: one for one in read_passages(folder / "corpus.jsonl")}
    people = read_people(folder / "queries.jsonl", folder / "qrels" / "test.tsv", passages, left_out)
    rows = read_records(work / NAME / f"{name}.jsonl", Graded)
    texts = list(dict.fromkeys([*people.texts.values(), *(one.text for one in rows)]))
    embedder = Embedder(OFFLINE_MODEL, EmbeddingCache(model_identity(OFFLINE_MODEL), CACHE / "embeddings"))
    rankings = rank(list(passages.values()), texts, language="en", embedder=embedder)
    experts = [one for one in rows if one.kind == EXPERT]
    written = [one for one in rows if one.kind != EXPERT]
    asked = read_records(path, Graded) if (path := work / NAME / f"{name}-people.jsonl").exists() else []
    return Bench(name, score(people, rankings), rankings, passages, written, experts, asked)


def whole_sets(bench: Bench, target: Sequence[float]) -> dict[str, Scores]:
    """Label to scores: every set without a draw, and those that seed 7 draws."""
    everything, told = bench.written, dict[str, Scores]()
    parts = {"all": everything}
    if not all(one.kept for one in everything):
        parts |= {"kept": [o for o in everything if o.kept], "rejected": [o for o in everything if not o.kept]}
    for name, part in parts.items():
        told[f"{name}, own"] = bench.scores_by_own(part)
        told[f"{name}, {ALL}"] = bench.scores(part)
    for pool in POOLS:
        some = bench.cut(pool)
        told[f"answered, {pool}"] = some.scores(answered(some.written))
    cut = bench.cut(DEFAULT)
    for n in (60, 100):
        if n < len(answered(cut.written)):
            told[f"{n} drawn, {DEFAULT}"] = cut.scored(n, SEEDS[0])
            told[f"{n} by words, {DEFAULT}"] = cut.scores(by_words(cut, n, target))
    if bench.asked:
        picked = graded_of_people(bench)
        told[f"{len(picked)} of people's, their labels"] = of_people(bench, picked)
        for pool in (DEFAULT, ALL):
            some = bench.cut(pool)
            told[f"the same {len(picked)}, {pool}"] = some.scores(some.asked)
            told[f"of these the answered, {pool}"] = some.scores(answered(some.asked))
    return told


def graded_of_people(bench: Bench) -> list[int]:
    """Where the hundred that were graded stand among people's queries."""
    ids = {one.id for one in bench.asked}
    return [at for at, query in enumerate(bench.people.clusters.queries) if query in ids]


def people_of(bench: Bench, n: int, seed: int) -> tuple[Scores, Scores]:
    """(n of people's own queries, the others)."""
    picked = random.Random(f"{seed}:people:{n}").sample(range(bench.people.n), n)
    return of_people(bench, picked), the_others(bench, picked)


def the_others(bench: Bench, picked: Sequence[int]) -> Scores:
    """All of people's queries but those."""
    return of_people(bench, sorted(set(range(bench.people.n)) - set(picked)))


def of_people(bench: Bench, picked: Sequence[int]) -> Scores:
    """Those of people's queries, by their labels."""
    names = [bench.people.clusters.queries[at] for at in picked]
    return Scores(bench.people.values[:, picked], Clusters.named(names, names))


def seeded_sets(bench: Bench, target: Sequence[float]) -> dict[str, Callable[[int], tuple[Scores, Scores]]]:
    """Label to what a seed gives: the scores, and those of people's that they are set beside."""
    everything, others = bench.written, dict[str, Callable[[int], tuple[Scores, Scores]]]()
    told = dict[str, Callable[[int], Scores]]()
    cuts = {pool: bench.cut(pool) for pool in POOLS}
    for n in SIZES:
        if n <= bench.people.n // 2:
            told[f"{n} of people's"] = lambda seed, n=n: people_of(bench, n, seed)[0]  # type: ignore[misc]
            others[f"{n} of people's, beside the others"] = partial(people_of, bench, n)
        if n < len(everything):
            told[f"{n} drawn of all, own"] = lambda seed, n=n: bench.scores_by_own(drawn(everything, n, seed))  # type: ignore[misc]
        if n < len(answered(cuts[DEFAULT].written)):
            for pool, some in cuts.items():
                told[f"{n} drawn, {pool}"] = partial(some.scored, n)
            words = cuts[DEFAULT].scores(by_words(cuts[DEFAULT], n, target))
            told[f"{n} by words, {DEFAULT}"] = lambda seed, words=words: words  # type: ignore[misc]
            if bench.asked:
                told[f"{n} by words of {N_EXPERTS} drawn, {DEFAULT}"] = partial(
                    by_words_of_some, bench, cuts[DEFAULT], n
                )
    if bench.asked:
        picked = graded_of_people(bench)
        good, rest = cuts[ALL].scores(answered(bench.asked)), the_others(bench, picked)
        others[f"the {len(picked)} graded, their labels, beside the others"] = lambda _: (
            of_people(bench, picked),
            rest,
        )
        others[f"of these the answered, {ALL}, beside the others"] = lambda _: (good, rest)
    return {label: lambda seed, make=make: (make(seed), bench.people) for label, make in told.items()} | others  # type: ignore[misc]


class Beside(NamedTuple):
    """A set beside people's: tau, shares of the pairs that people's decide, the place of its best."""

    tau: float
    decided: float
    contradicted: float
    place: float

    @classmethod
    def of(cls, scores: Scores, people: Scores) -> Beside:
        """Without intervals."""
        now = shares(decisions(people), decisions(scores))
        at = float(place(people.means, scores.means))
        return cls(float(tau_b(people.means, scores.means)), now.decided, now.contradicted, at)


def figure(one: Measured, name: str, percent: bool = False) -> str:
    """With its interval."""
    value, low, high = (getattr(getattr(one, name), key) for key in ("value", "ci_low", "ci_high"))
    if value is None:
        return ""
    told = "{:.1%}" if percent else "{:.2f}"
    return told.format(value) + (f" [{told.format(low)}, {told.format(high)}]" if low is not None else "")


def tell(bench: Bench) -> None:
    """Both tables of one collection, and what pools cost."""
    target = target_of(bench, bench.experts)
    whole = whole_sets(bench, target)
    blank = Words(np.zeros(bench.people.n), {label: np.zeros(scores.n) for label, scores in whole.items()})
    told = measure(list(bench.rankings), bench.people, whole, blank, RESAMPLES, SEEDS[0])
    first = next(iter(told.values()))
    own = target_of(bench, bench.written)
    print(f"**{bench.name}**: {bench.people.n} of people's queries decide {first.n_decided} of {first.n_pairs} pairs.")
    print(
        f"{len(bench.written)} written, {len(own)} answered by a passage; they share {np.mean(own):.2f} of their words"
    )
    print(f"with the best of these, {len(target)} questions of people's {np.mean(target):.2f}.\n")
    print("| questions, evidence | n | τ | decided | contradicted | its best stands at | worth |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for label, one in told.items():
        tau, place = figure(one, "tau"), f"{one.place.value:.0f}"
        ends = figure(one, "decided", True), figure(one, "contradicted", True)
        print(f"| {label} | {one.n} | {tau} | {ends[0]} | {ends[1]} | {place} | {worth(one)} |")
    seeded = seeded_sets(bench, target)
    tell_seeds({label: lambda seed, make=make: Beside.of(*make(seed)) for label, make in seeded.items()})
    cut = bench.cut(DEFAULT)
    most = max(n for n in SIZES if n < len(answered(cut.written)))
    tell_kinds(bench, most)
    for n in (n for n in SIZES if n <= most):
        pools = np.mean([looked_up(cut, n, seed)[1] for seed in SEEDS])
        print(f"\nTo draw {n} evidence was looked for of {pools:.1f} questions.")
    print("\n| pool | passages a question | input tokens a question | of grade 2 | of grade 1 |\n|---|--:|--:|--:|--:|")
    for pool in POOLS:
        print(cost(bench, pool))
    failed = sum(len(one.failed) for one in (*bench.written, *bench.experts))
    print(f"\nOf {sum(len(one.grades) for one in bench.written) + failed} passages {failed} could not be graded.\n")


def tell_kinds(bench: Bench, n: int) -> None:
    """By which pool fusions come how far ahead of the retrievers that fuse nothing, and the order among the latter."""
    fuse = np.array([name.startswith("by ") for name in bench.rankings])

    def ahead(means: Floats) -> float:
        return float(means[fuse].mean() - means[~fuse].mean())

    people = bench.people.means
    print(f"\n| {n} drawn | mean of fusions less that of the others | τ among the others |\n|---|--:|--:|")
    print(f"| people's, all | {ahead(people):.3f} | |")
    for pool in POOLS:
        cut = bench.cut(pool)
        drawn_means = [cut.scored(n, seed).means for seed in SEEDS]
        taus = [float(tau_b(people[~fuse], means[~fuse])) for means in drawn_means]
        print(f"| {pool} | {np.mean([ahead(means) for means in drawn_means]):.3f} | {np.mean(taus):.2f} |")


def tell_seeds(makers: Mapping[str, Callable[[int], Beside]]) -> None:
    """A row each: means over the seeds, and percentiles."""
    print(f"\n| {len(SEEDS)} seeds | τ | decided | contradicted, worst | its best is people's | its best stands at |")
    print("|---|--:|--:|--:|--:|--:|")
    for label, make in makers.items():
        rows = np.array([make(seed) for seed in SEEDS])
        mean, ends = rows.mean(axis=0), np.percentile(rows, [2.5, 97.5], axis=0)
        tau = f"{mean[0]:.2f} [{ends[0, 0]:.2f}, {ends[1, 0]:.2f}]"
        decided = f"{mean[1]:.1%} [{ends[0, 1]:.1%}, {ends[1, 1]:.1%}]"
        wrong, is_best = f"{mean[2]:.1%}, {rows[:, 2].max():.1%}", f"{(rows[:, 3] == 1).mean():.0%}"
        print(f"| {label} | {tau} | {decided} | {wrong} | {is_best} | {mean[3]:.1f} |")


def cost(bench: Bench, pool: Pool) -> str:
    """The row of one pool; tokens are those of the passages, without the instructions."""
    pools = [pool.ids(one) for one in bench.written]
    tokens = {id: count_tokens(indexed_text(bench.passages[id])) for ids in pools for id in ids}
    n, size = len(pools), sum(map(len, pools))
    asked = sum(tokens[id] for ids in pools for id in ids) / n
    grades = [list(one.grades.values()) for one in bench.cut(pool).written]
    two, one = (sum(row.count(grade) for row in grades) / n for grade in (2, 1))
    return f"| {pool} | {size / n:.1f} | {asked:.0f} | {two:.1f} | {one:.1f} |"


def worth(one: Measured) -> str:
    """How many of people's queries order the retrievers as well."""
    bound = {"more than": "above ", "fewer than": "below "}.get(str(one.worth.bound or ""), "")
    low, high = (("" if end is None else f"{end:.0f}") for end in (one.worth.ci_low, one.worth.ci_high))
    return f"{bound}{one.worth.value:.0f} [{low or 'open'}, {high or 'open'}]"


def main(scifact: Path, pdfs: Path, *, work: Path = WORK) -> int:
    """Print the tables; 3 where replies are awaited."""
    if status := graded(scifact, pdfs, work=work):
        return status
    print()
    experts = [one.id for one in read_records(work / NAME / "faqs.jsonl", Graded) if one.kind == EXPERT]
    tell(read("scifact", scifact, (), work))
    tell(read("faqs", work / NAME / "faqs-collection", experts, work))
    print(f"{WHO_JUDGED}, and wrote: one family of models did both. Intervals: 95%.")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
