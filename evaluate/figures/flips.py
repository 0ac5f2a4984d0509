"""Flips: answers that cross what is good enough when their question is asked in changed words.

Good enough is a label from the criterion's threshold on (by its direction): the user's, its own, or the default of
`judging/engine/thresholds.py`; of the judge's criteria three quarters of the scale. What has no threshold has no flips.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragassay.perturbed import kind_of
from ragassay.records import Assessment, Figure, Judgment, Query
from ragassay.text import one_line

from ..inputs.findings import Findings
from ..inputs.labels import HIGHEST
from ..inputs.perturbed import pairs_of
from ..inputs.sections import source_clusters
from ..judging.engine.evaluator import Evaluator
from ..judging.engine.thresholds import DEFAULT, Thresholds, good_enough, thresholds_of
from ..results import Perturbed, Problem
from ..statistics.resamples import Resamples, resamples

ALL = "all"

_SHOWN = 3
"""Cases that a problem names."""

Good = Mapping[tuple[str, str], bool | None]
"""(query, agent) to whether the answer is good enough; None where that could not be judged."""


def robustness(
    findings: Findings,
    rows: Sequence[Assessment],
    evaluators: Sequence[Evaluator],
    agents: Sequence[str],
    given: Thresholds | None = None,
) -> Perturbed | None:
    """The flips of each agent, of the judge's criteria and of those by which evaluators judge answers.

    given: the user's thresholds. None where no perturbed query has its original beside it.
    """
    names = [row.criterion for row in findings.pointwise]
    thresholds = dict.fromkeys(names, DEFAULT * HIGHEST) | answer_thresholds(evaluators, given)
    lower = [one.name for judge in evaluators for one in judge.criteria if one.lower_is_better]
    return flips_of(findings.material.queries, (*findings.pointwise, *rows), thresholds, lower, agents)


def answer_thresholds(evaluators: Sequence[Evaluator], given: Thresholds | None = None) -> dict[str, float]:
    """Criterion to threshold, of those by which evaluators judge answers."""
    return thresholds_of([one for one in evaluators if one.unit != "passage"], given)


def flips_of(
    queries: Sequence[Query],
    rows: Sequence[Judgment],
    thresholds: Mapping[str, float],
    lower_is_better: Sequence[str],
    agents: Sequence[str],
) -> Perturbed | None:
    """The flips of each agent by every criterion of `thresholds`; None where there is no pair of queries."""
    pairs, kinds = pairs_of(queries), {query.id: kind_of(query) for query in queries}
    if not pairs:
        return None
    labels: dict[str, dict[tuple[str, str], float | None]] = defaultdict(dict)
    for row in rows:
        labels[row.criterion][row.query_id, row.subject] = row.label
    known = {name: threshold for name, threshold in thresholds.items() if labels[name]}
    draws = resamples([query.id for query in queries], 1, 0, source_clusters(queries))
    flips, worse, flipped = _empty(agents), _empty(agents), _empty(agents)
    for name, threshold in known.items():
        good = _good(labels[name], threshold, lower=name in lower_is_better)
        for agent in agents:
            owing = {new: old for new, old in pairs.items() if (new, agent) in good or (old, agent) in good}
            if owing:
                flips[agent][name] = _figures(owing, kinds, good, agent, draws, worse_only=False)
                worse[agent][name] = _figures(owing, kinds, good, agent, draws, worse_only=True)
                flipped[agent][name] = tuple(new for new, old in owing.items() if _differ(good, agent, new, old))
    return Perturbed(
        n_originals=len(set(pairs.values())),
        kinds=dict(sorted(Counter(kinds[query] for query in pairs).items())),
        thresholds=known,
        lower_is_better=tuple(name for name in known if name in lower_is_better),
        flips=flips,
        worse=worse,
        flipped=flipped,
    )


def flip_problems(found: Perturbed) -> Iterator[Problem]:
    """A problem of each agent and criterion with a flip, which names the first cases."""
    for agent, named in found.flipped.items():
        for name, cases in named.items():
            if cases:
                yield _problem(found, agent, name, cases)


def _problem(found: Perturbed, agent: str, name: str, cases: Sequence[str]) -> Problem:
    figure, worse = found.flips[agent][name][ALL], found.worse[agent][name][ALL]
    lost = round((worse.value or 0.0) * worse.n)
    shown = ", ".join(map(one_line, cases[:_SHOWN])) + (", …" if len(cases) > _SHOWN else "")
    lacking = "1 pair lacks" if figure.n_failed == 1 else f"{figure.n_failed} pairs lack"
    failed = f"; {lacking} a label" if figure.n_failed else ""
    sentence = (
        f"{one_line(agent)}: {len(cases)} of {figure.n} answers cross the threshold of {one_line(name)}, "
        f"{found.thresholds[name]:g}, when their question is asked in changed words, {lost} of them for the worse "
        f"({shown}){failed}."
    )
    return Problem(kind="flips", agent=agent, criterion=name, figure=figure, sentence=sentence)


def _empty(agents: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {agent: {} for agent in agents}


def _differ(good: Good, agent: str, new: str, old: str) -> bool:
    return {good.get((new, agent)), good.get((old, agent))} == {True, False}


def _good(
    labels: Mapping[tuple[str, str], float | None], threshold: float, *, lower: bool
) -> dict[tuple[str, str], bool | None]:
    return {
        key: None if label is None else good_enough(label, threshold, lower_is_better=lower)
        for key, label in labels.items()
    }


def _figures(
    pairs: Mapping[str, str], kinds: Mapping[str, str], good: Good, agent: str, draws: Resamples, *, worse_only: bool
) -> dict[str, Figure]:
    """Of all perturbations, then of each kind by its name."""
    by_kind = {kind: [new for new in pairs if kinds[new] == kind] for kind in sorted({kinds[new] for new in pairs})}
    made = {}
    for kind, queries in {ALL: list(pairs), **by_kind}.items():
        sums, counts, failed = Counter[str](), Counter[str](), 0
        for new in queries:
            before, after = good.get((pairs[new], agent)), good.get((new, agent))
            if before is None or after is None:
                failed += 1
                continue
            counts[pairs[new]] += 1
            sums[pairs[new]] += before and not after if worse_only else before != after
        limits, n = (0.0, 1.0), counts.total()
        made[kind] = draws.ratio(_floats(sums), _floats(counts), n=n, n_failed=failed, limits=limits)
    return made


def _floats(counted: Mapping[str, int]) -> dict[str, float]:
    return {name: float(n) for name, n in counted.items()}
