"""A whole run's results.json and its page: nothing is lacking, unknown or left out; the ledger and usage add up; a
rerun's bytes.

Two runs: the recorded demo, and the small corpus against a server that spoils a quarter of all replies in every stage.
What the figures are is checked beside the code that computes them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from support.bad_replies import spoil
from support.finished_run.counts import check_ledger, check_usage
from support.finished_run.page_words import check_page
from support.finished_run.run import Run
from support.finished_run.tables import check_owed, check_tables, figures_of
from support.loopback.server import ScriptedServer
from support.made_up_results.page import Page
from support.small_corpus import contents, edit, make_corpus

from ragassay.cli import main

pytestmark = pytest.mark.xdist_group("demo")

LARGER = {
    "per_section = 4": 'per_section = 6\nevidence = "section"',
    '"openai:m" = 4': '"openai:m" = 16',
    'retrievers = ["bm25"]': 'retrievers = ["bm25", "knn", "hybrid"]\nembedding = "python:by_letters:ByLetters"',
}
EMBEDDING = """
class ByLetters:
    def embed_documents(self, texts):
        return [[1.0 + text.count(letter) for letter in "aehinorst"] for text in texts]

    def embed_query(self, text):
        return self.embed_documents([text])[0]
"""


def small_run(folder: Path) -> Run:
    """The small corpus with six agents, and a quarter of all replies spoiled."""
    with ScriptedServer("openai", spoil(None)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
        corpus = make_corpus(folder / "mine", "openai:m", server.base_url)
        for old, new in LARGER.items():
            edit(corpus, old, new)
        (corpus / "by_letters.py").write_text(EMBEDDING)
        assert main(["run", str(corpus), "--results", str(folder / "results" / "mine")]) in (0, 1)
    return Run(corpus, folder / "results" / "mine")


@pytest.fixture(scope="module", params=["demo", "a quarter bad"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    if request.param == "demo":
        found: Run = request.getfixturevalue("demo")
        return found
    return small_run(tmp_path_factory.mktemp("figures"))


def test_every_table_is_whole_and_no_leaf_is_unknown(run: Run) -> None:
    check_tables(run)


def test_what_failed_leaves_no_denominator(run: Run) -> None:
    check_owed(run)


def test_every_interval_holds_its_value_and_lies_in_range(run: Run) -> None:
    shares = ("retrieval", "points", "wins", "win_rate", "flip_rate", "first_shown_wins")
    highest = dict.fromkeys(shares, 1.0) | {"pointwise": 2.0}
    n_intervals = 0
    for place, figure in figures_of(run.figures):
        if figure["ci_low"] is None:
            assert figure["ci_high"] is None, place
            continue
        assert figure["ci_low"] <= figure["value"] <= figure["ci_high"], place
        if place[0] in highest:
            assert figure["ci_low"] >= 0 and figure["ci_high"] <= highest[place[0]], place
        n_intervals += 1
    assert n_intervals > 50


def test_the_qrels_are_the_judgments(run: Run) -> None:
    labels: dict[str, dict[str, int]] = {}
    for row in run.relevance:
        if row["label"] is not None:
            labels.setdefault(row["query_id"], {})[row["subject"]] = int(row["label"])
    assert run.qrels == labels


def test_the_ledger_adds_up_to_the_questions_on_file(run: Run) -> None:
    check_ledger(run)


def test_usage_adds_up_to_what_was_asked_and_received(run: Run) -> None:
    check_usage(run, run.figures["usage"])


def test_every_value_stands_in_the_report(run: Run) -> None:
    page = Page((run.results / "report.html").read_text(encoding="utf-8"))
    check_page(page, run.figures)


@pytest.mark.slow
def test_the_report_is_short_until_something_is_opened(demo: Run) -> None:
    text = (demo.results / "report.html").read_bytes()
    assert len(text) < 1_500_000
    page = BeautifulSoup(text, "html.parser")
    for part in page.select("details:not([open]) > :not(summary), style, .skip, .hid"):
        part.extract()
    words = page.body.get_text(" ").split()
    assert 500 < len(words) <= 1500
    for wanted in ("Ranking", "Worst queries", "hybrid-rag-fusion has most points", "judge", "How it was made"):
        assert wanted in " ".join(words)


def test_the_verb_demo_gives_the_same_bytes_anywhere(demo: Run, tmp_path: Path) -> None:
    """Of every file, in another process with another hash seed, with no model, no key and nothing kept.

    Nothing is written beside the corpus: no file there, and no folder, is touched.
    """
    before = times(demo.corpus)
    command = [sys.executable, "-m", "ragassay", "demo"]
    environment = os.environ | {"PYTHONHASHSEED": "5"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "report: results/avr-libc/report.html"
    assert times(demo.corpus) == before
    first, second = contents(demo.results), contents(tmp_path / "results" / "avr-libc")
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []
    assert not [name for name in second if name.startswith("embeddings/")], "a vector that is not recorded was made"
    code = "import sys; from ragassay.cli import main; main(['demo']); print(*sys.modules)"
    again = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "running" not in again.stderr
    loaded = set(again.stdout.splitlines()[-1].split())
    assert not {"numpy", "jinja2", "asyncio", "tenacity", "langchain_core", "ragassay.calls.caller"} & loaded
    assert len([name for name in loaded if name.startswith("ragassay")]) < 80


def times(folder: Path) -> dict[str, int]:
    """When each file and folder was last changed, in nanoseconds."""
    return {str(path): path.stat().st_mtime_ns for path in (folder, *folder.rglob("*"))}
