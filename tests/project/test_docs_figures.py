"""Docs as tests: every figure that a page gives stands in the results that it names, and so do written tables."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from support.made_up_results.workspace import make_workspace
from support.pages import PAGES
from support.places import ROOT

from ragassay.evaluate.report.page import read_results
from ragassay.evaluate.results import Audit, AuditFinding
from ragassay.records import Figure

NOT_MEASURED = {
    "README.md": {"3.11", "2.0", "95%"},
    "CONTRIBUTING.md": {"3.11"},
    "benchmarks/README.md": {"1,000", "60,000", "200 ms", "5%"},
    "docs/agent-evaluation.md": {"95%"},
    "docs/agreement.md": {"1.96", "0.001", "5%"},
    "docs/comparisons.md": {"95%", "4.5%", "5%", "90%", "0.02"},
    "docs/coverage.md": {"5%", "93%", "94%", "95%", "97%", "2.5%"},
    "docs/eval-studio.md": {"0.75", "0.5", "0.7", "0.25"},
    "docs/evaluators.md": {"8,192", "95%", "0.2", "2406.06519", "2411.09607", "2504.15068", "2504.15205"},
    "docs/experiment.md": {"0.5 s", "1,024", "100,000", "50,000", "2.19", "30 s", "0.5"},
    "docs/figures.md": {"64%", "95%"},
    "docs/from-python.md": {"95%", "$0.0312"},
    "docs/import-export.md": {"0.1", "0.4"},
    "docs/labels.md": {"2505.20178", "0.5", "5%"},
    "docs/opensearch.md": {"2.4", "0.4", "0.75", "0.9", "2.19", "1.2", "0.001", "10,000"},
    "docs/panels.md": {"2601.21817", "0.5"},
    "docs/question-worth.md": {"95%", "5%"},
    "docs/questions.md": {"0.5", "84%", "0.80", "0.85"},
    "docs/results.md": {"95%"},
    "docs/retrievers.md": {"0.5"},
    "docs/scale.md": {"2.60"},
    "docs/screening.md": {"95%", "4.5%", "5%"},
    "docs/validity.md": {"5%"},
    "docs/workbench.md": {"5%", "90%", "95%"},
    "docs/your-own-documents.md": {"3,000", "60 s"},
}
"""What looks measured and is not: versions, a licence, levels, limits and bars, a definition's, a paper's number."""
OF_OTHERS = {
    "docs/labels.md": {"4.1"},
}
"""Figures that a page gives as another's, printed elsewhere with more digits, and a section of a paper."""
WRITTEN = {"demo-table": "tables/demo.md", "demo-kinds": "tables/demo.md", "plan-table": "tables/plan_example.md"}
"""What a script writes between comments of this name, and the results it writes it to as well."""


def figures_in(text: str) -> set[str]:
    """Numbers that look measured: with a decimal point, in thousands, in percent, dollars, seconds or times."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)", " ", text, flags=re.MULTILINE | re.DOTALL)
    numbers = re.findall(r"(?<![\w.@-])[$]?\d[\d,]*(?:\.\d+)?%?(?: s\b| ms\b| times\b| pages/s)?", prose)
    return {number.rstrip(",") for number in numbers if re.search(r"\.|%|\$|,\d| s$| ms$| times$| pages", number)}


def test_what_counts_as_a_figure():
    assert figures_in("It took 4 s, 1,234 calls, $2.50 and 31.5% (0.42), 3 times.") == {
        "4 s", "1,234", "$2.50", "31.5%", "0.42", "3 times",
    }  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_every_figure_stands_in_the_results_that_its_passage_names(page: str):
    """A passage is a paragraph, a list item or a row; one that names no results goes by all that its section names."""
    settled = set[str]().union(*(table.get(page, set()) for table in (NOT_MEASURED, OF_OTHERS)))
    for section in sections(PAGES[page]):
        of_section = results_named(section)
        for passage in passages(section):
            quoted = figures_in(passage) - settled
            named = results_named(passage) or of_section
            known = set[str]().union(*(figures_in(text.replace("`", "")) for text in named.values()))
            strangers = {figure for figure in quoted if not spellings(figure) & known}
            assert not strangers, f"{sorted(strangers)} stand not in {sorted(named) or 'any results'}: {passage[:80]}"


def test_a_figure_of_other_results_is_found_out():
    text = "# A\n\n0.5 ([x](../benchmarks/results/speed/elo.md)).\n\n## B\n\n- 0.7\n- `python -m benchmarks.speed.bm25`"
    first, second = sections(text)
    assert [list(results_named(part)) for part in (first, second)] == [["speed/elo.md"], ["speed/bm25.md"]]
    assert passages(second) == ["## B", "- 0.7", "- `python -m benchmarks.speed.bm25`"]


def sections(text: str) -> list[str]:
    """A page from heading to heading, without its fenced code and the list of judges, whose scales are no figures."""
    text = re.sub(r"<!-- judges -->.*?<!-- /judges -->", "", text, flags=re.DOTALL)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.split(r"\n(?=#+ )", prose)


def passages(section: str) -> list[str]:
    """Its paragraphs, list items and rows of tables."""
    return [part for part in re.split(r"\n\s*\n|\n(?=[|*-] ?)", section) if part.strip()]


def results_named(text: str) -> dict[str, str]:
    """Name and content of the results files that a text links to, or whose command or written table it shows."""
    names = re.findall(r"benchmarks/results/([\w/]+\.md)|\]\(results/([\w/]+\.md)", text)
    found = {name for pair in names for name in pair if name}
    found |= {f"{name.replace('.', '/')}.md" for name in re.findall(r"-m benchmarks\.(\w+(?:\.\w+)*)", text)}
    found |= {results for block, results in WRITTEN.items() if f"<!-- {block} -->" in text}
    paths = {name: ROOT / "benchmarks" / "results" / name for name in sorted(found)}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.exists()}


def spellings(figure: str) -> set[str]:
    """A figure as it is, in percent where the sign stands elsewhere, and as a share: 5.4, 5.4%, 0.054."""
    share = {f"{float(figure[:-1]) / 100:.3f}"} if figure.endswith("%") else set()
    return {figure, f"{figure}%"} | share


@pytest.fixture
def readme_block(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.tables import readme_block

    return readme_block


@pytest.mark.parametrize(
    ("page", "name", "results"),
    [("README.md", "demo-table", "demo.md"), ("docs/cost.md", "plan-table", "plan_example.md")],
)
def test_the_tables_that_scripts_write_are_those_they_kept(
    page: str, name: str, results: str, readme_block: ModuleType
):
    shown = readme_block.block(PAGES[page], name)
    assert "|" in shown and shown in (ROOT / "benchmarks" / "results" / "tables" / results).read_text(encoding="utf-8")


def test_how_often_the_longer_answer_won_is_the_audits(tmp_path: Path):
    from benchmarks.tables.demo import longer_wins

    results = read_results(make_workspace(tmp_path, hostile=False).figures)
    figure = Figure(value=0.75, n=12, n_failed=0, ci_low=0.5, ci_high=0.9)
    finding = AuditFinding(key="longer_wins", figure=figure, sentence="It wins.")
    audit = Audit.model_construct(findings=(finding,))
    told = longer_wins(results.model_copy(update={"audit": audit}))
    assert told.startswith("The longer answer won 75.0% [50.0, 90.0] of 12 pairs")
    assert longer_wins(results.model_copy(update={"audit": None})) == ""


def test_the_demo_table_has_every_agent_best_first(tmp_path: Path, readme_block: ModuleType):
    from benchmarks.tables.demo import demo_table

    results = read_results(make_workspace(tmp_path, hostile=False).figures)
    table = demo_table(results)
    assert tuple(re.findall(r"^\| `(.*?)`", table, re.MULTILINE)) == results.agents
    assert results.verdict.sentence in table and f"{results.n_queries} queries" in table
    page = tmp_path / "README.md"
    page.write_text("before\n<!-- demo-table -->\nold\n<!-- /demo-table -->\nafter\n")
    readme_block.fill("demo-table", table, page)
    assert readme_block.block(page.read_text(), "demo-table") == table
    assert page.read_text().startswith("before\n") and page.read_text().endswith("\nafter\n")
    with pytest.raises(ValueError, match="not one"):
        readme_block.fill("plan-table", table, page)


def test_the_table_of_tools_tried_is_that_of_the_command():
    from benchmarks.clients.__main__ import FILE, PAGE, table, with_table

    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page, table(FILE.read_text(encoding="utf-8"))) == page
