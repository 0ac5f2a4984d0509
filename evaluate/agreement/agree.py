"""Agreement of judges with people, every figure with its interval: what `ragassay agree` prints, and its plot.

Of a table's columns, or of `labels.csv` beside the judge's records of the same things, by criterion, and of games.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from itertools import islice
from math import sqrt
from pathlib import Path
from statistics import mean

import numpy as np
from pydantic import Field

from ragassay.arrays import Floats, Ints, Truths
from ragassay.errors import InputError
from ragassay.files import read_objects, read_records
from ragassay.records import Figure, Game, Judgment, Record, Winner
from ragassay.text import plain

from ..inputs.clusters import Clusters, clusters_of_rows
from ..inputs.labels import GAME, WON, Key, by_item, read_labels
from ..ratings.verdicts import SCORES, Verdict, verdicts
from ..results import JudgeAgreement
from .coefficients import (
    Confusion,
    Crosstab,
    Level,
    alpha,
    balanced_accuracy,
    bias_and_limits,
    coincidences,
    confusion,
    crosstab,
    detection_shares,
    kappa,
    near_shares,
    same_shares,
    spearman_rho,
    tau_b,
)
from .estimates import Found, Sample, Statistic, bias_p, rank_p
from .label_tables import LARGEST, NO_NUMBERS, NO_ORDER, Label, Ratings, Scale, make_scale, spelt

BIAS = ("bias", "limit_low", "limit_high")
_TOO_FINE = f"there are more than {LARGEST} different labels: these are measured values, not categories"


class PairAgreement(Record):
    """One judge and the people.

    figures: by spelling (`kappa`, `kappa(linear)`, `accuracy(rel=2)`, …), n the rows with both labels, n_failed those
    with a label missing. undefined: the reason for each figure whose value is None. bias is of judge - human.
    p: two-sided, of tau_b and rho (whole queries permuted, where one has several pairs) and of bias (paired t-test, by
    query): see `estimates.rank_p`, `bias_p`.
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
    relevant: str | None = None
    labels: tuple[str, ...] = ()
    bootstrap: int
    seed: int
    confidence: float = 0.95
    pairs: tuple[PairAgreement, ...] = ()
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
    thresholds: whether each of `thresholds` is told, too; left_out: judges that take no part, and why. Raises
    InputError where no row has the labels of both, and as `make_scale` does.
    """
    known = make_scale(ratings, scale, relevant)
    told = [_pair(ratings, known, judge, thresholds, (bootstrap, seed)) for judge in range(1, len(ratings.raters))]
    pairs = tuple(pair for pair, _ in told)
    least = Counter(scale.relevant for _, scale in told if scale.relevant is not None).most_common(1)
    together = _all_raters(ratings, known, bootstrap, seed) if len(ratings.raters) > 2 else Found(0, 0)
    return Agreement(
        file=ratings.file,
        by=ratings.by,
        relevant=spelt(least[0][0]) if least else None,
        labels=tuple(map(spelt, known.labels)) if len(known.labels) <= LARGEST else (),
        bootstrap=bootstrap,
        seed=seed,
        pairs=pairs,
        all_raters=together.figures,
        all_raters_undefined=together.undefined,
        left_out=dict(left_out or {}),
        notes=tuple(_notes(ratings, told)),
    )


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
    one, other = scale.values[x], scale.values[y]
    found.share(same_shares(x == y), clusters)
    if scale.ordered:
        found.share(near_shares(one, other), clusters)
    else:
        found.leave_out("off_by_one", NO_ORDER)
    positive = np.array(scale.positive)
    for share in detection_shares(positive[x], positive[y]):
        if scale.relevant is None:
            found.leave_out(share.name, "no label is known to count as relevant; name the lowest with --relevant")
        else:
            found.share(share, clusters, f"(rel={spelt(scale.relevant)})")
    sample = Sample.of_pairs(table, bootstrap, seed)
    _chance_corrected(found, sample, scale)
    coincident = coincidences(list(zip(x.tolist(), y.tolist(), strict=True)), clusters.numbers, len(scale.labels))
    _alphas(found, Sample.of_coincidences(coincident, sample, bootstrap, seed), scale)
    if thresholds:
        threshold_figures(found, scale, x, y, clusters, draws)
    p = rank_p(one, other, clusters, seed) if scale.ordered else {}
    pair = PairAgreement(
        human=ratings.raters[0],
        judge=ratings.raters[judge],
        n_pairs=found.n,
        n_missing=found.n_failed,
        n_clusters=table.n_clusters,
        figures=found.figures,
        undefined=found.undefined,
        confusion=confusion(table, scale.labels) if len(scale.labels) <= LARGEST else None,
        p=p | (bias_p(other - one, clusters) if scale.numeric else {}),
    )
    return pair, scale


def _put(
    found: Found,
    sample: Sample,
    why: str,
    statistics: Iterable[tuple[str, Statistic, str | None]],
    bounded: bool = True,
) -> None:
    """Each statistic by name; where the scale has not what it takes, the reason stands in its place."""
    for name, statistic, lacking in statistics:
        if lacking:
            found.leave_out(name, lacking)
        else:
            sample.figure(found, name, statistic, why, bounded=bounded)


def _chance_corrected(found: Found, sample: Sample, scale: Scale) -> None:
    no_order = None if scale.ordered else NO_ORDER
    categories = _TOO_FINE if len(scale.labels) > LARGEST else None
    statistics = (
        ("kappa", kappa, categories),
        ("kappa(linear)", partial(kappa, weighting="linear"), categories or no_order),
        ("kappa(quadratic)", partial(kappa, weighting="quadratic"), categories or no_order),
        ("tau_b", tau_b, no_order),
        ("rho", spearman_rho, no_order),
    )
    _put(found, sample, _why_equal(sample.table, scale), statistics)

    def bias(table: Crosstab, counts: Floats, name: str) -> Floats:
        return bias_and_limits(table, counts, scale.values)[name]

    no_numbers = None if scale.numeric else NO_NUMBERS
    of_gaps = [(name, partial(bias, name=name), no_numbers) for name in BIAS]
    _put(found, sample, "there is only one pair", of_gaps, bounded=False)


def _why_equal(table: Crosstab, scale: Scale) -> str:
    sides = [np.unique(side) for side in (table.x, table.y)]
    if all(len(side) == 1 for side in sides) and sides[0][0] == sides[1][0]:
        return f"all labels are equal ({plain(spelt(scale.labels[sides[0][0]]))}): nothing is left to agree on"
    who = "people" if len(sides[0]) == 1 else "the judge"
    return f"all labels of {who} are equal, so that they order nothing"


def _alphas(found: Found, sample: Sample, scale: Scale) -> None:
    lacking: Mapping[Level, str | None] = {
        "nominal": _TOO_FINE if len(scale.labels) > LARGEST else None,
        "ordinal": None if scale.ordered else NO_ORDER,
        "interval": None if scale.numeric else NO_NUMBERS,
    }
    values = scale.values
    alphas = (
        (f"krippendorff_alpha({level})", partial(alpha, level=level, values=values), lacks)
        for level, lacks in lacking.items()
    )
    _put(found, sample, _why_equal(sample.table, scale), alphas)


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
            missing = f"{pair.n_missing:,} of {pair.n_pairs + pair.n_missing:,} pairs"
            notes.append(f"{plain(pair.judge)}: {missing} lack a label and are not compared")
        if scale.numeric and pair.confusion is not None:
            counts = pair.confusion.counts
            used = zip(counts, zip(*counts, strict=True), strict=True)
            if not any(sum(row) and sum(column) for row, column in used):
                problem = f"uses no label that {plain(pair.human)} uses; are they on one scale?"
                notes.append(f"{plain(pair.judge)}: {problem}")
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
    labels = scale.values
    whole = 0 < len(labels) <= LARGEST and not (labels % 1).any() and labels.max() - labels.min() <= LARGEST
    if scale.numeric and not scale.declared and whole:
        # Labels that never occur beyond the ends move no weight in proportion to the others.
        between = set(range(int(labels.min()), int(labels.max()))) - set(labels.tolist())
        if gaps := [spelt(float(label)) for label in sorted(between)]:
            yield (
                f"the weights of kappa(linear) and kappa(quadratic) are of places among the labels seen, and "
                f"{', '.join(gaps[:10])} never occurs: name the whole scale with --scale if it is on it"
            )
    if scale.outside:
        outside = ", ".join(plain(spelt(label)) for label in scale.outside[:10])
        yield f"outside the scale, each a category of its own: {outside}"


MOST = 10
"""Thresholds of a scale that are told one by one; of a finer scale only the one that counts as relevant."""


def threshold_figures(found: Found, scale: Scale, x: Ints, y: Ints, clusters: Clusters, draws: tuple[int, int]) -> None:
    """Put `kappa(rel=…)`, `balanced_accuracy(rel=…)`, `accuracy(rel=…)`, `tau_b(rel=…)` among what was found.

    What counts as yes is a label from the threshold on, of people's and the judge's alike. x, y: (rows,) people's and
    the judge's labels, numbered on the scale. draws: replicates and seed of the bootstrap.
    """
    one_sided = "people's labels are all above or all below it"
    for label, positive in thresholds(scale, x):
        human, judge, suffix = positive[x], positive[y], f"(rel={spelt(label)})"
        sample = Sample.of_pairs(crosstab(human.astype(np.intp), judge.astype(np.intp), clusters.numbers, 2), *draws)
        why = "all labels of people's and the judge's are above it, or all below"
        sample.figure(found, "kappa" + suffix, kappa, why)
        sample.figure(found, "balanced_accuracy" + suffix, balanced_accuracy, one_sided, lowest=0.0)
        # Of two labels Kendall's tau-b is Pearson's correlation, phi.
        why = "all labels of people, or of the judge, are on one side of it"
        sample.figure(found, "tau_b" + suffix, tau_b, why)
        accuracy = detection_shares(human, judge)[0]
        if accuracy.name + suffix not in found.figures:
            found.share(accuracy, clusters, suffix)


def thresholds(scale: Scale, x: Ints) -> Iterator[tuple[Label, Truths]]:
    """Each label from which on a thing may count as relevant, rising, and which labels of the scale then do.

    Those declared or given by people (`x`) above the lowest of them, and the one that counts as relevant.
    """
    if not scale.ordered:
        if scale.relevant is not None:
            yield scale.relevant, np.array(scale.positive)
        return
    known = scale.declared or [scale.labels[place] for place in np.unique(x).tolist()]
    told = [label for label in scale.labels if label in set(known)][1:]
    told = told if len(told) <= MOST else []
    for place, label in enumerate(scale.labels):
        if label in told:
            yield label, np.arange(len(scale.labels)) >= place
        elif label == scale.relevant:
            yield label, np.array(scale.positive)


# People's labels of `labels.csv` beside the judge's of the same things.
SCALE = ("0", "1", "2")
WINNERS: tuple[Winner, ...] = ("b", "tie", "a")
"""Of a game, told of the agent that comes first in the alphabet."""


def joined(
    said: Mapping[Key, float], judged: Iterable[Judgment], found: Iterable[Verdict], file: str
) -> dict[str, Ratings]:
    """Criterion to the people and the judge as two raters, by query; what the judge could not label is missing.

    said: people's mean label of each thing, here rounded to a whole one, halves down. found: the verdicts on games,
    whose criterion is `game` and whose labels are `WINNERS`. Things that the judge was not asked about take no part.
    """
    rows = {(row.query_id, row.subject, row.criterion): row.label for row in judged if row.criterion != GAME}
    made: dict[str, Ratings] = {}
    for criterion in sorted({key[2] for key in said if key in rows}):
        keys = sorted(key for key in said if key in rows and key[2] == criterion)
        people = tuple(whole(said[key]) for key in keys)
        judge = tuple(None if (label := rows[key]) is None else float(label) for key in keys)
        clusters = tuple(query for query, _, _ in keys)
        made[criterion] = Ratings(file, ("people", "judge"), (people, judge), clusters, True, "query")
    scores: dict[Key, list[float]] = {}
    for verdict in found:
        given = scores.setdefault((verdict.query_id, f"{verdict.agent_a}:{verdict.agent_b}", GAME), [])
        given += [] if verdict.winner is None else [SCORES[verdict.winner]]
    if games := sorted(key for key in said if key in scores):
        winners = tuple(_winner(mean(scores[key])) if scores[key] else None for key in games)
        columns = (tuple(_winner(said[key]) for key in games), winners)
        made[GAME] = Ratings(file, ("people", "judge"), columns, tuple(query for query, _, _ in games), False, "query")
    return made


def whole(label: float) -> float:
    """People's mean label as a whole one, halves down."""
    return float(-int(-(label - 0.5) // 1))


def _winner(score: float) -> Winner:
    """Of the mean over people, or judges: as win rates count it, a win where they mostly say so."""
    return "a" if score > WON else "b" if score < 1 - WON else "tie"


def joined_files(labels: Path, judged: Sequence[Path], clusters: Clusters | None = None) -> dict[str, Ratings]:
    """The same from `labels.csv` and files of judgments and games. Raises InputError where they share nothing.

    clusters: the sections of the queries; without them each query is a cluster.
    """
    said = by_item(read_labels(labels))
    of_games = [path for path in judged if any("agent_a" in row for _, row in islice(read_objects(path), 1))]
    rows = [row for path in judged if path not in of_games for row in read_records(path, Judgment)]
    games = [row for path in of_games for row in read_records(path, Game)]
    found = joined(said, rows, verdicts(games), str(labels))
    if not found:
        named = ", ".join(plain(str(path)) for path in judged)
        remedy = "give the judge's relevance.jsonl, pointwise.jsonl or games.jsonl of the same test set"
        raise InputError(f"labels nothing that is judged in {named}", file=labels, remedy=remedy)
    return {name: _by_section(each, clusters) if clusters else each for name, each in found.items()}


def _by_section(ratings: Ratings, clusters: Clusters) -> Ratings:
    return replace(ratings, clusters=clusters.names_of(ratings.clusters), by="section")


def agree_on_criterion(ratings: Ratings, *, relevant: str | None = None, bootstrap: int, seed: int) -> Agreement:
    """`agree` on the scale of a sheet's labels, of winners where the ratings are words; with a note alone where the
    judge labelled nothing."""
    if all(label is None for label in ratings.labels[1]):
        note = f"the judge failed on all {len(ratings.labels[1])} things that people labelled"
        return Agreement(file=ratings.file, by=ratings.by, bootstrap=bootstrap, seed=seed, notes=(note,))
    scale, relevant = (SCALE, relevant) if ratings.numeric else (WINNERS, None)
    return agree(ratings, scale=scale, relevant=relevant, bootstrap=bootstrap, seed=seed)


def agreement_by_criterion(
    said: Mapping[Key, float],
    judged: Iterable[Judgment],
    found: Iterable[Verdict],
    clusters: Clusters,
    *,
    bootstrap: int,
    seed: int,
) -> tuple[JudgeAgreement, ...]:
    """For each criterion, and for games, on which the judge labelled what people did; intervals by `clusters`."""
    return tuple(
        JudgeAgreement(criterion=name, **{k: v for k, v in pair if k not in ("human", "judge", "confusion")})
        for name, each in joined(said, judged, found, "labels.csv").items()
        for pair in agree_on_criterion(_by_section(each, clusters), bootstrap=bootstrap, seed=seed).pairs
    )


Pairs = Mapping[tuple[float, float], int]
"""How often people's number met the judge's."""
Plots = Mapping[str, tuple[Pairs, Mapping[str, Figure]]]
"""Title to what is drawn: the pairs, and bias and limits."""


def bland_altman_plots(ratings: Ratings, found: Agreement) -> Plots:
    """What `page` draws, for each judge. Raises InputError where labels are words."""
    if not ratings.numeric:
        raise InputError("a Bland-Altman plot needs labels that are numbers", file=ratings.file)
    plots = {}
    for pair, judged in zip(found.pairs, ratings.labels[1:], strict=False):
        sides = zip(ratings.labels[0], judged, strict=True)
        pairs = Counter((a, b) for a, b in sides if isinstance(a, float) and isinstance(b, float))
        plots[f"{pair.judge} against {pair.human}"] = pairs, {name: pair.figures[name] for name in BIAS}
    return plots


_WIDTH, _HEIGHT, _LEFT, _TOP = 640, 380, 60, 20
_RIGHT, _FOOT = _WIDTH - 20, _HEIGHT - 50
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1f }}
svg {{ width: 100%; height: auto }} text {{ font: 12px system-ui, sans-serif; fill: #44474e }}
.dot {{ fill: #2f5d9b; fill-opacity: .45; stroke: #2f5d9b }} .axis {{ stroke: #8e9099 }} .zero {{ stroke: #c4c6cf }}
.bias {{ stroke: #9b2f2f; stroke-width: 2 }} .limit {{ stroke: #9b2f2f; stroke-dasharray: 6 4 }}
.band {{ fill: #9b2f2f; fill-opacity: .12 }}
</style></head><body>
{body}
</body></html>
"""


def page(plots: Plots) -> str:
    """One self-contained HTML page with a plot for each title."""
    parts = []
    for title, (pairs, figures) in plots.items():
        words = []
        for name, figure in figures.items():
            interval = "" if figure.ci_low is None else f" [{figure.ci_low:.3g}, {figure.ci_high:.3g}]"
            value = "undefined" if figure.value is None else f"{figure.value:.3g}{interval}"
            words.append(f"{name.replace('_', ' ')} {value}")
        caption = f"{sum(pairs.values()):,} pairs of labels. {'; '.join(words)}. Shaded: 95% intervals."
        parts.append(f"<h1>{escape(title)}</h1>\n{_plot(title, pairs, figures)}\n<p>{escape(caption)}</p>")
    return _PAGE.format(title="Agreement of judge and people (Bland-Altman)", body="\n".join(parts))


def _plot(title: str, pairs: Pairs, figures: Mapping[str, Figure]) -> str:
    """Inline SVG: differences (judge - human) over means, points as large as they are many; bias and limits."""
    points = sorted(((a + b) / 2, b - a, count) for (a, b), count in pairs.items())
    ends = [v for f in figures.values() for v in (f.value, f.ci_low, f.ci_high) if v is not None]
    left, right = _ends([at for at, _, _ in points])
    bottom, top = _ends([gap for _, gap, _ in points] + ends + [0.0])

    def x(at: float) -> float:
        return _LEFT + (at - left) / (right - left) * (_RIGHT - _LEFT)

    def y(gap: float) -> float:
        return _TOP + (top - gap) / (top - bottom) * (_FOOT - _TOP)

    def level(css: str, gap: float) -> str:
        return f'<line class="{css}" x1="{_LEFT}" x2="{_RIGHT}" y1="{y(gap):.1f}" y2="{y(gap):.1f}"/>'

    parts = [level("zero", 0.0), f'<path class="axis" fill="none" d="M{_LEFT} {_TOP}V{_FOOT}H{_RIGHT}"/>']
    for tick in np.linspace(left, right, 6)[1:-1]:
        parts.append(f'<text x="{x(tick):.1f}" y="{_FOOT + 16}" text-anchor="middle">{tick:.2g}</text>')
    for tick in np.linspace(bottom, top, 7)[1:-1]:
        parts.append(f'<text x="{_LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.2g}</text>')
    parts.append(f'<text x="{_WIDTH / 2:.0f}" y="{_HEIGHT - 12}" text-anchor="middle">mean of both labels</text>')
    aside = f"translate(14 {_HEIGHT / 2:.0f}) rotate(-90)"
    parts.append(f'<text transform="{aside}" text-anchor="middle">judge - human</text>')
    for name, figure in figures.items():
        if figure.ci_low is not None and figure.ci_high is not None:
            above, height = y(figure.ci_high), y(figure.ci_low) - y(figure.ci_high)
            place = f'x="{_LEFT}" y="{above:.1f}" width="{_RIGHT - _LEFT}" height="{height:.1f}"'
            parts.append(f'<rect class="band" {place}/>')
        if figure.value is not None:
            parts.append(level("bias" if name == "bias" else "limit", figure.value))
    most = max(pairs.values(), default=1)
    for at, gap, count in points:
        radius = 3 + 11 * sqrt(count / most) if most > 1 else 4
        said = f"<title>mean {at:.4g}, difference {gap:.4g}: {count:,}</title>"
        place = f'cx="{x(at):.1f}" cy="{y(gap):.1f}" r="{radius:.1f}"'
        parts.append(f'<circle class="dot" {place}>{said}</circle>')
    label = escape(f"Bland-Altman plot, {title}", quote=True)
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = (high - low or 1.0) * 0.08
    return low - margin, high + margin
