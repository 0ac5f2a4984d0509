"""What is exported and imported again is the same, but for what the format cannot hold, which is named."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from support.made_collections import collections
from support.reduced import reduced

from ragassay.errors import InputError
from ragassay.evaluate.from_files.collections.collection import Collection, read_answer_files, read_folder, write_folder
from ragassay.evaluate.from_files.collections.data_sets import Beir, HuggingFace, Trec, rag_row
from ragassay.evaluate.from_files.collections.format import not_held
from ragassay.evaluate.from_files.collections.traces import mlflow_metrics, write_mlflow_run
from ragassay.records import Answer, Passage, Query


@given(collections())
def test_our_folder_holds_everything(made: Collection):
    with TemporaryDirectory() as folder:
        write_folder(made, Path(folder) / "out")
        assert reduced(read_folder(Path(folder) / "out"), {}) == reduced(made, {})


def test_trec_holds_answers_by_sentence(tmp_path: Path):
    answers = {
        "q": Answer(query_id="q", agent="a", answer="One [2]. Two.", passages=("d1", "d2")),
        "r": Answer(query_id="r", agent="a", answer=None, error="down"),
    }
    made = Collection({id: Query(id=id, text=f"{id}?") for id in answers}, answers={"a": answers})
    Trec().write(made, tmp_path)
    assert Trec().read([tmp_path]).answers == {"a": {"q": answers["q"]}}
    assert not_held("TREC's files", Trec.loses, made) == ["not held by TREC's files: answers that failed (1)"]


@pytest.mark.parametrize(
    "text", ["=cmd|' /C calc'!A0", "+1", "-1 how?", "@SUM(A1)", "＝1", "'=1", "how?", "'s Hertogenbosch"]
)
def test_no_query_in_trec_s_table_is_a_formula_and_each_comes_back(tmp_path: Path, text: str):
    made = Collection({"q": Query(id="q", text=text)})
    Trec().write(made, tmp_path)
    cell = (tmp_path / "queries.tsv").read_text().rstrip("\n").split("\t")[1]
    assert not cell.startswith(tuple("=+-@＝＋－＠"))
    assert cell == text or cell == f"'{text}"
    assert Trec().read([tmp_path]).queries["q"].text == text


def test_citations_of_trec_s_answers_come_back():
    passages = {"d1": Passage(id="d1", text="x"), "d2": Passage(id="d2", text="y")}
    text = "By sei() [2][1]. Or by hand [1]. Or not at all."
    answer = Answer(query_id="q", agent="a", answer=text, passages=("d1", "d2"))
    row = rag_row(answer, Collection({"q": Query(id="q", text="How?")}, passages))
    assert [one["citations"] for one in row["answer"]] == [[1, 0], [0], []]
    assert row["references"] == ["d1", "d2"] and row["topic"] == "How?"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_text(json.dumps(row) + "\n")
        assert read_answer_files([path]).answers["a"]["q"].answer == text


def test_hugging_face_s_card_names_each_table(tmp_path: Path):
    passages = {"p": Passage(id="p", text="=cmd()")}
    answers = {"a": {"q": Answer(query_id="q", agent="a", answer="<script>", passages=("p",))}}
    HuggingFace().write(
        Collection({"q": Query(id="q", text="How?", metadata={"x": 1})}, passages, {}, answers), tmp_path
    )
    card = (tmp_path / "README.md").read_text()
    tables = {path.stem for path in tmp_path.glob("*.jsonl")}
    assert tables == {"queries", "corpus", "answers"}
    assert all(f"- config_name: {name}\n  data_files: {name}.jsonl\n" in card for name in tables)
    row = json.loads((tmp_path / "queries.jsonl").read_text())
    assert row == {"_id": "q", "text": "How?", "metadata": '{"x": 1}'}
    assert json.loads((tmp_path / "answers.jsonl").read_text())["answer"] == "<script>"


def test_an_id_with_white_space_is_refused_where_the_format_has_none(tmp_path: Path):
    made = Collection({"a b": Query(id="a b", text="How?")}, {}, {"a b": {"p": 1}})
    for write in (Beir().write, Trec().write):
        with pytest.raises(InputError, match="the id 'a b' has white space, which"):
            write(made, tmp_path)


FIGURES = {
    "agents": ["a", "b"],
    "retrieval": {"a": {"RR(rel=2)@5": {"value": 0.5, "n": 3, "n_failed": 1, "ci_low": 0.1, "ci_high": 0.9}}},
    "elo": {"a": {"value": None, "n": 0, "n_failed": 2, "ci_low": None, "ci_high": None}},
}


def test_figures_become_metrics_of_their_agent_and_a_missing_value_none():
    found, missing = mlflow_metrics(FIGURES)
    details = {"n": 3.0, "n_failed": 1.0, "ci_low": 0.1, "ci_high": 0.9}
    assert found["a"] == {
        **{"RR_rel_2_5": 0.5, "detail/elo.n": 0.0, "detail/elo.n_failed": 2.0},
        **{f"detail/RR_rel_2_5.{part}": value for part, value in details.items()},
    }
    assert found["b"] == {} and missing == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow_opens_the_store_its_tables_and_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import mlflow

    results, store = tmp_path / "mine", tmp_path / "store"
    results.mkdir()
    (results / "results.json").write_text(json.dumps(FIGURES))
    (results / "report.html").write_text("<p>")
    answers = {"a": {"q": Answer(query_id="q", agent="a", answer="So.")}}
    said = write_mlflow_run(Collection({"q": Query(id="q", text="How?")}, answers=answers), results, store)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{store / 'mlflow.db'}")
    try:
        client = mlflow.MlflowClient()
        experiment = client.get_experiment_by_name("mine")
        runs = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
        table = client.load_table(experiment.experiment_id, "answers.json")
    finally:
        mlflow.set_tracking_uri(before)
    assert set(runs) == {"mine", "a", "b"} and all(run.info.status == "FINISHED" for run in runs.values())
    assert runs["a"].data.tags["mlflow.parentRunId"] == runs["mine"].info.run_id
    assert runs["a"].data.metrics["RR_rel_2_5"] == 0.5 and "elo" not in runs["a"].data.metrics
    assert runs["mine"].data.params["n_answers"] == "1"
    assert {one.path for one in client.list_artifacts(runs["mine"].info.run_id)} == {"report.html", "results.json"}
    assert table[["query", "answer"]].to_numpy().tolist() == [["How?", "So."]]
    assert said == ["figures without a value are no metrics: 1 left out"]


def test_without_mlflow_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "results.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(InputError, match=r'pip install "ragassay\[mlflow\]"'):
        write_mlflow_run(Collection(), tmp_path, tmp_path / "out")
