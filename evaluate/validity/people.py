"""People: does the written set order the variants as people's own questions do, and how many of those is it worth?

Everything is resampled by whole clusters on both sides. A resample adds noise of its own to either order, so that the
intervals of tau-b and rho lie low rather than high.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from ragassay.arrays import Floats, Ints
from ragassay.records import Figure

from ..agreement.estimates import bootstrap_interval, draws, rank_interval
from ..statistics.clustered import estimate
from ..statistics.orders import loss, pairs, place, rho, tau_b
from ..statistics.paired_comparison import LEVEL, t_p
from ..statistics.resamples import rounded
from .questions import Measured, Question, Scores
from .records import NO_SCREENING, OrdersBeside, People, Worth, above, few, shown

FEWEST_PEOPLE = 10
"""Questions of either kind, and half as many clusters, below which the two orders are not compared."""
RESAMPLES = 100
WORTH_RESAMPLES, WORTH_SPLITS, WORTH_VARIANTS = 40, 300, 30
"""Of more variants, so many drawn at random say what the set is worth: pairs grow with the square."""
WRONG_WAY = 0.05
"""A share of contradicted pairs that is warned of."""
Basis = Literal["evidence", "judge", "section"]


def people(questions: Sequence[Question], measured: Mapping[Basis, Measured], seed: int) -> People:
    """Everything the page says of it. measured: by what answers are held against, both kinds of questions in one."""
    if not any(question.author is None for question in questions):
        return People(abstained="No query is a person's own, so the order by people's questions is not known.")
    if not measured:
        return People(abstained=NO_SCREENING)
    found, missing = list[OrdersBeside](), list[str]()
    for basis, one in measured.items():
        real, ours = (_side(one, questions, of_people) for of_people in (True, False))
        if few := _too_few(real, ours, len(one.names)):
            missing.append(f"By {_NAMED[basis]} the two orders are not compared: {few}.")
        else:
            found.append(_beside(basis, one, real, ours, seed))
    warnings = []
    for wrong in (one.figures["contradicted"] for one in found):
        if (wrong.value or 0.0) > WRONG_WAY and (wrong.ci_low is None or wrong.ci_low > 0):
            warnings.append(f"Written questions contradict people's in {shown(wrong)} of the pairs that both decide.")
    return People(
        beside=tuple(found),
        said=tuple(sentence for one in found for sentence in _said(one)),
        warnings=tuple(warnings),
        abstained=" ".join(missing) or None,
    )


_NAMED: Mapping[Basis, str] = {
    "evidence": "the evidence",
    "judge": "the judge's labels",
    "section": "the section that a written question came from",
}


def _side(measured: Measured, questions: Sequence[Question], of_people: bool) -> Scores:
    """The questions of one kind that every variant has a value on; the others, also without evidence, are failed."""
    asked = [question.id for question in questions if (question.author is None) == of_people]
    part = measured.only(asked).complete()
    return Scores(part.values, part.clusters, len(asked) - len(part.clusters.queries))


def _too_few(real: Scores, ours: Scores, n_variants: int) -> str | None:
    for name, side in (("people's", real), ("the written", ours)):
        n, sections = side.n, side.n_clusters
        if n < FEWEST_PEOPLE or sections < FEWEST_PEOPLE // 2:
            many = f"{n} of {name} questions {'has' if n == 1 else 'have'} a value of every variant"
            return f"{many} (from {sections} sections), and it takes {FEWEST_PEOPLE} (from {FEWEST_PEOPLE // 2})"
    return "there are fewer than two variants" if n_variants < 2 else None


class _Drawn(NamedTuple):
    """Means (variants,) and decisions (pairs,) of one side, and of each draw of its clusters."""

    means: Floats
    drawn: Floats
    decided: Floats
    drawn_decided: Floats

    @classmethod
    def of(cls, scores: Scores, seed: int) -> _Drawn:
        weights = draws(scores.n_clusters, RESAMPLES, seed).astype(np.intp)
        drawn = np.array([decisions(scores, row) for row in weights])
        return cls(scores.means, scores.drawn_means(weights), decisions(scores), drawn)


def _beside(basis: Basis, measured: Measured, real: Scores, ours: Scores, seed: int) -> OrdersBeside:
    one, other = _Drawn.of(real, seed), _Drawn.of(ours, seed + 1)
    drawn = np.sort(np.random.default_rng(seed).permutation(len(real.values))[:WORTH_VARIANTS])
    some_real, some_ours = (Scores(side.values[drawn], side.clusters, side.n_failed) for side in (real, ours))
    by_tau, by_loss = worth(some_real, {"": some_ours}, seed, WORTH_RESAMPLES, WORTH_SPLITS)[""]
    return OrdersBeside(
        basis=basis,
        n_real=real.n,
        n_real_failed=real.n_failed,
        n_written=ours.n,
        n_written_failed=ours.n_failed,
        n_variants=len(measured.names),
        n_pairs=len(one.decided),
        n_decided=int((one.decided != 0).sum()),
        figures=_figures(one, other, len(measured.names), min(real.n_clusters, ours.n_clusters)),
        best_real=measured.best(real.means),
        best_written=measured.best(ours.means),
        worth=by_tau,
        worth_by_loss=by_loss,
        n_worth_variants=len(drawn),
    )


def _figures(one: _Drawn, other: _Drawn, n: int, n_units: int) -> dict[str, Figure]:
    """n: variants. one: people's side."""

    def order(function: Callable[[Floats, Floats], Floats]) -> Figure:
        value = float(function(one.means, other.means))
        if np.isnan(value):
            return Figure(value=None, n=n)
        return rounded(value, n, 0, *rank_interval(value, function(one.drawn, other.drawn), n_units))

    def of_chosen(function: Callable[[Floats, Floats], Floats], low: float, high: float) -> Figure:
        return clipped(float(function(one.means, other.means)), function(one.drawn, other.drawn), low, high, n)

    def clipped(value: float, drawn: Floats, low: float, high: float, count: int) -> Figure:
        if np.isnan(value):
            return Figure(value=None, n=count)
        ends = bootstrap_interval(value, drawn, n_units, bounded=False)
        return rounded(value, count, 0, *(None if end is None else float(np.clip(end, low, high)) for end in ends))

    now = shares(one.decided, other.decided)
    drawn = [shares(*row) for row in zip(one.drawn_decided, other.drawn_decided, strict=True)]
    both = {name: np.array([getattr(row, name) for row in drawn]) for name in ("decided", "contradicted")}
    return {
        "tau_b": order(tau_b),
        "rho": order(rho),
        "loss": of_chosen(loss, 0.0, 1.0),
        "place": of_chosen(place, 1.0, float(n)),
        "decided": clipped(now.decided, both["decided"], 0.0, 1.0, now.n),
        "contradicted": clipped(now.contradicted, both["contradicted"], 0.0, 1.0, now.found),
    }


def _said(one: OrdersBeside) -> Iterator[str]:
    figures = one.figures
    yield (
        f"By {_NAMED[one.basis]}, {one.n_written} of {one.n_written + one.n_written_failed} written questions and "
        f"{one.n_real} of {one.n_real + one.n_real_failed} of people's order {one.n_variants} variants with a τ-b of "
        f"{shown(figures['tau_b'])} and a ρ of {shown(figures['rho'])}."
    )
    if not above(figures["tau_b"]):
        yield "That the two orders agree more than chance would have it is not told by so few questions."
    yield (
        f"People's questions decide {one.n_decided:,} of {one.n_pairs:,} pairs; of these the written ones decide "
        f"{shown(figures['decided'])}, and of those {shown(figures['contradicted'])} the other way round."
    )
    yield (
        f"Written questions choose {few(one.best_written)}, people's {few(one.best_real)}: that loses "
        f"{shown(figures['loss'])} by people's questions, where it stands at place {shown(figures['place'])}."
    )
    if one.worth is not None and one.worth.value is not None:
        bound = f"{one.worth.bound} " if one.worth.bound else ""
        ends = f"{one.worth.ci_low or one.worth.smallest:g} to {one.worth.ci_high or f'more than {one.worth.largest}'}"
        yield f"By τ-b the written set is worth {bound}{one.worth.value:g} of people's questions ({ends})."


class Shares(NamedTuple):
    """n: pairs that people's queries decide. found: how many of them the other set decides too. opposite: of those, how
    many the other way round."""

    n: int
    found: int
    opposite: int

    @property
    def decided(self) -> float:
        """The share found; NaN where there is none to be found."""
        return self.found / self.n if self.n else np.nan

    @property
    def contradicted(self) -> float:
        """The share of those found that is opposite; NaN where none was found."""
        return self.opposite / self.found if self.found else np.nan


def decisions(scores: Scores, weights: Ints | None = None) -> Floats:
    """(pairs,): 1 where the first of two is decided to be better, -1 the second, 0 where it is left open.

    Decided is what has p below 5% in the paired t-test over the queries, clustered where they share a source. There is
    no correction for the number of pairs: what is asked is not whether some pair differs, but how one set of queries
    does what another does. A pair without any spread is open. weights: (clusters,) how often each cluster was drawn;
    each once by default.
    """
    first, second = pairs(len(scores.values))
    drawn = np.arange(scores.n_clusters) if weights is None else np.repeat(np.arange(scores.n_clusters), weights)
    sizes = scores.clusters.sizes[drawn]
    found = estimate((scores.sums[first] - scores.sums[second])[:, drawn], sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = t_p(found, int(sizes.sum()))
    return np.where(p < LEVEL, np.sign(found.value), 0.0)


def shares(people: Floats, other: Floats) -> Shares:
    """From what both decide, (pairs,) each."""
    of_people = people != 0
    both = of_people & (other != 0)
    return Shares(int(of_people.sum()), int(both.sum()), int((both & (people != other)).sum()))


# How many of people's queries the set is worth.
SMALLEST, N_SIZES = 5, 12
WHOLE_SPLITS, WHOLE_RESAMPLES, RESAMPLED_SPLITS = 2000, 200, 50


def worth(
    people: Scores,
    written: Mapping[str, Scores],
    seed: int,
    resamples: int = WHOLE_RESAMPLES,
    splits: int = WHOLE_SPLITS,
) -> dict[str, tuple[Worth, Worth]]:
    """Kind of question to what its questions are worth by tau, and by the loss of the retriever chosen.

    A sample of n of people's queries is set against the rest of them, which are the truth for it, and the written set
    against the same rest. n is where the sample, on average, comes as near to the truth as the written set does: by
    tau, or by what choosing the best retriever loses. No query is in sample and truth at once, and n goes up to half of
    them.

    The interval holds each n at which the two cannot be told apart: the mean difference at n, plus and minus Student's
    quantile times its standard error, from resampling both sets, crosses 0 there. A query drawn several times is on one
    side only, with all its copies.
    """
    sizes = sample_sizes(people.n)
    means = {kind: scores.means for kind, scores in written.items()}
    found = _leads(people, np.ones(people.n, np.intp), means, sizes, splits, seed)
    drawn_means = {k: of.drawn_means(draws(of.n_clusters, resamples, seed + 1)) for k, of in written.items()}
    drawn = [
        _leads(people, weights, {k: of[b] for k, of in drawn_means.items()}, sizes, RESAMPLED_SPLITS, seed + b)
        for b, weights in enumerate(draws(people.n, resamples, seed).astype(np.intp))
    ]
    told = {}
    for kind, scores in written.items():
        leads = zip(found[kind], np.array([row[kind] for row in drawn]).swapaxes(0, 1), strict=True)
        by_tau, by_loss = (_worth_at(sizes, lead, of_draws, people, scores) for lead, of_draws in leads)
        told[kind] = by_tau, by_loss
    return told


def sample_sizes(n: int) -> Ints:
    """From 5 to half of `n` queries, evenly on the logarithm."""
    return np.unique(np.round(np.geomspace(SMALLEST, n // 2, N_SIZES)).astype(np.intp))


def crossing(sizes: Ints, lead: Floats) -> float | None:
    """Where `lead` first comes to 0 from below, linearly on the logarithm of sizes; None where it never does.

    The first size where it is not below 0 there already.
    """
    reached = np.flatnonzero(lead >= 0)
    if not len(reached):
        return None
    if not (k := int(reached[0])):
        return float(sizes[0])
    share = -lead[k - 1] / (lead[k] - lead[k - 1])
    return float(np.exp(np.log(sizes[k - 1]) + share * np.log(sizes[k] / sizes[k - 1])))


def _leads(
    people: Scores, weights: Ints, written: Mapping[str, Floats], sizes: Ints, splits: int, seed: int
) -> dict[str, Floats]:
    """Kind to by how much samples do better than the written set, below 0 where worse: (2, sizes), by tau and by loss.

    weights: (queries,) how often each of people's is there; written: kind to means. NaN where no lead is defined.
    """
    generator = np.random.default_rng(seed)
    found: dict[str, list[list[float]]] = {kind: [] for kind in written}
    for size in sizes.tolist():
        sample, truth = _split(people, weights, size, splits, generator)
        own = tau_b(sample, truth), loss(truth, sample)
        for kind, means in written.items():
            leads = own[0] - tau_b(means, truth), loss(truth, means) - own[1]
            known = [lead[np.isfinite(lead)] for lead in leads]
            found[kind].append([float(lead.mean()) if len(lead) else np.nan for lead in known])
    return {kind: np.array(rows).T for kind, rows in found.items()}


def _split(
    people: Scores, weights: Ints, size: int, splits: int, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """(splits, retrievers) twice: the means of a random sample of about `size` queries, and those of the rest.

    Exactly `size` where every query is there once.
    """
    there = np.flatnonzero(weights)
    order = there[generator.random((splits, len(there))).argsort(axis=1)]
    taken = np.cumsum(weights[order], axis=1)
    taken = (taken <= size) | (taken == taken[:, :1])
    counts = np.zeros((splits, people.n))
    np.put_along_axis(counts, order, np.where(taken, weights[order], 0).astype(np.float64), axis=1)
    rest = weights - counts
    means = [part @ people.values.T / part.sum(axis=1, keepdims=True) for part in (counts, rest)]
    return means[0], means[1]


def _worth_at(sizes: Ints, lead: Floats, drawn: Floats, people: Scores, written: Scores) -> Worth:
    from scipy.special import stdtrit

    sides = {"n": people.n, "n_failed": people.n_failed, "smallest": int(sizes[0]), "largest": int(sizes[-1])}
    if not np.isfinite(lead).all():
        return Worth(value=None, **sides)
    df = min(people.n, written.n_clusters) - 1
    reach = float(stdtrit(df, 0.975)) * np.nanstd(drawn, axis=0) if df > 0 else np.full(len(sizes), np.inf)
    value, low, high = crossing(sizes, lead), crossing(sizes, lead + reach), crossing(sizes, lead - reach)
    bound: Literal["fewer than", "more than"] | None = None
    if value is None or lead[0] >= 0:
        bound = "more than" if value is None else "fewer than"
    return Worth(
        value=round(value, 1) if value is not None else float(sizes[-1]),
        bound=bound,
        ci_low=None if low is None or low <= sizes[0] else round(low, 1),
        ci_high=None if high is None else round(high, 1),
        **sides,
    )
