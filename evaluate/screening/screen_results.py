"""The screening's record from what was measured: figures, finalists, the chosen variant, effects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.errors import InputError
from ragassay.records import Figure
from ragassay.text import listed, plain

from ..inputs.clusters import Clusters
from ..statistics.ladder import holm_from_leader
from .chosen import chosen_variant
from .crossed import crossed
from .effects import setting_effects
from .finalists import finalists
from .front import front
from .mean_figures import mean_figures
from .records import ChosenVariant, ScreenResults, SettingEffect, VariantFigures
from .screened import Screened

PLACES = 6
SEED = 7


def screen_results(
    screened: Screened, *, places: int = PLACES, baseline: str | None = None, seed: int = SEED
) -> ScreenResults:
    """What `screen.json` says. places: how many finalists at most. baseline: a variant that is one of them.

    The order of variants and queries makes no difference but to the order of `variants`. Raises InputError for a
    baseline that is none of the variants.
    """
    at = _place_of(baseline, screened)
    on_front = front(screened)
    ranked, worse = screened.ranked, np.zeros(len(screened.names), dtype=bool)
    if len(ranked):
        worse[ranked[1:]] = _told(screened.values[ranked], screened.clusters, seed)
    best = chosen_variant(screened, worse, at, seed)
    effects = setting_effects(screened.values, crossed(screened.names, screened.settings), screened.clusters)
    going_on = [screened.names[each] for each in finalists(screened, on_front, places, at)]
    return ScreenResults(
        quality=screened.quality,
        n_queries=len(screened.clusters.queries),
        n_sections=len(screened.clusters.names),
        variants=_variants(screened, on_front),
        finalists=tuple(going_on),
        chosen=best,
        effects=effects,
        said=_said(screened, best, on_front, going_on, effects),
    )


def _told(values: Floats, clusters: Clusters, seed: int) -> Truths:
    """(others,): from which the first of `values` (variants, queries), best first, is told to be better.

    Its own failures count as the worst value, 0, too: they do not pay.
    """
    failed = np.isnan(values[0]) & ~np.isnan(values).all(axis=0)
    worst = np.where(failed, 0.0, values[0]) - values[1:] if failed.any() else None
    return holm_from_leader(values, clusters, seed, worst).told


def _place_of(baseline: str | None, screened: Screened) -> int | None:
    if baseline is None:
        return None
    if baseline not in screened.names:
        raise InputError(
            f"there is no variant '{plain(baseline)}' that could be the baseline",
            remedy="name one of the variants that `ragassay plan` lists",
        )
    return list(screened.names).index(baseline)


def _variants(screened: Screened, on_front: Truths) -> tuple[VariantFigures, ...]:
    columns = {name: mean_figures(values, screened.clusters) for name, values in screened.measures.items()}
    columns["tokens"] = mean_figures(screened.tokens, screened.clusters, None)
    costs = {name: getattr(screened, name) for name in ("latency_p50_s", "latency_p95_s", "index_s")}
    return tuple(
        VariantFigures.model_validate(
            {
                "name": name,
                "settings": dict(screened.settings[at]),
                **{measure: column[at] for measure, column in columns.items()},
                **{cost: _known(values[at]) for cost, values in costs.items()},
                "index_bytes": None if (size := _known(screened.index_bytes[at])) is None else round(size),
                "on_front": bool(on_front[at]),
            }
        )
        for at, name in enumerate(screened.names)
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _said(
    screened: Screened,
    chosen: ChosenVariant | None,
    on_front: Truths,
    going_on: Sequence[str],
    effects: Sequence[SettingEffect],
) -> tuple[str, ...]:
    """The chosen one, its lead, who goes on, the front, what matters and what does not."""
    if chosen is None:
        return ("No variant has a value on half of the queries, so that none can be chosen.",)
    n, others = len(screened.names), sum(on_front)
    front = f"{others} of {n} variants {'is' if others == 1 else 'are'} on the front of quality, latency and tokens."
    finalists = f"To answers and games: {listed([plain(name) for name in going_on])}."
    return (chosen.sentence, *_leads(chosen), finalists, front, *_what_matters(effects))


def _what_matters(effects: Sequence[SettingEffect]) -> Iterator[str]:
    """A sentence for each setting that matters, and one for all others."""
    yield from (effect.sentence for effect in effects if effect.matters)
    others = [f"{effect.setting} ({effect.among})" for effect in effects if not effect.matters]
    if others:
        yield f"Not told to matter: {listed([plain(other) for other in others])}."


def _leads(chosen: ChosenVariant) -> Iterator[str]:
    rows = ((chosen.runner_up, chosen.lead), (chosen.baseline, chosen.lead_over_baseline))
    for place, (other, lead) in enumerate(rows):
        if other is None or lead is None or lead.before.value is None or lead.after.value is None:
            continue
        which = f"{'the baseline' if place else 'the second'}, {plain(other)},"
        before, after = f"{lead.before.value:.3f}", _lead(lead.after)
        yield f"Its lead over {which} is {before} on the queries that chose, {after} on others."


def _lead(after: Figure) -> str:
    ends = None in (after.ci_low, after.ci_high)
    return f"{after.value:.3f}" + ("" if ends else f" ({after.ci_low:.3f} to {after.ci_high:.3f})")
