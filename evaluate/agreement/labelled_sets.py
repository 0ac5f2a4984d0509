"""Labelled sets to hold an evaluator against: four kinds of files, each row a case for it with people's label.

relevance: qrels (TREC or BEIR) with the corpus and the queries. claims: claim, document, label, as LLM-AggreFact has
them (Tang, Laban and Durrett 2024, arXiv:2404.10774). correctness: question, expected answers, answer, label. answers:
question and answer alone; half of the rows get the answer of another question, which does not answer theirs.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ragassay.errors import InputError
from ragassay.files import read_objects, read_qrels, read_records, read_run
from ragassay.records import Answer, Passage, Query, grouped
from ragassay.text import plain

from ..judging.engine.cases import AnswerCase, QueryCase
from .label_tables import Label, read_labels, spelt

Kind = Literal["relevance", "claims", "answers", "correctness"]
AGENT = "labelled"
"""The agent that answers of labelled sets are said to be of."""
ASKED_OF_A_CLAIM = "Is this so, going by the document?"
"""The query of a claim whose row has no question: evaluators want one."""
NAMES: dict[str, tuple[str, ...]] = {
    "claim": ("claim",),
    "document": ("document", "doc", "evidence", "passage", "context"),
    "question": ("question", "query"),
    "answer": ("answer", "response", "prediction"),
    "expected": ("expected", "expected_answers", "expected_response", "gold_answers", "reference"),
    "label": ("label", "stance", "verdict"),
}
"""What a field may be called in a file."""


@dataclass(frozen=True)
class LabelledRow:
    """One thing people labelled: `case` holds it alone, `subject` names it there; rows of a `cluster` go together."""

    case: QueryCase
    subject: str
    label: Label
    cluster: str


@dataclass(frozen=True)
class LabelledSet:
    """The rows of a file; `numeric` whether the labels are numbers; `notes` say what is to be known of them.

    whole: how often each label occurs in the set that the rows were drawn from, where they were drawn in other shares.
    """

    file: str
    kind: Kind
    rows: tuple[LabelledRow, ...]
    notes: tuple[str, ...] = ()
    whole: Mapping[Label, int] | None = None

    @property
    def numeric(self) -> bool:
        """Whether people's labels are numbers; else all are words."""
        return all(isinstance(row.label, float) for row in self.rows)


def read_relevance(
    qrels: Path, passages: Path, queries: Path, *, negatives: Path | None = None, depth: int = 10
) -> LabelledSet:
    """Every labelled (query, passage); with `negatives`, a TREC run, also its first `depth` without a label, as 0.

    What a ranking shows and no one labelled may be relevant all the same: `notes` say that they are taken not to be.
    Raises InputError where a passage or query is not in its file.
    """
    known = {passage.id: passage for passage in read_records(passages, Passage)}
    asked = {query.id: query for query in read_records(queries, Query)}
    labels = {query: dict(row) for query, row in read_qrels(qrels).items()}
    shown = read_run(negatives) if negatives else {}
    taken = [(query, id) for query in labels for id, _ in shown.get(query, [])[:depth] if id not in labels[query]]
    for query, id in taken:
        labels[query][id] = 0
    rows = []
    for query, row in labels.items():
        if query not in asked:
            raise InputError(f"has a query '{plain(query)}' that is not in {queries}", file=qrels)
        for id, label in row.items():
            if id not in known:
                raise InputError(f"has a passage '{plain(id)}' that is not in {passages}", file=qrels)
            rows.append(LabelledRow(QueryCase(asked[query], (known[id],), ()), id, float(label), query))
    if not rows:
        raise InputError("has no rows of labels", file=qrels)
    note = f"{len(taken)} passages without a label, from {negatives}, are taken as not relevant"
    return LabelledSet(str(qrels), "relevance", tuple(rows), (note,) if taken else ())


def read_rows(path: Path, kind: Kind | None = None, *, seed: int = 7) -> LabelledSet:
    """The claims, answers or correctness rows of a JSON Lines, CSV or TSV file, told apart by its fields.

    seed: of the shuffle that gives half of the questions another's answer, where the kind is answers. Raises
    InputError, with the line, for a missing field, a label that is none, and a file of no kind.
    """
    of_objects = path.suffix.lower() in {".jsonl", ".ndjson"}
    rows_read = read_objects(path) if of_objects else read_labels(path).rows
    lines = [_Line(path, line, fields) for line, fields in rows_read]
    if not lines:
        raise InputError("has no rows of labels", file=path)
    kind = kind or _kind_of(path, lines[0].fields)
    if kind == "relevance":
        raise InputError("of relevance needs --passages and --queries", file=path)
    if kind == "answers":
        note = "half of the questions were given the answer of another, which counts as not answering them"
        return LabelledSet(str(path), kind, tuple(_answers(path, lines, seed)), (note,))
    rows = tuple(line.claim() if kind == "claims" else line.correctness() for line in lines)
    numbers = [isinstance(row.label, float) for row in rows]
    if any(numbers) and not all(numbers):
        line = lines[numbers.index(not numbers[0])].line
        raise InputError("labels are numbers and words mixed", file=path, line=line, remedy="use one or the other")
    return LabelledSet(str(path), kind, rows)


def _kind_of(path: Path, fields: Mapping[str, Any]) -> Kind:
    has = {name for name, spelt in NAMES.items() if any(one in fields for one in spelt)}
    if {"claim", "document", "label"} <= has:
        return "claims"
    if {"question", "answer", "expected", "label"} <= has:
        return "correctness"
    if not {"question", "answer"} <= has:
        remedy = "give claim, document, label; question, answer, expected, label; question, answer; or qrels with "
        raise InputError("is of no kind of labelled set", file=path, line=1, remedy=remedy + "--passages")
    if "label" in has:
        remedy = "give what was expected too, or --kind answers to shuffle answers and leave out labels"
        raise InputError("labels answers, but says not what was expected", file=path, line=1, remedy=remedy)
    return "answers"


@dataclass(frozen=True)
class _Line:
    """A line of a file: its fields by any of their `NAMES`. Raises InputError, with the line, for one that is amiss."""

    path: Path
    line: int
    fields: Mapping[str, Any]

    def _value(self, name: str) -> Any:
        return next((self.fields[spelt] for spelt in NAMES[name] if self.fields.get(spelt) not in (None, "")), None)

    def _lacks(self, name: str) -> InputError:
        remedy = f"it may be called {', '.join(NAMES[name])}"
        return InputError(f"has no {name}", file=self.path, line=self.line, remedy=remedy)

    def text(self, name: str) -> str:
        value = self._value(name)
        if not isinstance(value, str) or not value.strip():
            raise self._lacks(name)
        return value

    def expected(self) -> str:
        """One text or a list of them; in a table a list is JSON. A text that only looks like one is a text."""
        value = self._value("expected")
        if isinstance(value, str) and value.lstrip().startswith("["):
            with suppress(ValueError):
                value = json.loads(value)
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(one, str) and one.strip() for one in values):
            raise self._lacks("expected")
        return expected_text(values)

    def label(self) -> Label:
        """A number, or a word; yes, true, no and false are 1 and 0, whatever case they are in."""
        value = self._value("label")
        if isinstance(value, bool | int | float) and value - value == 0:
            return float(value)
        if not isinstance(value, str) or not value.strip():
            raise self._lacks("label")
        word = value.strip()
        if (said := word.casefold()) in ("yes", "true", "no", "false"):
            return float(said in ("yes", "true"))
        return float(word) if word.removeprefix("-").replace(".", "", 1).isdecimal() else word

    def claim(self) -> LabelledRow:
        claim, document = self.text("claim"), self.text("document")
        asked = self.text("question") if self._value("question") else ASKED_OF_A_CLAIM
        return answered(f"row-{self.line}", asked, claim, self.label(), claim, documents=[document])

    def correctness(self) -> LabelledRow:
        question, answer, expected = self.text("question"), self.text("answer"), self.expected()
        return answered(f"row-{self.line}", question, answer, self.label(), question, expected=expected)


def _answers(path: Path, lines: Sequence[_Line], seed: int) -> Iterator[LabelledRow]:
    """Each question once: half of them, drawn at random, with their answer (1), the others with another's (0)."""
    pairs = [(row.text("question"), row.text("answer")) for row in lines]
    chance = random.Random(seed)
    places = list(range(len(pairs)))
    chance.shuffle(places)
    strangers = sorted(places[(len(places) + 1) // 2 :])
    given = dict(zip(strangers, deranged([pairs[place][1] for place in strangers], chance, path), strict=True))
    for place, (question, own) in enumerate(pairs):
        answer, label = (given[place], 0.0) if place in given else (own, 1.0)
        yield answered(f"row-{lines[place].line}", question, answer, label, question)


def deranged(answers: Sequence[str], chance: random.Random, path: Path) -> list[str]:
    """The answers in an order in which none stands where an equal one stood (case and outer spaces aside).

    Equal answers stand together in a ring of random order, which is turned by as many places as there are of the
    commonest. Raises InputError where that is impossible: where more than half are equal.
    """
    groups = grouped((answer.strip().casefold(), place) for place, answer in enumerate(answers))
    most = max((len(group) for group in groups.values()), default=0)
    if 2 * most > len(answers):
        raise InputError("cannot be shuffled: more than half of the answers are equal", file=path)
    ring_of_groups = [groups[key] for key in sorted(groups)]
    for group in ring_of_groups:
        chance.shuffle(group)
    chance.shuffle(ring_of_groups)
    ring = [place for group in ring_of_groups for place in group]
    turned = {place: ring[(at + most) % len(ring)] for at, place in enumerate(ring)}
    return [answers[turned[place]] for place in range(len(answers))]


def answered(
    id: str,
    question: str,
    answer: str,
    label: Label,
    cluster: str,
    *,
    documents: Sequence[str] = (),
    expected: str | None = None,
) -> LabelledRow:
    """A row that is an answer, with what it was made from and what was expected, where there is such."""
    query = Query(id=id, text=question, metadata={"expected_response": expected} if expected else {})
    passages = tuple(Passage(id=f"p{number}", text=text) for number, text in enumerate(documents, 1))
    given = Answer(query_id=id, agent=AGENT, answer=answer, passages=tuple(passage.id for passage in passages))
    return LabelledRow(QueryCase(query, passages, (AnswerCase(query, given, passages),)), AGENT, label, cluster)


def expected_text(expected: Sequence[str]) -> str:
    """Several expected answers as one text, each a line: to the judges of correctness these are alternatives."""
    return "\n".join(" ".join(one.split()) for one in expected) if len(expected) > 1 else expected[0]


def sample(
    labelled: LabelledSet,
    n: int | None,
    seed: int,
    halves: Collection[Label] | None = None,
    *,
    evenly: bool = False,
    apart: bool = False,
) -> LabelledSet:
    """`n` rows at random (all where there are fewer), in the order of the file; the same for the same seed.

    halves: labels of which half of the rows shall be (as far as there are), evenly of each, the other half evenly of
    the other labels. evenly, without halves: as many of each label, as far as there are. apart: of a cluster one row at
    most. Where labels were drawn in other shares than the set has them, `whole` says how often it has each.
    """
    chance, used = random.Random(seed), set[str]()
    wanted = len(labelled.rows) if n is None else n
    names = [spelt(row.label) if evenly or halves is not None else "" for row in labelled.rows]
    inside = [halves is not None and row.label in halves for row in labelled.rows]
    half = wanted // 2 if halves else 0
    places = list[int]()
    for which, n_wanted in ((True, half), (False, wanted - half)):
        end = len(places) + n_wanted
        groups = grouped((names[at], at) for at, flag in enumerate(inside) if flag == which)
        for name in sorted(groups):
            chance.shuffle(groups[name])
        while len(places) < end and any(groups.values()):
            for name in sorted(groups):  # one of each in turn
                while groups[name] and len(places) < end:
                    place = groups[name].pop()
                    if not (apart and labelled.rows[place].cluster in used):
                        places.append(place)
                        used.add(labelled.rows[place].cluster)
                        break
    rows = tuple(labelled.rows[place] for place in sorted(places))
    uneven = (evenly or halves is not None) and len(rows) < len(labelled.rows)
    return replace(labelled, rows=rows, whole=Counter(row.label for row in labelled.rows) if uneven else None)
