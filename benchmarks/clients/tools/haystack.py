"""Haystack: pipelines, as they come, answer and rank; a text stands for the model's reply."""

MODULE = """
from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

@component
class Writer:
    @component.output_types(replies=list[str])
    def run(self, documents: list[Document], query: str):
        return {"replies": [f"So: {query}"]}

def store():
    made = InMemoryDocumentStore()
    texts = {"d2": "Call sei() to set.", "d1": "Or sei, by cli()."}
    made.write_documents([Document(id=id, content=text) for id, text in texts.items()])
    return InMemoryBM25Retriever(made)

retriever = Pipeline()
retriever.add_component("search", store())
pipeline = Pipeline()
for name, part in (("search", store()), ("writer", Writer()), ("builder", AnswerBuilder())):
    pipeline.add_component(name, part)
pipeline.connect("search.documents", "writer.documents")
pipeline.connect("writer.replies", "builder.replies")
pipeline.connect("search.documents", "builder.documents")
"""
WANTED = {
    "retriever as agent": ["Call sei() to set.", ["d2", "d1"]],
    "pipeline as agent": ["So: Where to set sei?", ["d2", "d1"]],
}
ASKED = "Where to set sei?"

CHECKS = ("objects",)
