"""What the labels leave open: passages no one judged are not irrelevant, they are unjudged.

judged@k says how much of what an agent showed has a label. A mean's bounds are its values with the passages without a
label taken as worst and as best they could be (Moffat and Zobel, "Rank-Biased Precision", TOIS 27(1), 2008, give a
residual in this way). Leaving an agent out takes away the labels of the passages that it alone brought to the pool, as
if it had not contributed (Zobel, SIGIR 1998): how a system that comes later would fare with these labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ragassay.files import Qrels
from ragassay.records import Figure, own_failures

from ..inputs.findings import Findings, Ranked
from ..inputs.labels import HIGHEST
from ..measures.by_labels import HIGHEST_LABEL, LabelRows
from ..measures.measure import by_query, from_labels
from ..ratings import bradley_terry
from ..ratings.verdicts import Verdict, points_of
from ..ratings.win_table import contests, win_rate
from ..results import (
    NOT_DISTINGUISHABLE,
    POINTS,
    AgentPool,
    Bounds,
    Choice,
    Comparison,
    Failures,
    FailuresAtBottom,
    LeftOut,
)
from ..statistics.clustered import ByAgent, Values
from ..statistics.resamples import Resamples
from .query_values import figures, labelled_rows, of_findings, rows_of_asked
from .values import ComparedMeasure

Failed = Mapping[str, Collection[str]]
"""Agent to the ids of the queries on which it failed; only agents that did."""


@dataclass(frozen=True)
class Bottom:
    """Values and verdicts with failures at the bottom. measures: as they are compared; leader: by points."""

    failed: Failed
    retrieval: ByAgent
    pointwise: ByAgent
    found: Sequence[Verdict]
    measures: dict[str, ComparedMeasure]
    strengths: bradley_terry.BradleyTerry
    leader: str | None

    def figures(self, choice: Choice, order: Sequence[str], draws: Resamples) -> FailuresAtBottom:
        """For `results.json`, agents in `order`; `choice` is the one made without what failed."""
        pointwise, retrieval = figures(self.pointwise, draws, HIGHEST), figures(self.retrieval, draws)
        return FailuresAtBottom(
            failed={agent: len(self.failed[agent]) for agent in order if agent in self.failed},
            agrees=None in (choice.leader, self.leader) or choice.leader == self.leader,
            leader=self.leader,
            win_rate=win_rate(self.found, order, draws),
            bradley_terry={agent: self.strengths.figures[agent] for agent in order},
            pointwise={agent: pointwise[agent] for agent in order},
            retrieval={agent: retrieval[agent] for agent in order if agent in retrieval},
        )


def at_bottom(
    findings: Findings,
    retrieval: ByAgent,
    pointwise: ByAgent,
    found: Sequence[Verdict],
    draws: Resamples,
    ranking: Sequence[str],
    initial: float,
) -> Bottom | None:
    """None where no answer failed.

    A failed answer has no label and no verdict, so that leaving it out pays an agent that fails where it would do
    badly. Counting it as the worst answer there is may be too harsh, where a failure is a fault of the network. So both
    are computed, and what holds only one way is not said; whether the leader is told is asked with its failures lost
    anyhow (`ratings.verdicts`). A failed call of the judge is not the agent's, and stays missing.

    ranking: the ranking measures on which agents are compared; initial: the rating all start from.
    """
    failed = failed_answers(findings)
    if not failed:
        return None
    agents = findings.material.agents
    ranked = {agent: [q for q, row in ranking.items() if row is None] for agent, ranking in findings.rankings.items()}
    retrieval, pointwise = _lowest(retrieval, ranked), _lowest(pointwise, failed)
    found = verdicts_at_bottom(found, failed)
    points = points_of(found, agents, findings.queries, not_asked=findings.material.not_asked)
    measures = of_findings(ranking, retrieval, pointwise, points)
    strengths = bradley_terry.rate(contests(found, agents, findings.queries), draws, initial)
    leader = points.order[0] if (points.means == points.means).any() else None
    return Bottom(failed, retrieval, pointwise, found, measures, strengths, leader)


def failed_answers(findings: Findings) -> dict[str, frozenset[str]]:
    """Agent to the queries on which its answer failed; only agents that have some."""
    found: dict[str, set[str]] = {}
    for (query, agent), answer in findings.material.answers.items():
        if answer.error is not None:
            found.setdefault(agent, set()).add(query)
    return {agent: frozenset(found[agent]) for agent in findings.material.agents if agent in found}


def failures(findings: Findings, found: Sequence[Verdict]) -> Failures:
    """What failed, counted once and where it happened. found: the verdicts, of a panel the majority's.

    A label or a game that is missing because an answer failed is no failure of the judge, nor of the agent on the other
    side: its error says so (`records.for_want_of_an_answer`).
    """
    failed, agents = failed_answers(findings), findings.material.agents
    unranked = {agent: sum(row is None for row in ranking.values()) for agent, ranking in findings.rankings.items()}
    unlabelled = {(row.query_id, row.subject) for row in own_failures(findings.pointwise)}
    return Failures(
        answers={agent: len(failed.get(agent, ())) for agent in agents},
        retrieval={agent: unranked.get(agent, 0) for agent in agents},
        judge_passages=sum(row.error is not None for row in findings.relevance),
        judge_answers=len(unlabelled),
        judge_games=sum(one.winner is None and not one.unplayed for one in found),
    )


def verdicts_at_bottom(found: Sequence[Verdict], failed: Failed) -> list[Verdict]:
    """The verdicts, those that are missing because an answer failed as lost by it, or as a tie of two that failed."""

    def told(verdict: Verdict) -> Verdict:
        a, b = (verdict.query_id in failed.get(agent, ()) for agent in (verdict.agent_a, verdict.agent_b))
        if verdict.winner is not None or not (a or b):
            return verdict
        return replace(verdict, winner="tie" if a and b else "b" if a else "a", error=None)

    return [told(verdict) for verdict in found]


def _lowest(values: ByAgent, failed: Failed) -> ByAgent:
    """The values with 0 on the queries on which the agent failed; all measures here begin at 0."""
    return {
        agent: {
            name: {q: 0.0 if value is None and q in failed.get(agent, ()) else value for q, value in row.items()}
            for name, row in named.items()
        }
        for agent, named in values.items()
    }


def told_with_failures(choice: Choice, bottom: Bottom, n_queries: int) -> Choice:
    """The choice, its sentence saying who leads where failed answers count as lost, if that is another."""
    if None in (choice.leader, bottom.leader) or choice.leader == bottom.leader:
        return choice
    counts = [f"{agent} failed on {len(queries)} of {n_queries}" for agent, queries in bottom.failed.items()]
    said = f" Where failed answers count as lost, {bottom.leader} leads ({'; '.join(counts)} queries)."
    return choice.model_copy(update={"sentence": choice.sentence + said})


def withhold_pairs(
    pairs: Sequence[Comparison], low: Sequence[Comparison], failed: Failed, leader: str | None = None
) -> tuple[Comparison, ...]:
    """The comparisons, without a verdict where one of the two failed and `low` has another.

    low: the same comparisons, in the same order, with failures at the bottom; of measures that have no such, none.
    leader: by points, whose pairs on them have met what failed already.
    """
    at = {(row.measure, row.agent_a, row.agent_b): row for row in low}

    def told(row: Comparison) -> Comparison:
        if row.measure == POINTS and leader in (row.agent_a, row.agent_b):
            return row
        other = at.get((row.measure, row.agent_a, row.agent_b))
        failing = [agent for agent in (row.agent_a, row.agent_b) if agent in failed]
        if other is None or not failing or row.verdict in (NOT_DISTINGUISHABLE, other.verdict):
            return row
        counts = " and ".join(f"{agent} failed on {len(failed[agent])}" for agent in failing)
        said = (
            f"{row.sentence.rstrip('.')}; but not where failed answers count as the worst ({counts}), so "
            "they are not distinguishable."
        )
        return row.model_copy(update={"verdict": NOT_DISTINGUISHABLE, "sentence": said})

    return tuple(told(row) for row in pairs)


Labels = Mapping[str, int]
Open = Mapping[str, Sequence[str]]
"""Query to passages that a ranking need not show and that have no label: they can still move nDCG's ideal."""


@dataclass(frozen=True)
class Ends:
    """A measure of every query: unjudged passages as worst, as best, and as not relevant. None: retrieval failed."""

    low: Values
    high: Values
    not_relevant: Values


def ends(
    measure: str, qrels: Qrels, ranking: Ranked, k: int, elsewhere: Open | None = None, rows: LabelRows | None = None
) -> Ends:
    """The exact ends of `measure` over every way to label the first `k` passages that have no label.

    elsewhere: unlabelled passages of the query that may stand outside the first k. Labels run from 0 to 2. rows: of the
    queries where all is labelled, if they are at hand.
    """
    decided = rows.values(measure) if rows else {}
    if decided:
        if len(decided) == len(ranking):
            return Ends(decided, decided, decided)
        left = ends(measure, qrels, {q: row for q, row in ranking.items() if q not in decided}, k, elsewhere)
        sides = (left.low | decided, left.high | decided, left.not_relevant | decided)
        return Ends(*({query: side[query] for query in ranking} for side in sides))
    labels: Qrels = {}
    runs: dict[str, list[tuple[str, float]]] = {}
    names: dict[str, list[str]] = {}
    for query, row in ranking.items():
        if row is None:
            continue
        names[query] = []
        for number, given in enumerate(_labellings(row[:k], qrels.get(query, {}), (elsewhere or {}).get(query, ()))):
            name = f"{number}:{query}"
            names[query].append(name)
            labels[name], runs[name] = given, row[:k]
    found = by_query(measure, labels, runs)
    values = {query: [found.get(name, 0.0) for name in rows] for query, rows in names.items()}
    return Ends(*({query: pick(values[query]) if query in values else None for query in ranking} for pick in _PICKS))


_PICKS = (min, max, lambda row: row[0])


def _labellings(row: Sequence[tuple[str, float]], known: Labels, elsewhere: Sequence[str]) -> Iterator[dict[str, int]]:
    """Labellings among which the ends are; in the first, what is open is not relevant.

    With so many open passages of each label given, nDCG's ideal is given too, and its gain is highest where the better
    labels stand first and lowest where they stand last.
    """
    shown = [passage for passage, _ in row if passage not in known]
    outside = [passage for passage in elsewhere if passage not in known and passage not in shown]
    for beyond in (0, HIGHEST_LABEL) if outside else (0,):
        given = {**known, **dict.fromkeys(outside, beyond)}
        for highest in range(len(shown) + 1):
            for middle in range(len(shown) + 1 - highest):
                order = [HIGHEST_LABEL] * highest + [1] * middle + [0] * (len(shown) - highest - middle)
                yield given | dict(zip(shown, order, strict=True))
                if highest + middle > 0 and order[0] != order[-1]:
                    yield given | dict(zip(shown, reversed(order), strict=True))


def pool_by_judge(
    findings: Findings, draws: Resamples, k: int, labelled: Mapping[str, LabelRows] | None = None
) -> dict[str, AgentPool]:
    """Every ranking agent's pool by the judge's labels; what could not be judged has none.

    labelled: `labelled_rows`, if they are at hand.
    """
    unlabelled = {
        query: [p for p in findings.material.pool(query) if p not in findings.qrels.get(query, {})]
        for query in findings.queries
    }
    labelled = labelled_rows(findings, k) if labelled is None else labelled
    return _pools(findings.rankings, findings.qrels, unlabelled, draws, k, labelled)


def pool_by_people(findings: Findings, draws: Resamples, k: int) -> dict[str, AgentPool]:
    """The same by people's labels, over the queries they judged."""
    asked = list(findings.people)
    out = findings.material.not_asked
    rankings = {
        agent: {q: row.get(q) for q in asked if (q, agent) not in out}
        for agent, row in findings.rankings.items()
        if asked
    }
    return _pools(
        rankings, findings.people, {}, draws, k, rows_of_asked(asked, findings.people, rankings, k, findings.material)
    )


def _pools(
    rankings: Mapping[str, Ranked],
    qrels: Qrels,
    elsewhere: Open,
    draws: Resamples,
    k: int,
    labelled: Mapping[str, LabelRows],
) -> dict[str, AgentPool]:
    # Query to the passages that one agent alone retrieved.
    alone = dict[str, set[str]]()
    for query in dict.fromkeys(query for row in rankings.values() for query in row):
        brought = Counter([passage for row in rankings.values() for passage, _ in row.get(query) or ()])
        alone[query] = {passage for passage, often in brought.items() if often == 1}
    pools, unsettled = {}, {query for query, passages in elsewhere.items() if passages}
    for agent, ranking in rankings.items():
        own = {q: [p for p, _ in (ranking.get(q) or ()) if p in passages] for q, passages in alone.items()}
        lost = {q: passages for q, passages in own.items() if passages}
        rows = labelled[agent].without(unsettled)
        found = {m: ends(m, qrels, ranking, k, elsewhere, rows) for m in from_labels(k)}
        bounds = {m: _bounds(one, draws) for m, one in found.items()}
        # Without the labels that are lost, which change the ends of their own queries alone.
        without = {q: {p: v for p, v in qrels.get(q, {}).items() if p not in passages} for q, passages in lost.items()}
        beyond = {q: [*elsewhere.get(q, ()), *passages] for q, passages in lost.items()}
        left_out = {}
        for m, one in found.items():
            both = bounds[m]
            if lost:
                less = ends(m, without, {q: ranking[q] for q in lost}, k, beyond)
                one = Ends(one.low | less.low, one.high | less.high, one.not_relevant | less.not_relevant)
                both = _bounds(one, draws)
            value = both.low if one.not_relevant is one.low else draws.figure(one.not_relevant, (0.0, 1.0))
            left_out[m] = LeftOut(low=both.low, high=both.high, value=value)
        pools[agent] = AgentPool(
            judged=_judged(ranking, qrels, draws, k, frozenset(rows.queries)),
            n_unique=sum(p in passages for q, passages in lost.items() for p, _ in (ranking[q] or ())[:k]),
            bounds=bounds,
            left_out=left_out,
        )
    return pools


def _judged(ranking: Ranked, qrels: Qrels, draws: Resamples, k: int, settled: Collection[str]) -> Figure:
    """judged@k over the passages shown; n counts them, n_failed the queries whose retrieval failed.

    settled: queries whose first k are known to have labels.
    """
    counts = {query: float(min(len(row), k)) for query, row in ranking.items() if row is not None}
    labelled = counts | {
        q: float(sum(p in qrels.get(q, {}) for p, _ in (ranking[q] or ())[:k])) for q in counts.keys() - settled
    }
    n, failed = int(sum(counts.values())), len(ranking) - len(counts)
    return draws.ratio(labelled, counts, n=n, n_failed=failed, limits=(0.0, 1.0))


def _bounds(found: Ends, draws: Resamples) -> Bounds:
    low = draws.figure(found.low, (0.0, 1.0))
    return Bounds(low=low, high=low if found.high is found.low else draws.figure(found.high, (0.0, 1.0)))
