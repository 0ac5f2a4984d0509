"""A user's own retriever (`kind = "python"`) as a ranker, asked in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ragassay.errors import InputError
from ragassay.text import plain

from ..rankers.failures import Failed, all_found
from ..rankers.ranker import Ranking
from .isolated import Isolated, NoAnswer, Refused

TIMEOUT_S = 300.0


class PythonRanker:
    """What `callable` ("module:name") finds: a function of a query's text and k, or a LangChain retriever.

    A function gives ids of passages, or (id, score) with the best first; a retriever gives documents with
    `metadata["id"]`. The module is looked for in `folder` first, and imported in a process of its own when this is
    made: the process runs until `close`. passage_ids: those of the corpus. at_once: queries asked at a time. timeout_s:
    for one query. Raises InputError where the module cannot be imported or what it names cannot be called.
    """

    def __init__(
        self,
        name: str,
        callable: str,
        folder: Path,
        passage_ids: AbstractSet[str],
        *,
        at_once: int,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._ids, self._at_once = passage_ids, at_once
        self._system = Isolated(name, callable, str(folder), at_once, timeout_s, "retriever")
        try:
            self.code = self._system.load()
        except Refused as error:
            raise InputError(error.problem, file=folder / "experiment.toml", remedy=error.remedy) from None

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """At most `k` passages for each query.

        Raises QueriesFailed where it raises or gives something else for a query, takes too long, or ends its process.
        """
        if not queries:
            return []
        with ThreadPoolExecutor(max_workers=max(1, min(self._at_once, len(queries)))) as pool:
            try:
                return all_found(list(pool.map(lambda query: self._found(query, k), queries)))
            except KeyboardInterrupt:
                self.close()
                raise

    def close(self) -> None:
        """End the process, and all that it started."""
        self._system.close()

    def _found(self, query: str, k: int) -> Ranking | Failed:
        try:
            given = self._system.ask(query, k)
        except NoAnswer as error:
            return Failed(str(error))
        if "error" in given:
            return Failed(given["error"])
        ranking = [(str(identifier), float(score)) for identifier, score in given["ranking"]]
        if unknown := next((identifier for identifier, _ in ranking if identifier not in self._ids), None):
            return Failed(f"passage '{plain(unknown)}' is not in corpus.jsonl; name passages by their _id there")
        return ranking
