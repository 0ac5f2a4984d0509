"""What the recorded demo came to, from the figures that `make demo` leaves: a table, and orders by kind of question.

    python -m benchmarks.tables.demo [RESULTS_JSON]

Prints them, puts the first into README.md and the other into docs/question-worth.md, and keeps both in
benchmarks/results/tables/demo.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.tables.readme_block import ROOT, fill
from ragassay.evaluate.report.decision import LeadRow, lead_rows
from ragassay.evaluate.report.page import read_results
from ragassay.evaluate.report.wording import (
    Kind,
    beside_the_verdict,
    confidence,
    kind_of,
    measure_name,
    shown,
    telling_criterion,
)
from ragassay.evaluate.results import Results
from ragassay.records import Figure
from ragassay.text import one_line

RESULTS_JSON = Path("results/avr-libc/results.json")
KEPT = Path(__file__).parents[1] / "results" / "tables" / "demo.md"


def demo_table(results: Results) -> str:
    """The verdict, the agents best first and how far each is behind, and how often the judge flipped."""
    measures = [key for key in results.retrieval.get(results.agents[0], {}) if key.startswith(("RR", "R("))]
    told = telling_criterion(results)
    heads = ["points", "behind the first", "", "P(best)", "Bradley–Terry"]
    heads += [*map(measure_name, measures), *([measure_name(told)] if told else [])]
    lead = {row.agent: row for row in lead_rows(results)}
    lines = [f"| agent | {' | '.join(heads)} | failed |", f"|---|{'--:|' * (len(heads) + 1)}"]
    for agent in results.agents:
        cells = [
            _cell(results.points.get(agent), "points"),
            *_behind(lead.get(agent)),
            _cell(results.bradley_terry.get(agent), "rating", with_interval=True),
            *(_cell(results.retrieval.get(agent, {}).get(key), kind_of(key)) for key in measures),
            *([_cell(results.pointwise.get(agent, {}).get(told), "mean")] if told else []),
        ]
        lines.append(f"| `{agent}` | {' | '.join(cells)} | {_failed(results, agent)} |")
    return "\n".join([f"> {_verdict(results)}", "", *lines, "", _below(results)])


def _cell(figure: Figure | None, kind: Kind, *, with_interval: bool = False) -> str:
    words = shown(figure, kind)
    return f"{words.value} {words.interval}".strip() if with_interval else words.value


def _behind(row: LeadRow | None) -> list[str]:
    """How far, whether it is told, and P(best)."""
    if row is None:
        return ["–", "", "–"]
    behind = "" if row.difference is None else _cell(row.difference, "points", with_interval=True)
    return [behind, row.said, "–" if row.p_best is None else f"{row.p_best:.1%}"]


def _verdict(results: Results) -> str:
    return one_line(f"{results.verdict.sentence} {beside_the_verdict(results.verdict)}".strip())


def _failed(results: Results, agent: str) -> int:
    """Of the agent's answers."""
    return results.failures.answers[agent] if results.failures else 0


def _below(results: Results) -> str:
    flips, first = shown(results.flip_rate, "share"), shown(results.first_shown_wins, "share")
    notices = "".join(
        f" {one_line(notice)[:1].upper()}{one_line(notice)[1:].rstrip('.')}." for notice in results.notices
    )
    return (
        f"{results.n_queries} queries; {confidence(results)} intervals in brackets, "
        "queries of one section counted as one cluster. "
        f"The two presentations of two answers disagreed in {flips.value} {flips.interval} "
        f"of the {results.flip_rate.n:,} pairs of different answers; "
        f"the answer shown earlier won {first.value} {first.interval} of the decided games.{notices}"
    )


def both_kinds(results: Results) -> str:
    """Whether written and real questions put the agents in the same order, by measure; "" with one kind alone."""
    if results.sources is None:
        return ""
    told = [
        f"{measure_name(one.measure)} {_tau(one.figures.get('tau_b'))}, {one.n_same} of {one.n_decided}"
        for one in results.sources.measures
    ]
    against = sum(len(one.contradicted) for one in results.sources.measures)
    return (
        "Kendall's τ-b of the two orders with its 95% interval, and how many of the pairs that the real ones decide "
        f"the written ones decide too: {'; '.join(told)}. {against or 'None'} of these pairs "
        f"{'comes' if against < 2 else 'come'} out the other way."
    )


def _tau(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "–"
    ends = "" if figure.ci_low is None else f" [{figure.ci_low:.2f}, {figure.ci_high:.2f}]"
    return f"{figure.value:.2f}{ends}".replace("-", "−")


def longer_wins(results: Results) -> str:
    """How often the longer of two answers won, as the judge's audit has it: judges often like length."""
    found = next((one for one in results.audit.findings if one.key == "longer_wins"), None) if results.audit else None
    if found is None:
        return ""
    told = shown(found.figure, "share")
    return (
        f"The longer answer won {told.value} {told.interval} of {found.figure.n:,} pairs that were decided "
        "and of unequal length."
    )


def main(path: Path) -> None:
    """Print the table and put it where it belongs."""
    results = read_results(path)
    table = f"{demo_table(results)} {longer_wins(results)}".strip()
    kinds = both_kinds(results)
    print(table, kinds, sep="\n\n")
    fill("demo-table", table, ROOT / "README.md")
    fill("demo-kinds", kinds, ROOT / "docs" / "question-worth.md")
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    command = "make demo && .venv/bin/python -m benchmarks.tables.demo"
    head = f"# tables.demo\n\n`{command}`\n\nThe recorded run of corpora/avr-libc."
    KEPT.write_text(f"{head}\n\n{table}\n\n{kinds}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS_JSON)
