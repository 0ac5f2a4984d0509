"""A run's plain files, read with nothing of the code under test."""

from __future__ import annotations

import gzip
import json
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

Line = dict[str, Any]


def lines(path: Path) -> list[Line]:
    """The objects of a JSON Lines file, gzipped or not; none where there is no file."""
    if not path.exists():
        return []
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.decode().split("\n") if line]


@dataclass(frozen=True)
class Run:
    """`corpus`: the user's folder; `results`: what the stages wrote."""

    corpus: Path
    results: Path

    @cached_property
    def experiment(self) -> dict[str, Any]:
        return tomllib.loads((self.corpus / "experiment.toml").read_text(encoding="utf-8"))

    def setting(self, table: str, key: str, default: Any) -> Any:
        return self.experiment.get(table, {}).get(key, default)

    @property
    def k(self) -> int:
        return int(self.setting("retrieval", "k", 5))

    @property
    def retrievers(self) -> list[str]:
        return list(self.setting("retrieval", "retrievers", ["bm25", "knn", "hybrid"]))

    @property
    def criteria(self) -> list[str]:
        default = ["relevance", "accuracy", "completeness", "precision", "answer_correctness"]
        return list(self.setting("judge", "criteria", default))

    @cached_property
    def agents(self) -> list[str]:
        kinds = self.setting("answer", "agents", ["rag", "rag-fusion"])
        return [f"{retriever}-{kind}" for kind in kinds for retriever in self.retrievers]

    @cached_property
    def queries(self) -> list[Line]:
        return lines(self.results / "queries.jsonl")

    @cached_property
    def query_ids(self) -> list[str]:
        return [query["_id"] for query in self.queries]

    @cached_property
    def source(self) -> dict[str, str]:
        """Query to its cluster: the document and section it was made from, or itself."""
        named = {query["_id"]: query.get("metadata", {}) for query in self.queries}
        return {
            query: f"{about.get('doc')}/{about['section']}" if "section" in about else query
            for query, about in named.items()
        }

    @cached_property
    def passages(self) -> dict[str, Line]:
        return {line["_id"]: line for line in lines(self.results / "corpus.jsonl")}

    @cached_property
    def sections(self) -> dict[str, Line]:
        return {line["_id"]: line for line in lines(self.results / "sections.jsonl")}

    @cached_property
    def answers(self) -> dict[str, dict[str, Line]]:
        """Agent to query to answer."""
        return {
            agent: {line["query_id"]: line for line in lines(self.results / "answers" / f"{agent}.jsonl")}
            for agent in self.agents
        }

    @cached_property
    def lists(self) -> list[Line]:
        """The lists that were ranked together."""
        return lines(self.results / "lists.jsonl")

    @cached_property
    def relevance(self) -> list[Line]:
        return lines(self.results / "relevance.jsonl")

    @cached_property
    def pointwise(self) -> list[Line]:
        return lines(self.results / "pointwise.jsonl")

    @cached_property
    def games(self) -> list[Line]:
        return lines(self.results / "games.jsonl")

    @cached_property
    def ledger(self) -> list[Line]:
        return lines(self.results / "ledger.jsonl")

    @cached_property
    def rewrites(self) -> dict[str, Line]:
        return {line["query_id"]: line for line in lines(self.results / "rewrites.jsonl")}

    @cached_property
    def qrels(self) -> dict[str, dict[str, int]]:
        """Query to passage to label, from qrels.trec."""
        table: dict[str, dict[str, int]] = {}
        for line in (self.results / "qrels.trec").read_text().splitlines():
            query, _, passage, label = line.split()
            table.setdefault(query, {})[passage] = int(label)
        return table

    @cached_property
    def rankings(self) -> dict[str, dict[str, list[str] | None]]:
        """Agent to query to passages, best first: None where retrieval failed, empty where nothing was found."""
        return {agent: self._ranking(agent) for agent in self.agents}

    def _ranking(self, agent: str) -> dict[str, list[str] | None]:
        scored: dict[str, list[tuple[float, str]]] = {}
        for line in (self.results / "rankings" / f"{agent}.trec").read_text().splitlines():
            query, _, passage, _, score, _ = line.split()
            scored.setdefault(query, []).append((-float(score), passage))
        ranking: dict[str, list[str] | None] = {}
        for query in self.query_ids:
            if query in scored:
                ranking[query] = [passage for _, passage in sorted(scored[query])]
            else:
                ranking[query] = None if self.answers[agent][query]["error"] is not None else []
        return ranking

    def manifest(self, stage: str) -> Line:
        loaded: Line = json.loads((self.results / "manifests" / f"{stage}.json").read_text())
        return loaded

    @cached_property
    def figures(self) -> Line:
        loaded: Line = json.loads((self.results / "results.json").read_text())
        return loaded

    def replies(self, stage: str | None = None) -> dict[str, Line]:
        """Reply bodies by key: those a stage received over HTTP, or with None all that are beside the run."""
        if stage is not None:
            files = [self.results / "replies" / f"received-{stage}.jsonl"]
        else:
            folders = [self.corpus / "replies", self.results / "replies"]
            files = [path for folder in folders for path in sorted(folder.glob("*.jsonl*"))]
        return {line["custom_id"]: line["response"]["body"] for path in files for line in lines(path)}
