"""Which index serves which variant, and where the server fuses: decided from the tables alone."""

from __future__ import annotations

import pytest
from support.results_folder import experiment

from ragassay.experiment.settings import OpenSearchSettings
from ragassay.experiment.variants import Variants
from ragassay.retrieval.opensearch.about import Weighing, index_body, variants_alias, wanted
from ragassay.retrieval.opensearch.engine import Home, Homes
from ragassay.retrieval.rankers.ranker import Fingerprint

SMALL = {"name": "small", "size": 80}
BIG = {"name": "big", "size": 300, "returns": "section"}
BM25 = {"name": "bm25", "kind": "bm25", "k1": [0.9, 1.2]}
KNN = {"name": "knn", "kind": "knn", "embedding": ["one", "two"]}


def homes(
    *retrievers: dict, hybrid: str = "server", shards: int = 1, chunkings: tuple[dict, ...] = (SMALL,)
) -> tuple[Homes, Variants]:
    variants = experiment(chunking=list(chunkings), retriever=list(retrievers)).variants
    settings = OpenSearchSettings.model_validate({"hybrid": hybrid, "shards": shards})
    return Homes(variants.all, settings, "the default", {"big"}), variants


def test_bm25_has_an_index_a_chunking_and_knn_one_an_embedding():
    known, variants = homes(BM25, KNN, hybrid="ours", chunkings=(SMALL, {"name": "mid", "size": 160}))
    found = [known.of(variant) for variant in variants.all]
    assert set(found) == {Home(chunking, model) for chunking in ("small", "mid") for model in (None, "one", "two")}
    assert known.weighings(Home("small")) == (Weighing(k1=0.9), Weighing(k1=1.2))
    assert known.weighings(Home("small", "one")) is None


def test_bm25_with_the_defaults_needs_no_other_index_than_before():
    known, variants = homes({"name": "bm25", "kind": "bm25", "b": 0.75}, {"name": "knn", "kind": "knn"}, chunkings=())
    assert [known.of(variant) for variant in variants.all] == [Home("ingest"), Home("ingest", "the default")]
    assert known.weighings(Home("ingest")) is None


def test_where_the_server_fuses_bm25_stands_beside_the_vectors():
    hybrid = {"name": "both", "kind": "hybrid", "of": ["bm25", "knn"], "weights": [[0.3, 0.7], [0.5, 0.5]]}
    known, variants = homes(BM25, KNN, hybrid)
    fused = {known.of_fused(variant) for variant in variants.named("both")}
    assert fused == {Home("small", "one"), Home("small", "two")}
    assert {known.of(variant) for variant in variants.named("bm25")} == {Home("small", "one")}
    for home in fused:
        assert known.weighings(home) == (Weighing(k1=0.9), Weighing(k1=1.2))


@pytest.mark.parametrize(
    ("hybrid", "first"),
    [
        ({"fusion": "z-score"}, {}),
        ({"fusion": "rrf", "weights": [0.3, 0.7]}, {}),
        ({"chunking": "big"}, {}),
        ({"shards": 3}, {}),
        ({}, {"rewrite": "rm3"}),
        ({}, {"rerank": "rerank:x"}),
        ({}, {"threshold": 1.0}),
        ({}, {"mmr": 0.5, "embedding": "one"}),
        ({"of": ["bm25", "one", "two"]}, {}),
    ],
)
def test_what_the_server_cannot_fuse_is_fused_here(hybrid: dict, first: dict):
    hybrid = dict(hybrid)
    chunking, shards = hybrid.pop("chunking", "small"), hybrid.pop("shards", 1)
    given = [{"name": "bm25", "kind": "bm25", "chunking": chunking, **first}]
    given += [{"name": name, "kind": "knn", "embedding": name, "chunking": chunking} for name in ("one", "two")]
    given.append({"name": "both", "kind": "hybrid", "of": ["bm25", "one"], **hybrid})
    known, variants = homes(*given, chunkings=(SMALL, BIG), shards=shards)
    assert known.of_fused(variants.by_name["both"]) is None


def test_a_retriever_of_weight_0_takes_no_part():
    hybrid = {"name": "both", "kind": "hybrid", "of": ["bm25", "one", "two"], "weights": [0.5, 0.5, 0.0]}
    given = [{"name": name, "kind": "knn", "embedding": name} for name in ("one", "two")]
    known, variants = homes({"name": "bm25", "kind": "bm25"}, *given, hybrid)
    assert [member.name for member, _ in known.members(variants.by_name["both"])] == ["bm25", "one"]
    assert known.of_fused(variants.by_name["both"]) == Home("small", "one")


def test_without_tables_an_index_is_what_it_was():
    """The name, body and description that version 1 of the format had before there were variants."""
    about = wanted(Fingerprint(3, "ab" * 32), "en", None, OpenSearchSettings(), "X")
    assert about.index == "ragassay-index-en-bm25-abababababab-c267ccb0"
    assert "weighings" not in about.dump()
    assert index_body(about, None)["mappings"]["properties"]["terms"]["similarity"] == "ragassay_bm25"


def test_every_setting_is_another_field_and_another_grid_another_index():
    given = (Weighing(k1=0.9), Weighing(k1=0.9, b=0.4), Weighing(analyzer="lucene-english"))
    one, two = (
        wanted(Fingerprint(3, "ab" * 32), "en", None, OpenSearchSettings(), "X", weighings=some)
        for some in (given, given[:2])
    )
    assert one.index != two.index
    assert [one.field_of(weighing) for weighing in given] == [
        "terms.bm25_0",
        "terms.bm25_1",
        "terms_lucene_english.bm25_2",
    ]
    body = index_body(one, None)
    assert body["settings"]["index"]["similarity"]["bm25_1"] == {"type": "BM25", "k1": 0.9, "b": 0.4}
    assert body["mappings"]["properties"]["terms"]["fields"]["bm25_1"]["similarity"] == "bm25_1"


def test_chunkings_whose_names_differ_by_case_have_other_aliases():
    settings = OpenSearchSettings()
    names = [variants_alias(settings, "X", chunking, "en", None, grid=False) for chunking in (None, "small", "Small")]
    assert names[:2] == ["ragassay-current-x-en-bm25", "ragassay-current-x-small-en-bm25"]
    assert len({*names}) == 3
