"""`python -m benchmarks.question_worth` on a small made-up collection: its figures, and what it does not take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records, write_lines
from support.tiny_models import sentence_model

from benchmarks.question_worth.__main__ import main

ANIMALS = ("otter", "heron", "vole", "newt", "stoat", "lynx", "crane", "bream", "adder", "finch", "shrew", "moth")
HABITS = ("digs burrows", "eats fishes", "sings early", "hides seeds", "swims far", "sleeps long")
N_PEOPLE = 24


def habit(number: int) -> str:
    return HABITS[number % len(HABITS)]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Twelve passages and two of people's queries about each, some of which only one part of the passage answers."""
    folder = tmp_path / "animals"
    bodies = [
        f"It {habit(n)} near water. Young ones stay. Every {name} {habit(n + 1)} in winter, {'often ' * (n % 4)}alone."
        for n, name in enumerate(ANIMALS)
    ]
    rows = [{"_id": f"p{n}", "title": f"The {name}", "text": bodies[n]} for n, name in enumerate(ANIMALS)]
    write_lines(folder / "corpus.jsonl", rows)
    write_lines(folder / "queries.jsonl", [{"_id": f"q{n}", "text": people_ask(n)} for n in range(N_PEOPLE)])
    (folder / "qrels").mkdir()
    labels = "".join(f"q{n}\tp{n // 2}\t1\n" for n in range(N_PEOPLE))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{labels}")
    return folder


def people_ask(number: int) -> str:
    animal = number // 2
    return f"which one {habit(animal)}" if number % 2 else f"{ANIMALS[animal]} that {habit(animal + 1)} while alone"


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    return write_lines(path, rows)


def question(number: int, kind: str = "echo", **more: Any) -> dict[str, Any]:
    """The same as people's query of that number."""
    metadata = {"kind": kind, "doc": f"p{number // 2}"}
    return {"_id": f"{kind}-{number}", "text": people_ask(number), "metadata": metadata, **more}


def run(collection: Path, questions: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    arguments = [str(collection), str(questions), "--json", "--resamples", "40", *more]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_a_set_that_equals_peoples_own_orders_and_decides_as_they_do(collection, tmp_path, capsys):
    file = written(tmp_path / "q.jsonl", [question(n) for n in range(N_PEOPLE)])
    found = run(collection, file, capsys, "--retrievers", "bm25")
    assert set(found) == {"echo", "all"} and found["all"] == {**found["echo"], "kind": "all"}
    echo = found["echo"]
    assert (echo["n"], echo["n_sources"], echo["n_people"]) == (24, 12, 24)
    assert echo["tau"]["value"] == echo["rho"]["value"] == 1.0
    assert echo["tau"]["ci_low"] < 1.0 and echo["tau"]["ci_high"] == 1.0
    assert echo["n_decided"] > 0 and echo["contradicted"]["value"] == 0.0 and echo["contradicted"]["n"] > 0
    assert echo["loss"]["value"] == 0.0
    assert echo["shared_words"]["value"] == echo["people_shared_words"]["value"]
    for name, means in echo["retrievers"].items():
        assert means["people"]["value"] == means["written"]["value"], name
    assert echo["worth"]["largest"] == 12


def test_kinds_stand_apart_and_every_way_to_name_a_source_is_read(collection, tmp_path, capsys):
    ways = [{"passage": "p0"}, {"evidence": ["p0"]}, {"evidence": [{"doc": "p0", "quote": "x"}, {"doc": "p1"}]}]
    rows = [
        {"_id": f"w{n}", "text": "otter", "metadata": {"kind": f"way {n}", "doc": "p5", **way}}
        for n, way in enumerate(ways)
    ]
    rows.append({"_id": "w3", "text": "otter", "metadata": {"kind": "way 3"}, "evidence": [{"doc": "p0", "start": 0}]})
    rows.append({"_id": "w4", "text": "otter heron", "metadata": {"kind": "way 4", "doc": "p3"}})
    found = run(collection, written(tmp_path / "q.jsonl", rows), capsys, "--retrievers", "bm25")
    assert list(found) == ["way 0", "way 1", "way 2", "way 3", "way 4", "all"]
    best = {kind: one["retrievers"]["bm25, title"]["written"]["value"] for kind, one in found.items()}
    # the otter's passage alone is found: all of nDCG, or 1 / (1 + 1 / log2(3)) where a second one is relevant as well
    assert best == pytest.approx({"way 0": 1, "way 1": 1, "way 2": 0.613147, "way 3": 1, "way 4": 0, "all": 0.722629})
    assert found["way 0"]["shared_words"]["value"] == 1.0 and found["way 4"]["shared_words"]["value"] == 0.0
    assert found["way 4"]["n"] == 1 and found["all"]["n"] == 5 and found["all"]["n_sources"] == 2
    assert found["way 4"]["tau"]["value"] is None, "all retrievers tie at 0"
    assert found["way 4"]["worth"]["value"] is None and found["way 4"]["decided"]["value"] == 0.0


def test_queries_without_a_relevant_passage_are_counted_and_examples_left_out(collection, tmp_path, capsys):
    qrels = collection / "qrels" / "test.tsv"
    qrels.write_text(qrels.read_text().replace("q3\tp1\t1", "q3\tp1\t0").replace("q4\tp2", "q4\tgone"))
    file = written(tmp_path / "q.jsonl", [question(n) for n in range(8)])
    found = run(collection, file, capsys, "--retrievers", "bm25", "--leave-out", "q0,q1")
    assert (found["echo"]["n_people"], found["echo"]["n_people_failed"]) == (20, 2)
    assert found["echo"]["ceiling"]["n_failed"] == found["echo"]["worth"]["n_failed"] == 2


@pytest.mark.xdist_group("models")
def test_all_retrievers_take_part_and_the_tables_name_them(collection, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = sentence_model(tmp_path / "model")
    file = written(tmp_path / "q.jsonl", [question(n, "a" if n % 2 else "b") for n in range(N_PEOPLE)])
    arguments = [str(collection), str(file), "--embedding", model, "--resamples", "10"]
    assert main(arguments) == 0
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:6]] == ["| people's", "| b", "| a", "| all"]
    shown = [line for line in lines if line.startswith(("| bm25", "| embedding", "| by "))]
    assert len({line.split(" | ")[0] for line in shown}) == len(shown) > 14
    assert told.err.count("ranked: ") == 26
    assert list((tmp_path / "results" / "benchmarks" / "question_worth" / "embeddings").glob("*.npz"))
    assert main(arguments) == 0
    assert capsys.readouterr().out == told.out, "the same again, from the cache"


def test_a_collection_without_titles_has_halves_for_parts(collection, tmp_path, capsys):
    rows = [{**row, "title": ""} for row in records(collection / "corpus.jsonl")]
    write_lines(collection / "corpus.jsonl", rows)
    file = written(tmp_path / "q.jsonl", [question(n) for n in range(N_PEOPLE)])
    names = run(collection, file, capsys, "--retrievers", "bm25")["echo"]["retrievers"]
    assert {"bm25, first half", "bm25, second half"} <= set(names)


FINE = [question(n) for n in range(3)]
WRONG_QUESTIONS = [
    ([], "q.jsonl: holds no questions"),
    ([*FINE, {"_id": "x", "text": "t", "metadata": {"doc": "p0"}}], "q.jsonl:4: has no metadata.kind"),
    ([*FINE, question(3, " ")], "q.jsonl:4: has no metadata.kind"),
    ([*FINE, question(3, "all")], "q.jsonl:4: has the kind 'all'"),
    ([{"_id": "x", "text": "t", "metadata": {"kind": "k"}}], "q.jsonl:1: names no passage"),
    ([FINE[0], question(23, metadata={"kind": "k", "doc": "p\x1b99"})], "q.jsonl:2: was made from passage 'p\\x1b99'"),
    ([FINE[0], FINE[0]], "q.jsonl:2: is a second question 'echo-0'"),
    ([FINE[0], {**FINE[1], "text": ""}], "q.jsonl:2: "),
]


@pytest.mark.parametrize(("rows", "said"), WRONG_QUESTIONS, ids=[said for _, said in WRONG_QUESTIONS])
def test_questions_that_cannot_be_used_are_named_in_one_sentence(collection, tmp_path, capsys, rows, said):
    refused(capsys, [str(collection), str(written(tmp_path / "q.jsonl", rows))], said)


WRONG_COLLECTIONS = [
    ("qrels/test.tsv", None, "test.tsv: there is no such file"),
    ("queries.jsonl", None, "queries.jsonl: there is no such file"),
    ("qrels/test.tsv", "q0\tp0\t1\n", "test.tsv: has 1 queries with a relevant passage"),
    ("qrels/test.tsv", "q0\tp0\tyes\n", "test.tsv:1: 'yes' is not a number"),
    ("queries.jsonl", '{"_id": "q0", "text": "t"}\n', "queries.jsonl: does not have query 'q1'"),
    ("corpus.jsonl", '{"_id": "p0"}\n', "corpus.jsonl:1: "),
]


@pytest.mark.parametrize(("file", "content", "said"), WRONG_COLLECTIONS, ids=[said for *_, said in WRONG_COLLECTIONS])
def test_collections_that_cannot_be_used_are_named_in_one_sentence(collection, tmp_path, capsys, file, content, said):
    (collection / file).unlink() if content is None else (collection / file).write_text(content)
    refused(capsys, [str(collection), str(written(tmp_path / "q.jsonl", FINE))], said)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--leave-out", "q0,other"], "has no query 'other' to leave out"),
        (["--language", "klingon"], "is not a language code"),
        (["--resamples", "1"], "--resamples is 1; give 2 or more"),
    ],
)
def test_options_that_cannot_be_used_are_named_in_one_sentence(collection, tmp_path, capsys, more, said):
    refused(capsys, [str(collection), str(written(tmp_path / "q.jsonl", FINE)), *more], said)


def refused(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main([*arguments, "--json", "--retrievers", "bm25"]) == 2
    told = capsys.readouterr()
    assert said in told.err and len(told.err.splitlines()) == 1 and told.out == ""
