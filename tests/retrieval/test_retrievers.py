"""An experiment's retrievers, through LangChain's seam and through `search`; and pools of questions: what each ranker
finds first, and the best of a question's own sections, on a server as here.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from support.opensearch_server import server_url
from support.results_folder import experiment, results_folder

from ragassay.experiment.workspace import Workspace
from ragassay.records import Passage
from ragassay.retrieval.agents.python_agent import PassageRetriever
from ragassay.retrieval.rankers import embedding
from ragassay.retrieval.rankers.combined import rrf
from ragassay.retrieval.retrievers import SECTION, Pools, build_retrievers, embed_queries


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


def test_the_experiment_names_them(make_workspace, passages, encoder) -> None:
    retrievers = build_retrievers(make_workspace(retrievers=["hybrid", "bm25"], k=3), passages)
    assert sorted(retrievers) == ["bm25", "hybrid"]
    assert all(len(ranker.search(["malloc heap"], 3)[0]) == 3 for ranker in retrievers.values())


def test_questions_are_embedded_as_queries_and_kept(make_workspace, encoder) -> None:
    workspace = make_workspace()
    first = embed_queries(workspace, ["malloc heap", "fuse bits"])
    assert len(first) == 2 and encoder.loaded == 1
    again = embed_queries(workspace, ["fuse bits", "malloc heap"])
    assert (again == first[::-1]).all() and encoder.loaded == 1


def test_a_document_is_the_passage_with_its_id_and_score(make_workspace, passages) -> None:
    ranker = build_retrievers(make_workspace(retrievers=["bm25"], k=2), passages)["bm25"]
    retriever = PassageRetriever(name="bm25", ranker=ranker, passages={p.id: p for p in passages}, k=2)
    assert isinstance(retriever, BaseRetriever) and len(retriever.invoke("malloc heap")) == 2
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


QUERIES = ["How is memory freed?", "interrupt handler memory memory", "zyzzyva"]


def workspace(folder: Path, **retrieval: object) -> Workspace:
    settings = experiment(questions={"pool_depth": 3}, retrieval={"retrievers": ["bm25"], **retrieval})
    return results_folder(folder, settings)


def test_the_pool_is_each_ranker_s_first_and_the_best_two_of_the_own_sections(tmp_path: Path, passages):
    own = [{p.id for p in passages[:4]}, (), {p.id for p in passages[4:7]}]
    pools = Pools(workspace(tmp_path), passages).of(QUERIES, own)
    first = [[one for one in pool if one.found_by == "bm25"] for pool in pools]
    assert [len(found) for found in first] == [3, 3, 0]
    for pool, names in zip(pools, own, strict=True):
        joined = [one.passage for one in pool if one.found_by == SECTION]
        assert set(joined) <= set(names) and len(joined) <= 2
        assert len({one.passage for one in pool}) == len(pool)
    assert len(pools[2]) == 2, "no ranker finds anything, its own sections' passages are looked at"


@pytest.mark.parametrize(
    "by", [(), ("bm25", "knn", "hybrid"), ("knn", "hybrid")], ids=["hybrid", "all", "without bm25"]
)
def test_the_pool_is_of_the_rankers_that_are_named(make_workspace, passages, encoder, by: tuple[str, ...]) -> None:
    made = make_workspace()
    questions = made.experiment.questions.model_copy(update={"pool_depth": 2, **({"pool_by": by} if by else {})})
    made = replace(made, experiment=made.experiment.model_copy(update={"questions": questions}))
    rankers, own = build_retrievers(made, passages), {passages[0].id, passages[1].id}
    for query, pool in zip(QUERIES, Pools(made, passages).of(QUERIES, [own] * len(QUERIES)), strict=True):
        wanted: dict[str, str] = {}
        for name in by or ("hybrid",):
            for passage, _ in rankers[name].search([query], 2)[0]:
                wanted.setdefault(passage, name)
        assert dict(pool[: len(wanted)]) == wanted
        assert {one.passage for one in pool[len(wanted) :]} == own - wanted.keys()
        assert {one.found_by for one in pool[len(wanted) :]} <= {SECTION}


@pytest.mark.xdist_group("opensearch")
def test_on_a_server_the_pool_is_the_same(tmp_path: Path, passages):
    short = [p.model_copy(update={"title": "", "text": " ".join(p.text.split()[:30])}) for p in passages]
    own = [{p.id for p in short[:4]}, (), {p.id for p in short[4:7]}]
    here = Pools(workspace(tmp_path / "here"), short).of(QUERIES, own)
    there = workspace(tmp_path / "there", engine="opensearch", url=server_url("OPENSEARCH_URL"))
    assert Pools(there, short).of(QUERIES, own) == here
