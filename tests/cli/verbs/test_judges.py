"""`ragassay judge --list`: every evaluator with what it reads, its scale, its threshold, its tags; the docs' table."""

from __future__ import annotations

import json

from support.places import ROOT

from benchmarks.tables.judges_list import with_table
from ragassay.cli import main
from ragassay.evaluate.judging.catalog import built_in
from ragassay.evaluate.judging.engine.evaluator import NIST, SR_11_7


def test_all_are_listed_by_family_with_scale_and_threshold(capsys):
    assert main(["judge", "--list"]) == 0
    said = capsys.readouterr().out
    assert all(f"  {name}: of each" in said for name in built_in())
    assert "0 to 3, good from 2\n" in said and "source: Upadhyay et al. 2024" in said


def test_as_json_each_says_what_it_reads_and_from_where_it_is(capsys):
    main(["judge", "--list", "--json"])
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == list(built_in())
    assert rows["correctness"]["criteria"][0] == {
        "name": "correctness",
        "lowest": 0.0,
        "highest": 1.0,
        "lower_is_better": False,
        "threshold": 0.5,
    }
    for row in rows.values():
        assert row["reads"] and row["source"] and row["about"], row["name"]
        assert row["tags"] and set(row["tags"]) <= {*NIST, *SR_11_7}, row["name"]


def test_the_tags_tell_which_judges_bear_on_what(capsys):
    main(["judge", "--list", "--tags", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert list(found) == [*NIST, *SR_11_7] and "safety" in found["safe"]


def test_the_table_of_the_docs_is_made_from_the_code():
    text = (ROOT / "docs" / "evaluators.md").read_text(encoding="utf-8")
    assert text == with_table(text), "run python -m benchmarks.tables.judges_list"


def test_the_table_of_the_docs_names_every_judge_and_criterion(capsys):
    main(["judge", "--list", "--markdown"])
    table = capsys.readouterr().out
    assert all(f"| `{name}`" in table for name in built_in())
    assert "| `nuggets` (query) | `_all`, `_vital`, " in table
    assert "| `document_recall`, needs `expected_docs` | 0 to 1, ≥ 0.75 | none |" in table
    assert "| `correctness`† | 0 to 1, ≥ 0.5 | 1 |" in table
    assert "| `perplexity` | 1 and up, less is good | own |" in table


def test_the_tags_are_a_table_for_a_document_too(capsys):
    main(["judge", "--list", "--tags", "--markdown"])
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == len([*NIST, *SR_11_7]) and rows[1].startswith("| NIST AI RMF | safe | `safety`, ")
