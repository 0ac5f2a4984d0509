"""The decision sheet: what a reader needs to choose, drawn from the figures and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragassay.records import Figure
from ragassay.table import Agent, Cell, Column, Group, Row, Table
from ragassay.text import listed, one_line

from ..results import POINTS, Audit, AuditFinding, Problem, Results
from .judge import SIGNIFICANT, finding_shown
from .tables import scale_words, way
from .wording import MISSING, kind_of, number, shown

COSTS = {"cost_usd": "cost", "latency_s": "latency"}
"""What an answer takes, of which less is better, and what the sheet calls it."""


@dataclass(frozen=True)
class FrontRow:
    """An agent on the front, or behind it: `beaten_by` is at least as good in every respect and better in one."""

    agent: str
    quality: Cell
    takes: list[Cell]
    beaten_by: str | None


@dataclass(frozen=True)
class Front:
    """Agents by quality, cost and latency. `measured`: which of the latter count; `said`: what to read from it."""

    quality: str
    measured: list[str]
    rows: list[FrontRow]
    said: str


@dataclass(frozen=True)
class Brief:
    """One line of the judge's audit; `value` is None where it has none to show."""

    name: str
    value: Cell | None
    said: str


def front(results: Results) -> Front:
    """The agents that no other dominates. Cost and latency count where they are known of every rated agent."""
    ratings = results.points
    rated = [agent for agent in results.agents if (f := ratings.get(agent)) is not None and f.value is not None]
    counted = [key for key in COSTS if rated and all(_value(results, agent, key) is not None for agent in rated)]
    points = {}  # turned so that more is better; rounded, so that the last bit decides nothing
    for agent in rated:
        costs = (-(_value(results, agent, key) or 0.0) for key in counted)
        points[agent] = tuple(round(value, 6) for value in (ratings[agent].value or 0.0, *costs))

    def behind(agent: str, other: str) -> bool:
        mine, theirs = points[agent], points[other]
        return mine != theirs and all(its >= own for own, its in zip(mine, theirs, strict=True))

    rows = [
        FrontRow(
            agent,
            shown(ratings[agent], "points"),
            [shown(results.answers[agent][key], kind_of(key)) for key in counted],
            next((other for other in rated if behind(agent, other)), None),
        )
        for agent in rated
    ]
    said = _front_sentence([row.agent for row in rows if row.beaten_by is None], counted)
    if results.verdict.untold:
        said += " Points are taken as they are: agents that are not told apart may change places."
    return Front("Points", [COSTS[key] for key in counted], rows, said)


def _value(results: Results, agent: str, key: str) -> float | None:
    figure = results.answers.get(agent, {}).get(key)
    return figure.value if figure is not None else None


def _front_sentence(best: Sequence[str], counted: Sequence[str]) -> str:
    missing = [name for key, name in COSTS.items() if key not in counted]
    if not best:
        return "No agent has points."
    unknown = f"{listed(missing).capitalize()} {'was' if len(missing) == 1 else 'were'} not measured for every agent"
    if not counted:
        return f"{unknown}, so quality alone decides."
    kinds = " or ".join({"cost": "cheaper", "latency": "faster"}[COSTS[key]] for key in counted)
    rest = f" {unknown} and left out." if missing else ""
    if len(best) == 1:
        return f"No other agent is better or {kinds} than {one_line(best[0])}.{rest}"
    return f"Worth weighing are {listed(best) or 'no agent'}: each is better or {kinds} than the others.{rest}"


@dataclass(frozen=True)
class LeadRow:
    """An agent beside the leader. difference: the leader's points less its own, None of the leader itself; p_best: how
    likely it is the best."""

    agent: str
    difference: Figure | None
    told: bool
    p_best: float | None

    @property
    def said(self) -> str:
        """Whether it is told from the leader."""
        return "leads" if self.difference is None else "told" if self.told else "may be the best"


def lead_rows(results: Results) -> list[LeadRow]:
    """The leader and every other agent, best first; none where nobody leads."""
    verdict = results.verdict
    if verdict.leader is None:
        return []
    chances = verdict.p_best
    return [
        LeadRow(verdict.leader, None, False, chances.get(verdict.leader)),
        *(LeadRow(agent, verdict.differences[agent], False, chances.get(agent)) for agent in verdict.untold),
        *(LeadRow(agent, verdict.differences[agent], True, chances.get(agent)) for agent in verdict.told),
    ]


_LIKELY = 10
"""Times as many queries as there are: more are not worth naming."""


def to_decide(results: Results) -> str:
    """What to do next, in a sentence or two."""
    verdict = results.verdict
    if verdict.leader is None:
        return (
            "Get games that have a verdict of a judge that looks at the answers: see what is said of it, and run again."
        )
    if verdict.overturned_by is not None:
        return "Find out why games or answers failed, mend that and run again: what failing counts for decides this."
    if verdict.decided:
        return "The first place is settled; nothing more is needed to choose it."
    if verdict.equal and verdict.safe:
        return _cheapest(results)
    if verdict.safe:
        return f"{one_line(verdict.leader)} may be taken: what more queries could tell is less than what matters."
    pairs = [(row, {row.agent_a, row.agent_b}) for row in results.comparisons if row.measure == POINTS]
    open_rows = [row for row, pair in pairs if verdict.leader in pair and pair & set(verdict.untold)]
    numbers = [row.needed.value for row in open_rows if row.needed is not None and row.needed.value is not None]
    if len(numbers) == len(open_rows) and numbers and max(numbers) <= _LIKELY * results.n_queries:
        return (
            f"About {max(numbers):,} queries in all (now {results.n_queries:,}) would likely settle it: raise "
            "questions.quota, or add queries of your own."
        )
    return "Even ten times as many queries would hardly settle it. Choose among these by cost and latency."


def _cheapest(results: Results) -> str:
    for key, name in COSTS.items():
        costs = {agent: _value(results, agent, key) for agent in results.verdict.possible_best}
        known = {agent: cost for agent, cost in costs.items() if cost is not None}
        if len(known) == len(costs):
            least = min(known, key=lambda agent: known[agent])
            return f"By {name}, that is {one_line(least)}: {number(known[least], kind_of(key))} an answer."
    return "What an answer costs was not measured."


def judge_in_brief(audit: Audit | None) -> list[Brief]:
    """The audit in a few lines; empty where there is none."""
    if audit is None:
        return []
    found = {(finding.key, finding.subject): finding for finding in audit.findings}
    by_key = {finding.key: finding for finding in audit.findings}
    again = found.get(("repeat_consistency", "games")) or by_key.get("repeat_consistency")
    calls = sum(row.failed.n for row in audit.failures)
    failed = sum(round((row.failed.value or 0.0) * row.failed.n) for row in audit.failures)
    length, held = by_key.get("length_effect"), "length could not be held equal"
    if length is not None and length.figure.value is not None:
        stays = "another agent leads" if length.warning else "the ranking’s first stays first"
        held = f"{stays} with length held equal"
    return [
        Brief("Winner changes with the order", _shown(by_key.get("flip_rate")), _order(by_key)),
        Brief("Same verdict when asked again", _shown(again), "" if again else "not asked (judge.repeats)"),
        Brief("Longer answer wins", _shown(by_key.get("longer_wins")), held),
        Brief("Its own model family", None, _family(by_key)),
        Brief("Failed replies", None, f"{failed:,} of {calls:,} calls" if calls else "no calls are on record"),
    ]


def _shown(finding: AuditFinding | None) -> Cell | None:
    return finding_shown(finding) if finding is not None and finding.figure.value is not None else None


def _order(found: Mapping[str, AuditFinding]) -> str:
    rate, place = found.get("flip_rate"), _place(found.get("first_favoured"))
    guess = "as often as by guessing" if rate is not None and rate.warning else ""
    if "place_trend" in found and rate is not None and rate.figure.value is None:
        guess = "no pair was seen both ways"
    echoed = found.get("order_echoed")
    echo = "with the order shown given back" if echoed is not None and echoed.warning else ""
    return ", ".join(part for part in (guess, echo, place) if part)


def _place(finding: AuditFinding | None) -> str:
    if finding is None or finding.figure.value is None:
        return ""
    if finding.p is None or finding.p >= SIGNIFICANT:
        return "and no place is favoured, as far as that tells"
    first, second = ("earlier", "later") if finding.subject else ("first", "second")
    return f"towards the answer shown {first if finding.figure.value > 0.5 else second}"


def _family(found: Mapping[str, AuditFinding]) -> str:
    answers, questions = found.get("own_answers"), found.get("own_questions")
    wrote = "some of the answers" if answers is None else f"{_quantity(answers.figure)} of the answers"
    if questions is not None and questions.figure.value is not None:
        wrote += f" and {_quantity(questions.figure)} of the questions"
    return f"wrote {wrote}"


def _quantity(share: Figure) -> str:
    if share.value is None:
        return "an unknown part"
    return {0.0: "none", 1.0: "all"}.get(share.value, number(share.value, "share"))


OTHERS = "others"
"""The family of evaluators of which the file does not say one."""

UNFOLDED = 6
"""So many boards stand open."""


@dataclass(frozen=True)
class Family:
    """The boards of the evaluators of one family, a group of rows each; n_problems: agents beyond a threshold, over all
    of them."""

    name: str
    table: Table
    n_boards: int
    n_problems: int


def families(results: Results) -> list[Family]:
    """Every family in the order of the file. What is worked out from a criterion (P, AP, RR) has no board."""
    named: dict[str, list[str]] = {}
    for name in _criteria(results):
        named.setdefault(results.evaluator_families.get(results.evaluators[name], OTHERS), []).append(name)
    beyond = [one.criterion for one in results.problems if one.kind == "beyond_threshold"]
    columns = [Column("Agent"), Column("Place", numbers=True), Column("Mean"), Column("Good enough"), Column("Problem")]
    made = []
    for family, names in named.items():
        table = Table(f"Leaderboards of {family}", columns, [row for name in names for row in _board(results, name)])
        made.append(Family(family, table, len(names), sum(beyond.count(name) for name in names)))
    return made


def are_few(results: Results) -> bool:
    """Whether there are so few boards that they need no folding."""
    return len(_criteria(results)) <= UNFOLDED


def _criteria(results: Results) -> list[str]:
    return [name for name in results.evaluators if "(" not in name]


def _board(results: Results, name: str) -> list[Row]:
    """A criterion with its scale, direction and threshold, and its agents: equal means share a place."""
    lower, limit = name in results.lower_is_better, results.thresholds.get(name)
    given = {agent: results.evaluations[agent].get(name) for agent in results.agents if agent in results.evaluations}
    known = {agent: one.value for agent, one in given.items() if one is not None and one.value is not None}
    order = sorted(known, key=lambda agent: known[agent] if lower else -known[agent])
    ahead = {a: 1 + sum((v < known[a]) if lower else (v > known[a]) for v in known.values()) for a in order}
    problems = {one.agent: one for one in results.problems if one.kind == "beyond_threshold" and one.criterion == name}
    enough = "; no threshold" if limit is None else f"; good enough {'up to' if lower else 'from'} {limit:g}"
    about = scale_words(*results.evaluation_scales[name]) + way(results, name) + enough
    rows: list[Row] = [Group(name.replace("_", " "), about)]
    for agent in [*order, *(one for one in results.agents if one not in known)]:
        shares, problem = results.threshold_shares.get(agent, {}).get(name), problems.get(agent)
        sure = "beyond chance" if problem and problem.sure else "perhaps by chance"
        rows.append(
            (
                Agent(agent),
                str(ahead.get(agent, MISSING)),
                shown(given.get(agent), kind_of(name)),
                shown(shares.passed if shares else None, "share", "no threshold"),
                f"{'above' if lower else 'below'} its threshold, {sure}" if problem else "",
            )
        )
    return rows


MOST = 12
"""Lines in the terminal, with the one that says how many more there are."""

_INSIGHTS_AT_LEAST = 4
"""So many of the lines are for insights, if there are as many."""


def problem_lines(results: Results) -> list[str]:
    """What is beyond chance, answers without a word, the others; agents with the same problem share a line."""
    same: dict[tuple[int, str], list[Problem]] = {}
    for place, one in enumerate(results.problems):
        alone = f"{place}" if one.kind != "beyond_threshold" else ""
        same.setdefault((_RANK[one.sure], alone or f"of {one.criterion}"), []).append(one)
    return [_together(results, some) for _, some in sorted(same.items(), key=lambda pair: pair[0][0])]


def insight_lines(results: Results) -> list[str]:
    """Agents told from all others, then what was not tested, then what chance may have brought about."""
    return [one_line(one.sentence) for one in sorted(results.insights, key=lambda one: _RANK[one.told_apart])]


_RANK = {True: 0, None: 1, False: 2}


def told(results: Results) -> list[tuple[bool, str]]:
    """Each with whether it is a problem, these first."""
    return [(True, line) for line in problem_lines(results)] + [(False, line) for line in insight_lines(results)]


def told_lines(results: Results) -> list[str]:
    """At most `MOST` lines for the terminal; none where there is neither problem nor insight."""
    problems = [f"problem: {line}" for line in problem_lines(results)]
    insights = [f"insight: {line}" for line in insight_lines(results)]
    if len(problems) + len(insights) <= MOST:
        return problems + insights
    room = MOST - 1
    some = problems[: room - min(len(insights), _INSIGHTS_AT_LEAST)]
    some += insights[: room - len(some)]
    n_problems = sum(line.startswith("problem") for line in some)
    left = len(problems) - n_problems, len(insights) - (len(some) - n_problems)
    more = [f"{n:,} {what}{'' if n == 1 else 's'}" for n, what in zip(left, ("problem", "insight"), strict=True) if n]
    return [*some, f"and {' and '.join(more)} more: report.html, under Evaluators"]


def _together(results: Results, some: Sequence[Problem]) -> str:
    """Of several agents with one criterion, how many and which is the worst."""
    first = some[0]
    if len(some) == 1 or first.criterion is None:
        return one_line(first.sentence)
    lower = first.criterion in results.lower_is_better
    known = [one for one in some if one.figure.value is not None]
    worst = sorted(known, key=lambda one: (one.figure.value or 0.0) * (-1 if lower else 1))[0]
    side = "above" if lower else "below"
    limit = f" of {results.thresholds[first.criterion]:g}" if first.criterion in results.thresholds else ""
    how = "beyond chance" if first.sure else "though by no more than chance may bring about"
    return (
        f"{one_line(first.criterion)} is {side} its threshold{limit} for {len(some)} of {len(results.agents)} agents, "
        f"{how}; the worst is {one_line(worst.agent)}, {worst.figure.value:.3g} (n {worst.figure.n})."
    )
