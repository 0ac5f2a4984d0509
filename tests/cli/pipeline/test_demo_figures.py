"""Every figure of a report, recomputed from its files by other code (tests/support/recomputed); a rerun's bytes.

Four runs: the recorded demo, and the small corpus against a server that always answers, one that spoils a quarter of
all replies, in every stage, and once more with a person's labels.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.bad_replies import spoil
from support.loopback.server import ScriptedServer
from support.made_up_results.page import Page
from support.places import ROOT
from support.recomputed.counts import check_ledger, check_usage
from support.recomputed.expected import Near, complaints, flat
from support.recomputed.files import Run
from support.recomputed.page_words import check_page
from support.recomputed.resampling import End
from support.recomputed.whole import expectations
from support.small_corpus import contents, make_corpus

from ragassay.cli import main

DEMO = ROOT / "corpora" / "avr-libc"

LARGER = {
    "per_section = 4": "per_section = 6",
    '"openai:m" = 4': '"openai:m" = 16',
    'retrievers = ["bm25"]': 'retrievers = ["bm25", "knn", "hybrid"]\nembedding = "all-MiniLM-L6-v2"',
    "bootstrap = 100": "bootstrap = 1000",
    "tournaments = 10": "tournaments = 40",
    "timeout_s = 1.0": "timeout_s = 20.0",
}


@dataclass(frozen=True)
class Computed:
    """A run, what its results.json must hold, and what it holds."""

    run: Run
    leaves: dict[tuple[str | int, ...], Any]

    @property
    def figures(self) -> dict[str, Any]:
        return self.run.figures


def small_run(folder: Path, bad: tuple[str, ...] | None, changes: Mapping[str, str] | None = None) -> Run:
    """The small corpus with six agents; a quarter of the replies of the schemas `bad` are spoiled (None: of all).

    changes: more of what LARGER is: texts of experiment.toml, and what stands there instead.
    """
    with ScriptedServer("openai", spoil(bad)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
        corpus = make_corpus(folder / "mine", "openai:m", server.base_url)
        text = (corpus / "experiment.toml").read_text()
        for old, new in (LARGER | dict(changes or {})).items():
            assert old in text
            text = text.replace(old, new)
        (corpus / "experiment.toml").write_text(text)
        status = main(["run", str(corpus), "--results", str(folder / "results" / "mine")])
        assert status in ((0, 1) if bad is None else (0,))
    return Run(corpus, folder / "results" / "mine")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Run:
    results = tmp_path_factory.mktemp("demo") / "avr-libc"
    assert main(["run", str(DEMO), "--results", str(results)]) == 0
    return Run(DEMO, results)


MORE_SECTIONS = {"section_tokens = 200": "section_tokens = 100", "sections = 4": "sections = 8"}
"""A correction wants labels on five sections at least."""


def labelled_run(folder: Path) -> Run:
    """The small corpus again, with a person's labels on the accuracy of most answers.

    One in four is not the judge's, and two agents have the highest and the lowest label throughout.
    """
    run = small_run(folder, (), MORE_SECTIONS)
    rows = [row for row in run.pointwise if row["criterion"] == "accuracy" and row["label"] is not None]
    kept = [row for number, row in enumerate(rows) if number % 5]
    always = {"knn-rag": 2, "hybrid-rag": 0}
    other = [row["label"] if number % 4 else 2 - row["label"] for number, row in enumerate(kept)]
    said = [always.get(row["subject"], label) for row, label in zip(kept, other, strict=True)]
    lines = [f"ann,,{r['query_id']},{r['subject']},accuracy,{label:g}\n" for r, label in zip(kept, said, strict=True)]
    (run.corpus / "labels.csv").write_text("who,when,query,subject,criterion,label\n" + "".join(lines))
    for stage in ("compare", "report"):
        assert main([stage, str(run.corpus), "--results", str(run.results)]) == 0
    return Run(run.corpus, run.results)


@pytest.fixture(scope="module", params=["demo", "small", "a quarter bad", "labelled"])
def computed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Computed:
    if request.param == "demo":
        run: Run = request.getfixturevalue("demo")
    elif request.param == "labelled":
        run = labelled_run(tmp_path_factory.mktemp("figures"))
    else:
        run = small_run(tmp_path_factory.mktemp("figures"), () if request.param == "small" else None)
    return Computed(run, expectations(run).leaves)


def test_every_value_is_what_the_files_beside_it_say(computed: Computed) -> None:
    assert complaints(computed.figures, computed.leaves) == []


def test_every_interval_holds_its_value_and_lies_in_range(computed: Computed) -> None:
    highest = {
        "retrieval": 1.0,
        "wins": 1.0,
        "win_rate": 1.0,
        "flip_rate": 1.0,
        "first_shown_wins": 1.0,
        "pointwise": 2.0,
    }
    found, n_intervals = dict(flat(computed.figures)), 0
    for path, low in found.items():
        if "needed" in path:
            continue
        if path[-1] == "ci_low" and low is not None:
            value, high = found[*path[:-1], "value"], found[*path[:-1], "ci_high"]
            assert low <= value <= high, path
            if path[0] in highest:
                assert low >= 0 and high <= highest[str(path[0])], path
            n_intervals += 1
        elif path[-1] == "ci_low":
            assert found[*path[:-1], "ci_high"] is None
    assert n_intervals > 50


def test_the_recomputation_would_see_any_other_value(computed: Computed) -> None:
    """Each leaf in turn is changed: a number by a little, or beyond its tolerance where chance has a part in it."""
    for path, given in flat(computed.figures):
        for changed in other_values(given, computed.leaves[path]):
            assert complaints({"leaf": changed}, {("leaf",): computed.leaves[path]}), (path, given, changed)


def other_values(given: Any, wanted: Any) -> list[Any]:
    """Values that are wrong where `given` is right. Of an interval: an end at its value, and one much too far away."""
    if isinstance(wanted, Near):
        return [wanted.value - 1.01 * wanted.tolerance, wanted.value + 1.01 * wanted.tolerance, None]
    if isinstance(wanted, End):
        return [wanted.value, *(wanted.value + sign * 20 * float(wanted.own.std()) for sign in (-1, 1)), None]
    if isinstance(given, int | float) and not isinstance(given, bool):
        return [given + (1e-6 if isinstance(given, float) else 1), None]
    return [None if given is not None else 0.5]


def test_the_qrels_are_the_judgments(computed: Computed) -> None:
    labels: dict[str, dict[str, int]] = {}
    for row in computed.run.relevance:
        if row["label"] is not None:
            labels.setdefault(row["query_id"], {})[row["subject"]] = int(row["label"])
    assert computed.run.qrels == labels


def test_the_ledger_adds_up_to_the_questions_on_file(computed: Computed) -> None:
    check_ledger(computed.run)


def test_usage_adds_up_to_what_was_asked_and_received(computed: Computed) -> None:
    check_usage(computed.run, computed.figures["usage"])


def test_every_value_stands_in_the_report(computed: Computed) -> None:
    page = Page((computed.run.results / "report.html").read_text(encoding="utf-8"))
    check_page(page, computed.figures)


def test_the_verb_demo_gives_the_same_bytes_anywhere(demo: Run, tmp_path: Path) -> None:
    """Of every file, in another process with another hash seed, with no model, no key and nothing kept.

    Nothing is written beside the corpus: no file there, and no folder, is touched.
    """
    before = times(DEMO)
    command = [sys.executable, "-m", "ragassay", "demo"]
    environment = os.environ | {"PYTHONHASHSEED": "5"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "report: results/avr-libc/report.html"
    assert times(DEMO) == before
    first, second = contents(demo.results), contents(tmp_path / "results" / "avr-libc")
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []


def times(folder: Path) -> dict[str, int]:
    """When each file and folder was last changed, in nanoseconds."""
    return {str(path): path.stat().st_mtime_ns for path in (folder, *folder.rglob("*"))}
