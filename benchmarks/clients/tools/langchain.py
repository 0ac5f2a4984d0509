"""LangChain: a retriever and a runnable, as they come, answer and rank."""

from pathlib import Path
from typing import Any

MODULE = """
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda

FOUND = [Document("Call sei().", metadata={"id": "d2"}), Document("Or cli().", metadata={"id": "d1"})]

class Fixed(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return FOUND

retriever = Fixed()
chain = RunnableLambda(lambda query: {"answer": f"So: {query}", "passages": ["d1"]})
"""
WANTED = {
    "retriever as retriever": [["d2", 1.0], ["d1", 0.5]],
    "retriever as agent": ["Call sei().", ["d2", "d1"]],
    "chain as agent": ["So: How?", ["d1"]],
}


def agent(folder: Path) -> list[Any]:
    from ragassay.retrieval.agents.worker import answer_of, load_system, ranking_of

    (folder / "objects_langchain.py").write_text(MODULE)
    found = {}
    for told in WANTED:
        name, kind = told.split(" as ")
        system, _ = load_system("mine", f"objects_langchain:{name}", folder, kind)  # type: ignore[arg-type]
        if kind == "agent":
            answer = answer_of(system, "How?", "mine")
            found[told] = [answer["answer"] or answer["error"], list(answer["passages"])]
        else:
            ranked = ranking_of(system, "How?", 5)
            found[told] = [list(pair) for pair in ranked.get("ranking", [[ranked.get("error")]])]
    return [WANTED, found]


CHECKS = ("agent",)
