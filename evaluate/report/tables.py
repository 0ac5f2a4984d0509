"""The report's tables, a row an agent or a measure, and the lines of the terminal that say the same in short."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

from ragassay.records import Figure, LedgerRow, StageUsage, Taken
from ragassay.table import Agent, Cell, Column, Row, Table
from ragassay.text import listed, one_line

from ..inputs.labels import GAME
from ..measures.by_labels import LEVELS
from ..results import (
    ANSWERS_OF,
    POINTS,
    CorrectedFigure,
    Corrections,
    Figures,
    JudgeAgreement,
    PairedTest,
    Perturbed,
    Results,
)
from .wording import (
    MISSING,
    Kind,
    kind_of,
    kind_of_difference,
    measure_help,
    measure_name,
    number,
    only_alone,
    p_words,
    share_of,
    shown,
    telling_criterion,
)

Part = tuple[Column, Mapping[str, Cell]]
"""A column, and a cell of it for each agent."""


def by_agent(caption: str, agents: Sequence[str], parts: Sequence[Part]) -> Table:
    """A row an agent."""
    rows: list[Row] = [(Agent(agent), *(cells[agent] for _, cells in parts)) for agent in agents]
    return Table(caption, [Column("Agent"), *(column for column, _ in parts)], rows)


def measures(figures: Figures, agents: Sequence[str]) -> list[Part]:
    """A column for each measure that any agent has, in the order of the file."""
    keys = dict.fromkeys(key for agent in agents for key in figures.get(agent, {}))
    return [_measure(key, figures, agents) for key in keys]


def _measure(key: str, figures: Mapping[str, Mapping[str, Figure]], agents: Sequence[str]) -> Part:
    name = measure_name(key)
    heading = name if name.startswith("nDCG") else name[:1].upper() + name[1:]
    return _named(heading, kind_of(key), of_measure(key, figures), agents, measure_help(key))


def of_measure(key: str, figures: Mapping[str, Mapping[str, Figure]]) -> dict[str, Figure]:
    """Agent to its figure of the measure, of those that have one."""
    return {agent: row[key] for agent, row in figures.items() if key in row}


def _named(
    name: str, kind: Kind, figures: Mapping[str, Figure], agents: Sequence[str], text: str, absent: str = ""
) -> Part:
    return Column(name, text), {agent: shown(figures.get(agent), kind, absent) for agent in agents}


def ranking(results: Results) -> Table:
    """The first table: points and strength, then of each other table the one figure that sums an agent up."""
    agents, note, (of_answers, of_lists) = results.agents, results.bradley_terry_note or "", summing_up(results)
    parts = [
        _named("Points", "points", results.points, agents, measure_help(POINTS)),
        _named("Bradley–Terry", "rating", results.bradley_terry, agents, _RATING_HELP["bt"], note),
    ]
    telling = ((results.pointwise, of_answers), (results.retrieval, of_lists))
    parts += [_measure(key, figures, agents) for figures, key in telling if key is not None]
    parts += [] if all_answered(results) else [_measure("answered", results.answers, agents)]
    return by_agent("Ranking", agents, parts)


def summing_up(results: Results) -> tuple[str | None, str | None]:
    """The measure of answers and the measure of rankings that sum an agent up; None where there is none."""
    found = list(dict.fromkeys(key for agent in results.agents for key in results.retrieval.get(agent, {})))
    whole_list = next((key for key in found if key.startswith("nDCG")), next(iter(found), None))
    return telling_criterion(results), whole_list


def ranking_on(figures: Figures, results: Results) -> Table:
    """The same on some of the queries, most points first. figures: agent to measure to its mean over these."""
    keys = [key for key in (POINTS, *summing_up(results)) if key is not None]
    at = {agent: one.value for agent in figures if (one := figures[agent].get(POINTS)) and one.value is not None}
    agents = sorted(figures, key=lambda agent: -at.get(agent, -1.0))
    return by_agent("Ranking on these queries", agents, [_measure(key, figures, agents) for key in keys])


def all_answered(results: Results) -> bool:
    """Whether no agent failed to answer a query, so that a column of it says nothing."""
    shares = [results.answers.get(agent, {}).get("answered") for agent in results.agents]
    return all(one is not None and one.value == 1 and not one.n_failed for one in shares)


def other_ratings(results: Results) -> Table:
    """What other tools rank by: Elo, and the share of games won."""
    parts = [
        _named("Elo", "rating", results.elo, results.agents, _RATING_HELP["elo"]),
        _named("Games won", "share", results.win_rate, results.agents, _WIN_HELP),
    ]
    return by_agent("Elo and games won", results.agents, parts)


def answering(results: Results) -> Table:
    """What answering took, and where that was asked the share of the answers that are refusals."""
    parts = measures(results.answers, results.agents)
    if results.refusals:
        text = "share of the answers that decline, or say that nothing was found, and answer no part of the question"
        parts.append(_named("Refusals", "share", results.refusals, results.agents, text))
    return by_agent("Answering", results.agents, parts)


def failures_at_bottom(results: Results) -> Table | None:
    """With answers that failed as the worst there are: how many, then the figures of games, answers and retrieval."""
    low, agents = results.failures_at_bottom, results.agents
    if low is None:
        return None
    failed = {agent: Cell(f"{low.failed.get(agent, 0):,}") for agent in agents}
    parts = [
        (Column("Failed", "answers that failed, counted here as the worst"), failed),
        _named("Bradley–Terry", "rating", low.bradley_terry, agents, _RATING_HELP["bt"]),
        _named("Games won", "share", low.win_rate, agents, "a failed answer loses to each that did not fail"),
        *measures(low.pointwise, agents),
        *measures(low.retrieval, agents),
    ]
    return by_agent("With failures at the bottom", agents, parts)


def conversations(results: Results) -> list[tuple[str, Table]]:
    """(title, table): the share of conversations that are right throughout, and by turn and by move what sums up."""
    found = results.conversations
    if found is None:
        return []
    agents, tables = results.agents, []
    if found.all_right:
        text = "share of conversations of which every turn that can be answered has the best label"
        right = {agent: found.all_right[agent] for agent in agents if agent in found.all_right}
        named = [_named("All turns right", "share", right, list(right), text)]
        tables.append(("Whole conversations", by_agent("Whole conversations", list(right), named)))
    if found.price:
        priced = {agent: dict(found.price[agent]) for agent in agents if agent in found.price}
        title = "The price of conversation: less the same search by the question that stands alone"
        tables.append((title, by_agent(title, list(priced), measures(priced, list(priced)))))
    telling = (POINTS, *summing_up(results), "step_recall")
    for way, groups in (("turn", found.by_turn), ("move", found.by_move)):
        there = {name for of in groups.values() for row in of.values() for name in row}
        for name in (one for one in telling if one in there):
            title = f"{measure_name(name)} by {way}"
            title = title[:1].upper() + title[1:]
            parts = [_named(group, kind_of(name), of_measure(name, of), agents, "") for group, of in groups.items()]
            tables.append((title, by_agent(title, agents, parts)))
    return tables


def stepwise(results: Results) -> list[tuple[str, Table]]:
    """(title, table) of systems that say their searches or the tools they called: means, and how far each step got."""
    found = {agent: results.stepwise[agent] for agent in results.agents if agent in results.stepwise}
    agents = list(found)
    means = {agent: dict(one.means) for agent, one in found.items()}
    tables = [("", by_agent("Searches and calls", agents, measures(means, agents)))]
    for title, what, heading in (
        ("Recall after step", "recall", "{}"),
        ("All evidence found after step", "complete", "{}"),
        ("All of so many runs write as asked", "pass_hat", "pass^{}"),
    ):
        rows = {agent: row for agent, one in found.items() if (row := getattr(one, what))}
        longest = max(map(len, rows.values()), default=0)
        if what != "pass_hat":  # what was found stays found
            rows = {agent: row + row[-1:] * (longest - len(row)) for agent, row in rows.items()}
        parts = [
            _named(heading.format(n), "share", {a: row[n - 1] for a, row in rows.items() if len(row) >= n}, agents, "")
            for n in range(1, longest + 1)
        ]
        tables += [(title, by_agent(title, agents, parts))] if parts else []
    return tables


_WIN_HELP = "share of its games an agent won; ties are no wins; failed: no verdict, for want of either answer too"
_RATING_HELP = {
    "bt": "Bradley–Terry strength in Elo points: what makes the games likeliest; only differences mean something",
    "elo": "Elo rating: the mean of many tournaments with the games in random order; only differences mean something",
}


def evaluator_tables(results: Results) -> list[tuple[str, Table]]:
    """(title, table): one of all evaluators that give one number, without a title, then one for each that gives more,
    in the order of the file."""
    names_of: dict[str, list[str]] = {}
    for name, evaluator in results.evaluators.items():
        names_of.setdefault(evaluator, []).append(name)
    single = [names[0] for names in names_of.values() if len(names) == 1]
    parts = {"": [_evaluated(results, name, name) for name in single]} if single else {}
    for evaluator, names in names_of.items():
        if len(names) > 1:
            short = [_SHORT.sub(r"\1", name.removeprefix(f"{evaluator}.")) for name in names]
            parts[evaluator] = [_evaluated(results, *pair) for pair in zip(names, short, strict=True)]
    classes = {
        agent: {name: figure for name, figure in row.items() if "(" not in name}
        for agent, row in (results.classification or {}).items()
    }
    if classes:
        parts["classes, over the whole run"] = measures(classes, results.agents)
    return [(title, by_agent(title or "Evaluators", results.agents, some)) for title, some in parts.items()]


_SHORT = re.compile(r"^(P|AP|RR)\(rel=2\)(?=@)")
"""The threshold is the same for all of a table, and is said in each heading's title."""


def _evaluated(results: Results, name: str, heading: str) -> Part:
    """One measure of the evaluators', its heading without underscores."""
    column, cells = _measure(name, results.evaluations, results.agents)
    title = f"{name}, {scale_words(*results.evaluation_scales[name])}{way(results, name)}: the mean over queries"
    shown_as = f"{heading.replace('_', ' ')}{' ↓' if name in results.lower_is_better else ''}"
    return replace(column, name=shown_as, help=title), cells


def scale_words(low: float, high: float | None) -> str:
    """`0 to 3`, or `0 and up`."""
    return f"{low:g} and up" if high is None else f"{low:g} to {high:g}"


def way(results: Results, name: str) -> str:
    """`, lower is better` of what it is so of."""
    return ", lower is better" if name in results.lower_is_better else ""


def by_threshold(results: Results) -> Table:
    """A row for each criterion and agent, by criterion: passed, failed, what the failed fail of, replies not read."""
    rows: list[Row] = []
    for name in dict.fromkeys(name for named in results.threshold_shares.values() for name in named):
        sign = "≤" if name in results.lower_is_better else "≥"
        side = f"{sign} {results.thresholds[name]:g}" if name in results.thresholds else "no threshold"
        for agent in results.agents:
            if (one := results.threshold_shares.get(agent, {}).get(name)) is not None:
                failures = (one.retrieval_failures, one.generation_failures, one.unexplained_failures)
                figures = (one.passed, one.failed, *failures, one.parse_failures)
                cells = (shown(figure, "share", "does not apply") for figure in figures)
                rows.append((Agent(agent), f"{name.replace('_', ' ')} ({side})", *cells))
    parts = ("Passed", "Failed", "Retrieval failures", "Generation failures", "Unexplained", "Not read")
    return Table("By threshold", [Column(name) for name in ("Agent", "Criterion", *parts)], rows)


def tags(results: Results) -> Table:
    """Each tag with its evaluators in words."""
    rows: list[Row] = [(tag, ", ".join(names) or "none") for tag, names in results.evaluator_tags.items()]
    return Table("NIST AI RMF and SR 11-7", [Column("Tag"), Column("Evaluators")], rows)


def pass_or_fail(results: Results) -> Table:
    """Agent Evaluation's verdicts: the share that passes, and the root causes of the others."""
    rows: list[Row] = []
    for agent in results.agents:
        if (one := (results.pass_or_fail or {}).get(agent)) is not None:
            causes = ", ".join(f"{cause.replace('_', ' ')} {count}" for cause, count in one.root_causes.items())
            rows.append((Agent(agent), shown(one.passed, "share"), causes or MISSING))
    return Table("Pass or fail", [Column("Agent"), Column("Passed"), Column("Root causes of the others")], rows)


def flips(found: Perturbed) -> Table:
    """Of each agent, criterion and perturbation: what flipped, and what is good no more."""
    rows: list[Row] = []
    for agent, by_criterion in found.flips.items():
        for criterion, kinds in by_criterion.items():
            enough = f"{'to' if criterion in found.lower_is_better else 'from'} {found.thresholds[criterion]:g}"
            for kind, figure in kinds.items():
                shares = share_of(figure), share_of(found.worse[agent][criterion][kind])
                rows.append((Agent(agent), criterion, enough, kind, *shares, f"{figure.n:,}", f"{figure.n_failed:,}"))
    words = ("Agent", "Criterion", "Good enough", "Perturbation")
    numbers = ("Flipped", "Good no more", "Pairs", "Without a label")
    columns = [*(Column(name) for name in words), *(Column(name, numbers=True) for name in numbers)]
    return Table("Flips by agent, criterion and perturbation", columns, rows)


@dataclass(frozen=True)
class Count:
    """One stacked bar: (name, CSS class, count) for each label and for what failed; `agents` all have these."""

    agents: tuple[str, ...]
    parts: list[tuple[str, str, int]]
    mean: Cell


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


FAILED = "failed"


def label_parts(counts: Mapping[str, int], n_failed: int) -> list[tuple[str, str, int]]:
    """Label counts in the labels' order, then the failures, each with its name and CSS class."""
    names = sorted({*counts, *LEVELS} - {FAILED}, key=lambda label: (float(label), label))
    shades = (min(max(round(float(label)), 0), 2) for label in names)
    parts = [(f"{float(name):g}", f"l{shade}", counts.get(name, 0)) for name, shade in zip(names, shades, strict=True)]
    return [*parts, (FAILED, "lf", counts.get(FAILED, n_failed))]


def criteria(results: Results) -> list[str]:
    """Every criterion that an agent was judged by, in the order of the file."""
    return list(dict.fromkeys(key for agent in results.agents for key in results.pointwise.get(agent, {})))


AGREEMENT = {
    "kappa": "κ",
    "kappa(quadratic)": "κ, quadratic weights",
    "krippendorff_alpha(ordinal)": "Krippendorff’s α",
    "tau_b": "τ-b",
    "rho": "ρ",
    "bias": "judge − people",
    "limit_low": "lower limit",
    "limit_high": "upper limit",
}


def agreement(found: Sequence[JudgeAgreement], other: str = "people") -> Table:
    """Of the judge with people, or with `other`: a row a criterion."""
    heads = {name: said.replace("people", other) for name, said in AGREEMENT.items()}
    rows: list[Row] = []
    for one in found:
        figures = [shown(one.figures[name], "mean", one.undefined.get(name, "")) for name in heads]
        tested = tuple(f"p of {said} {p_words(one.p[name])}" for name, said in heads.items() if name in one.p)
        missing = f"{one.n_missing:,} failed" if one.n_missing else ""
        rows.append((_criterion(one), *figures, Cell(f"{one.n_pairs:,}", failed=missing, more=tested)))
    columns = [Column(name) for name in ("Criterion", *heads.values(), "Labels")]
    return Table(f"Agreement of the judge and {other}", columns, rows)


def _criterion(found: JudgeAgreement) -> str:
    return "winner of a game" if found.criterion == GAME else one_line(measure_name(found.criterion))


def agreement_lines(results: Results) -> list[str]:
    """Lines of plain text, for the terminal."""
    lines = []
    for found in results.corrected.agreement if results.corrected else ():
        words = shown(found.figures["kappa(quadratic)"], "mean", found.undefined.get("kappa(quadratic)", ""))
        value = f"{words.value} {words.interval}".strip()
        lines.append(f"judge and people, {_criterion(found)}: kappa (quadratic) {value}, {found.n_pairs:,} labels")
    return lines


def corrected_means(corrected: Corrections) -> Table:
    """Each agent's means as judged and as the labels correct them."""
    figures = [figure for figure in corrected.figures if figure.other is None]
    columns = [Column(name) for name in ("Measure", "Agent", "As judged", "Corrected")]
    columns.append(Column("Labels", "of a ranking measure queries with every passage labelled"))
    text = "labels for an interval of plus or minus a twentieth of the scale, by those there are"
    columns.append(Column("Labels for ±5%", text))
    rows: list[Row] = [
        (*_corrected(figure, Agent(figure.agent)), labels_needed(figure) or MISSING) for figure in figures
    ]
    return Table("Means, corrected", columns, rows)


def corrected_differences(corrected: Corrections) -> Table:
    """The same of the differences between agents, with the verdict of each that was tested."""
    figures = [figure for figure in corrected.figures if figure.other is not None]
    tested = Counter(figure.measure for figure in figures if figure.p_holm is not None)
    rows: list[Row] = []
    for figure in figures:
        told, more = figure.verdict in ("better", "worse"), []
        if figure.p_holm is not None:
            more.append(f"p {p_words(figure.p_holm)}")
        if figure.verdict and (alone := only_alone(figure.corrected, told, tested[figure.measure])):
            more.append(alone)
        verdict = Cell(figure.verdict or MISSING, more=tuple(more))
        rows.append((*_corrected(figure, f"{figure.agent} less {figure.other}"), verdict))
    columns = [
        *(Column(name) for name in ("Measure", "Agents", "As judged", "Corrected")),
        Column("Labels", "of a ranking measure queries with every passage labelled by both agents"),
        Column("Verdict", "at 5%, Holm-corrected over the pairs of agents on the measure"),
    ]
    return Table("Differences between agents, corrected", columns, rows)


def _corrected(figure: CorrectedFigure, who: str) -> tuple[Cell | str, ...]:
    measure = Cell(measure_name(figure.measure), help=measure_help(figure.measure))
    labels = Cell(f"{figure.n_labels:,}", more=(figure.note,) if figure.note else ())
    return (measure, who, shown(figure.judged, kind_corrected(figure)), corrected_cell(figure), labels)


def kind_corrected(figure: CorrectedFigure) -> Kind:
    """How it is printed; tokens too are of the labels' mean."""
    kind = kind_of(figure.measure)
    return "mean" if kind == "number" else kind


def corrected_cell(figure: CorrectedFigure) -> Cell:
    """The corrected figure in words."""
    return shown(figure.corrected, kind_corrected(figure), figure.note or "")


def labels_needed(figure: CorrectedFigure) -> str:
    """`about 120 (80 to 200)`; an end that labels on every query would not reach is said so."""
    needed = figure.needed
    if needed is None:
        return ""
    if needed.value is None:
        return "more queries than these"
    ends = (f"{end:,.0f}" if end is not None else "all and more" for end in (needed.ci_low, needed.ci_high))
    return f"about {needed.value:,.0f} ({' to '.join(ends)})"


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


NAMED = 3
"""How many pairs that can be told apart are named; more are counted."""


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


def t_tests(tests: Sequence[PairedTest]) -> Table:
    """The paired t-tests; a statistic that is not defined is a dash."""
    rows: list[Row] = []
    for test in tests:
        names = measure_name(test.measure), Agent(test.agent_a), Agent(test.agent_b)
        difference = shown(test.difference, kind_of_difference(test.measure))
        t = MISSING if test.t is None else number(test.t, "mean")
        rows.append((*names, difference, t, MISSING if test.df is None else f"{test.df}", p_words(test.p)))
    numbers = (Column(name, numbers=True) for name in ("t", "df", "p, two-sided"))
    words = (Column(name) for name in ("Measure", "First", "Second", "Mean difference"))
    notes = [
        f"{MISSING} where a test is not defined: too few pairs, or all differences are equal.",
        f"Many tests are made here, and none is corrected for that: of {len(rows)} tests without any real difference, "
        f"about {len(rows) / 20:.1f} would show p below 0.05.",
    ]
    notes = notes if any(test.p is None for test in tests) else notes[1:]
    return Table("Paired t-tests", [*words, *numbers], rows, notes)


def looks(rows: Sequence[Taken]) -> Table:
    """The way of a run that could end early, a row a look."""
    columns = ("Look", "Queries", "Leader", "Ahead of the nearest", "Held to p", "Told", "Then")
    made = [
        (
            f"{row.look} of {row.looks}",
            f"{row.queries:,} of {row.planned:,}",
            Agent(row.leader) if row.leader else MISSING,
            shown(row.lead, "points") if row.lead else MISSING,
            f"{row.bound:.2g}",
            f"{len(row.told)} of {len(row.told) + len(row.untold)}",
            "went on" if row.goes_on else "best" if row.decided else "good enough" if row.safe else "the end",
        )
        for row in rows
    ]
    return Table("Looks", list(map(Column, columns)), made)


def saved(results: Results) -> str:
    """What a run that ended did not ask of its plan, in a sentence; '' where it asked all, or goes on."""
    rows, n_agents = results.looks, len(results.agents)
    if not rows or rows[-1].goes_on:
        return ""
    asked, planned, pairs = rows[-1].queries, rows[-1].planned, comb(n_agents, 2)
    often = {agent: int(results.settings.get(f"{ANSWERS_OF}{agent}") or 1) for agent in results.agents}
    answered, met, before = 0, 0, 0
    told = [(), *(row.told for row in rows)] if results.settings.get("games") == "all" else [()] * len(rows)
    for row, out in zip(rows, told, strict=False):
        n, there = row.queries - before, n_agents - len(row.not_asked)
        met += n * (comb(there, 2) - (0 if row.not_asked else comb(len(out), 2)))
        answered += n * sum(often[agent] for agent in results.agents if agent not in row.not_asked)
        before = row.queries
    answers = planned * sum(often.values())
    counted = (
        (planned - asked, planned, "queries"),
        (answers - answered, answers, "answers"),
        (planned * pairs - met, planned * pairs, "games"),
    )
    parts = [f"{less:,} of {whole:,} {what}" for less, whole, what in counted if less]
    return f"Saved against the full plan: {listed(parts)}." if parts else ""


def ledger(rows: Sequence[LedgerRow], *, by_document: bool) -> Table:
    """Where the questions come from, by model, or by model and document."""
    uneven = any(row.unwritten or row.extra for row in rows)
    named = {"asked": "Asked for", "written": "Written"}
    named |= {"extra": "Beyond", "unwritten": "Short"} if uneven else {}
    named |= {"failed": "Failed", "kept": "Kept", "rejected": "Rejected", "sampled": "In the test set"}
    groups: dict[tuple[str, ...], list[LedgerRow]] = {}
    for row in rows:
        groups.setdefault((row.model, row.doc) if by_document else (row.model,), []).append(row)
    columns = [Column(name) for name in ("Model", *(("Document",) if by_document else ()), *named.values())]
    made = [(*key, *(f"{sum(getattr(row, f) for row in some):,}" for f in named)) for key, some in groups.items()]
    return Table("Question ledger", columns, made)


def usage(rows: Sequence[StageUsage]) -> Table:
    """Usage by stage and model, and in all."""
    total = usage_total(rows)
    lines: list[Row] = [
        (
            *(one.stage, one.model, Cell(f"{one.calls:,}", failed=f"{one.n_failed:,} failed" if one.n_failed else "")),
            *("not measured" if count is None else f"{count:,}" for count in (one.input_tokens, one.output_tokens)),
            cost_words(one),
        )
        for one in (*rows, total)
    ]
    names = ("Calls", "Input tokens", "Output tokens", "Cost")
    note = (
        f"{total.n_unmeasured:,} of {total.calls:,} calls came without usage or without a known price; "
        "the sums are over the others."
    )
    columns = [Column("Stage"), Column("Model"), *(Column(name, numbers=True) for name in names)]
    return Table("Usage and cost", columns, lines, [note] if total.n_unmeasured else [])


def cost_words(row: StageUsage) -> str:
    """`$0.0123`, or that it was not measured."""
    return "not measured" if row.cost_usd is None else number(row.cost_usd, "usd")


def usage_total(rows: Sequence[StageUsage]) -> StageUsage:
    """The sum over what was measured; nothing measured is not measured, not nothing."""

    def total(field: str) -> Any:
        known = [value for row in rows if (value := getattr(row, field)) is not None]
        return sum(known) if known else None

    counts = {field: total(field) or 0 for field in ("calls", "n_failed", "n_unmeasured")}
    measured = {field: total(field) for field in ("input_tokens", "output_tokens", "cost_usd")}
    return StageUsage(stage="all", model="", **counts, **measured)
