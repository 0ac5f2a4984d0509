"""Indexes on a real server: made once, gone on with, switched to, listed, removed, refused where they do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.json_lines import write_lines

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.files import read_run, write_records
from ragassay.records import Passage, Query
from ragassay.retrieval.opensearch import index as opensearch_index
from ragassay.retrieval.opensearch.index import read_about
from ragassay.retrieval.rank_queries import rank_queries
from ragassay.retrieval.rankers import embedding


class Killed(Exception):
    pass


class Interrupted(Sequence[Passage]):
    """Passages that can be gone through whole `times` times, and after that only up to the `n`th."""

    def __init__(self, passages: list[Passage], n: int, times: int) -> None:
        self._passages, self._n, self._left = passages, n, times

    def __iter__(self) -> Iterator[Passage]:
        self._left -= 1
        for number, passage in enumerate(self._passages):
            if self._left < 0 and number == self._n:
                raise Killed
            yield passage

    def __len__(self) -> int:
        return len(self._passages)

    def __getitem__(self, number):
        return self._passages[number]


def n_indexed(bench, index: str) -> int:
    """How many documents the server was given for the index, again or for the first time."""
    stats = bench.server.call(lambda client: client.indices.stats(index=index, metric="indexing"))
    return int(stats["indices"][index]["primaries"]["indexing"]["index_total"])


def aliases(bench) -> dict[str, list[str]]:
    found = bench.server.call(lambda client: client.indices.get_alias(index="ragassay-index-*"))
    return {index: sorted(found[index]["aliases"]) for index in bench.indexes()}


def test_nothing_is_indexed_or_embedded_twice(bench, passages, stub):
    some, first, second, seen = bench.fresh(passages), stub(), stub(), []
    bench.rankers(some, first, ["hybrid"], progress=lambda done, total: seen.append((done, total)))
    (index,) = bench.indexes()
    assert seen == [(40, 40)] and len(first.embedded) == 40
    assert index.startswith("ragassay-index-en-stub-model-")
    indexed = n_indexed(bench, index)
    bench.rankers(some, second, ["knn"], progress=lambda done, total: seen.append((done, total)))
    assert bench.indexes() == [index] and n_indexed(bench, index) == indexed
    assert seen == [(40, 40)] and second.embedded == []


def test_a_passage_that_somebody_removed_from_a_complete_index_is_missed(bench, passages):
    some = bench.fresh(passages)
    bench.rankers(some, None, ["bm25"])
    (index,) = bench.indexes()
    bench.server.call(lambda client: client.delete(index=index, id=some[0].id, params={"refresh": "true"}))
    with pytest.raises(InputError, match=f"holds {len(some) - 1} passages of {len(some)}"):
        bench.rankers(some, None, ["bm25"])


def test_a_killed_run_goes_on_where_it_stopped(bench, passages, stub, monkeypatch):
    monkeypatch.setattr(opensearch_index, "CHUNK", 8)
    some = bench.fresh(passages)
    with pytest.raises(Killed):
        bench.rankers(Interrupted(some, 20, times=2), stub(), ["knn"])
    (index,) = bench.indexes()
    assert aliases(bench) == {index: []} and not read_about(bench.server, index).complete
    after_kill = n_indexed(bench, index)
    assert after_kill == 1 + 16
    encoder = stub()
    ranker = bench.rankers(some, encoder, ["knn"])["knn"]
    assert n_indexed(bench, index) == after_kill + 24 + 1
    assert len(encoder.embedded) == 24 + 1, "the rest, and one text to know the dimensions"
    assert {identifier for identifier, _ in ranker.search(["any"], 100)[0]} == {p.id for p in some}
    assert read_about(bench.server, index).complete


@pytest.mark.parametrize("killed_before", ["_write_about", "_fill", "_point_alias"])
def test_wherever_it_was_killed_the_next_run_completes_it(bench, passages, killed_before: str, monkeypatch):
    def kill(*_: object, **__: object) -> None:
        raise Killed

    some = bench.fresh(passages)
    with monkeypatch.context() as patch:
        patch.setattr(opensearch_index, killed_before, kill)
        with pytest.raises(Killed):
            bench.rankers(some)
    assert len(bench.rankers(some)["bm25"].search(["the avr register memory"], 100)[0]) > 5
    (index,) = bench.indexes()
    assert aliases(bench)[index] == [f"ragassay-current-{bench.name}-en-bm25"]
    count = bench.server.call(lambda client: client.count(index=index, body={"query": {"exists": {"field": "id"}}}))
    assert count["count"] == 40


def test_the_alias_moves_to_the_index_of_the_corpus_at_hand(bench, passages, capsys):
    old, new = bench.fresh(passages), bench.fresh(passages[:30])
    alias = f"ragassay-current-{bench.name}-en-bm25"
    bench.rankers(old)
    (first,) = bench.indexes()
    bench.rankers(new)
    (second,) = set(bench.indexes()) - {first}
    assert aliases(bench) == {first: [], second: [alias]}
    assert main(["opensearch", "list", "--url", bench.url]) == 0
    lines = {line.split(":")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "40 passages, en, no vectors" in lines[first] and lines[first].endswith("complete, no alias")
    assert lines[second].endswith(f"complete, alias {alias}")
    bench.rankers(old)
    assert aliases(bench) == {first: [alias], second: []}


def test_old_indexes_go_only_when_asked(bench, passages, capsys):
    bench.rankers(bench.fresh(passages))
    (first,) = bench.indexes()
    bench.rankers(bench.fresh(passages[:30]))
    (second,) = set(bench.indexes()) - {first}
    command = ["opensearch", "remove", "--url", bench.url]
    assert main(command) == 2 and "nothing to remove" in capsys.readouterr().err
    assert main([*command, "--index", first, "--index", "someone-elses"]) == 2
    assert "there is no index 'someone-elses' of ragassay" in capsys.readouterr().err
    assert set(bench.indexes()) == {first, second}
    assert main([*command, "--old"]) == 0
    assert f"removed {first}" in capsys.readouterr().out and bench.indexes() == [second]
    assert main([*command, "--index", second]) == 0 and bench.indexes() == []


def test_an_index_that_is_named_is_searched_as_it_is(bench, passages, stub):
    some, encoder = bench.fresh(passages), stub()
    bench.rankers(some, encoder, ["knn"])
    alias = f"ragassay-current-{bench.name}-en-stub-model"
    found = bench.rankers(some, encoder, ["knn", "bm25"], index=alias)
    assert len(found["knn"].search(["any"], 40)[0]) == 40 and found["bm25"].search(["memory"], 3)[0]
    refused = {
        "was made with the embedding model stub-model, and other is asked for": {"model": "other"},
        "is of another language": {"language": "de"},
    }
    for sentence, change in refused.items():
        with pytest.raises(InputError, match=sentence):
            bench.rankers(some, encoder, ["knn"], index=alias, **change)
    with pytest.raises(InputError, match="is of another corpus"):
        bench.rankers(some[:39], encoder, ["knn"], index=alias)
    with pytest.raises(InputError, match=r"there is no index 'nowhere' .* that ragassay made"):
        bench.rankers(some, encoder, ["knn"], index="nowhere")


def test_an_index_without_vectors_or_not_complete_is_refused(bench, passages, stub, monkeypatch):
    monkeypatch.setattr(opensearch_index, "CHUNK", 8)
    some = bench.fresh(passages)
    with pytest.raises(Killed):
        bench.rankers(Interrupted(some, 20, times=1))
    (index,) = bench.indexes()
    with pytest.raises(InputError, match="is not complete"):
        bench.rankers(some, index=index)
    bench.rankers(some)
    with pytest.raises(InputError, match="was made without vectors, and stub-model is asked for"):
        bench.rankers(some, stub(), ["knn"], index=index)


def test_a_model_that_changed_its_dimensions_does_not_go_on(bench, passages, stub, monkeypatch):
    class Longer(stub):
        def _vector(self, text: str) -> np.ndarray:
            return np.append(super()._vector(text), np.float32(1))

    monkeypatch.setattr(opensearch_index, "CHUNK", 8)
    some = bench.fresh(passages)
    with pytest.raises(Killed):
        bench.rankers(Interrupted(some, 20, times=2), stub(), ["knn"])
    with pytest.raises(InputError, match="has 32 dimensions and the embedding model 33; `ragassay opensearch remove"):
        bench.rankers(some, Longer(), ["knn"])


def test_a_full_disk_is_said_at_once_and_indexing_goes_on_later(bench, passages, monkeypatch):
    """The block that the server sets by itself above its flood-stage watermark."""
    monkeypatch.setattr(opensearch_index, "CHUNK", 8)
    some = bench.fresh(passages)
    with pytest.raises(Killed):
        bench.rankers(Interrupted(some, 20, times=1))
    (index,) = bench.indexes()

    def block(value: bool | None) -> None:
        body = {"index.blocks.read_only_allow_delete": value}
        bench.server.call(lambda client: client.indices.put_settings(index=index, body=body))

    block(True)
    with pytest.raises(InputError, match="takes nothing more: its disk is fuller than its watermark allows"):
        bench.rankers(some)
    block(None)
    bench.rankers(some)
    assert read_about(bench.server, index).complete


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "a b"}, "the id 'a b' holds white space"),
        ({"id": "x" * 600}, "is longer than 512 bytes"),
        ({"id": "p02"}, "two passages have the id 'p02'"),
        ({"metadata": {"score": float("nan")}}, "the metadata of passage 'p01' are no JSON"),
    ],
)
def test_a_corpus_that_cannot_be_indexed_is_refused_before_anything_is_sent(bench, passages, change, message: str):
    some = bench.fresh(passages)
    with pytest.raises(InputError, match=message):
        bench.rankers([some[0].model_copy(update=change), *some[1:]])
    assert bench.indexes() == []


def test_the_stage_retrieve_runs_on_the_server(bench, passages, stub, make_workspace, monkeypatch):
    monkeypatch.setattr(embedding, "load_encoder", lambda _: stub())
    rankings = {}
    for engine in ("embedded", "opensearch"):
        where = {"url": bench.url} if engine == "opensearch" else {}
        workspace = make_workspace(engine=engine, **where)
        workspace = workspace.__class__(bench.folder / bench.name, bench.folder / engine, workspace.experiment)
        workspace = _without_fusion(workspace)
        write_records(workspace.passages, bench.fresh(passages))
        write_records(workspace.queries, [Query(id="q1", text="memory"), Query(id="q2", text="interrupts")])
        rank_queries(workspace, caller=None)  # type: ignore[arg-type]
        rankings[engine] = {
            name: [[i for i, _ in r] for r in read_run(workspace.rankings(name)).values()]
            for name, _, _ in workspace.experiment.built_in_agents()
        }
    assert rankings["embedded"]["knn-rag"] == rankings["opensearch"]["knn-rag"]
    assert all(set(rankings["embedded"][name][0]) & set(row[0]) for name, row in rankings["opensearch"].items())


def _without_fusion(workspace):
    experiment = workspace.experiment
    answer = experiment.answer.model_copy(update={"agents": ("rag",)})
    changed = experiment.model_copy(update={"answer": answer})
    return workspace.__class__(workspace.corpus, workspace.results, changed)


@pytest.fixture
def folder(bench, passages, tmp_path: Path) -> Path:
    """A BEIR folder whose name is the bench's."""
    folder = tmp_path / bench.name
    folder.mkdir()
    write_records(folder / "corpus.jsonl", bench.fresh(passages))
    rows = [{"_id": f"q{n}", "text": text} for n, text in enumerate(["memory", "zyzzyva", "interrupt handler"])]
    write_lines(folder / "queries.jsonl", rows)
    return folder


def search_command(folder: Path, out: Path, *options: str) -> list[str]:
    files = ["--corpus", str(folder / "corpus.jsonl"), "--queries", str(folder / "queries.jsonl"), "--out", str(out)]
    return ["search", *files, *options]


def test_the_verb_search_writes_the_run(bench, folder: Path, tmp_path: Path, monkeypatch, capsys):
    out = tmp_path / "run.trec"
    monkeypatch.setenv("OPENSEARCH_URL", bench.url)
    assert main(search_command(folder, out, "--engine", "opensearch", "--k", "3")) == 0
    captured = capsys.readouterr()
    assert f"{out}: 3 queries" in captured.out and "passages indexed: 40/40" in captured.err
    assert list(read_run(out)) == ["q0", "q2"] and [p.name for p in tmp_path.glob(".*")] == []
    assert main(search_command(folder, out, "--engine", "opensearch", "--filter", "mark=none")) == 0
    assert read_run(out) == {}
    assert main(search_command(folder, out, "--engine", "opensearch", "--ef-search", "0")) == 2
    assert "ef-search" in capsys.readouterr().err
