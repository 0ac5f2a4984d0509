"""What is said of a server's plugins, as `_cat/plugins` names them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment
from ragassay.retrieval.opensearch.client import KNN, NEURAL, Server, check_plugins


class _Server:
    """One with these plugins, which answers as OpenSearch 2.19 does."""

    url = "http://127.0.0.1:9200"

    def __init__(self, *plugins: str) -> None:
        rows = [{"name": "node", "component": plugin, "version": "2.19.1.0"} for plugin in plugins]
        cat = SimpleNamespace(plugins=lambda format: rows)
        self.client = SimpleNamespace(info=lambda: {"version": {"number": "2.19.1"}}, cat=cat)

    def call(self, ask: Callable[[Any], Any]) -> Any:
        return ask(self.client)


def checked(server: _Server, retrievers: list[str], hybrid: str = "ours") -> str:
    tables = {"retrieval": {"engine": "opensearch", "retrievers": retrievers}, "opensearch": {"hybrid": hybrid}}
    own = {"questions": {"source": "own"}, "answer": {"model": "file:m"}, "judge": {"model": "file:m"}}
    return check_plugins(cast(Server, server), Experiment.model_validate(tables | own))


def test_the_plugins_that_are_used_are_named():
    assert checked(_Server(), ["bm25"]) == "2.19.1 at http://127.0.0.1:9200"
    assert checked(_Server(KNN, NEURAL), ["hybrid"]) == f"2.19.1 at http://127.0.0.1:9200 with {KNN}"


@pytest.mark.parametrize(("hybrid", "lacks"), [("ours", KNN), ("server", NEURAL)])
def test_one_that_is_not_there_is_said(hybrid: str, lacks: str):
    there = [KNN] if hybrid == "server" else []
    with pytest.raises(InputError, match=f"lacks the plugin {lacks}; install it there"):
        checked(_Server(*there), ["knn", "hybrid"], hybrid)
