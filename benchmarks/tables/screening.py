"""The picture of the front: 162 variants of retrievers screened on the demo's corpus, beside its recorded questions.

    python -m benchmarks.tables.screening [FOLDER]

Lays `screening.toml` over a copy of corpora/avr-libc in FOLDER (results/avr-libc-screening), runs `ingest`, `questions`
and `screen` there, without a model to ask, draws docs/front.svg, and prints what benchmarks/results/tables/screening.md
holds. What is in FOLDER already, such as embeddings, is used again.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks.tables.readme_block import ROOT
from benchmarks.tables.screening_picture import picture
from ragassay.cli import main as ragassay
from ragassay.evaluate.report.screening import duration, read_screen
from ragassay.evaluate.report.wording import shown
from ragassay.evaluate.screening.screened import ScreenResults
from ragassay.text import one_line

DEMO = ROOT / "corpora" / "avr-libc"
TABLES = Path(__file__).with_name("screening.toml")
PICTURE = ROOT / "docs" / "front.svg"


def screened(folder: Path) -> ScreenResults:
    """The screening of the demo's corpus by these tables, in `folder`. Raises SystemExit where a stage fails."""
    corpus, results = folder / "corpus", folder / "results"
    shutil.copytree(DEMO, corpus, dirs_exist_ok=True)
    own = (DEMO / "experiment.toml").read_text(encoding="utf-8")
    own = own.replace("[questions]", '[questions]\nevidence = "section"')  # no judge is there to grade more
    (corpus / "experiment.toml").write_text(own + TABLES.read_text(encoding="utf-8"), encoding="utf-8")
    for stage in ("ingest", "questions", "screen"):
        with redirect_stdout(sys.stderr):
            status = ragassay([stage, str(corpus), "--results", str(results)])
        if status:
            raise SystemExit(status)
    return read_screen(results / "screen.json")


def table(results: ScreenResults) -> str:
    """The finalists, and what is said."""
    by_name = {variant.name: variant for variant in results.variants}
    at = f"recall at {results.context_tokens:,} tokens"
    lines = [f"| finalist | recall | nDCG | {at} | tokens | latency p50 |", "|---|--:|--:|--:|--:|--:|"]
    for name in results.finalists:
        row = by_name[name]
        figures = [shown(one, "measure") for one in (row.evidence_recall, row.evidence_ndcg)]
        figures.append(shown(row.evidence_recall_at_tokens, "measure"))
        cells = [f"{one.value} {one.interval}".strip() for one in figures]
        cells += [shown(row.tokens, "number").value, duration(row.latency_p50_s)]
        lines.append(f"| `{one_line(name)}` | {' | '.join(cells)} |")
    below = f"{results.n_queries} queries with evidence, of {results.n_sections} sections; 95% intervals in brackets."
    return "\n".join([*lines, "", below, "", *(f"- {one_line(said)}" for said in results.said)])


def main() -> None:
    """Screen, draw, print."""
    given = sys.argv[1:]
    results = screened(Path(given[0]) if given else ROOT / "results" / "avr-libc-screening")
    PICTURE.write_text(picture(results), encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    main()
