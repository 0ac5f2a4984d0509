"""The first half of the screening: each variant finds what its parts, put together by hand, would find."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from support.results_folder import results_folder
from support.tiny_models import cross_encoder

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.errors import InputError
from ragassay.experiment.workspace import VariantRun, Workspace
from ragassay.files import read_records, read_run, write_records
from ragassay.records import Passage, Query
from ragassay.retrieval.dependencies import screen_settings
from ragassay.retrieval.rankers import embedding
from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import Bm25
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache
from ragassay.retrieval.rankers.knn import Knn
from ragassay.retrieval.rankers.ranker import indexed_text
from ragassay.retrieval.variants.screen_variants import screen_variants

pytestmark = pytest.mark.xdist_group("models")

PASSAGES = read_records(Path(__file__).parents[1] / "avr_libc_passages.jsonl", Passage)
QUERIES = [
    Query(id="q1", text="Which name do the programs of GCC have?"),
    Query(id="q2", text="What are the binary utilities?"),
    Query(id="q3", text="How is a library made?"),
]
HEAD = '[questions]\nsource = "own"\n[answer]\nmodel = "openai:m"\nagents = []\n[judge]\nmodel = "openai:m"\n'
BM25 = '[[retriever]]\nname = "bm25"\nkind = "bm25"\n'
KNN = '[[retriever]]\nname = "knn"\nkind = "knn"\nembedding = "all-MiniLM-L6-v2"\n'


def folder(root: Path, tables: str, passages: list[Passage] = PASSAGES) -> Workspace:
    return results_folder(root, HEAD + tables, queries=QUERIES, passages=passages)


def screen(workspace: Workspace) -> dict[str, VariantRun]:
    caller = Caller(workspace, "screen", ReplyCache(workspace.replies, ()))
    try:
        screen_variants(workspace, caller)
    finally:
        caller.close()
    return {run.variant: run for run in read_records(workspace.screening_runs, VariantRun)}


def test_its_manifest_says_the_settings_that_it_always_said(tmp_path: Path) -> None:
    """What finished before is not run again: here those of [ingest] that came later stand though they are not set."""
    said = screen_settings(folder(tmp_path, BM25).experiment)
    later = {"ingest.kinds": ["pdf"], "ingest.loader": None, "ingest.ocr": False}
    assert later.items() <= said.items()


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch, stub) -> None:
    """Embeddings are made of the texts' digests: what is tested is what is done with them."""
    monkeypatch.setattr(embedding, "load_encoder", lambda _: stub())


def ranking(workspace: Workspace, variant: str, query: str = "q1") -> list[str]:
    return [identifier for identifier, _ in read_run(workspace.screening / f"{variant}.trec").get(query, [])]


def by_hand(k1: float, b: float, passages: list[Passage] = PASSAGES) -> list[str]:
    ids, texts = [passage.id for passage in passages], [indexed_text(passage) for passage in passages]
    found = Bm25(ids, texts, make_analyzer("en"), k1=k1, b=b).search([QUERIES[0].text], 100)
    return [identifier for identifier, _ in found[0]]


def test_each_setting_of_bm25_ranks_as_it_does_alone(tmp_path: Path):
    workspace = folder(tmp_path, BM25 + "k1 = [0.5, 3.0]\nb = [0.0, 1.0]\nk = 4\n")
    runs = screen(workspace)
    assert len(runs) == 4
    for name, run in runs.items():
        k1, b = run.settings["k1"], run.settings["b"]
        found = ranking(workspace, name)
        assert found == by_hand(k1, b)[: len(found)]
        assert len(found) > run.k == 4
        assert run.latency_p50_s is not None and 0 < run.latency_p50_s <= run.latency_p95_s
        assert run.index_s > 0 and run.index_bytes > 0 and (run.n, run.n_failed, run.n_timed) == (3, 0, 3)


def test_a_chunking_is_searched_and_its_sections_are_handed_over(tmp_path: Path):
    where = {"doc": "a.pdf", "first_page": 1, "last_page": 1}
    small = [
        passage.model_copy(
            update={
                "id": f"small.{passage.id}",
                "metadata": {**where, "chunking": "small", "section": f"sections.s{number // 4}"},
            }
        )
        for number, passage in enumerate(PASSAGES)
    ]
    sections = [
        Passage(id=f"sections.s{n}", text=f"Section {n}", metadata={**where, "chunking": "sections"}) for n in range(10)
    ]
    tables = '[[chunking]]\nname = "small"\nsize = 40\nreturns = "section"\n' + BM25
    workspace = folder(tmp_path, tables, [*PASSAGES, *small, *sections])
    runs = screen(workspace)
    section_of = {passage.id: passage.metadata["section"] for passage in small}
    expected = list(dict.fromkeys(section_of[identifier] for identifier in by_hand(1.2, 0.75, small)))
    assert ranking(workspace, "bm25") == expected
    assert runs["bm25"].n_passages == len(PASSAGES)
    assert runs["bm25"].settings["chunking.returns"] == "section"


def test_a_weighted_hybrid_searches_its_members_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoded):
    searched: Counter[str] = Counter()
    for kind in (Bm25, Knn):
        real = kind.search

        def counting(self, queries, k, real=real, name=kind.__name__):
            searched.update((name, query) for query in queries if k >= 50)
            return real(self, queries, k)

        monkeypatch.setattr(kind, "search", counting)
    hybrid = '[[retriever]]\nname = "hybrid"\nkind = "hybrid"\nof = ["bm25", "knn"]\n'
    workspace = folder(tmp_path, BM25 + KNN + hybrid + "weights = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]\n")
    screen(workspace)
    assert set(searched) == {(name, query.text) for name in ("Bm25", "Knn") for query in QUERIES}
    assert max(searched.values()) == 1
    for weights, member in (("1-0", "bm25"), ("0-1", "knn")):
        found = ranking(workspace, f"hybrid-weights_{weights}")
        assert found == ranking(workspace, member)[: len(found)]


def test_mmr_of_lambda_one_is_the_order_of_the_embeddings(tmp_path: Path, encoded):
    workspace = folder(tmp_path, KNN + "mmr = [1.0, 0.2]\n" + KNN.replace('"knn"\nkind', '"plain"\nkind'))
    screen(workspace)
    plain = ranking(workspace, "plain")
    same, diverse = ranking(workspace, "knn-mmr_1"), ranking(workspace, "knn-mmr_0.2")
    assert same == plain[: len(same)] and diverse[0] == plain[0]
    assert diverse != same and set(diverse) <= set(plain)


def test_a_cross_encoder_reorders_what_was_found(tmp_path: Path):
    model = cross_encoder(tmp_path / "model", ("relevance",))
    tables = BM25 + BM25.replace('"bm25"\nkind', '"again"\nkind') + f"rerank = {json.dumps(model)}\ndepth = 5\n"
    workspace = folder(tmp_path, tables)
    runs = screen(workspace)
    first, again = ranking(workspace, "bm25")[:5], ranking(workspace, "again")
    from sentence_transformers import CrossEncoder

    texts = {passage.id: indexed_text(passage) for passage in PASSAGES}
    scores = CrossEncoder(model).predict([(QUERIES[0].text, texts[one]) for one in first])
    expected = [one for _, one in sorted(zip(scores.tolist(), first, strict=True), key=lambda p: (-p[0], p[1]))]
    assert again == expected
    assert runs["again"].latency_p50_s > runs["bm25"].latency_p50_s


def test_what_fails_for_a_query_fails_that_query(tmp_path: Path):
    workspace = folder(tmp_path, BM25 + '[[retriever]]\nname = "mine"\nkind = "python"\ncallable = "mine:find"\n')
    (workspace.corpus / "mine.py").write_text(
        "def find(query, k):\n    if 'binary' in query:\n        raise RuntimeError('no such shelf')\n"
        "    return ['p03', 'p01'][:k]\n"
    )
    runs = screen(workspace)
    assert list(runs["mine"].errors) == ["q2"] and "no such shelf" in runs["mine"].errors["q2"]
    assert (runs["mine"].n, runs["mine"].n_failed, runs["bm25"].n_failed) == (3, 1, 0)
    assert ranking(workspace, "mine") == ["p03", "p01"] and ranking(workspace, "mine", "q2") == []


def test_a_threshold_leaves_nothing_where_nothing_reaches_it(tmp_path: Path):
    workspace = folder(tmp_path, BM25 + "threshold = [0.0, 1000.0]\n")
    runs = screen(workspace)
    assert ranking(workspace, "bm25-threshold_0") and not ranking(workspace, "bm25-threshold_1000")
    assert runs["bm25-threshold_1000"].n_failed == 0


def test_rankings_of_variants_that_are_no_more_are_removed(tmp_path: Path):
    screen(folder(tmp_path, BM25 + "k1 = [0.9, 1.2]\n"))
    workspace = folder(tmp_path, BM25)
    screen(workspace)
    assert [path.name for path in workspace.screening.iterdir()] == ["bm25.trec"]


def test_a_model_that_is_not_there_is_one_sentence(tmp_path: Path):
    later = KNN.replace('"knn"\nkind', '"later"\nkind').replace("all-MiniLM-L6-v2", str(tmp_path / "nowhere"))
    workspace = folder(tmp_path, KNN + later)
    with pytest.raises(InputError, match="cannot be loaded"):
        screen(workspace)
    assert not workspace.embeddings.exists() and not workspace.screening.exists()  # said before anything is embedded


def test_an_index_is_timed_only_where_its_vectors_were_made(tmp_path: Path, encoded):
    workspace = folder(tmp_path, KNN)
    assert screen(workspace)["knn"].index_s > 0
    workspace.screening_runs.unlink()
    again = screen(workspace)["knn"]
    assert again.index_s is None
    assert again.index_bytes == len(PASSAGES) * 32 * 2


def test_vectors_at_hand_are_not_made_again(tmp_path: Path, encoded):
    workspace = folder(tmp_path, KNN)
    screen(workspace)
    kept = EmbeddingCache("all-MiniLM-L6-v2", workspace.embeddings)
    ids, texts = [passage.id for passage in PASSAGES], [indexed_text(passage) for passage in PASSAGES]

    def refuse(name: str):
        raise AssertionError(f"{name} is loaded")

    found = Knn(ids, texts, Embedder("all-MiniLM-L6-v2", kept, refuse)).search([QUERIES[0].text], 5)
    assert [identifier for identifier, _ in found[0]] == ranking(workspace, "knn")[:5]


def cut(name: str, n: int = 6) -> list[Passage]:
    """The first passages as another chunking has them."""
    of = {"chunking": name}
    return [p.model_copy(update={"id": f"{name}.{p.id}", "metadata": p.metadata | of}) for p in PASSAGES[:n]]


def test_what_was_timed_stays_where_a_chunking_and_a_retriever_join(tmp_path: Path):
    ours = BM25 + 'chunking = "ingest"\n'
    first = screen(folder(tmp_path, ours))["bm25"]
    more = '[[chunking]]\nname = "small"\n' + ours + BM25.replace('"bm25"', '"other"', 1)
    joined = screen(folder(tmp_path, more, [*PASSAGES, *cut("small")]))
    assert joined["bm25"] == first and joined["other"].key != first.key
    changed = screen(folder(tmp_path, ours + "k1 = 2.0\n"))["bm25"]
    assert changed.key not in (None, first.key)


def test_times_are_kept_for_the_same_passages_only(tmp_path: Path):
    first = screen(folder(tmp_path, BM25))["bm25"]
    write_records(folder(tmp_path, BM25).screening_runs, [first.model_copy(update={"latency_p50_s": 99.0})])
    assert screen(folder(tmp_path, BM25))["bm25"].latency_p50_s == 99.0
    assert screen(folder(tmp_path, BM25, PASSAGES[:30]))["bm25"].latency_p50_s < 99.0


def test_a_hybrid_with_a_part_whose_index_is_not_known_has_no_size(tmp_path: Path):
    both = '[[retriever]]\nname = "both"\nkind = "hybrid"\nof = ["bm25", "mine"]\n'
    mine = '[[retriever]]\nname = "mine"\nkind = "python"\ncallable = "mine:find"\n'
    workspace = folder(tmp_path, BM25 + mine + both)
    (workspace.corpus / "mine.py").write_text("def find(query, k):\n    return ['p03', 'p01'][:k]\n")
    runs = screen(workspace)
    assert runs["bm25"].index_bytes > 0
    assert (runs["mine"].index_bytes, runs["both"].index_bytes) == (None, None)


@pytest.mark.parametrize(
    ("tables", "passages", "says"),
    [
        (BM25 + "k = 41\n", PASSAGES, "retriever 'bm25': k is 41, and the chunking 'ingest' has 40 passages"),
        (
            '[[chunking]]\nname = "small"\nsize = [20, 40]\n' + BM25,
            [*PASSAGES, *cut("small-size_20")],
            "retriever 'bm25-small-size_40': the chunking 'small-size_40' gives no passage",
        ),
        (
            '[[chunking]]\nname = "small"\nreturns = "section"\n' + BM25,
            [*PASSAGES, *cut("small"), *cut("sections", 2)],
            "k is 5, and the chunking 'small' has 2 sections",
        ),
    ],
)
def test_more_passages_than_there_are_is_said_before_anything_is_searched(
    tmp_path: Path, tables: str, passages: list[Passage], says: str
):
    workspace = folder(tmp_path, tables, passages)
    with pytest.raises(InputError, match=r"experiment\.toml") as caught:
        screen(workspace)
    assert says in str(caught.value) and not workspace.screening.exists()
