"""RAGElo's answers: a table of qid (or the query's text), agent and answer, or the same as JSON.

https://github.com/zetaalphavector/RAGElo, docs/examples: queries.csv, documents.csv, answers.csv.
"""

from __future__ import annotations

from .cells import text
from .layout import Column, Layout

RAGELO = Layout(
    name="ragelo",
    title="RAGElo's: qid (or query), agent, answer",
    needs=(frozenset(("qid", "answer")), frozenset(("question", "answer"))),
    columns={
        "qid": Column("query_id", text),
        "query_id": Column("query_id", text),
        "query": Column("query", text),
        "question": Column("query", text),
        "agent": Column("agent", text),
        "answer": Column("answer", text),
        "text": Column("answer", text),
    },
    foreign_ids=True,
)
