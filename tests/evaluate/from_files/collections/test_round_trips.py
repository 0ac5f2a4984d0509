"""What is exported and imported again is the same, but for what the format cannot hold, which is named."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.evaluate.from_files.collections import beir, huggingface, mlflow_run, ragas, trec
from ragassay.evaluate.from_files.collections.collection import Collection, read_folder, write_folder
from ragassay.evaluate.from_files.collections.gathered import read_answer_files
from ragassay.evaluate.from_files.collections.trec import rag_row
from ragassay.records import Answer, Game, Passage, Query

IDS = st.text("abz019._-:/é漢", min_size=1, max_size=6)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
SAID = TEXTS.filter(lambda text: text.strip())


@st.composite
def collections(draw: st.DrawFn, metadata: bool = True) -> Collection:
    """Up to four queries and passages, two agents that answer or fail, labels, rankings and games."""
    told = st.dictionaries(st.sampled_from(["expected_response", "kind"]), SAID) if metadata else st.just({})
    queries = {
        id: Query(id=id, text=draw(SAID), metadata=draw(told)) for id in draw(st.sets(IDS, min_size=1, max_size=4))
    }
    texts = draw(st.lists(SAID, min_size=1, max_size=4, unique=True))
    ids = draw(st.lists(IDS, min_size=len(texts), max_size=len(texts), unique=True))
    passages = {id: Passage(id=id, text=text) for id, text in zip(ids, texts, strict=True)}
    some = st.lists(st.sampled_from(ids), unique=True)
    answers, rankings = {}, {}
    for agent in ("a", "b-1"):
        rows = {}
        for query in queries:
            answer = draw(st.none() | SAID)
            error = None if answer is not None else "down"
            rows[query] = Answer(query_id=query, agent=agent, answer=answer, error=error, passages=tuple(draw(some)))
        answers[agent] = rows
        rankings[agent] = {query: [(id, 1.0 - n / 8) for n, id in enumerate(draw(some))] for query in queries}
        rankings[agent] = {query: row for query, row in rankings[agent].items() if row}
    qrels = {query: dict.fromkeys(draw(some), draw(st.integers(0, 3))) for query in queries}
    game = Game(query_id=next(iter(queries)), agent_a="a", agent_b="b-1", first="b", winner="tie")
    return Collection(queries, passages, {q: row for q, row in qrels.items() if row}, answers, rankings, (game,))


@settings(deadline=None, max_examples=60)
@given(collections())
def test_our_folder_holds_everything(made: Collection):
    with TemporaryDirectory() as folder:
        write_folder(made, Path(folder) / "out")
        assert read_folder(Path(folder) / "out") == made


@settings(deadline=None, max_examples=60)
@given(collections())
def test_beir_holds_queries_passages_and_labels(made: Collection):
    with TemporaryDirectory() as folder:
        said = beir.write(made, Path(folder))
        again = beir.read([Path(folder)])
    assert (again.queries, again.passages, again.qrels) == (made.queries, made.passages, made.qrels)
    assert said == ["BEIR's layout cannot hold answers, rankings and games: left out"]


@settings(deadline=None, max_examples=60)
@given(collections(metadata=False))
def test_trec_holds_queries_labels_runs_and_answers_by_sentence(made: Collection):
    with TemporaryDirectory() as folder:
        said = trec.write(made, Path(folder))
        again = trec.read([Path(folder)])
    assert {id: " ".join(q.text.split()) for id, q in made.queries.items()} == {
        id: q.text for id, q in again.queries.items()
    }
    assert again.qrels == made.qrels
    assert again.rankings == {agent: rows for agent, rows in made.rankings.items() if rows}
    for agent, rows in made.answers.items():
        whole = {id for id, one in rows.items() if one.answer is not None}
        assert whole == again.answers.get(agent, {}).keys()
        assert all(again.answers[agent][id].passages == rows[id].passages for id in whole)
    assert "TREC's files cannot hold passages and games: left out" in said


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


@settings(deadline=None, max_examples=60)
@given(collections())
def test_ragas_holds_texts_answers_contexts_and_references(made: Collection):
    with TemporaryDirectory() as folder:
        said = ragas.write(made, Path(folder))
        files = [path for path in sorted(Path(folder).iterdir()) if path.read_text()]
        for path in files:
            again = read_answer_files([path], "ragas")
            rows = {one.query_id: one for one in again.answers[path.stem].values()}
            asked = [made.queries[id] for id, one in made.answers[path.stem].items() if one.answer is not None]
            told = {(again.queries[id].text, one.answer) for id, one in rows.items()}
            assert told <= {(q.text, made.answers[path.stem][q.id].answer) for q in asked}
            assert {q.text for q in again.queries.values()} == {q.text for q in asked}
            assert {p.text for p in again.passages.values()} <= {p.text for p in made.passages.values()}
    assert any("games" in one for one in said)


def test_hugging_face_s_card_names_each_table(tmp_path: Path):
    passages = {"p": Passage(id="p", text="=cmd()")}
    answers = {"a": {"q": Answer(query_id="q", agent="a", answer="<script>", passages=("p",))}}
    huggingface.write(Collection({"q": Query(id="q", text="How?", metadata={"x": 1})}, passages, {}, answers), tmp_path)
    card = (tmp_path / "README.md").read_text()
    tables = {path.stem for path in tmp_path.glob("*.jsonl")}
    assert tables == {"queries", "corpus", "answers"}
    assert all(f"- config_name: {name}\n  data_files: {name}.jsonl\n" in card for name in tables)
    row = json.loads((tmp_path / "queries.jsonl").read_text())
    assert row == {"_id": "q", "text": "How?", "metadata": '{"x": 1}'}
    assert json.loads((tmp_path / "answers.jsonl").read_text())["answer"] == "<script>"


def test_an_id_with_white_space_is_refused_where_the_format_has_none(tmp_path: Path):
    made = Collection({"a b": Query(id="a b", text="How?")}, {}, {"a b": {"p": 1}})
    for write in (beir.write, trec.write):
        with pytest.raises(InputError, match="the id 'a b' has white space, which"):
            write(made, tmp_path)


FIGURES = {
    "retrieval": {"a": {"RR(rel=2)@5": {"value": 0.5, "n": 3, "n_failed": 1, "ci_low": 0.1, "ci_high": 0.9}}},
    "elo": {"a": {"value": None, "n": 0, "n_failed": 2, "ci_low": None, "ci_high": None}},
}


def test_figures_become_metrics_and_a_missing_value_none():
    found, missing = mlflow_run.metrics(FIGURES)
    assert found == {
        **{f"retrieval/a/RR_rel_2_5/{part}": value for part, value in FIGURES["retrieval"]["a"]["RR(rel=2)@5"].items()},
        **{"elo/a/n": 0.0, "elo/a/n_failed": 2.0},
    }
    assert missing == ["elo/a"]


def test_a_run_of_mlflow_holds_metrics_tables_and_the_report(tmp_path: Path):
    from mlflow import MlflowClient

    results, store = tmp_path / "mine", tmp_path / "store"
    results.mkdir()
    (results / "results.json").write_text(json.dumps(FIGURES))
    (results / "report.html").write_text("<p>")
    answers = {"a": {"q": Answer(query_id="q", agent="a", answer="So.")}}
    said = mlflow_run.write(Collection({"q": Query(id="q", text="How?")}, answers=answers), results, store)
    client = MlflowClient(tracking_uri=store.as_uri())
    experiment = client.get_experiment_by_name("mine")
    run = client.search_runs([experiment.experiment_id])[0]
    assert run.data.metrics["retrieval/a/RR_rel_2_5/value"] == 0.5 and "elo/a/value" not in run.data.metrics
    assert run.data.params["n_answers"] == "1"
    assert {one.path for one in client.list_artifacts(run.info.run_id)} == {
        "answers.json",
        "report.html",
        "results.json",
    }
    assert said == ["figures without a value are no metrics: 1 left out"]


def test_without_mlflow_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "results.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(InputError, match=r'pip install "ragassay\[mlflow\]"'):
        mlflow_run.write(Collection(), tmp_path, tmp_path / "out")
