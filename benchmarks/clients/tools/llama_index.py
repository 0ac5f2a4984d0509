"""LlamaIndex: a retriever and a query engine, as they come, answer and rank."""

from pathlib import Path
from typing import Any

MODULE = """
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

FOUND = [NodeWithScore(node=TextNode(text="Call sei().", id_="d2"), score=0.75),
         NodeWithScore(node=TextNode(text="Or cli().", id_="d1"), score=0.25)]

class Fixed(BaseRetriever):
    def _retrieve(self, query_bundle):
        return FOUND

retriever = Fixed()
engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM(max_tokens=4))
"""
WANTED = {
    "retriever as retriever": [["d2", 0.75], ["d1", 0.25]],
    "engine as retriever": [["d2", 0.75], ["d1", 0.25]],
    "retriever as agent": ["Call sei().", ["d2", "d1"]],
    "engine as agent": ["text text text text", ["d2", "d1"]],
}


def agent(folder: Path) -> list[Any]:
    from ragassay.retrieval.agents.worker import answer_of, load_system, ranking_of

    (folder / "objects_llama_index.py").write_text(MODULE)
    found = {}
    for told in WANTED:
        name, kind = told.split(" as ")
        system, _ = load_system("mine", f"objects_llama_index:{name}", folder, kind)  # type: ignore[arg-type]
        if kind == "agent":
            answer = answer_of(system, "How?", "mine")
            found[told] = [answer["answer"] or answer["error"], list(answer["passages"])]
        else:
            ranked = ranking_of(system, "How?", 5)
            found[told] = [list(pair) for pair in ranked.get("ranking", [[ranked.get("error")]])]
    return [WANTED, found]


CHECKS = ("agent",)
