"""A LangChain document compressor of one's own, loaded from the corpus folder."""

from __future__ import annotations

import pytest

from ragassay.errors import InputError
from ragassay.retrieval.rerankers.opening import check_reranker, open_reranker
from ragassay.retrieval.rerankers.rerankers import Failed, reranked

OWN = '''
from langchain_core.documents.compressor import BaseDocumentCompressor


class Shortest(BaseDocumentCompressor):
    """The shortest first; none longer than the query says."""

    def compress_documents(self, documents, query, callbacks=None):
        kept = [document for document in documents if len(document.page_content) <= int(query)]
        return sorted(kept, key=lambda document: len(document.page_content))


class Strange(BaseDocumentCompressor):
    def compress_documents(self, documents, query, callbacks=None):
        return [documents[0], documents[0]]
'''


def test_its_order_is_the_ranking_and_what_it_drops_is_left_out(open_folder, three):
    workspace, caller = open_folder()
    (workspace.corpus / "own_compressor.py").write_text(OWN)
    check_reranker("python:own_compressor:Shortest", workspace)
    reranker = open_reranker("python:own_compressor:Shortest", workspace, caller)
    got, failed = reranker.rerank([("35", three), ("many", three)])
    assert got == [2.0, 1.0, None]
    assert reranked(three, got) == [("p3", 2.0), ("p2", 1.0)]
    assert isinstance(failed, Failed) and "ValueError: invalid literal for int()" in failed.error
    [twice] = open_reranker("python:own_compressor:Strange", workspace, caller).rerank([("35", three)])
    assert isinstance(twice, Failed) and "or one twice" in twice.error


def test_an_object_that_does_not_rerank(open_folder, three):
    workspace, caller = open_folder()
    (workspace.corpus / "own_nothing.py").write_text("thing = 3\n")
    with pytest.raises(InputError, match="own_nothing:thing has no method compress_documents"):
        open_reranker("python:own_nothing:thing", workspace, caller).rerank([("q", three)])
