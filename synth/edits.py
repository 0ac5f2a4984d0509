"""What people decided about questions, honoured: rejected ones leave the pool and the set, edited ones get their text.

Rejected ones leave before the set is drawn, so that others of the pool take their place. Edited ones get their text
after it was drawn, so that an edit changes nothing among the rest; they keep id and evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragassay import question_edits
from ragassay.question_edits import Edit
from ragassay.records import Query, Rejected
from ragassay.text import one_line

from .questions.reject import Sifted

BY_HAND = "rejected by hand"


@dataclass(frozen=True)
class Edits:
    """Question id to the decision that counts."""

    by_id: Mapping[str, Edit]

    def without_rejected(self, queries: Iterable[Query]) -> list[Query]:
        """Those that nobody rejected."""
        return [query for query in queries if self._action(query) != "reject"]

    def sifted(self, sifted: Sifted) -> Sifted:
        """The pool without what was rejected by hand, which joins the rejected."""
        gone = [query for query in sifted.kept if self._action(query) == "reject"]
        rejected = [Rejected(text=q.text, metadata={**q.metadata, "id": q.id}, reason=self._why(q)) for q in gone]
        return Sifted(tuple(self.without_rejected(sifted.kept)), (*sifted.rejected, *rejected)) if gone else sifted

    def edited(self, queries: Iterable[Query]) -> list[Query]:
        """With the texts that people gave, `metadata.edited_from` the one before."""
        return [self._edited(query) for query in queries]

    def notices(self, *known: Sequence[Query]) -> list[str]:
        """A sentence on edits whose question is in none of `known`: they change nothing."""
        there = {query.id for queries in known for query in queries}
        lost = sorted(id for id, one in self.by_id.items() if one.action == "edit" and id not in there)
        named = ", ".join(map(one_line, lost[:3])) + (", …" if len(lost) > 3 else "")
        return [f"question-edits.jsonl edits {len(lost)} questions that are not there ({named})"] if lost else []

    def _edited(self, query: Query) -> Query:
        one = self.by_id.get(query.id)
        if one is None or one.action != "edit" or one.text is None or one.text == query.text:
            return query
        return query.model_copy(update={"text": one.text, "metadata": {**query.metadata, "edited_from": query.text}})

    def _action(self, query: Query) -> str | None:
        one = self.by_id.get(query.id)
        return one.action if one else None

    def _why(self, query: Query) -> str:
        who = one_line(self.by_id[query.id].person)
        return f"{BY_HAND}, by {who}" if who else BY_HAND


def read_edits(path: Path) -> Edits:
    """The decisions; none without a file. Raises InputError with the line."""
    return Edits(question_edits.read_edits(path))
