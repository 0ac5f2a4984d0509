"""Variants as tables: grids, what hybrids pair, names, and every way of getting them wrong in one sentence."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.settings import Experiment

HEAD = '[questions]\nquota = { "openai:m" = 4 }\n[answer]\nmodel = "openai:m"\n[judge]\nmodel = "openai:m"\n'

SMALL = '[[chunking]]\nname = "small"\nsize = [80, 160]\n'
BM25 = '[[retriever]]\nname = "bm25"\nkind = "bm25"\n'
KNN = '[[retriever]]\nname = "knn"\nkind = "knn"\n'
HYBRID = '[[retriever]]\nname = "hybrid"\nkind = "hybrid"\nof = ["bm25", "knn"]\n'


def load(folder: Path, *tables: str) -> Experiment:
    path = folder / "experiment.toml"
    path.write_text(HEAD + "".join(tables))
    return load_experiment(path)


def names(experiment: Experiment) -> list[str]:
    return [variant.name for variant in experiment.variants.all]


def test_the_grid_of_the_issue_makes_150_variants(tmp_path: Path):
    found = load(
        tmp_path,
        '[[chunking]]\nname = "small"\nsize = [80, 160, 320]\noverlap = [0, 20]\n',
        BM25 + "k1 = [0.9, 1.2, 2.0]\nb = [0.4, 0.75]\n",
        KNN,
        HYBRID + "weights = [[0.3, 0.7], [0.5, 0.5], [0.7, 0.3]]\n",
    ).variants
    tables = [variant.table for variant in found.all]
    assert [tables.count(table) for table in ("bm25", "knn", "hybrid")] == [36, 6, 108]
    assert len(found.by_name) == 150
    for hybrid in found.named("hybrid"):
        assert {found.by_name[name].chunking for name in hybrid.of} == {hybrid.chunking}


def test_a_variant_is_named_by_what_differs_and_only_by_that(tmp_path: Path):
    assert names(load(tmp_path, BM25)) == ["bm25"]
    assert names(load(tmp_path, SMALL, BM25)) == ["bm25-small-size_80", "bm25-small-size_160"]
    assert names(load(tmp_path, SMALL, BM25 + 'chunking = "ingest"\nk1 = [0.9, 1.2]\n')) == [
        "bm25-k1_0.9",
        "bm25-k1_1.2",
    ]
    two = KNN + 'embedding = ["one/m", "two/m", "all-MiniLM-L6-v2"]\n'
    assert names(load(tmp_path, two)) == [
        "knn-embedding_one-m",
        "knn-embedding_two-m",
        "knn-embedding_all-MiniLM-L6-v2",
    ]


def test_none_in_a_grid_is_without(tmp_path: Path):
    found = load(tmp_path, BM25 + 'rerank = ["none", "cross/encoder"]\nmmr = ["none", 0.5]\n').variants.all
    assert [(one.settings.rerank, one.settings.mmr) for one in found] == [
        *((None, None), (None, 0.5)),
        *(("cross/encoder", None), ("cross/encoder", 0.5)),
    ]
    assert found[0].name == "bm25-rerank_none-mmr_none" and found[3].name == "bm25-rerank_encoder-mmr_0.5"


def test_without_tables_the_six_are_as_they_are(tmp_path: Path):
    six = [f"{retriever}-{kind}" for kind, retriever in product(["rag", "rag-fusion"], ["bm25", "knn", "hybrid"])]
    plain = load(tmp_path)
    assert list(plain.agent_names()) == six
    assert not plain.variants.all and not plain.chunkings and not plain.wants_finalists


def test_a_hybrid_may_stand_before_its_members_and_name_one_variant(tmp_path: Path):
    one = '[[retriever]]\nname = "hybrid"\nkind = "hybrid"\nof = ["bm25-k1_0.9", "knn"]\n'
    found = load(tmp_path, one, BM25 + "k1 = [0.9, 1.2]\n", KNN).variants
    assert found.by_name["hybrid"].of == ("bm25-k1_0.9", "knn")
    assert [variant.name for variant in found.needed(["hybrid"])] == ["bm25-k1_0.9", "knn", "hybrid"]


def test_an_agent_is_made_for_each_variant_and_model(tmp_path: Path):
    agent = '[[agent]]\nname = "short"\nretriever = "bm25"\nmodel = ["openai:a", "openai:b"]\n'
    found = load(tmp_path, BM25 + "k1 = [0.9, 1.2]\n", agent)
    assert list(found.agent_names()[6:]) == [
        f"short-model_{model}-k1_{k1}" for model, k1 in product(["a", "b"], ["0.9", "1.2"])
    ]
    assert {agent.model for agent in found.table_agents()} == {"openai:a", "openai:b"} <= found.model_names()
    assert not found.wants_finalists


def test_finalists_become_agents_once(tmp_path: Path):
    found = load(
        tmp_path, BM25 + "k1 = [0.9, 1.2]\n", '[[agent]]\nname = "mine"\nretriever = "bm25-k1_0.9"\n', "[search]\n"
    )
    assert found.wants_finalists
    chosen = found.with_finalists(["bm25-k1_0.9", "bm25-k1_1.2", "gone"])
    assert chosen.agent_names()[6:] == ("mine", "bm25-k1_1.2")
    assert chosen.with_finalists(["bm25-k1_1.2"]).agent_names() == chosen.agent_names()


@given(
    st.lists(st.floats(0, 3), min_size=1, max_size=4, unique=True), st.lists(st.integers(1, 9), max_size=3, unique=True)
)
def test_every_combination_is_there_once(k1s: list[float], ks: list[int]):
    table = {"name": "r", "kind": "bm25", "k1": tuple(k1s)} | ({"k": tuple(ks)} if ks else {})
    rest = {"questions": {"source": "own"}, "answer": {"model": "openai:m"}, "judge": {"model": "openai:m"}}
    found = Experiment.model_validate({**rest, "retriever": (table,)}).variants.all
    assert {(one.settings.k1, one.settings.k) for one in found} == set(product(k1s, ks or [None]))
    assert len({one.name for one in found}) == len(found) == len(k1s) * max(1, len(ks))


@pytest.mark.parametrize(
    ("tables", "line", "says"),
    [
        (HYBRID.replace('"knn"]', '"hybrid"]') + BM25, 8, "retriever 'hybrid' is of itself (hybrid of hybrid)"),
        (HYBRID + BM25, 8, "'hybrid' is of unknown retriever 'knn'; known here: hybrid, bm25"),
        (BM25 + 'chunking = "smal"\n' + SMALL, 8, "unknown chunking 'smal'; did you mean 'small'?"),
        (
            BM25 + f"k1 = {[i / 100 for i in range(400)]}\nb = {[i / 1000 for i in range(250)]}\n",
            7,
            "100,000 combinations",
        ),
        (BM25 + "k1 = []\n", 7, "k1 is an empty list"),
        (BM25 + "k3 = 2\n", 10, "unknown key 'retriever.0.k3'"),
        (BM25 + "k1 = [0.9, -1.0]\n", 10, "retriever.0.k1: Input should be greater than or equal to 0"),
        (BM25 + "k1 = [0.9, 'x']\n", 10, "retriever.0.k1: must be a number"),
        (BM25 + 'embedding = "m"\n', 7, 'embedding is not for kind = "bm25"'),
        (KNN + "k1 = 0.9\n", 7, 'k1 goes with kind = "bm25", and this is kind = "knn"'),
        (BM25 + BM25, 7, "two tables are named 'bm25'"),
        (HYBRID + "weights = [0.3]\n" + BM25 + KNN, 7, "weights has 1 numbers for 2 retrievers"),
        (
            HYBRID + BM25 + 'chunking = "small"\n' + KNN + 'chunking = "ingest"\n' + SMALL,
            8,
            "search different passages",
        ),
        (BM25 + "k = 5\ntokens = 900\n", 7, "k and tokens are two ways"),
        (KNN + 'rewrite = "rm3"\n', 7, 'rewrite = "rm3" is for kind = "bm25"'),
        (SMALL + "overlap = 100\n", 7, "overlap must be smaller than size, which is 80"),
        (SMALL.replace("small", "ingest"), 7, "the name 'ingest' is taken"),
        ('[[agent]]\nname = "a"\nretriever = "x"\n', 8, "agent 'a': unknown retriever 'x'"),
        ('[[agent]]\nname = "a"\n', 7, "needs retriever"),
        (BM25.replace('"bm25"', '["a", "b"]', 1), 8, "retriever.0.name: must be text in quotes"),
        (BM25 + "k1 = [{ x = 1 }]\n", 10, "retriever.0.k1: must be a number"),
        (BM25 + "k1 = inf\n", 10, "retriever.0.k1: Input should be a finite number"),
        (HYBRID + "weights = [nan, 1.0]\n" + BM25 + KNN, 11, "Input should be a finite number"),
        (BM25.replace('"bm25"', '".."', 1), 8, "the name '..' must begin with a letter or a digit"),
        (SMALL + BM25 + BM25.replace('"bm25"', '"BM25"', 1), 11, "which are one file on some machines"),
        (BM25.replace('"bm25"', f'"{"n" * 201}"', 1), 8, "would have 201 characters"),
        (BM25 + f'[[agent]]\nname = "{"n" * 201}"\nretriever = "bm25"\n', 11, "a name of 201 characters"),
        (SMALL + 'by = "semantic"\nembedding = "openai:e"\n', 7, "runs on this machine, not on a server"),
        (
            '[retrieval]\nembedding = "openai:e"\n' + SMALL + 'by = "semantic"\n',
            10,
            "chunking 'small' needs embedding, a model for this machine",
        ),
        (
            '[[retriever]]\nname = "s"\nkind = "sparse"\nembedding = "openai:e"\n',
            7,
            "takes a model of sentence-transformers",
        ),
        ("[search]\n", None, "[search] screens what [[retriever]] tables say"),
        (BM25 + '[search]\nbaseline = "bm52"\n', None, "unknown retriever 'bm52'; did you mean 'bm25'?"),
    ],
)
def test_what_cannot_be_is_one_sentence(tmp_path: Path, tables: str, line: int | None, says: str):
    with pytest.raises(InputError) as caught:
        load(tmp_path, tables)
    message = str(caught.value)
    assert says in message and "\n" not in message
    if line is not None:
        assert caught.value.line == line
