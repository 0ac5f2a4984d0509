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
from ragassay.text import listed, plain

from ..agreement.estimates import bootstrap_interval, draws, rank_interval
from ..statistics.clustered import estimate
from ..statistics.orders import loss, pairs, place, rho, tau_b
from ..statistics.paired_comparison import LEVEL, t_p
from ..statistics.resamples import rounded
from .questions import Measured, Question, Scores
from .records import NO_SCREENING, OrdersBeside, People, above, shown
from .worth import Worth, worth

# A pair is decided where the paired t-test over the queries, clustered where they share a source, has p below 5%. There
# is no correction for the number of pairs: what is asked is not whether some pair differs, but how one set of queries
# does what another does.


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

    weights: (clusters,) how often each cluster was drawn; each once by default. A pair without any spread is open.
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
    return People(
        beside=tuple(found),
        said=tuple(sentence for one in found for sentence in _said(one)),
        warnings=tuple(sentence for one in found for sentence in _warnings(one)),
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
    by_tau, by_loss, n_worth = _worth(real, ours, seed)
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
        n_worth_variants=n_worth,
    )


def _figures(one: _Drawn, other: _Drawn, n: int, n_units: int) -> dict[str, Figure]:
    """n: variants. one: people's side."""

    def order(function: Callable[[Floats, Floats], Floats]) -> Figure:
        value = float(function(one.means, other.means))
        if np.isnan(value):
            return Figure(value=None, n=n)
        return rounded(value, n, 0, *rank_interval(value, function(one.drawn, other.drawn), n_units))

    def of_chosen(function: Callable[[Floats, Floats], Floats], low: float, high: float) -> Figure:
        return _clipped(float(function(one.means, other.means)), function(one.drawn, other.drawn), low, high, n)

    def _clipped(value: float, drawn: Floats, low: float, high: float, count: int) -> Figure:
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
        "decided": _clipped(now.decided, both["decided"], 0.0, 1.0, now.n),
        "contradicted": _clipped(now.contradicted, both["contradicted"], 0.0, 1.0, now.found),
    }


def _worth(real: Scores, ours: Scores, seed: int) -> tuple[Worth, Worth, int]:
    n = len(real.values)
    drawn = np.sort(np.random.default_rng(seed).permutation(n)[:WORTH_VARIANTS])
    sides = [Scores(side.values[drawn], side.clusters, side.n_failed) for side in (real, ours)]
    found = worth(sides[0], {"": sides[1]}, seed, WORTH_RESAMPLES, WORTH_SPLITS)[""]
    return *found, len(drawn)


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
        f"Written questions choose {_few(one.best_written)}, people's {_few(one.best_real)}: that loses "
        f"{shown(figures['loss'])} by people's questions, where it stands at place {shown(figures['place'])}."
    )
    if one.worth is not None and one.worth.value is not None:
        bound = f"{one.worth.bound} " if one.worth.bound else ""
        ends = f"{one.worth.ci_low or one.worth.smallest:g} to {one.worth.ci_high or f'more than {one.worth.largest}'}"
        yield f"By τ-b the written set is worth {bound}{one.worth.value:g} of people's questions ({ends})."


def _warnings(one: OrdersBeside) -> Iterator[str]:
    wrong = one.figures["contradicted"]
    by_chance = wrong.ci_low is not None and wrong.ci_low <= 0
    if wrong.value is not None and wrong.value > WRONG_WAY and not by_chance:
        yield f"Written questions contradict people's in {shown(wrong)} of the pairs that both decide."


def _few(names: Sequence[str]) -> str:
    return f"one of {len(names)} that are level" if len(names) > 3 else listed([plain(name) for name in names])
