"""The variant that leads the screening: how sure that is, and its figures before and after the luck of being chosen."""

from __future__ import annotations

from ragassay.arrays import Truths
from ragassay.records import Figure
from ragassay.text import listed, plain

from ..inputs.clusters import Clusters
from ..statistics.ladder import FEWEST_SECTIONS
from .cross_fit import SPLITS, Choices
from .mean_figures import UNIT, mean_figures
from .records import BeforeAfter, ChosenVariant
from .screened import Screened

_NAMED = 3


def chosen_variant(screened: Screened, worse: Truths, baseline: int | None, seed: int) -> ChosenVariant | None:
    """Of those that can be ranked, the first; None where none can. worse: (variants,), told to be worse than it."""
    ranked, values, names = screened.ranked, screened.values, screened.names
    if not len(ranked):
        return None
    best, second = int(ranked[0]), int(ranked[1]) if len(ranked) > 1 else None
    choices = Choices.of(screened.field, screened.by_cost, screened.clusters, seed)
    mean = BeforeAfter(before=mean_figures(values[[best]], screened.clusters)[0], after=choices.mean(values, UNIT))
    lead = over = None
    if second is not None:
        lead = BeforeAfter(before=_lead(screened, best, second), after=choices.lead(values, UNIT))
    if baseline is not None and baseline != best:
        over = BeforeAfter(before=_lead(screened, best, baseline), after=choices.lead_over(baseline, values, UNIT))
    others = [at for at in ranked.tolist() if at != best]
    untold = [names[at] for at in others if not worse[at]]
    sure = bool(others) and not untold
    return ChosenVariant(
        name=names[best],
        runner_up=None if second is None else names[second],
        baseline=None if baseline is None else names[baseline],
        mean=mean,
        lead=lead,
        lead_over_baseline=over,
        n_splits=SPLITS,
        sure=sure,
        untold=tuple(untold),
        sentence=_sentence(screened, names[best], mean, untold, len(others)),
    )


def _lead(screened: Screened, one: int, other: int) -> Figure:
    gaps = screened.values[[one]] - screened.values[[other]]
    return mean_figures(gaps, screened.clusters, (-1.0, 1.0), difference=True)[0]


def _sentence(screened: Screened, best: str, mean: BeforeAfter, untold: list[str], n_others: int) -> str:
    name, of = plain(best), plain(screened.quality)
    if not n_others:
        return f"{name} is the only variant that can be ranked: its {of} is {_said(mean.before)}."
    honest = f" Chosen on half of the sections and measured on the other half, it is {_said(mean.after)}."
    few = _too_few(screened.clusters)
    if not untold:
        told = "the other" if n_others == 1 else f"each of the {n_others} others"
        return f"{name} is the best by {of}, told from {told}: {_said(mean.before)}.{honest}"
    why = few or f"cannot be told from {_some(untold, n_others)}"
    return f"{name} leads by {of} with {_said(mean.before)}, but {why}.{honest}"


def _too_few(clusters: Clusters) -> str:
    n = int((clusters.sizes > 0).sum())
    return f"the queries come from {n} section{'s' if n > 1 else ''}, too few to be sure" if n < FEWEST_SECTIONS else ""


def _some(untold: list[str], n_others: int) -> str:
    if len(untold) <= _NAMED:
        return listed([plain(name) for name in untold])
    return f"{len(untold)} of the {n_others} others"


def _said(figure: Figure) -> str:
    """`.62 (.55 to .70)`."""
    if figure.value is None:
        return "not known"
    if figure.ci_low is None or figure.ci_high is None:
        return f"{figure.value:.2f}"
    return f"{figure.value:.2f} ({figure.ci_low:.2f} to {figure.ci_high:.2f})"
