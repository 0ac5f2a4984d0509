"""What the page says of the judge: its audit, a panel's judges side by side, what has no label, and models by prompts.

Also whether the queries that models wrote put the agents in the same order as real ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from ragassay.records import Figure
from ragassay.table import Agent, Cell, Column, Row, Table
from ragassay.text import listed, one_line

from ..inputs.labels import GAME
from ..results import (
    POINTS,
    AgentPool,
    AmongJudges,
    Audit,
    AuditFinding,
    Bounds,
    JudgeOfPanel,
    ModelByPrompt,
    OrdersCompared,
    PanelOfJudges,
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
    p_words,
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


def audited(audit: Audit, caption: str = "Audit of the judge") -> Table:
    """A row for each finding, what a fair judge would have, and what it means for the ranking."""
    rows: list[Row] = []
    for one in audit.findings:
        name = _NAMES.get(one.key, one.key.replace("_", " ")).format(one.subject or "first")
        name += f": {one.subject}" if one.key == "repeat_consistency" else ""
        fair = "" if one.fair is None else number(one.fair, _kind(one))
        rows.append((name, finding_shown(one), fair, "" if one.p is None else p_words(one.p), one.sentence))
    columns = ("What", "Figure", "Fair", "p", "What it means for the ranking")
    return Table(caption, [Column(name, numbers=name in ("Fair", "p")) for name in columns], rows)


def finding_shown(finding: AuditFinding) -> Cell:
    """Its figure in words; one that could change the winner stands out."""
    made = shown(finding.figure, _kind(finding), "" if finding.figure.n else "nothing to compute it from")
    return replace(made, css="grave") if finding.warning is not None else made


def _kind(finding: AuditFinding) -> Kind:
    return "mean" if finding.key in ("length_effect", "place_trend") else "share"


def failed_calls(audit: Audit) -> Table:
    """By stage and model, the share of the calls that failed, and how many of them were refused."""
    rows: list[Row] = []
    for row in audit.failures:
        refused = "not on record" if row.n_refused is None else f"{row.n_refused:,}"
        rows.append((row.stage, row.model, shown(row.failed, "share"), refused))
    columns = [Column("Stage"), Column("Model"), Column("Calls that failed"), Column("Of them refused", numbers=True)]
    return Table("Failed replies", columns, rows)


def length_plots(results: Results) -> list[tuple[str, dict[str, Figure]]]:
    """The two ratings of length control, each with its title; empty where there are none."""
    length = results.audit.length if results.audit else None
    if length is None or not any(figure.value is not None for figure in length.controlled.values()):
        return []
    return [("By the verdicts", length.plain), ("With length held equal", length.controlled)]


def pooled(pools: Mapping[str, AgentPool], agents: Sequence[str], k: object) -> Table:
    """Of each agent what has a label, and of each measure the range that unjudged passages leave: as it is, and had the
    agent not contributed."""
    there = [agent for agent in agents if agent in pools]
    measures = list(dict.fromkeys(m for agent in there for m in pools[agent].bounds))
    columns = [Column("Agent"), Column(f"judged@{k}"), Column("Found by it alone")]
    columns += [Column(measure_name(m), measure_help(m)) for m in measures]
    rows: list[Row] = []
    for agent in there:
        pool = pools[agent]
        ranges = (Cell(_range(pool.bounds[m]), more=(f"without it {_range(pool.left_out[m])}",)) for m in measures)
        rows.append((Agent(agent), shown(pool.judged, "share"), Cell(f"{pool.n_unique:,}"), *ranges))
    return Table("Unjudged passages", columns, rows)


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


def grids(results: Results) -> list[Table]:
    """A grid of each measure, the one that tells agents apart first; none without two models and two prompts."""
    crossed = results.models_by_prompts
    names = list(dict.fromkeys(name for one in crossed for name in one.means))
    first = telling_criterion(results)
    names.sort(key=lambda name: name != first)
    low = results.lower_is_better
    return [grid(one, crossed, [c.means.get(one) for c in crossed], lower_is_better=one in low) for one in names]


def grid(
    measure: str, crossed: Sequence[ModelByPrompt], means: Sequence[Figure | None], *, lower_is_better: bool
) -> Table:
    """A row a model, a column a prompt, the cells in `STEPS` shades from the worst to the best.

    means: of each of `crossed`, None where it has no values of the measure.
    """
    known = [one.value for one in means if one is not None and one.value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    cells: dict[tuple[str, str], Cell] = {}
    for one, mean in zip(crossed, means, strict=True):
        made = replace(shown(mean, kind_of(measure)), help=", ".join(map(one_line, one.agents)))
        if mean is not None and mean.value is not None:
            share = (mean.value - low) / (high - low) if high > low else 0.5
            made = replace(made, css=f"tone t{round((STEPS - 1) * (1 - share if lower_is_better else share))}")
        cells[one.model, one.prompt] = made
    prompts = list(dict.fromkeys(one.prompt for one in crossed))
    nobody = Cell("", css="self")
    rows: list[Row] = [
        (model, *(cells.get((model, prompt), nobody) for prompt in prompts))
        for model in dict.fromkeys(one.model for one in crossed)
    ]
    heads = [name if len(name) <= LONGEST else f"{name[:LONGEST]}…" for name in map(one_line, prompts)]
    name = measure_name(measure)
    return Table(f"Models by prompts: {name}", [Column(name), *map(Column, heads)], rows)


SPLIT = "not_unanimous"
ALPHA = "krippendorff_alpha(ordinal)"


def judges(panel: PanelOfJudges) -> Table:
    """A row for each judge of a panel."""
    rows = [(one.judge, _leads(one), shown(one.agrees, "share"), shown(one.failed, "share")) for one in panel.judges]
    columns = ("Judge", "Leads by its verdicts", "Same verdict as the panel", "Labels failed")
    return Table("Judges side by side", [Column(name) for name in columns], rows)


def _leads(one: JudgeOfPanel) -> str:
    return listed([one_line(agent) for agent in one.leaders]) or "none"


def disagreement(panel: PanelOfJudges) -> Table:
    """How far the judges disagree on passages, on each criterion of answers, and on games."""
    rows: list[Row] = []
    for one in panel.disagreement:
        what = {GAME: "winner of a game", "passages": "relevance of a passage"}.get(one.criterion)
        alpha = shown(one.figures.get(ALPHA), "mean", one.undefined.get(ALPHA, ""))
        rows.append((what or measure_name(one.criterion), _split(one), alpha))
    alike = Column("Not of one mind", "the share of things to which not all judges gave the same label")
    return Table("Disagreement of the judges", [Column("Criterion"), alike, Column("Krippendorff’s α")], rows)


def panel_lines(results: Results) -> list[str]:
    """One line of plain text, for the terminal."""
    if results.panel is None:
        return []
    games = next((_split(row) for row in results.panel.disagreement if row.criterion == GAME), None)
    split = f"; not of one mind on {games.value} {games.interval} of the games".rstrip() if games else ""
    by_judge = (f"{one_line(one.judge)} {_leads(one)}" for one in results.panel.judges)
    n = len(results.panel.judges)
    return [f"{n} judges, figures by their majority{split}; leading by each: {', '.join(by_judge)}"]


def split_of(results: Results) -> dict[str, Cell]:
    """By criterion, what stands beside its figures: the share of things on which the judges are not unanimous."""
    return {found.criterion: _split(found) for found in (results.panel.disagreement if results.panel else ())}


def _split(found: AmongJudges) -> Cell:
    return shown(found.figures.get(SPLIT), "share", found.undefined.get(SPLIT, ""))


FEW = 50
"""Queries of a kind below which the reader is cautioned: simulated, the interval of tau of six agents 5 points apart is
1.2 wide with 36 of each kind, 0.7 with 100 (`benchmarks/coverage/sources.py`)."""


def orders_shown(results: Results) -> list[tuple[str, str, Table]]:
    """(measure, the comparison in a sentence, the agents' places and means in the real queries' order) for each
    measure; none where all queries are of one kind."""
    made = []
    for one in results.sources.measures if results.sources else ():
        name, kind = measure_name(one.measure), kind_of_difference(one.measure)
        rows: list[Row] = []
        for agent in dict.fromkeys((*one.real, *one.written)):
            orders = [(_places(order).get(agent, MISSING), order.get(agent)) for order in (one.real, one.written)]
            rows.append((Agent(agent), *(cell for at, mean in orders for cell in (Cell(at), shown(mean, kind)))))
        columns = ("Agent", "Place, real", "Mean, real", "Place, written", "Mean, written")
        caption = f"Orders by real and by written queries: {name}"
        made.append((name, _sentence(one), Table(caption, [Column(name) for name in columns], rows)))
    return made


def best_by_source(results: Results) -> str:
    """Who has most points by the real queries alone and by the written ones alone, and whether that may be chance; ''
    without both."""
    sources = results.sources
    found = next((one for one in (sources.measures if sources else ()) if one.measure == POINTS), None)
    if sources is None or found is None or not found.best_real or not found.best_written:
        return ""
    by_real, by_written = f"{sources.n_real:,} real queries alone", f"{sources.n_written:,} written ones alone"
    real, written = (listed([one_line(name) for name in best]) for best in (found.best_real, found.best_written))
    if set(found.best_real) == set(found.best_written):
        put = f"The {by_real} and the {by_written} each put {real} first"
        return f"{put}; whether they tell it from the others is not said."
    said = f"By the {by_real} {real} has most points, by the {by_written} {written}"
    if set(product(found.best_real, found.best_written)) <= set(found.contradicted):
        return f"{said}; each kind tells them apart."
    return f"{said}; not both kinds tell them apart, so it may be chance."


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
    said = []
    for one in (one for one in measures if one.n_decided):
        against = f", {len(one.contradicted):,} the other way" if one.contradicted else ""
        said.append(f"{one_line(measure_name(one.measure))} {one.n_same:,} of {one.n_decided:,}{against}")
    if left := [one_line(measure_name(one.measure)) for one in measures if not one.n_decided]:
        said.append(f"none decided by {listed(left)}")
    return [f"of the pairs that the real queries decide, the written ones decide the same way: {'; '.join(said)}"]


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
    loss = shown(one.figures["loss"], kind_of_difference(one.measure))
    lost = f"choosing by the written ones loses {loss.value} {loss.interval}".strip()
    return f"the real queries put {real} first, the written ones {written}; {lost} by the real ones"


def _pairs(one: OrdersCompared) -> str:
    if not one.n_decided:
        return f"the real ones decide none of {_count(one.n_pairs)}"
    same, left, against = (count or "none" for count in (one.n_same, one.n_open, len(one.contradicted)))
    said = f"of {_count(one.n_decided)} that the real ones decide, the written ones decide {same} the same way, "
    said += f"leave {left} open and contradict {against}"
    pairs = ", ".join(f"{one_line(better)} over {one_line(worse)}" for better, worse in one.contradicted)
    return said + (f" ({pairs})" if pairs else "")


def _count(n: int) -> str:
    return f"{n:,} {'pair' if n == 1 else 'pairs'}"


def _places(order: Mapping[str, Figure]) -> dict[str, str]:
    """From 1 for the highest mean; agents that are level share the better place."""
    known = {agent: round(figure.value, 9) for agent, figure in order.items() if figure.value is not None}
    return {
        agent: number(1 + sum(other > value for other in known.values()), "number") for agent, value in known.items()
    }
