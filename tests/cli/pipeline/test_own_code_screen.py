"""The user's own code in a screening, doing what it should not: a sentence each, and never the end of the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.json_lines import write_lines
from support.small_corpus import make_corpus

from ragassay.cli import main

EVIDENCE = [{"doc": "user manual.pdf", "quote": "write 31 to register"}]
RERANKED = '[[retriever]]\nname = "b"\nkind = "bm25"\nrerank = "python:MODULE:Own"\n'
EMBEDDED = '[[retriever]]\nname = "b"\nkind = "knn"\nembedding = "python:MODULE:Own"\n'
CUT = '[[chunking]]\nname = "c"\nby = "python"\ncallable = "MODULE:cut"\n[[retriever]]\nname = "b"\nkind = "bm25"\n'


@pytest.mark.parametrize(
    ("module", "tables", "code", "stage", "status", "says"),
    [
        (
            "own_reranker_leaves",
            RERANKED,
            "import sys\nclass Own:\n    def compress_documents(self, found, query):\n        sys.exit(0)\n",
            "screen",
            6,
            "python:own_reranker_leaves:Own failed (SystemExit: 0)",
        ),
        (
            "own_reranker_marks",
            RERANKED,
            "class Own:\n    def compress_documents(self, found, query):\n"
            "        for one in found:\n            one.metadata = {'ragassay_passage': []}\n        return found\n",
            "screen",
            6,
            "python:own_reranker_marks:Own failed (TypeError",
        ),
        (
            "own_embedding_leaves",
            EMBEDDED,
            "import sys\nclass Own:\n    def embed_documents(self, texts):\n        sys.exit(0)\n",
            "screen",
            2,
            "python:own_embedding_leaves:Own cannot embed (SystemExit: 0)",
        ),
        (
            "own_embedding_varies",
            EMBEDDED,
            "class Own:\n    def embed_documents(self, texts):\n        return [[1.0, 2.0] for _ in texts]\n"
            "    def embed_query(self, text):\n        return [1.0, 2.0, 3.0]\n",
            "screen",
            2,
            "gives vectors of 3 numbers, where there are some of 2",
        ),
        (
            "own_cut_leaves",
            CUT,
            "import sys\ndef cut(text):\n    sys.exit(0)\n",
            "ingest",
            2,
            "own_cut_leaves:cut fails on errata.pdf (SystemExit: 0)",
        ),
    ],
)
def test_own_code_that_misbehaves(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    module: str,
    tables: str,
    code: str,
    stage: str,
    status: int,
    says: str,
):
    corpus = make_corpus(tmp_path / "mine", "openai:m")
    write_lines(
        corpus / "queries.jsonl",
        [{"_id": "q1", "text": "What do I write 31 to register for?", "metadata": {"evidence": EVIDENCE}}],
    )
    (corpus / f"{module}.py").write_text(code)
    path = corpus / "experiment.toml"
    text = path.read_text().replace('style = "passage"', 'source = "own"').replace("fusion_queries = 2", "agents = []")
    path.write_text(text + tables.replace("MODULE", module))
    before = {"screen": ("ingest", "questions"), "ingest": ()}[stage]
    assert [main([name, str(corpus)]) for name in before] == [0] * len(before)
    assert main([stage, str(corpus)]) == status
    said = capsys.readouterr()
    assert says in said.out + said.err
