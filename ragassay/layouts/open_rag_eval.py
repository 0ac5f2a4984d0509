"""Open RAG Eval's answers.csv: a row for each passage of each run of a query, the answer in the first that has one.

https://github.com/vectara/open-rag-eval, `rag_results_loader.py`: query_id, query, query_run, passage_id, passage,
generated_answer. An answer cites by `passage_id`, such as [2]; in ours [2] is the second passage. The answers of
further runs are those of an agent `run-2`, …: each is judged by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from .cells import text
from .layout import Column, Given, Layout
from .rows import Row

NAME, FIELD = "open-rag-eval", "answer"
TITLE = "Open RAG Eval's: query_id, query, query_run, passage_id, passage, generated_answer"

_USED = frozenset(("query_id", "query", "query_run", "passage_id", "passage", "generated_answer", "expected_answer"))
_FAILED = {"NO_ANSWER": "no answer is given (NO_ANSWER)", "API_ERROR": "the API failed (API_ERROR)"}
_CITES = re.compile(r"\[\s*\d{1,4}(?:\s*,\s*\d{1,4})*\s*\]")

QUERIES = Layout(
    name="open-rag-eval-queries",
    title="Open RAG Eval's queries: query_id, query, expected_answer",
    needs=(frozenset(("query", "expected_answer")),),
    columns={
        "query_id": Column("query_id", text),
        "query": Column("query", text),
        "expected_answer": Column("expected_response", text),
    },
    foreign_ids=True,
)


def fits(there: frozenset[str]) -> bool:
    """Whether rows with these columns are such answers."""
    return {"query", "generated_answer"} <= there


def used(name: str) -> bool:
    """Whether a column is one of them."""
    return name in _USED


def read(rows: Sequence[Row], path: Path) -> list[Given]:
    """An answer for each query and run, in the order of their first rows. Raises InputError with the line."""
    runs: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        runs.setdefault((_said(row, "query_id") or _query(row, path), _said(row, "query_run") or "1"), []).append(row)
    return [_answer(run, group, path) for (_, run), group in runs.items()]


def _answer(run: str, rows: Sequence[Row], path: Path) -> Given:
    first = rows[0]
    fields: dict[str, Any] = {"query": _query(first, path)}
    if id := _said(first, "query_id"):
        fields["query_id"] = id
    number = run.removesuffix(".0")  # as pandas writes a column with gaps
    if number != "1":
        fields["agent"] = f"run-{number}"
    if expected := next((said for row in rows if (said := _said(row, "expected_answer"))), None):
        fields["expected_response"] = expected
    shown = [row for row in rows if _said(row, "passage")]
    fields["contexts"] = [{"text": _said(row, "passage")} for row in shown]
    answer = next((said for row in rows if (said := _said(row, "generated_answer"))), None)
    if answer is None or answer in _FAILED:
        fields["error"] = _FAILED.get(answer or "", "no answer is given")
    else:
        fields["answer"] = _by_place(answer, [_said(row, "passage_id") for row in shown])
    return Given(first, fields, foreign_ids=True)


def _query(row: Row, path: Path) -> str:
    if not (found := _said(row, "query")):
        raise InputError(f"{row.place}has no query", file=path, line=row.line)
    return found


def _said(row: Row, name: str) -> str:
    value = row.fields.get(name)
    return "" if value is None else str(value).strip()


def _by_place(answer: str, ids: Sequence[str]) -> str:
    """The answer with the places of the passages in place of their ids, where these are numbers; none's is beyond."""
    numbers = [int(id.strip("[] ")) if id.strip("[] ").isdecimal() else None for id in ids]
    if None in numbers or numbers == list(range(1, len(ids) + 1)):
        return answer
    places: Mapping[int | None, int] = {number: place for place, number in enumerate(numbers, 1)}

    def told(found: re.Match[str]) -> str:
        cited = [int(number) for number in re.findall(r"\d+", found[0])]
        return "".join(f"[{places.get(number, len(ids) + number)}]" for number in cited)

    return _CITES.sub(told, answer)
