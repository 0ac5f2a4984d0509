"""`values.jsonl`: what was written is read, a value is there or a sentence says why not, and faults have a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.json_lines import records, write_lines
from support.made_up_results.workspace import make_workspace

from ragassay.errors import InputError
from ragassay.evaluate.compare import compare
from ragassay.evaluate.figures.values import FIELDS, read_values, scale_of, write_values
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.report.page import read_results
from ragassay.experiment.workspace import Workspace


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("values") / "values.jsonl"


NAMES = st.text(min_size=1, max_size=4)
VALUES = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9)
TABLES = st.dictionaries(
    NAMES, st.dictionaries(st.sampled_from("ab"), st.dictionaries(st.sampled_from("xyz"), VALUES)), max_size=3
)


@given(table=TABLES, section=NAMES)
def test_what_was_written_is_read(path: Path, table, section):
    clusters = Clusters.named("xyz", [section, section, "other"])
    write_values(path, table, "ab", "xyz", clusters)
    found = read_values(path)
    kept = {m: {a: row for a, row in rows.items() if row} for m, rows in table.items() if any(rows.values())}
    assert found.measures == kept
    names = {query: found.clusters.names[found.clusters.number(query)] for query in found.clusters.queries}
    assert names.items() <= {"x": section, "y": section, "z": "other"}.items()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = make_workspace(tmp_path_factory.mktemp("made"), 8, hostile=True)
    workspace.corpus.mkdir(exist_ok=True)
    compare(workspace)
    return workspace


def test_every_mean_that_is_compared_is_the_mean_of_its_lines(made: Workspace):
    results, stored = read_results(made.figures), read_values(made.values).measures
    tables = (results.retrieval, results.pointwise, {a: {"points": one} for a, one in results.points.items()})
    seen = 0
    for agent, name, figure in ((a, n, f) for table in tables for a, row in table.items() for n, f in row.items()):
        values = list(stored[name][agent].values())
        known = [value for value in values if value is not None]
        assert (figure.n, figure.n_failed) == (len(known), len(values) - len(known)), (agent, name)
        assert figure.value == (pytest.approx(sum(known) / len(known)) if known else None)
        seen += 1
    assert seen >= 6 * 9


def test_a_line_has_a_value_or_says_why_not_and_its_section(made: Workspace):
    rows = records(made.values)
    assert all(tuple(row) == FIELDS for row in rows)
    assert all((row["value"] is None) is bool(row["error"]) for row in rows) and any(row["error"] for row in rows)
    said = {row["error"] for row in rows if row["measure"] == "accuracy" and row["error"]}
    assert "no reply <i>after</i> 5 tries" in said
    assert {row["cluster"] for row in rows} == {
        f"section {q['metadata']['doc']} {q['metadata']['section']}" for q in records(made.queries)
    }


def test_the_same_inputs_give_the_same_bytes(made: Workspace):
    before = made.values.read_bytes()
    compare(made)
    assert made.values.read_bytes() == before


def test_scales_are_those_of_the_run(made: Workspace):
    results = read_results(made.figures).model_copy(
        update={"evaluation_scales": {"perplexity": (1.0, None)}, "lower_is_better": ("perplexity",)}
    )
    assert str(scale_of("perplexity", results)) == "from 1 up, lower is better"
    assert str(scale_of("accuracy", results)) == "from 0 to 2" and scale_of("nDCG@5", results).width == 1


LINE = {"query_id": "q", "agent": "a", "measure": "m", "value": 1.0, "error": None, "cluster": "c"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "is not JSON"),
        ("\udcff\udcfe{}", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ("{}, {}", "is not JSON"),
        (json.dumps({**LINE, "value": None}), "either a number as value or a sentence as error"),
        (json.dumps({**LINE, "error": "why"}), "either a number as value or a sentence as error"),
        (json.dumps({**LINE, "value": True}), "either a number"),
        (json.dumps({**LINE, "value": "1"}), "either a number"),
        (json.dumps({**LINE, "agent": 3}), "has no text as query_id, agent"),
        (json.dumps({**LINE, "other": 3}), "has a field other of no meaning"),
        (json.dumps({k: v for k, v in LINE.items() if k != "cluster"}), "has no field cluster"),
        (json.dumps(LINE), "a second time"),
        (json.dumps({**LINE, "agent": "b", "cluster": "d"}), "a second time"),
    ],
)
def test_a_fault_is_one_sentence_with_its_line(tmp_path: Path, line: str, said: str):
    path = write_lines(tmp_path / "values.jsonl", [LINE])
    with path.open("a", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(line + "\n")
    with pytest.raises(InputError, match=said) as raised:
        read_values(path)
    assert raised.value.line == 2 and "run `ragassay compare` again" in str(raised.value)
