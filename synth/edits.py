"""What people decided about questions, honoured: rejected ones leave the pool and the set, edited ones get their text.

Rejected ones leave before the set is drawn, so that others of the pool take their place. Edited ones get their text
after it was drawn, so that an edit changes nothing among the rest; they keep id and evidence. What the rules rejected
and a person accepts joins the set behind what was drawn, beyond the quotas, so that it changes nothing either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ragassay import question_edits
from ragassay.question_edits import Edit, id_of_rejected
from ragassay.records import Query, Rejected
from ragassay.text import one_line

from .questions.reject import Sifted, clean, fault_in_writing

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

    def taken_in(self, sifted: Sifted) -> tuple[Sifted, list[Query]]:
        """What the rules rejected and a person accepted or edited, each once, and `sifted` without it.

        `metadata.rejected_for` says why the rules had rejected it. A text that no query can have is not taken in.
        """
        found: dict[str, Query] = {}
        left: list[Rejected] = []
        for one in sifted.rejected:
            query = self._taken(one)
            if query is None or query.id in found:
                left.append(one)
            else:
                found[query.id] = query
        return replace(sifted, rejected=tuple(left)), list(found.values())

    def edited(self, queries: Iterable[Query]) -> list[Query]:
        """With the texts that people gave, `metadata.edited_from` the one before."""
        return [self._edited(query) for query in queries]

    def notices(self, *known: Sequence[Query]) -> list[str]:
        """A sentence on edits whose question is in none of `known`: they change nothing. One on what was taken in."""
        there = {query.id for queries in known for query in queries}
        lost = sorted(id for id, one in self.by_id.items() if self._expects(id, one) and id not in there)
        named = ", ".join(map(one_line, lost[:3])) + (", …" if len(lost) > 3 else "")
        lines = f"question-edits.jsonl edits or takes in {_questions(len(lost))} not there ({named})"
        return [*([lines] if lost else []), *_beyond(known)]

    def _edited(self, query: Query) -> Query:
        one = self.by_id.get(query.id)
        if one is None or one.action != "edit" or one.text is None or one.text == query.text:
            return query
        return query.model_copy(update={"text": one.text, "metadata": {**query.metadata, "edited_from": query.text}})

    def _expects(self, id: str, one: Edit) -> bool:
        """Whether the decision changes nothing where its question is not there."""
        return one.action == "edit" or (one.action == "accept" and id.startswith("r-"))

    def _taken(self, one: Rejected) -> Query | None:
        id, text = id_of_rejected(one.text, one.metadata), clean(one.text)
        decided = self.by_id.get(id)
        if decided is None or decided.action == "reject" or one.metadata.get("id"):
            return None
        if decided.action == "accept" and fault_in_writing(text):
            return None
        return Query(id=id, text=text, metadata={**one.metadata, "rejected_for": one.reason})

    def _action(self, query: Query) -> str | None:
        one = self.by_id.get(query.id)
        return one.action if one else None

    def _why(self, query: Query) -> str:
        who = one_line(self.by_id[query.id].person)
        return f"{BY_HAND}, by {who}" if who else BY_HAND


def read_edits(path: Path) -> Edits:
    """The decisions; none without a file. Raises InputError with the line."""
    return Edits(question_edits.read_edits(path))


def _questions(n: int) -> str:
    return "1 question that is" if n == 1 else f"{n:,} questions that are"


def _beyond(known: Sequence[Sequence[Query]]) -> list[str]:
    n = len({query.id for queries in known for query in queries if "rejected_for" in query.metadata})
    was = "1 question that the rules had rejected is" if n == 1 else f"{n:,} questions that the rules had rejected are"
    return [f"{was} in the test set by hand, beyond the quotas"] if n else []
