"""Agreement of judges with people, every figure with its interval: what `ragassay agree` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from pydantic import Field

from ragassay.arrays import Floats, Ints
from ragassay.errors import InputError
from ragassay.records import Figure, Record
from ragassay.text import plain

from ..inputs.clusters import Clusters, clusters_of_rows
from ..statistics.clustered import interval
from .coefficients import (
    LARGEST,
    Confusion,
    Crosstab,
    Level,
    Share,
    Weighting,
    alpha,
    bias_and_limits,
    coincidences,
    confusion,
    crosstab,
    detection_shares,
    kappa,
    near_shares,
    same_shares,
    spearman_rho,
    spelt,
    tau_b,
)
from .estimates import Found, Sample, Statistic, bias_p, rank_p
from .label_tables import Label, Ratings
from .several_judges import NO_NUMBERS, NO_ORDER, Scale, make_scale, threshold_figures

WEIGHTINGS: tuple[Weighting, ...] = ("plain", "linear", "quadratic")
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
BIAS = ("bias", "limit_low", "limit_high")
_TOO_FINE = f"there are more than {LARGEST} different labels: these are measured values, not categories"


class PairAgreement(Record):
    """One judge and the people.

    figures: by spelling (`kappa`, `kappa(linear)`, `accuracy(rel=2)`, …), n the rows with both labels, n_failed those
    with a label missing. undefined: the reason for each figure whose value is None. bias is of judge - human.
    p: two-sided, of tau_b and rho (whole queries permuted, where one has several pairs) and of bias (paired t-test, by
    query): see `p_values`.
    """

    human: str
    judge: str
    n_pairs: int
    n_missing: int
    n_clusters: int
    figures: dict[str, Figure]
    undefined: dict[str, str]
    confusion: Confusion | None
    p: dict[str, float] = Field(default_factory=dict)


class Agreement(Record):
    """What `ragassay agree` says. all_raters: Krippendorff's alpha over people and judges together, where several."""

    file: str
    by: str | None
    relevant: str | None
    labels: tuple[str, ...]
    bootstrap: int
    seed: int
    confidence: float = 0.95
    pairs: tuple[PairAgreement, ...]
    all_raters: dict[str, Figure] = Field(default_factory=dict)
    all_raters_undefined: dict[str, str] = Field(default_factory=dict)
    left_out: dict[str, str] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


def agree(
    ratings: Ratings,
    *,
    scale: Sequence[str] = (),
    relevant: str | None = None,
    thresholds: bool = False,
    left_out: Mapping[str, str] | None = None,
    bootstrap: int = 1000,
    seed: int = 7,
) -> Agreement:
    """The first rater, the people, against each of the others, the judges; and alpha over all of them.

    A judge's figures are on the scale of its own labels and people's, whatever the other judges gave. scale: the labels
    in their order, where they are words or not all of them occur; relevant: the lowest label that counts as relevant;
    thresholds: whether `several_judges.thresholds` is told, too; left_out: judges that take no part, and why. Raises
    InputError where no row has the labels of both, and as `make_scale` does.
    """
    known = make_scale(ratings, scale, relevant)
    told = [_pair(ratings, known, judge, thresholds, (bootstrap, seed)) for judge in range(1, len(ratings.raters))]
    pairs = tuple(pair for pair, _ in told)
    together = _all_raters(ratings, known, bootstrap, seed) if len(ratings.raters) > 2 else Found(0, 0)
    return Agreement(
        file=ratings.file,
        by=ratings.by,
        relevant=_spelt_most([scale.relevant for _, scale in told]),
        labels=tuple(map(spelt, known.labels)) if len(known.labels) <= LARGEST else (),
        bootstrap=bootstrap,
        seed=seed,
        pairs=pairs,
        all_raters=together.figures,
        all_raters_undefined=together.undefined,
        left_out=dict(left_out or {}),
        notes=tuple(_notes(ratings, told)),
    )


def _spelt_most(relevant: Sequence[Label | None]) -> str | None:
    """What counts as relevant on most judges' scales."""
    known = Counter(label for label in relevant if label is not None).most_common(1)
    return spelt(known[0][0]) if known else None


def _pair(
    ratings: Ratings, known: Scale, judge: int, thresholds: bool, draws: tuple[int, int]
) -> tuple[PairAgreement, Scale]:
    (bootstrap, seed), scale = draws, known.of({*ratings.labels[0], *ratings.labels[judge]})
    columns = [scale.numbers(ratings.labels[rater]) for rater in (0, judge)]
    both = [i for i, (a, b) in enumerate(zip(*columns, strict=True)) if a is not None and b is not None]
    names = [plain(ratings.raters[rater]) for rater in (0, judge)]
    if not both:
        problem = f"no row has a label of both '{names[0]}' and '{names[1]}'"
        raise InputError(problem, file=ratings.file, remedy="check that both label the same things")
    x, y = (np.array([column[i] for i in both], dtype=np.intp) for column in columns)
    undeclared = not ratings.numeric and (not scale.declared or scale.outside)
    if undeclared and not set(x.tolist()) & set(y.tolist()) and len(set(x.tolist())) > 1:
        words = (", ".join(sorted({plain(spelt(scale.labels[i])) for i in side})) for side in (x.tolist(), y.tolist()))
        problem = f"'{names[0]}' and '{names[1]}' share no label ({' against '.join(words)})"
        raise InputError(problem, file=ratings.file, remedy="spell labels alike")
    clusters = clusters_of_rows([ratings.clusters[i] for i in both])
    table = crosstab(x, y, clusters.numbers, len(scale.labels))
    found = Found(len(both), len(columns[0]) - len(both))
    _shares(found, scale, x, y, clusters)
    sample = Sample.of_pairs(table, bootstrap, seed)
    _chance_corrected(found, sample, scale)
    coincident = coincidences(list(zip(x.tolist(), y.tolist(), strict=True)), clusters.numbers, len(scale.labels))
    _alphas(found, Sample.of_coincidences(coincident, sample, bootstrap, seed), scale)
    if thresholds:
        threshold_figures(found, scale, x, y, clusters, draws)
    pair = PairAgreement(
        human=ratings.raters[0],
        judge=ratings.raters[judge],
        n_pairs=found.n,
        n_missing=found.n_failed,
        n_clusters=table.n_clusters,
        figures=found.figures,
        undefined=found.undefined,
        confusion=confusion(table, scale.labels) if len(scale.labels) <= LARGEST else None,
        p=_p(scale, x, y, clusters, seed),
    )
    return pair, scale


def _p(scale: Scale, x: Ints, y: Ints, clusters: Clusters, seed: int) -> dict[str, float]:
    one, other = scale.values[x], scale.values[y]
    ranks = rank_p(one, other, clusters, seed) if scale.ordered else {}
    return ranks | (bias_p(other - one, clusters) if scale.numeric else {})


def _shares(found: Found, scale: Scale, x: Ints, y: Ints, clusters: Clusters) -> None:
    _share(found, "", same_shares(x == y), clusters)
    if scale.ordered:
        _share(found, "", near_shares(scale.values[x], scale.values[y]), clusters)
    else:
        found.leave_out("off_by_one", NO_ORDER)
    positive = np.array(scale.positive)
    shares = detection_shares(positive[x], positive[y])
    if scale.relevant is None:
        for share in shares:
            found.leave_out(share.name, "no label is known to count as relevant; name the lowest with --relevant")
        return
    for share in shares:
        _share(found, f"(rel={spelt(scale.relevant)})", share, clusters)


def _share(found: Found, suffix: str, share: Share, clusters: Clusters) -> None:
    if not share.counts.sum():
        return found.leave_out(share.name + suffix, share.empty)
    value, low, high = interval(share.values, share.counts, clusters, (0.0, 1.0))
    return found.put(share.name + suffix, value, (low, high), share.empty)


def _chance_corrected(found: Found, sample: Sample, scale: Scale) -> None:
    equal = _why_equal(sample.table, scale)
    for weighting in WEIGHTINGS:
        name = "kappa" if weighting == "plain" else f"kappa({weighting})"
        if len(scale.labels) > LARGEST:
            found.leave_out(name, _TOO_FINE)
        elif weighting != "plain" and not scale.ordered:
            found.leave_out(name, NO_ORDER)
        else:
            sample.figure(found, name, _kappa_statistic(weighting), equal)
    ranks: tuple[tuple[str, Statistic], ...] = (("tau_b", tau_b), ("rho", spearman_rho))
    for name, statistic in ranks:
        if scale.ordered:
            sample.figure(found, name, statistic, equal)
        else:
            found.leave_out(name, NO_ORDER)
    for name in BIAS:
        if scale.numeric:
            sample.figure(found, name, _bias_statistic(name, scale.values), "there is only one pair", bounded=False)
        else:
            found.leave_out(name, NO_NUMBERS)


def _why_equal(table: Crosstab, scale: Scale) -> str:
    sides = [np.unique(side) for side in (table.x, table.y)]
    if all(len(side) == 1 for side in sides) and sides[0][0] == sides[1][0]:
        return f"all labels are equal ({plain(spelt(scale.labels[sides[0][0]]))}): nothing is left to agree on"
    who = "people" if len(sides[0]) == 1 else "the judge"
    return f"all labels of {who} are equal, so that they order nothing"


def _kappa_statistic(weighting: Weighting) -> Statistic:
    return lambda table, counts: kappa(table, counts, weighting)


def _alpha_statistic(level: Level, values: Floats) -> Statistic:
    return lambda table, counts: alpha(table, counts, level, values)


def _bias_statistic(name: str, values: Floats) -> Statistic:
    return lambda table, counts: bias_and_limits(table, counts, values)[name]


def _alphas(found: Found, sample: Sample, scale: Scale) -> None:
    equal = _why_equal(sample.table, scale)
    for level in LEVELS:
        name = f"krippendorff_alpha({level})"
        if level == "nominal" and len(scale.labels) > LARGEST:
            found.leave_out(name, _TOO_FINE)
        elif level == "interval" and not scale.numeric:
            found.leave_out(name, NO_NUMBERS)
        elif level == "ordinal" and not scale.ordered:
            found.leave_out(name, NO_ORDER)
        else:
            sample.figure(found, name, _alpha_statistic(level, scale.values), equal)


def _all_raters(ratings: Ratings, scale: Scale, bootstrap: int, seed: int) -> Found:
    units = list(zip(*(scale.numbers(column) for column in ratings.labels), strict=True))
    pairable = [i for i, unit in enumerate(units) if sum(label is not None for label in unit) >= 2]
    found = Found(len(pairable), len(units) - len(pairable))
    clusters = clusters_of_rows([ratings.clusters[i] for i in pairable])
    table = coincidences([units[i] for i in pairable], clusters.numbers, len(scale.labels))
    _alphas(found, Sample.of_coincidences(table, None, bootstrap, seed), scale)
    return found


def _notes(ratings: Ratings, told: Sequence[tuple[PairAgreement, Scale]]) -> list[str]:
    notes = []
    for pair, scale in told:
        if pair.n_missing:
            total = pair.n_pairs + pair.n_missing
            notes.append(
                f"{plain(pair.judge)}: {pair.n_missing:,} of {total:,} pairs lack a label and are not compared"
            )
        if scale.numeric and (labels := pair.confusion) is not None and not _shared(labels):
            notes.append(f"{plain(pair.judge)}: uses no label that {plain(pair.human)} uses; are they on one scale?")
        if pair.n_clusters == 1:
            notes.append(f"{plain(pair.judge)}: all pairs are of one query, so that there are no intervals")
    if ratings.by is None:
        notes.append("each row was resampled alone; where rows share a query, name its column with --by")
    said = [(pair.judge, text) for pair, scale in told for text in _on_scale(scale)]
    for text in dict.fromkeys(text for _, text in said):
        judges = [plain(judge) for judge, own in said if own == text]
        notes.append(text if len(judges) == len(told) else f"{', '.join(judges)}: {text}")
    return notes


def _on_scale(scale: Scale) -> Iterator[str]:
    if scale.numeric and not scale.declared and (gaps := _gaps(scale)):
        yield (
            f"the weights of kappa(linear) and kappa(quadratic) are of places among the labels seen, and "
            f"{', '.join(gaps[:10])} never occurs: name the whole scale with --scale if it is on it"
        )
    if scale.outside:
        outside = ", ".join(plain(spelt(label)) for label in scale.outside[:10])
        yield f"outside the scale, each a category of its own: {outside}"


def _shared(table: Confusion) -> bool:
    """Whether any label was used by both."""
    return any(
        sum(row) and sum(column) for row, column in zip(table.counts, zip(*table.counts, strict=True), strict=True)
    )


def _gaps(scale: Scale) -> list[str]:
    """Whole numbers between the labels that are none; nothing where labels are not whole, or measured values.

    Labels that never occur beyond the ends move no weight in proportion to the others.
    """
    labels = scale.values
    if not len(labels) or len(labels) > LARGEST or (labels % 1).any() or labels.max() - labels.min() > LARGEST:
        return []
    held = set(labels.tolist())
    return [spelt(float(x)) for x in range(int(labels.min()), int(labels.max())) if float(x) not in held]


def difference_pairs(ratings: Ratings, judge: int) -> Counter[tuple[float, float]]:
    """How often each (human, judge) pair of numbers occurs, for the plot. Raises InputError where labels are words."""
    if not ratings.numeric:
        raise InputError("a Bland-Altman plot needs labels that are numbers", file=ratings.file)
    sides = zip(ratings.labels[0], ratings.labels[judge], strict=True)
    return Counter((a, b) for a, b in sides if isinstance(a, float) and isinstance(b, float))


def bland_altman_plots(
    ratings: Ratings, found: Agreement
) -> dict[str, tuple[Counter[tuple[float, float]], Mapping[str, Figure]]]:
    """What `bland_altman.page` draws: for each judge its pairs, bias and limits."""
    return {
        f"{pair.judge} against {pair.human}": (
            difference_pairs(ratings, number),
            {name: pair.figures[name] for name in BIAS},
        )
        for number, pair in enumerate(found.pairs, 1)
    }
