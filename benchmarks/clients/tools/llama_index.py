"""LlamaIndex: a retriever and a query engine, as they come, answer and rank."""

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
ASKED = "How?"

CHECKS = ("objects",)
