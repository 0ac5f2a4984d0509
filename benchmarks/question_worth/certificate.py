"""How often `ragassay certify` decides what all of people's queries do, from a few of them, and how often against them.

    python -m benchmarks.question_worth.certificate COLLECTION QUESTIONS.jsonl [--kinds A,B]

COLLECTION and QUESTIONS.jsonl are those of `benchmarks.question_worth`, and so are the retrievers, with four more
fusions by weight, near ties of the others: 30. A random sample of people's queries and the written ones of a kind give
a certificate, again and again. Of the pairs that all of people's queries find significant (paired t-test, p below 5%,
not corrected): `decided`, how many the certificate decides; `contradicted`, how many of these the other way round.
Of all pairs that it decides: `wrong`, how many are not in the order of all of people's means; `stated`, how many it
expects to be wrong. `sample alone` is what the t-test of the sample decides and contradicts. `worth` is how many real
queries the certificate takes the written ones for. `matched`: how far (squared correlation, mean over the leading axes)
a written question's values go with those of a real one about the same passage: what a control variate would save.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.question_worth.__main__ import CACHE
from benchmarks.question_worth.collection import ALL, Asked, asked, by_kind, read_passages, read_people, read_questions
from benchmarks.question_worth.retrievers import WEIGHTS, rank
from benchmarks.question_worth.scores import score
from ragassay.arrays import Floats
from ragassay.errors import RagassayError
from ragassay.evaluate.certificate.axes import axes_of
from ragassay.evaluate.certificate.decided import decide
from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.statistics.orders import pairs
from ragassay.evaluate.validity.decided import decisions, shares
from ragassay.evaluate.validity.scores import Scores
from ragassay.models.encoders import OFFLINE_MODEL
from ragassay.retrieval.rankers.embedding import Embedder, model_identity
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache

MORE_WEIGHTS = (0.2, 0.4, 0.6, 0.8)
SIZES = (30, 10)
HEADER = "| questions | real | decided | contradicted | wrong | stated | worth | sample alone | matched |"


def row(people: Scores, written: Scores, size: int, redraws: int, seed: int = 7) -> list[float]:
    """decided, contradicted, wrong, stated, worth, and the sample's decided and contradicted; means over redraws."""
    truth, rng, found = decisions(people), np.random.default_rng(seed), []
    first, second = pairs(len(people.values))
    order = np.sign(people.means[first] - people.means[second])
    for redraw in range(redraws):
        sample = people.values[:, rng.choice(people.n, size, replace=False)]
        certified = decide(sample, written.values, written.clusters, seed=redraw)
        ours = shares(truth, certified.decided)
        alone = shares(truth, decisions(Scores(sample, clusters_of_rows([str(at) for at in range(size)]))))
        some = certified.decided != 0
        wrong = float((certified.decided[some] != order[some]).mean()) if some.any() else np.nan
        figures = (ours.decided, ours.contradicted, wrong, certified.expected_wrong, certified.worth[0])
        found.append((*figures, alone.decided, alone.contradicted))
    return np.nanmean(np.array(found), axis=0).tolist()  # type: ignore[no-any-return]


def matched(people: Asked, of_people: Scores, questions: Asked, of_questions: Scores) -> tuple[float, int]:
    """The squared correlation, and of how many pairs of a real query and a question about the same passage."""
    about = {passage: at for at, query in enumerate(questions.texts) for passage in questions.qrels[query]}
    both = [(at, about[p]) for at, q in enumerate(people.texts) for p in people.qrels[q] if p in about]
    if len(both) < 30:
        return np.nan, len(both)
    axes = axes_of(of_people.values, of_people.values, of_people.clusters)
    turned = np.linalg.pinv(axes.loadings.T)[axes.leading]
    one, other = (turned @ side[:, [pair[at] for pair in both]] for at, side in _sides(of_people, of_questions))
    return float(np.mean([np.corrcoef(a, b)[0, 1] ** 2 for a, b in zip(one, other, strict=True)])), len(both)


def _sides(people: Scores, written: Scores) -> list[tuple[int, Floats]]:
    return [(0, people.values), (1, written.values)]


def lines(people: Asked, kinds: dict[str, Asked], scores: dict[str, Scores], redraws: int) -> Sequence[str]:
    """The table. scores: by kind, and of people's under ''."""
    of_people = scores[""]
    told = [
        f"{of_people.n} of people's queries, {len(of_people.values)} retrievers, of {len(decisions(of_people))} pairs "
        f"{int((decisions(of_people) != 0).sum())} significant; {redraws} redraws\n",
        HEADER,
        "|---" * 9 + "|",
    ]
    for kind, questions in kinds.items():
        alike, n = matched(people, of_people, questions, scores[kind])
        shown = f"{alike:.2f} of {n}" if np.isfinite(alike) else "–"
        for size in SIZES:
            *rates, worth, alone, against = row(of_people, scores[kind], size, redraws)
            cells = " | ".join(f"{rate:.1%}" for rate in rates)
            told.append(
                f"| {kind}, {scores[kind].n} | {size} | {cells} | {worth:.0f} | {alone:.1%}, {against:.1%} | {shown} |"
            )
    return told


def measured(options: argparse.Namespace) -> Sequence[str]:
    """The lines to print. Raises InputError."""
    folder = options.collection
    passages = {passage.id: passage for passage in read_passages(folder / "corpus.jsonl")}
    people = read_people(folder / "queries.jsonl", folder / "qrels" / "test.tsv", passages)
    groups = by_kind(read_questions(options.questions, passages))
    wanted = options.kinds or [kind for kind in groups if kind != ALL]
    kinds = {kind: asked(groups[kind]) for kind in wanted}
    rankings = rank(
        list(passages.values()),
        list(dict.fromkeys(text for side in (people, *kinds.values()) for text in side.texts.values())),
        language="en",
        embedder=Embedder(OFFLINE_MODEL, EmbeddingCache(model_identity(OFFLINE_MODEL), CACHE / "embeddings")),
        weights=sorted((*WEIGHTS, *MORE_WEIGHTS)),
        progress=lambda name: print(f"ranked: {name}", file=sys.stderr),
    )
    scores = {kind: score(side, rankings) for kind, side in (("", people), *kinds.items())}
    return lines(people, kinds, scores, options.redraws)


def main(arguments: Sequence[str]) -> int:
    """Print the table; 2 and one sentence where something given cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.question_worth.certificate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("collection", type=Path, metavar="COLLECTION")
    parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl")
    parser.add_argument("--kinds", type=lambda text: text.split(","), metavar="A,B", help="default: every kind")
    parser.add_argument("--redraws", type=int, default=200, help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        print("\n".join(measured(options)))
    except RagassayError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
