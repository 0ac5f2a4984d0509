"""The report's section on two kinds of queries: whether written and real ones put the agents in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragassay.records import Figure
from ragassay.text import listed, one_line

from ..inputs.labels import GAME
from ..results import AgentPool, AmongJudges, Audit, AuditFinding, Bounds, ModelByPrompt, OrdersCompared, Results
from .wording import (
    MISSING,
    Kind,
    Shown,
    kind_of,
    kind_of_difference,
    measure_help,
    measure_name,
    number,
    shown,
    telling_criterion,
)

SIGNIFICANT = 0.05

_NAMES = {
    "flip_rate": "Winner changes with the order",
    "first_favoured": "Flips towards the answer shown {}",
    "order_echoed": "Lists in the very order shown",
    "place_trend": "Order given and order shown (tau)",
    "place_score": "Pairs won from place {}",
    "repeat_consistency": "Same label when asked again",
    "longer_wins": "Longer answer wins",
    "length_effect": "Effect of length on the log odds",
    "own_answers": "Agents answered by its own family",
    "own_answers_win": "Its family’s answers win against others",
    "own_questions": "Questions by its own family",
    "own_questions_gap": "More wins on its family’s questions",
    "failed_games": "Games without a verdict",
}


@dataclass(frozen=True)
class AuditRow:
    """A finding in words. `fair` and `p` are '' where there is none; `grave` says that it could change the winner."""

    name: str
    figure: Shown
    fair: str
    p: str
    said: str
    grave: bool


@dataclass(frozen=True)
class PoolColumn:
    """A measure as far as labels leave it open: for each agent its range, and the same had it not contributed."""

    name: str
    help: str
    cells: dict[str, tuple[str, str]]


def audit_name(finding: AuditFinding) -> str:
    """What the report calls a finding."""
    name = _NAMES.get(finding.key, finding.key.replace("_", " ")).format(finding.subject or "first")
    return f"{name}: {finding.subject}" if finding.key == "repeat_consistency" else name


def finding_shown(finding: AuditFinding) -> Shown:
    """Its figure in words."""
    return shown(finding.figure, _kind(finding), "nothing to compute it from" if not finding.figure.n else "")


def _kind(finding: AuditFinding) -> Kind:
    return "mean" if finding.key in ("length_effect", "place_trend") else "share"


def audit_rows(audit: Audit | None) -> list[AuditRow]:
    """A row for each finding."""
    return [
        AuditRow(
            name=audit_name(finding),
            figure=finding_shown(finding),
            fair="" if finding.fair is None else f"{number(finding.fair, _kind(finding))}",
            p="" if finding.p is None else "< 0.001" if finding.p < 0.001 else f"{finding.p:.3f}",
            said=finding.sentence,
            grave=finding.warning is not None,
        )
        for finding in (audit.findings if audit else ())
    ]


def length_plots(results: Results) -> list[tuple[str, dict[str, Figure]]]:
    """The two ratings of length control, each with its title; empty where there are none."""
    length = results.audit.length if results.audit else None
    if length is None or not any(figure.value is not None for figure in length.controlled.values()):
        return []
    return [("By the verdicts", length.plain), ("With length held equal", length.controlled)]


def pool_columns(pools: Mapping[str, AgentPool], agents: Sequence[str]) -> list[PoolColumn]:
    """For each measure, the range that unjudged passages leave; first as it is, then had the agent not contributed."""
    measures = list(dict.fromkeys(m for agent in agents if agent in pools for m in pools[agent].bounds))
    return [
        PoolColumn(
            measure_name(m),
            measure_help(m),
            {a: (_range(pools[a].bounds[m]), _range(pools[a].left_out[m])) for a in agents if a in pools},
        )
        for m in measures
    ]


def _range(bounds: Bounds) -> str:
    """`0.412 to 0.487`, or one number where nothing is open."""
    low, high = bounds.low.value, bounds.high.value
    if low is None or high is None:
        return MISSING
    ends = number(low, "measure"), number(high, "measure")
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


LONGEST = 80
"""Characters of a prompt's name in a heading."""

STEPS = 5
"""Of colour, the last of the best cells."""


@dataclass(frozen=True)
class GridCell:
    """A mean in words, of the answers of `agents`.

    tone: from 0 (the worst of the cells) to `STEPS` - 1; None without a value.
    """

    mean: Shown
    tone: int | None
    agents: str


@dataclass(frozen=True)
class Grid:
    """One measure. rows: model to a cell for each of `prompts`; None where no agent answers so."""

    measure: str
    prompts: list[str]
    rows: list[tuple[str, list[GridCell | None]]]


def grids(results: Results) -> list[Grid]:
    """A grid of each measure, the one that tells agents apart first; none without two models and two prompts."""
    crossed = results.models_by_prompts
    names = list(dict.fromkeys(name for one in crossed for name in one.means))
    first = telling_criterion(results)
    names.sort(key=lambda name: name != first)
    return [
        grid(name, crossed, [one.means.get(name) for one in crossed], lower_is_better=name in results.lower_is_better)
        for name in names
    ]


def grid(
    measure: str, crossed: Sequence[ModelByPrompt], means: Sequence[Figure | None], *, lower_is_better: bool
) -> Grid:
    """means: of each of `crossed`, None where it has no values of the measure."""
    known = [one.value for one in means if one is not None and one.value is not None]
    ends = (min(known, default=0.0), max(known, default=0.0))
    cells: Mapping[tuple[str, str], GridCell] = {
        (one.model, one.prompt): GridCell(
            shown(mean, kind_of(measure)),
            _tone(mean.value if mean else None, ends, lower_is_better=lower_is_better),
            ", ".join(map(one_line, one.agents)),
        )
        for one, mean in zip(crossed, means, strict=True)
    }
    prompts = list(dict.fromkeys(one.prompt for one in crossed))
    models = list(dict.fromkeys(one.model for one in crossed))
    rows = [(one_line(model), [cells.get((model, prompt)) for prompt in prompts]) for model in models]
    return Grid(measure_name(measure), [_cut(prompt) for prompt in prompts], rows)


def _tone(value: float | None, ends: tuple[float, float], *, lower_is_better: bool) -> int | None:
    if value is None:
        return None
    low, high = ends
    share = (value - low) / (high - low) if high > low else 0.5
    return round((STEPS - 1) * (1 - share if lower_is_better else share))


def _cut(name: str) -> str:
    line = one_line(name)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


SPLIT = "not_unanimous"
ALPHA = "krippendorff_alpha(ordinal)"


@dataclass(frozen=True)
class JudgeRow:
    """A judge of a panel in words; `leads` names the agents that lead by its verdicts alone."""

    judge: str
    leads: str
    agrees: Shown
    failed: Shown
    audit: list[AuditRow]


@dataclass(frozen=True)
class DisagreementRow:
    """How far the judges disagree on one criterion, by name."""

    name: str
    split: Shown
    alpha: Shown


def judge_rows(results: Results) -> list[JudgeRow]:
    """A row for each judge of a panel; none where one judge judged."""
    return [
        JudgeRow(
            judge=one_line(one.judge),
            leads=listed([one_line(agent) for agent in one.leaders]) or "none",
            agrees=shown(one.agrees, "share"),
            failed=shown(one.failed, "share"),
            audit=audit_rows(one.audit),
        )
        for one in (results.panel.judges if results.panel else ())
    ]


def disagreement_rows(results: Results) -> list[DisagreementRow]:
    """A row for passages, for each criterion of answers, and for games."""
    return [_row(found) for found in (results.panel.disagreement if results.panel else ())]


def panel_lines(results: Results) -> list[str]:
    """One line of plain text, for the terminal."""
    if results.panel is None:
        return []
    games = next((row for row in disagreement_rows(results) if row.name == _name(GAME)), None)
    split = f"; not of one mind on {games.split.value} {games.split.interval} of the games".rstrip() if games else ""
    by_judge = (f"{row.judge} {row.leads}" for row in judge_rows(results))
    n = len(results.panel.judges)
    return [f"{n} judges, figures by their majority{split}; leading by each: {', '.join(by_judge)}"]


def split_of(results: Results) -> dict[str, Shown]:
    """By criterion, what stands beside its figures: the share of things on which the judges are not unanimous."""
    return {found.criterion: _row(found).split for found in (results.panel.disagreement if results.panel else ())}


def _row(found: AmongJudges) -> DisagreementRow:
    split, alpha = found.figures.get(SPLIT), found.figures.get(ALPHA)
    return DisagreementRow(
        _name(found.criterion),
        shown(split, "share", found.undefined.get(SPLIT, "")),
        shown(alpha, "mean", found.undefined.get(ALPHA, "")),
    )


def _name(criterion: str) -> str:
    return {GAME: "winner of a game", "passages": "relevance of a passage"}.get(criterion) or one_line(
        measure_name(criterion)
    )


FEW = 50
"""Queries of a kind below which the reader is cautioned: simulated, the interval of tau of six agents 5 points apart is
1.2 wide with 36 of each kind, 0.7 with 100 (`benchmarks/coverage/sources.py`)."""


@dataclass(frozen=True)
class OrderRow:
    """An agent's place in each order, "" where it has none, and its mean there."""

    agent: str
    places: tuple[str, str]
    means: tuple[Shown, Shown]


@dataclass(frozen=True)
class OrdersShown:
    """One measure: its name, the agents in the real queries' order, and the comparison in a sentence."""

    measure: str
    said: str
    rows: list[OrderRow]


def orders_shown(results: Results) -> list[OrdersShown]:
    """A table for each measure; none where all queries are of one kind."""
    return [
        OrdersShown(measure_name(one.measure), _sentence(one), _rows(one))
        for one in (results.sources.measures if results.sources else ())
    ]


def caution(results: Results) -> str:
    """What to bear in mind where queries are few; "" where they are not."""
    found = results.sources
    if found is None or min(found.n_real, found.n_written) >= FEW:
        return ""
    return (
        f"With {found.n_real:,} real and {found.n_written:,} written queries much of either order is chance: two "
        "halves of so few real questions may not agree either. A low τ is no proof that the kinds disagree, and an "
        "interval from low to high says that these queries cannot tell. Look at the pairs that were decided."
    )


def kinds(results: Results) -> str:
    """` (24 real, 36 written)` beside the number of queries, "" where all are of one kind."""
    found = results.sources
    return f" ({found.n_real:,} real, {found.n_written:,} written)" if found else ""


def orders_lines(results: Results) -> list[str]:
    """A line of plain text for the terminal, or none: what the written queries say of what the real ones decide."""
    measures = results.sources.measures if results.sources else ()
    if not measures:
        return []
    said = [f"{_named(one)} {_same(one)}" for one in measures if one.n_decided]
    if left := [_named(one) for one in measures if not one.n_decided]:
        said.append(f"none decided by {listed(left)}")
    return [f"pairs that real queries decide, and written ones the same way: {'; '.join(said)}"]


def _named(one: OrdersCompared) -> str:
    return one_line(measure_name(one.measure))


def _same(one: OrdersCompared) -> str:
    against = f", {len(one.contradicted):,} the other way" if one.contradicted else ""
    return f"{one.n_same:,} of {one.n_decided:,}{against}"


def _sentence(one: OrdersCompared) -> str:
    """`the same agent leads, bm25-rag; τ 0.73 [0.20, 1.00] over 6 agents; of 4 pairs that the real ones decide, …`"""
    if not one.best_real:
        return f"no two orders to compare: {one.undefined['tau_b']}."
    tau = shown(one.figures["tau_b"], "mean")
    if tau.why:
        return f"{one.undefined['tau_b']}; {_pairs(one)}."
    agreement = f"τ {tau.value} {tau.interval}".strip() + f" over {one.figures['tau_b'].n:,} agents"
    return f"{_leaders(one)}; {agreement}; {_pairs(one)}."


def _leaders(one: OrdersCompared) -> str:
    real, written = (listed([one_line(name) for name in best]) for best in (one.best_real, one.best_written))
    if one.best_real == one.best_written:
        return f"the same agent leads, {real}" if len(one.best_real) == 1 else f"the same agents lead, {real}"
    loss = shown(one.figures["loss"], _sources_kind(one.measure))
    lost = f"choosing by the written ones loses {loss.value} {loss.interval}".strip()
    return f"the real queries put {real} first, the written ones {written}; {lost} by the real ones"


def _pairs(one: OrdersCompared) -> str:
    if not one.n_decided:
        return f"the real ones decide none of {_count(one.n_pairs)}"
    same, left, against = (count or "none" for count in (one.n_same, one.n_open, len(one.contradicted)))
    said = f"of {_count(one.n_decided)} that the real ones decide, the written ones decide {same} the same way, "
    said += f"leave {left} open and contradict {against}"
    return said + (f" ({', '.join(map(_contradicted, one.contradicted))})" if one.contradicted else "")


def _count(n: int) -> str:
    return f"{n:,} {'pair' if n == 1 else 'pairs'}"


def _contradicted(pair: tuple[str, str]) -> str:
    return f"{one_line(pair[0])} over {one_line(pair[1])}"


def _rows(one: OrdersCompared) -> list[OrderRow]:
    places, kind = (_places(one.real), _places(one.written)), _sources_kind(one.measure)
    return [
        OrderRow(
            agent,
            (places[0].get(agent, ""), places[1].get(agent, "")),
            (shown(one.real.get(agent), kind), shown(one.written.get(agent), kind)),
        )
        for agent in dict.fromkeys((*one.real, *one.written))
    ]


def _places(order: Mapping[str, Figure]) -> dict[str, str]:
    """From 1 for the highest mean; agents that are level share the better place."""
    known = {agent: round(figure.value, 9) for agent, figure in order.items() if figure.value is not None}
    return {
        agent: number(1 + sum(other > value for other in known.values()), "number") for agent, value in known.items()
    }


def _sources_kind(measure: str) -> Kind:
    return kind_of_difference(measure)
