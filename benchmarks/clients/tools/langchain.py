"""LangChain: a retriever and a runnable, as they come, answer and rank."""

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
ASKED = "How?"

CHECKS = ("objects",)
