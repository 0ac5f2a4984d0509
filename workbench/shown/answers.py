"""The agents' answers to a query: equal ones together, citations as links, and how each differs from one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from ragassay.evaluate.texts.sentences import CITATION

SHORTEST = 3
"""Words that two answers share in a row for these to count as the same; fewer are a coincidence that only confuses."""

LARGEST = 4_000_000
"""Words of one text times those of the other, up to which they are compared."""

_TOKEN = re.compile(rf"{CITATION.pattern}|\w+|\s+|[^\w\s]")
_IN_A_CITATION = re.compile(r"\d{1,3}|\D+")

Kind = Literal["same", "new", "gone"]


@dataclass(frozen=True)
class Piece:
    """A part of an answer. kind: "new" where the reference does not have it, "gone" where only the reference has it;
    to: the number of the passage that it cites."""

    text: str
    kind: Kind = "same"
    to: int | None = None


@dataclass(frozen=True)
class Group:
    """Agents whose answers are the same words and cite the same passages. pieces: the answer; is_reference: whether
    the others are compared with it; compared: whether the pieces say how it differs from the reference."""

    answers: Sequence[Mapping[str, Any]]
    pieces: Sequence[Piece]
    is_reference: bool = False
    compared: bool = False

    @property
    def agents(self) -> list[str]:
        """Their names."""
        return [str(answer["name"]) for answer in self.answers]


def groups_of(
    answers: Sequence[Mapping[str, Any]], numbers: Mapping[str, int], reference: str | None = None
) -> list[Group]:
    """The answers in the agents' order, equal ones together at the first one's place.

    numbers: passage id to the number by which it is linked to. reference: an agent with whose answer the others are
    compared, word by word.
    """
    together: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for answer in answers:
        together.setdefault(_key(answer), []).append(answer)
    base = next((a["text"] for a in answers if a["name"] == reference and a["text"] is not None), None)
    return [_group(rows, numbers, reference, base) for rows in together.values()]


def _key(answer: Mapping[str, Any]) -> tuple[object, ...]:
    text = answer["text"]
    if text is None:
        return (None, answer["error"])
    return (" ".join(text.split()), *(_cited(int(n), answer) for c in CITATION.findall(text) for n in _numbers(c)))


def _numbers(citation: str) -> list[str]:
    return re.findall(r"\d{1,3}", citation)


def _cited(number: int, answer: Mapping[str, Any]) -> str | None:
    """The id of the passage that [number] of an answer means: the first of its record is [1]."""
    passages = answer["passages"]
    return str(passages[number - 1]) if 0 < number <= len(passages) else None


def _group(
    rows: Sequence[Mapping[str, Any]], numbers: Mapping[str, int], reference: str | None, base: str | None
) -> Group:
    first, own = rows[0], any(row["name"] == reference for row in rows)
    if first["text"] is None:
        return Group(rows, ())
    spans: list[tuple[str, Kind]] = [(first["text"], "same")]
    compared = base is not None and not own
    if compared and base is not None:
        found = differences(base, first["text"])
        spans, compared = (found, True) if found is not None else (spans, False)
    pieces = [piece for text, kind in spans for piece in _linked(text, kind, first, numbers)]
    return Group(rows, pieces, own and base is not None, compared)


def differences(reference: str, text: str) -> list[tuple[str, Kind]] | None:
    """`text` in parts, with what only one of the two has; None where they are too long to be compared.

    The parts that are not "gone" make `text` up, those that are not "new" the words of the reference.
    """
    one, other = _TOKEN.findall(reference), _TOKEN.findall(text)
    if len(one) * len(other) > LARGEST:
        return None
    parts: list[tuple[str, Kind]] = []
    i_at = j_at = 0
    for i, j, size in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        last = size == 0
        if not last and sum(not token.isspace() for token in one[i : i + size]) < SHORTEST and one != other:
            continue
        changed: tuple[tuple[list[str], Kind], ...] = ((one[i_at:i], "gone"), (other[j_at:j], "new"))
        parts += [("".join(tokens), kind) for tokens, kind in changed if tokens]
        if size:
            parts.append(("".join(other[j : j + size]), "same"))
        i_at, j_at = i + size, j + size
    return parts


def _linked(text: str, kind: Kind, answer: Mapping[str, Any], numbers: Mapping[str, int]) -> Iterator[Piece]:
    """The text with its citations as pieces of their own; those of the reference's words lead nowhere."""
    if kind == "gone":
        yield Piece(text, kind)
        return
    ids = sorted((re.escape(id) for id in answer["passages"] if id in numbers), key=len, reverse=True)
    named = "|".join([CITATION.pattern, *(rf"(?<![\w.-]){id}(?![\w-])" for id in ids)])
    at = 0
    for match in re.finditer(named, text):
        if match.start() > at:
            yield Piece(text[at : match.start()], kind)
        yield from _citation(match[0], kind, answer, numbers)
        at = match.end()
    if at < len(text):
        yield Piece(text[at:], kind)


def _citation(text: str, kind: Kind, answer: Mapping[str, Any], numbers: Mapping[str, int]) -> Iterator[Piece]:
    if text in numbers:
        yield Piece(text, kind, numbers[text])
        return
    for part in _IN_A_CITATION.findall(text):
        yield Piece(part, kind, numbers.get(_cited(int(part), answer) or "") if part.isdecimal() else None)
