"""The report's tables: figures turned into columns of words, one row an agent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragassay.records import Figure, LedgerRow, StageUsage
from ragassay.text import one_line

from ..inputs.labels import GAME
from ..measures.by_labels import LEVELS
from ..results import POINTS, CorrectedFigure, Corrections, Figures, JudgeAgreement, PairedTest, Results
from .wording import (
    MISSING,
    Kind,
    Shown,
    kind_of,
    kind_of_difference,
    measure_help,
    measure_name,
    number,
    only_alone,
    shown,
    telling_criterion,
)

SHOWN = {
    "kappa": "κ",
    "kappa(quadratic)": "κ, quadratic weights",
    "krippendorff_alpha(ordinal)": "Krippendorff’s α",
    "tau_b": "τ-b",
    "rho": "ρ",
    "bias": "judge − people",
    "limit_low": "lower limit",
    "limit_high": "upper limit",
}


@dataclass(frozen=True)
class AgreementRow:
    """One criterion, by name; `figures` in the order of `SHOWN`, each with its p in words, "" where it has none."""

    criterion: str
    figures: list[tuple[Shown, str]]
    n: str


def agreement_rows(corrected: Corrections | None) -> list[AgreementRow]:
    """A row a criterion; none where nothing was labelled that the judge labelled."""
    return [_row(found) for found in (corrected.agreement if corrected else ())]


def agreement_lines(results: Results) -> list[str]:
    """Lines of plain text, for the terminal."""
    lines = []
    for found in results.corrected.agreement if results.corrected else ():
        words = shown(found.figures["kappa(quadratic)"], "mean", found.undefined.get("kappa(quadratic)", ""))
        value = f"{words.value} {words.interval}".strip()
        lines.append(f"judge and people, {_name(found.criterion)}: kappa (quadratic) {value}, {found.n_pairs:,} labels")
    return lines


def _row(found: JudgeAgreement) -> AgreementRow:
    figures = [
        (shown(found.figures[name], "mean", found.undefined.get(name, "")), _p(found.p.get(name))) for name in SHOWN
    ]
    missing = f", {found.n_missing:,} failed" if found.n_missing else ""
    return AgreementRow(_name(found.criterion), figures, f"{found.n_pairs:,}{missing}")


def _name(criterion: str) -> str:
    return "winner of a game" if criterion == GAME else one_line(measure_name(criterion))


def _p(p: float | None) -> str:
    return "" if p is None else "below 0.001" if p < 0.001 else f"{p:.3f}"


NAMED = 3
"""How many pairs that can be told apart are named; more are counted."""


@dataclass(frozen=True)
class CorrectedRow:
    """A mean (`other` None) or a difference, twice; `verdict` and `p` (Holm's) of a difference that was tested.

    alone: how the interval may leave out 0 where the verdict does not, or ''.
    """

    measure: str
    agent: str
    other: str | None
    judged: Shown
    corrected: Shown
    n_labels: int
    note: str
    needed: str
    verdict: str
    p: str
    alone: str


def corrected_tables(corrected: Corrections | None) -> list[tuple[str, list[CorrectedRow]]]:
    """(title, rows): the means, then the differences between agents; nothing where nothing was labelled."""
    figures = corrected.figures if corrected else ()
    tested = Counter(figure.measure for figure in figures if figure.p_holm is not None)
    rows = [_corrected_row(figure, tested[figure.measure]) for figure in figures]
    return [
        ("Means", [row for row in rows if row.other is None]),
        ("Differences between agents", [row for row in rows if row.other is not None]),
    ]


def _corrected_row(figure: CorrectedFigure, n_tested: int) -> CorrectedRow:
    kind: Kind = "mean" if kind_of(figure.measure) == "number" else kind_of(figure.measure)
    return CorrectedRow(
        measure=figure.measure,
        agent=figure.agent,
        other=figure.other,
        judged=shown(figure.judged, kind),
        corrected=shown(figure.corrected, kind, figure.note or ""),
        n_labels=figure.n_labels,
        note=figure.note or "",
        needed=_needed(figure.needed),
        verdict=figure.verdict or "",
        p="" if figure.p_holm is None else "below 0.001" if figure.p_holm < 0.001 else f"{figure.p_holm:.3f}",
        alone=only_alone(figure.corrected, figure.verdict in ("better", "worse"), n_tested) if figure.verdict else "",
    )


def second_line(results: Results) -> list[str]:
    """A line on the second judge, for the terminal."""
    if results.second is None:
        return []
    second, n = results.second, results.second.corrected.figures
    failed = f", {second.n_failed:,} failed" if second.n_failed else ""
    told = sum(row.verdict in ("better", "worse") for row in n)
    pairs = sum(row.verdict is not None for row in n)
    asked = f"{one_line(second.judge)} asked about {second.n_asked:,} things{failed}"
    return [f"second judge {asked}; as it corrects them, {told:,} of {pairs:,} differences are told apart"]


def corrected_verdicts(results: Results) -> list[tuple[str, str]]:
    """(measure, which pairs its corrected differences tell apart), for each measure on which any could be tested."""
    rows = [figure for figure in (results.corrected.figures if results.corrected else ()) if figure.verdict]
    return [(m, _told([row for row in rows if row.measure == m])) for m in dict.fromkeys(row.measure for row in rows)]


def corrected_lines(results: Results) -> list[str]:
    """The same as lines of plain text, for the terminal."""
    return [f"corrected by people, {measure_name(m)}: {said}" for m, said in corrected_verdicts(results)]


def _told(rows: Sequence[CorrectedFigure]) -> str:
    better = [
        (row.agent, row.other) if row.verdict == "better" else (row.other, row.agent)
        for row in rows
        if row.verdict != "not distinguishable"
    ]
    level = len(rows) - len(better)
    pairs = f"{level} of {len(rows)} {'pair' if len(rows) == 1 else 'pairs'} not distinguishable"
    if len(better) > NAMED:
        return f"{len(better)} of {len(rows)} pairs told apart, {level} not"
    said = [f"{one_line(str(one))} better than {one_line(str(other))}" for one, other in better]
    return "; ".join([*said, pairs] if level else said)


def _needed(figure: Figure | None) -> str:
    """`about 120 (80 to 200)`; an end that labels on every query would not reach is said so."""
    if figure is None:
        return ""
    ends = (f"{end:,.0f}" if end is not None else "all and more" for end in (figure.ci_low, figure.ci_high))
    if figure.value is None:
        return "more queries than these"
    return f"about {figure.value:,.0f} ({' to '.join(ends)})"


FAILED = "failed"


@dataclass(frozen=True)
class Column:
    """One column: its heading, what it means, and a cell for each agent."""

    name: str
    help: str
    cells: dict[str, Shown]

    @property
    def n(self) -> str:
        """How many values each of the cells is taken over, where that is the same; else ''."""
        given = {cell.n for cell in self.cells.values()}
        return given.pop() if len(given) == 1 else ""

    @property
    def empty(self) -> str:
        """Why no agent has a value, where that is the same for all and nothing failed; else ''."""
        reasons = {cell.why for cell in self.cells.values()}
        failed = any(cell.failed for cell in self.cells.values())
        return reasons.pop() if len(reasons) == 1 and not failed else ""


@dataclass(frozen=True)
class Count:
    """One stacked bar: (name, CSS class, count) for each label and for what failed; `agents` all have these."""

    agents: tuple[str, ...]
    parts: list[tuple[str, str, int]]
    mean: Shown


@dataclass(frozen=True)
class TestRow:
    """A paired t-test in words; `names` are the agents."""

    measure: str
    names: tuple[str, str]
    difference: Shown
    t: str
    df: str
    p: str


@dataclass(frozen=True)
class UsageRow:
    """What one stage used of one model, in words; numbers that were not measured say so."""

    stage: str
    model: str
    calls: str
    failed: int
    unmeasured: int
    input_tokens: str
    output_tokens: str
    cost: str


@dataclass(frozen=True)
class EvaluatorTable:
    """The measures of one evaluator: a column each, with the ends of its scale."""

    title: str
    columns: list[Column]


def evaluator_tables(results: Results) -> list[EvaluatorTable]:
    """A table of all evaluators that give one number, then one for each that gives more, in the order of the file."""
    measures: dict[str, list[str]] = {}
    for name, evaluator in results.evaluators.items():
        measures.setdefault(evaluator, []).append(name)
    single = [names[0] for names in measures.values() if len(names) == 1]
    tables = [EvaluatorTable("", [_evaluated(results, name, name) for name in single])] if single else []
    for evaluator, names in measures.items():
        if len(names) > 1:
            shown = [_evaluated(results, name, _SHORT.sub(r"\1", name.removeprefix(f"{evaluator}."))) for name in names]
            tables.append(EvaluatorTable(evaluator, shown))
    classes = {
        agent: {name: figure for name, figure in row.items() if "(" not in name}
        for agent, row in (results.classification or {}).items()
    }
    of_run = [EvaluatorTable("classes, over the whole run", columns(classes, results.agents))] if classes else []
    return tables + of_run


_SHORT = re.compile(r"^(P|AP|RR)\(rel=2\)(?=@)")
"""The threshold is the same for all of a table, and is said in each heading's title."""


def _evaluated(results: Results, name: str, heading: str) -> Column:
    """One measure of the evaluators', its heading without underscores."""
    low, high = results.evaluation_scales[name]
    own = {agent: row.get(name) for agent, row in results.evaluations.items()}
    title = f"{name}, {scale_words(low, high)}{way(results, name)}: the mean over queries"
    shown_as = f"{heading.replace('_', ' ')}{' ↓' if name in results.lower_is_better else ''}"
    return replace(_column(name, own, results.agents), name=shown_as, help=title)


def scale_words(low: float, high: float | None) -> str:
    """`0 to 3`, or `0 and up`."""
    return f"{low:g} and up" if high is None else f"{low:g} to {high:g}"


def way(results: Results, name: str) -> str:
    """`, lower is better` of what it is so of."""
    return ", lower is better" if name in results.lower_is_better else ""


def columns(figures: Figures, agents: Sequence[str]) -> list[Column]:
    """A column for each measure that any agent has, in the order of the file."""
    keys = list(dict.fromkeys(key for agent in agents for key in figures.get(agent, {})))
    return [_column(key, {agent: row.get(key) for agent, row in figures.items()}, agents) for key in keys]


def ranking_columns(results: Results) -> list[Column]:
    """The first table: points and strength, then of each other table the one figure that sums an agent up."""
    agents, note = results.agents, results.bradley_terry_note or ""
    table = [
        _named("Points", "points", results.points, agents, _POINTS_HELP),
        _named("Bradley–Terry", "rating", results.bradley_terry, agents, _RATING_HELP["bt"], note),
    ]
    for figures, key in (
        (results.pointwise, telling_criterion(results)),
        (results.retrieval, _whole_list(results)),
        (results.answers, "answered"),
    ):
        if key is not None:
            table.append(_column(key, {agent: row.get(key) for agent, row in figures.items()}, agents))
    return table


def elo_columns(results: Results) -> list[Column]:
    """What other tools rank by: Elo, and the share of games won."""
    return [
        _named("Elo", "rating", results.elo, results.agents, _RATING_HELP["elo"]),
        _named("Games won", "share", results.win_rate, results.agents, _WIN_HELP),
    ]


def _whole_list(results: Results) -> str | None:
    """The measure of retrieval that is of all that was found, or the first there is."""
    keys = list(dict.fromkeys(key for agent in results.agents for key in results.retrieval.get(agent, {})))
    return next((key for key in keys if key.startswith("nDCG")), next(iter(keys), None))


def answer_columns(results: Results) -> list[Column]:
    """What answering took, and where that was asked the share of the answers that are refusals."""
    table = columns(results.answers, results.agents)
    if not results.refusals:
        return table
    text = "share of the answers that decline, or say that nothing was found, and answer no part of the question"
    return [*table, _named("Refusals", "share", results.refusals, results.agents, text)]


def bottom_columns(results: Results) -> list[Column]:
    """With answers that failed as the worst there are: how many, then the figures of games, answers and retrieval."""
    low, agents = results.failures_at_bottom, results.agents
    if low is None:
        return []
    failed = {agent: Shown(f"{low.failed.get(agent, 0):,}", "", "", "") for agent in agents}
    return [
        Column("Failed", "answers that failed, counted here as the worst", failed),
        _named("Bradley–Terry", "rating", low.bradley_terry, agents, _RATING_HELP["bt"]),
        _named("Games won", "share", low.win_rate, agents, "a failed answer loses to each that did not fail"),
        *columns(low.pointwise, agents),
        *columns(low.retrieval, agents),
    ]


_POINTS_HELP = measure_help(POINTS)
_WIN_HELP = "share of its games an agent won; ties are no wins; failed: no verdict, for want of either answer too"
_RATING_HELP = {
    "bt": "Bradley–Terry strength in Elo points: what makes the games likeliest; only differences mean something",
    "elo": "Elo rating: the mean of many tournaments with the games in random order; only differences mean something",
}


def _column(key: str, figures: Mapping[str, Figure | None], agents: Sequence[str]) -> Column:
    kind = kind_of(key)
    name, text = measure_name(key), measure_help(key)
    return Column(name if name.startswith("nDCG") else name[:1].upper() + name[1:], text, _cells(figures, agents, kind))


def _named(
    name: str, kind: Kind, figures: Mapping[str, Figure], agents: Sequence[str], text: str, absent: str = ""
) -> Column:
    return Column(name, text, _cells(figures, agents, kind, absent))


def _cells(
    figures: Mapping[str, Figure | None], agents: Sequence[str], kind: Kind, absent: str = ""
) -> dict[str, Shown]:
    return {agent: shown(figures.get(agent), kind, absent) for agent in agents}


def label_counts(results: Results, criterion: str) -> list[Count]:
    """How often each agent's answers got each label of a criterion, and how many judgments failed.

    Agents with the same counts and mean share a row.
    """
    rows: dict[tuple[Any, ...], tuple[str, ...]] = {}
    for agent in results.agents:
        figure = results.pointwise.get(agent, {}).get(criterion)
        counts = results.pointwise_labels.get(agent, {}).get(criterion, {})
        same = tuple(label_parts(counts, figure.n_failed if figure else 0)), shown(figure, "mean")
        rows[same] = (*rows.get(same, ()), agent)
    return [Count(agents, list(parts), mean) for (parts, mean), agents in rows.items()]


def label_parts(counts: Mapping[str, int], n_failed: int) -> list[tuple[str, str, int]]:
    """Label counts in the labels' order, then the failures, each with its name and CSS class."""
    names = sorted({*counts, *LEVELS} - {FAILED}, key=lambda label: (float(label), label))
    parts = [(label_name(label), f"l{_shade(label)}", counts.get(label, 0)) for label in names]
    return [*parts, (FAILED, "lf", counts.get(FAILED, n_failed))]


def label_name(label: str | float) -> str:
    """`2`, or the label as it stands where it is not a whole number."""
    return f"{float(label):g}"


def _shade(label: str) -> int:
    return min(max(round(float(label)), 0), 2)


def criteria(results: Results) -> list[str]:
    """Every criterion that an agent was judged by, in the order of the file."""
    return list(dict.fromkeys(key for agent in results.agents for key in results.pointwise.get(agent, {})))


def test_rows(tests: Iterable[PairedTest]) -> list[TestRow]:
    """The paired t-tests; a statistic that is not defined is a dash."""
    return [
        TestRow(
            measure=measure_name(test.measure),
            names=(test.agent_a, test.agent_b),
            difference=shown(test.difference, kind_of_difference(test.measure)),
            t=MISSING if test.t is None else number(test.t, "mean"),
            df=MISSING if test.df is None else f"{test.df}",
            p=MISSING if test.p is None else "< 0.001" if test.p < 0.001 else f"{test.p:.3f}",
        )
        for test in tests
    ]


def ledger_totals(rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    """The ledger summed over documents, one row a model."""
    counted = [field for field in LedgerRow.model_fields if field not in {"model", "doc"}]
    return [
        LedgerRow.model_validate(
            {"model": model, "doc": "all"}
            | {field: sum(getattr(row, field) for row in rows if row.model == model) for field in counted}
        )
        for model in dict.fromkeys(row.model for row in rows)
    ]


def usage_rows(rows: Iterable[StageUsage]) -> list[UsageRow]:
    """Usage by stage and model."""
    return [
        UsageRow(
            stage=row.stage,
            model=row.model,
            calls=f"{row.calls:,}",
            failed=row.n_failed,
            unmeasured=row.n_unmeasured,
            input_tokens=_measured(row.input_tokens),
            output_tokens=_measured(row.output_tokens),
            cost=_cost(row.cost_usd),
        )
        for row in rows
    ]


def usage_total(rows: Sequence[StageUsage]) -> UsageRow:
    """The sum over what was measured; nothing measured is not measured, not nothing."""

    def total(values: list[int | None]) -> str:
        known = [value for value in values if value is not None]
        return _measured(sum(known) if known else None)

    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return UsageRow(
        stage="all",
        model="",
        calls=f"{sum(row.calls for row in rows):,}",
        failed=sum(row.n_failed for row in rows),
        unmeasured=sum(row.n_unmeasured for row in rows),
        input_tokens=total([row.input_tokens for row in rows]),
        output_tokens=total([row.output_tokens for row in rows]),
        cost=_cost(sum(costs) if costs else None),
    )


def _measured(count: int | None) -> str:
    return "not measured" if count is None else f"{count:,}"


def _cost(cost_usd: float | None) -> str:
    return "not measured" if cost_usd is None else number(cost_usd, "usd")
