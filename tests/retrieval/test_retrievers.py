"""An experiment's retrievers, through LangChain's seam and through `search`."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from ragassay.records import Passage
from ragassay.retrieval.rankers import embedding
from ragassay.retrieval.rankers.combined import rrf
from ragassay.retrieval.retrievers import PassageRetriever, build_retrievers, embed_queries


@pytest.fixture
def encoder(stub, monkeypatch):
    """What the experiment's embedding model is replaced with; counts how often it is loaded."""
    one = stub()
    one.loaded = 0

    def load(_: str):
        one.loaded += 1
        return one

    monkeypatch.setattr(embedding, "load_encoder", load)
    return one


def test_the_experiment_names_them_and_sets_k(make_workspace, passages, encoder) -> None:
    retrievers = build_retrievers(make_workspace(retrievers=["hybrid", "bm25"], k=3), passages)
    assert sorted(retrievers) == ["bm25", "hybrid"]
    for name, retriever in retrievers.items():
        assert isinstance(retriever, PassageRetriever) and isinstance(retriever, BaseRetriever)
        assert retriever.name == name
        assert len(retriever.invoke("malloc heap")) == 3


def test_questions_are_embedded_as_queries_and_kept(make_workspace, encoder) -> None:
    workspace = make_workspace()
    first = embed_queries(workspace, ["malloc heap", "fuse bits"])
    assert len(first) == 2 and encoder.loaded == 1
    again = embed_queries(workspace, ["fuse bits", "malloc heap"])
    assert (again == first[::-1]).all() and encoder.loaded == 1


def test_a_document_is_the_passage_with_its_id_and_score(make_workspace, passages) -> None:
    retriever = build_retrievers(make_workspace(retrievers=["bm25"], k=2), passages)["bm25"]
    best, score = retriever.search(["freelist aggregate"], 2)[0][0]
    passage = next(p for p in passages if p.id == best)
    assert retriever.invoke("freelist aggregate")[0] == Document(
        page_content=passage.text, metadata={"title": passage.title, **passage.metadata, "id": best, "score": score}
    )
    assert passage.metadata["doc"] == "avr-libc-user-manual.pdf"
    assert retriever.invoke("zyzzyva") == []


def test_titles_are_searched(make_workspace) -> None:
    texts = [Passage(id=str(i), title=title, text="The same words.") for i, title in enumerate(["", "Fuses", ""])]
    retriever = build_retrievers(make_workspace(retrievers=["bm25"], k=1), texts)["bm25"]
    assert [i for i, _ in retriever.search(["fuse"], 3)[0]] == ["1"]


def test_the_hybrid_is_the_fusion_of_the_other_two(make_workspace, passages, encoder) -> None:
    retrievers = build_retrievers(make_workspace(rrf_k=10), passages)
    query = "how does realloc grow a region?"
    lists = [[i for i, _ in retrievers[name].search([query], 50)[0]] for name in ("bm25", "knn")]
    assert retrievers["hybrid"].search([query], 5)[0] == rrf(lists, 10)[:5]


def test_the_model_is_loaded_once_when_first_needed_and_not_at_all_when_all_is_cached(
    make_workspace, passages, encoder
) -> None:
    workspace = make_workspace()
    retrievers = build_retrievers(workspace, passages)
    retrievers["bm25"].search(["malloc"], 5)
    assert encoder.loaded == 0
    found = {name: retriever.search(["malloc", "heap"], 5) for name, retriever in retrievers.items()}
    assert encoder.loaded == 1 and len(encoder.embedded) == len(passages) + 2
    again = build_retrievers(workspace, passages)
    assert {name: retriever.search(["malloc", "heap"], 5) for name, retriever in again.items()} == found
    assert encoder.loaded == 1


def test_shipped_embeddings_are_read_and_not_written(make_workspace, passages, encoder) -> None:
    workspace = make_workspace(retrievers=["knn"])
    build_retrievers(workspace, passages)["knn"].search(["malloc"], 5)
    workspace.embeddings.rename(workspace.shipped_embeddings)
    before = {path: path.read_bytes() for path in workspace.shipped_embeddings.iterdir()}
    build_retrievers(workspace, passages)["knn"].search(["malloc"], 5)
    assert encoder.loaded == 1 and not workspace.embeddings.exists()
    build_retrievers(workspace, passages)["knn"].search(["a new query"], 5)
    assert encoder.embedded[-1] == "a new query" and encoder.loaded == 2
    assert {path: path.read_bytes() for path in workspace.shipped_embeddings.iterdir()} == before


def test_the_reference_engine_is_a_setting(make_workspace, passages) -> None:
    workspaces = [make_workspace(retrievers=["bm25"], bm25=engine) for engine in ("bm25s", "rank-bm25")]
    ours, reference = (build_retrievers(w, passages)["bm25"].search(["free malloc heap"], 5)[0] for w in workspaces)
    assert ours[0][0] == reference[0][0] and ours[0][1] != reference[0][1]
