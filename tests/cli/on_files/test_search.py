"""`ragassay search`: what it reads, what it keeps, and BM25's parameters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.digest_encoder import DigestEncoder

from ragassay.cli import main
from ragassay.retrieval.rankers import embedding

PASSAGES = {"a": "heap heap memory", "b": "heap", "c": "the watchdog resets the board and the heap again and again"}
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `search` over three passages for one query into `out/run.trec`."""
    Path("corpus.jsonl").write_text("".join(json.dumps({"_id": i, "text": t}) + "\n" for i, t in PASSAGES.items()))
    Path("queries.tsv").write_text("q\twhat is the heap\n")

    def call(*arguments: str) -> tuple[int, str]:
        files = ["--corpus", "corpus.jsonl", "--queries", "queries.tsv", "--out", "out/run.trec"]
        return main(["search", *files, *arguments]), capsys.readouterr().err

    return call


def ranking() -> list[str]:
    return [line.split()[2] for line in Path("out/run.trec").read_text().splitlines()]


def test_embeddings_are_kept_beside_the_run_unless_that_is_not_wanted(run: Run, monkeypatch: pytest.MonkeyPatch):
    loaded: list[str] = []
    monkeypatch.setattr(embedding, "load_encoder", lambda name: loaded.append(name) or DigestEncoder())
    assert run("--retriever", "knn", "--no-cache")[0] == 0 and not Path("out/embeddings").exists()
    assert run("--retriever", "knn")[0] == 0 and len(list(Path("out/embeddings").iterdir())) > 0
    first = Path("out/run.trec").read_bytes()
    assert run("--retriever", "knn")[0] == 0 and len(loaded) == 2
    assert Path("out/run.trec").read_bytes() == first
    assert run("--retriever", "knn", "--cache", "elsewhere")[0] == 0 and Path("elsewhere").is_dir() and len(loaded) == 3
    assert "--no-cache goes without --cache" in run("--retriever", "knn", "--cache", "x", "--no-cache")[1]


def test_k1_and_b_are_bm25s(run: Run):
    """Without length normalisation the passage with the word twice is first; with k1 = 0 only presence counts."""
    run("--b", "1", "--k1", "9")
    assert ranking() == ["b", "a", "c"]
    run("--b", "0")
    assert ranking() == ["a", "b", "c"]
    run("--k1", "0")
    scores = {line.split()[4][:6] for line in Path("out/run.trec").read_text().splitlines()}
    assert len(scores) == 1
    for bm25 in ("lucene", "rank-bm25"):
        assert run("--bm25", bm25, "--k1", "0.9", "--b", "0.4")[0] == 0


def test_the_analyzer_and_the_stop_words_that_are_named(run: Run):
    Path("stop").write_text("heap\nwhat\nis\n")
    assert run("--analyzer", "lucene-english")[0] == 0 and sorted(ranking()) == ["a", "b", "c"]
    assert run("--analyzer", "lucene-english", "--stop-words", "stop")[0] == 0 and ranking() == ["c"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--k1", "-1"], "k1 is -1; give 0 or more"),
        (["--b", "2"], "b is 2; give a number from 0 to 1"),
        (["--analyzer", "lucene-english", "--language", "de"], "lucene-english is for English"),
        (["--stop-words", "nowhere"], "nowhere: there is no such file"),
        (["--engine", "opensearch", "--k1", "1"], "--k1 is for --engine embedded"),
        (["--engine", "opensearch", "--stop-words", "x"], "--stop-words is for --engine embedded"),
        (["--engine", "opensearch", "--bm25", "lucene"], "--bm25 lucene is for --engine embedded"),
        (["--out", "corpus.jsonl"], "would be written over"),
        (["--out", "./queries.tsv"], "would be written over"),
        (["--retriever", "hybrid", "--rrf-k", "0"], "rrf_k is"),
        (["--retriever", "hybrid", "--rrf-k", "-1"], "rrf_k is"),
        (["--out", "."], "cannot be used"),
    ],
)
def test_what_cannot_be_is_one_sentence(run: Run, arguments: list[str], says: str):
    status, err = run(*arguments)
    assert status == 2 and says in err and err.count("\n") == 1 and not Path("out/run.trec").exists()
    assert Path("queries.tsv").read_text().startswith("q\twhat")
