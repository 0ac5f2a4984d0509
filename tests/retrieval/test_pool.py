"""Pools of questions: what each ranker finds first, and the best of a question's own sections; on a server as here."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.opensearch_server import server_url
from support.results_folder import experiment, results_folder

from ragassay.experiment.workspace import Workspace
from ragassay.retrieval.pool import SECTION, Pools

pytestmark = pytest.mark.xdist_group("opensearch")

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


def test_on_a_server_the_pool_is_the_same(tmp_path: Path, passages):
    short = [p.model_copy(update={"title": "", "text": " ".join(p.text.split()[:30])}) for p in passages]
    own = [{p.id for p in short[:4]}, (), {p.id for p in short[4:7]}]
    here = Pools(workspace(tmp_path / "here"), short).of(QUERIES, own)
    there = workspace(tmp_path / "there", engine="opensearch", url=server_url("OPENSEARCH_URL"))
    assert Pools(there, short).of(QUERIES, own) == here
