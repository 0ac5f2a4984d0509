"""Whether an OpenSearch server has the plugins that an experiment's retrievers use."""

from __future__ import annotations

from typing import Any

from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment
from ragassay.text import plain

from .client import Server

KNN, NEURAL = "opensearch-knn", "opensearch-neural-search"


def check_plugins(server: Server, experiment: Experiment) -> str:
    """The server's version and its plugins that are used, in words. Raises InputError for one that it has not."""
    version = server.call(lambda client: client.info()).get("version", {}).get("number", "unknown")
    rows: Any = server.call(lambda client: client.cat.plugins(format="json"))
    there = {str(row.get("component")) for row in rows}
    wanted = _wanted(experiment)
    if lacking := sorted(wanted - there):
        problem = f"OpenSearch at {server.url} lacks the plugin {' and '.join(lacking)}"
        raise InputError(problem, remedy="install it there, or leave out the retrievers that need it")
    used = f" with {', '.join(sorted(wanted))}" if wanted else ""
    return plain(f"{version} at {server.url}{used}")


def _wanted(experiment: Experiment) -> set[str]:
    kinds: set[str] = {*experiment.retrieval.retrievers, *(one.kind for one in experiment.retriever)}
    neural = experiment.opensearch.hybrid == "server"
    return ({KNN} if kinds & {"knn", "hybrid"} else set()) | ({NEURAL} if neural else set())
