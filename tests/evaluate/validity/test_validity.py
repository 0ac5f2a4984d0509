"""`ragassay check validity`: planted faults are found, a sound set raises none, and what is open is said to be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records, write_lines
from support.validity_corpus import AUTHORS, make_validity_corpus

from ragassay.cli import main
from ragassay.evaluate.report.page import PARTS, read_validity
from ragassay.evaluate.validity import difficulty, people
from ragassay.evaluate.validity.records import Validity
from ragassay.evaluate.validity.validity import render
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace


def looked_at(corpus: Path, results: Path) -> dict[str, Any]:
    assert main(["check", "validity", str(corpus), "--results", str(results)]) == 0
    found: dict[str, Any] = json.loads((results / "validity.json").read_text())
    return found


def figures_in(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        below = [figure for one in value.values() for figure in figures_in(one)]
        return [value, *below] if {"value", "n", "n_failed", "ci_low", "ci_high"} <= value.keys() else below
    return [figure for one in value for figure in figures_in(one)] if isinstance(value, list) else []


@pytest.fixture(autouse=True, scope="module")
def few_splits() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(people, "WORTH_RESAMPLES", 10)
        patch.setattr(difficulty, "SPLITS", 3)
        yield


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(corpus, results) of a sound set, one of whose roles is hostile."""
    corpus, results = make_validity_corpus(tmp_path_factory.mktemp("sound"))
    rows = records(results / "queries.jsonl")
    rows[0]["metadata"]["role"] = "<script>alert(1)</script>"
    write_lines(results / "queries.jsonl", rows)
    return corpus, results


@pytest.fixture(scope="module")
def sound(folders: tuple[Path, Path]) -> dict[str, Any]:
    return looked_at(*folders)


def test_a_sound_set_raises_no_warning(sound: dict[str, Any]):
    found = sound
    assert found["warnings"] == []
    assert (found["n_written"], found["n_real"], found["n_experts"], found["n_variants"]) == (80, 30, 30, 9)
    difference = found["leak"]["figures"]["difference_shared_best"]
    assert difference["ci_low"] < 0 < difference["ci_high"] and difference["n"] == 110
    for figure in figures_in(found):
        if figure["ci_low"] is not None:
            assert figure["ci_low"] <= figure["value"] <= figure["ci_high"]


def test_questions_copied_word_for_word_are_a_leak_and_the_report_says_so_first(tmp_path: Path):
    corpus, results = make_validity_corpus(tmp_path, "leak")
    found = looked_at(corpus, results)
    assert found["leak"]["figures"]["copied"]["value"] == 1.0
    assert found["leak"]["figures"]["run_evidence"]["value"] == 10.0
    assert "copied from their evidence" in found["leak"]["warnings"][0]
    assert any("overlap more with passages than people's" in warning for warning in found["warnings"])
    lines = read_validity(Workspace(corpus, results, load_experiment(corpus / "experiment.toml")))
    assert {line.part for line in lines} == set(PARTS)
    assert lines[0].warning and "copied from their evidence" in lines[0].said


def test_questions_that_all_begin_alike_are_not_realistic(tmp_path: Path):
    found = looked_at(*make_validity_corpus(tmp_path, "realism"))
    assert found["realism"]["opening"] == "according to the"
    assert found["realism"]["figures"]["opening"]["value"] == 1.0
    assert any("begin alike" in warning for warning in found["realism"]["warnings"])


def test_an_author_who_favours_a_kind_of_retriever_is_named(tmp_path: Path):
    found = looked_at(*make_validity_corpus(tmp_path, "favour"))
    assert any(f"questions of {AUTHORS[0]} favour bm25" in warning for warning in found["authors"]["warnings"])
    favour = next(one for one in found["authors"]["favours"] if (one["group"], one["family"]) == (AUTHORS[0], "bm25"))
    assert favour["told"] and favour["figure"]["ci_low"] > 0
    assert {one["name"]: one["n"] for one in found["authors"]["groups"]} == dict.fromkeys(AUTHORS, 40)


def test_a_winner_that_changes_with_overlap_is_warned_of(tmp_path: Path):
    found = looked_at(*make_validity_corpus(tmp_path, "overlap", per_section=4))
    thirds = found["leak"]["thirds"]
    assert "bm25" not in thirds[0]["best"] and thirds[-1]["best"] == ["bm25"]
    assert sum(third["n"] for third in thirds) == 80
    assert any("The winner changes with overlap" in warning for warning in found["leak"]["warnings"])


def test_a_look_that_gives_questions_away_is_warned_of(tmp_path: Path):
    corpus, results = make_validity_corpus(tmp_path)
    auc = {"value": 0.9, "n": 110, "ci_low": 0.8, "ci_high": 0.95}
    said = "experts' and written questions are told apart"
    check = {"n_experts": 30, "n_written": 80, "auc": auc, "features": [], "energy_distance": None, "said": said}
    (results / "questions-check.json").write_text(json.dumps({**check, "energy_distance_drawn": None}))
    assert "AUC 0.90 (0.80 to 0.95; n 110)" in looked_at(corpus, results)["realism"]["warnings"][0]
    (results / "questions-check.json").write_text("{}")
    assert main(["check", "validity", str(corpus), "--results", str(results)]) == 2


def test_without_a_screening_the_parts_that_need_none_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    corpus, results = make_validity_corpus(tmp_path, "leak")
    (results / "screening.jsonl").unlink()
    found = looked_at(corpus, results)
    told = capsys.readouterr().out
    assert "add [[retriever]] tables to experiment.toml and run `ragassay screen`" in told
    assert found["leak"]["figures"]["copied"]["value"] == 1.0 and found["leak"]["thirds"] == []
    for part in ("difficulty", "authors", "people"):
        assert "no screening yet" in found[part]["abstained"]


def test_a_set_of_one_question_and_none_of_people_says_so(tmp_path: Path):
    corpus, results = make_validity_corpus(tmp_path, n_real=0)
    write_lines(results / "queries.jsonl", records(results / "queries.jsonl")[:1])
    write_lines(results / "screening.jsonl", [row | {"n": 1} for row in records(results / "screening.jsonl")])
    found = looked_at(corpus, results)
    assert "1 written question has a value" in found["difficulty"]["abstained"]
    assert "fewer than 9" in found["leak"]["abstained"]
    assert "No query is a person's own" in found["people"]["abstained"] and found["people"]["beside"] == []
    assert "no people's questions (questions.txt)" in found["realism"]["abstained"]
    assert found["leak"]["figures"]["shared_evidence"]["ci_low"] is None and found["warnings"] == []


def _elsewhere(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows[-1]["metadata"]["evidence"] = [{"doc": "other.pdf", "start": 0, "end": 5}]
    return rows


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (None, ("there are no questions yet",)),
        (lambda rows: rows[:50], ("bm25-0 was run on 110 queries, and there are 50 now",)),
        (_elsewhere, ("other.pdf", "queries.jsonl:110")),
    ],
    ids=["no questions", "a screening of others", "a question about another document"],
)
def test_questions_that_are_not_those_of_the_run_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Any, said: tuple[str, ...]
):
    corpus, results = make_validity_corpus(tmp_path)
    rows = records(results / "queries.jsonl")
    (results / "queries.jsonl").unlink()
    if change:
        write_lines(results / "queries.jsonl", change(rows))
    assert main(["check", "validity", str(corpus), "--results", str(results)]) == 2
    told = capsys.readouterr().err
    assert all(part in told for part in said) and not (results / "validity.json").exists()


def test_a_variant_that_fails_on_a_query_leaves_it_out_and_says_so(tmp_path: Path):
    corpus, results = make_validity_corpus(tmp_path)
    runs = records(results / "screening.jsonl")
    runs[0] |= {"n_failed": 2, "errors": {"w00": "timeout", "r00": "timeout"}}
    write_lines(results / "screening.jsonl", runs)
    found = looked_at(corpus, results)
    for beside in found["people"]["beside"]:
        assert (beside["n_real"], beside["n_real_failed"]) == (29, 1)
        assert (beside["n_written"], beside["n_written_failed"]) == (79, 1)
    assert [beside["basis"] for beside in found["people"]["beside"]] == ["evidence", "section"]
    assert found["difficulty"]["figures"]["all_pass"]["n_failed"] == 1


def test_the_judge_s_labels_are_a_second_basis_and_without_sections_there_is_no_third(tmp_path: Path):
    corpus, results = make_validity_corpus(tmp_path)
    queries = records(results / "queries.jsonl")
    at = {row["metadata"]["start"]: row["_id"] for row in records(results / "corpus.jsonl")}
    lines = [f"{q['_id']} 0 {at[q['metadata']['evidence'][0]['start']]} 2\n" for q in queries]
    (results / "qrels.trec").write_text("".join(lines))
    (results / "sections.jsonl").unlink()
    evidence, judge = looked_at(corpus, results)["people"]["beside"]
    assert judge["basis"] == "judge" and judge["figures"] == evidence["figures"]


def test_the_page_escapes_what_it_shows_and_loads_nothing(folders: tuple[Path, Path], sound: dict[str, Any]):
    page = (folders[1] / "validity.html").read_text()
    assert "&lt;script&gt;" in page and "<script" not in page
    assert not re.search(r"(src|href)=", page) and "default-src 'none'" in page
    assert "shared evidence" not in page and "share of a question’s content words that its evidence has" in page
    assert render(Validity.model_validate(sound)) == page


def test_written_questions_are_held_against_their_section_and_people_s_against_what_they_have(
    tmp_path: Path, sound: dict[str, Any]
):
    """A passage beside the evidence, in its section, is none of the evidence and all of the section."""
    corpus, results = make_validity_corpus(tmp_path)
    evidence, section = sound["people"]["beside"]
    assert section["basis"] == "section" and section["figures"] == evidence["figures"]  # one passage, right or far off
    assert (section["n_written"], section["n_real"], section["n_real_failed"]) == (80, 30, 0)
    neighbour = {f"p{at:02}": f"p{at ^ 1:02}" for at in range(80)}
    for ranking in (results / "screening").glob("knn-*.trec"):
        rows = [line.split() for line in ranking.read_text().splitlines()]
        moved = [[*row[:2], neighbour[row[2]] if row[0][0] == "w" else row[2], *row[3:]] for row in rows]
        ranking.write_text("".join(" ".join(row) + "\n" for row in moved))
    evidence, still = looked_at(corpus, results)["people"]["beside"]
    assert still["figures"] == section["figures"] and evidence["figures"]["tau_b"] != section["figures"]["tau_b"]
