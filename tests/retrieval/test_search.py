"""Search of BEIR folders: the run it writes and what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.json_lines import write_lines

from ragassay.errors import InputError
from ragassay.files import read_run
from ragassay.retrieval.rankers import embedding
from ragassay.retrieval.search import search_files


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    texts = ["How is memory freed?", "zyzzyva", "program space strings", " "]
    return write_lines(tmp_path / "queries.jsonl", [{"_id": f"q{i}", "text": t} for i, t in enumerate(texts)])


@pytest.mark.parametrize("retriever", ["bm25", "knn", "hybrid"])
def test_a_run_has_every_query_that_found_something_with_falling_scores(
    retriever: str, passages_file: Path, queries: Path, tmp_path: Path, stub, monkeypatch
) -> None:
    monkeypatch.setattr(embedding, "load_encoder", lambda _: stub())
    out = tmp_path / "out" / "run.trec"
    assert search_files(passages_file, queries, retriever, embedding="m", k=100, out=out) == 4
    rows = [line.split() for line in out.read_text().splitlines()]
    assert {row[5] for row in rows} == {retriever} and {row[1] for row in rows} == {"Q0"}
    run = read_run(out)
    assert list(run) == (["q0", "q2"] if retriever == "bm25" else ["q0", "q1", "q2", "q3"])
    for ranking in run.values():
        scores = [score for _, score in ranking]
        assert scores == sorted(set(scores), reverse=True)
    assert len(run["q0"]) == 40 or retriever == "bm25"


def test_embeddings_are_kept_where_asked(passages_file: Path, queries: Path, tmp_path: Path, stub, monkeypatch) -> None:
    encoder, cache = stub(), tmp_path / "cache"
    monkeypatch.setattr(embedding, "load_encoder", lambda _: encoder)
    for out in ("a", "b"):
        search_files(passages_file, queries, "knn", embedding="m", k=5, out=tmp_path / out, cache=cache)
    assert len(encoder.embedded) == 44
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_same_bytes_under_any_hash_seed(passages_file: Path, queries: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from ragassay.retrieval.search import search_files\n"
        "c, q, o = map(Path, sys.argv[1:]); search_files(c, q, 'bm25', embedding='m', k=20, out=o)"
    )
    search_files(passages_file, queries, "bm25", embedding="m", k=20, out=tmp_path / "ours")
    seed = "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"
    command = [sys.executable, "-c", code, str(passages_file), str(queries), str(tmp_path / "theirs")]
    subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"retriever": "splade"}, "unknown retriever 'splade'; "),
        ({"bm25": "okapi"}, "unknown BM25 engine 'okapi'; use one of bm25s, lucene, rank-bm25"),
        ({"k": 0}, "k is 0"),
        ({"language": "xx-XX"}, "'xx-XX' is not a language code"),
        ({"corpus": []}, "corpus.jsonl: holds no passages"),
        ({"queries": []}, "queries.jsonl: holds no queries"),
        ({"corpus": [{"_id": "a", "text": "x"}] * 2}, "two passages have the id 'a'"),
        ({"queries": [{"_id": "a b", "text": "x"}]}, "the id 'a b' holds white space"),
        ({"corpus": [{"_id": "a"}]}, "corpus.jsonl:1: text: Field required"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(tmp_path: Path, change: dict, message: str) -> None:
    given = {"corpus": [{"_id": "a", "text": "x"}], "queries": [{"_id": "q", "text": "x"}], "retriever": "bm25", "k": 5}
    given |= change
    corpus = write_lines(tmp_path / "corpus.jsonl", given.pop("corpus"))
    asked = write_lines(tmp_path / "queries.jsonl", given.pop("queries"))
    with pytest.raises(InputError) as error:
        search_files(corpus, asked, embedding="m", out=tmp_path / "run.trec", **given)
    assert message in str(error.value)
    assert not (tmp_path / "run.trec").exists()
