"""What each step of a system that searches more than once brought, and the tools that it called against those wanted.

With E the pieces of evidence of a query and S_h what was found of them up to step h, recall at h is |E ∩ S_h| / |E|. No
paper has these figures together: "new" is the gain of each retrieval in interactive retrieval, and the rest names what
a step can be besides: wasted, surplus, asked before. A step that failed found nothing and counts as one.

Calls of tools are multisets. Two are the same where name and arguments are, as canonical JSON (keys in order, 1 and 1.0
one number).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fnmatch import fnmatchcase
from math import comb
from typing import Any, NamedTuple

from ragassay.evidence import Span
from ragassay.records import ToolCall

from .by_place import finds

Found = Sequence[tuple[str, Span]]
"""What a step found, best first: each passage's id and its place."""


def whole(passage: str) -> Span:
    """A passage as a piece of evidence of its own, where nobody says which text is."""
    return Span(passage, 0, 1)


def passage_of(piece: Span) -> str | None:
    """The passage that a piece is by `whole`; None of a piece of text."""
    return piece.doc if piece == whole(piece.doc) else None


class Steps(NamedTuple):
    """One query's steps, in their order; each tuple has a value a step.

    recall: share of the evidence found up to the step, from 0 to 1. first: the pieces that no step before had found.
    wasted: nothing new though evidence was missing. surplus: all had been found before. fresh: of the step's passages,
    the share that no step before had; None where it found none. repeated: its query, but for white space and case, was
    asked before. missed: the pieces that no step found. unused: those found that the passages of the answer do not
    hold. lost: recall of all steps less that of the passages that the answer was given, below 0 where these have
    evidence that no step found; None, as is `unused`, where the answer says no passages.
    """

    recall: tuple[float, ...]
    first: tuple[tuple[Span, ...], ...]
    wasted: tuple[bool, ...]
    surplus: tuple[bool, ...]
    fresh: tuple[float | None, ...]
    repeated: tuple[bool, ...]
    missed: tuple[Span, ...]
    unused: tuple[Span, ...] | None
    lost: float | None

    @property
    def new(self) -> tuple[int, ...]:
        """How many pieces each step was the first to find."""
        return tuple(map(len, self.first))

    @property
    def complete(self) -> bool:
        """Whether all evidence was found in the end."""
        return self.recall[-1] == 1

    def recall_at(self, step: int) -> float:
        """After step `step`, from 1; what was found before is carried forward where there were fewer."""
        return self.recall[min(step, len(self.recall)) - 1]


def steps_of(
    pieces: Sequence[Span], steps: Sequence[Found], queries: Sequence[str | None], given: Found | None
) -> Steps:
    """The values of one query. pieces: its evidence; queries: what each step asked, None where it does not say.

    given: what the answer was written from; None where that is not known. Raises ValueError without a piece or a step.
    """
    if not pieces or not steps:
        raise ValueError("steps have values where there is evidence, and one step at least")
    evidence = frozenset(pieces)
    found, passages, asked = set[Span](), set[str](), set[str]()
    rows: list[tuple[Any, ...]] = []
    for step, query in zip(steps, queries, strict=True):
        complete, held = found == evidence, _held(evidence - found, step)
        found |= held
        ids, words = {name for name, _ in step}, " ".join((query or "").casefold().split())
        share = len(ids - passages) / len(ids) if ids else None
        told = (len(found) / len(evidence), tuple(sorted(held)), not complete and not held, complete, share)
        rows.append((*told, bool(words) and words in asked))
        passages |= ids
        asked.add(words)
    recall, first, wasted, surplus, fresh, repeated = zip(*rows, strict=True)
    handed = None if given is None else _held(evidence, given)
    lost = None if handed is None else recall[-1] - len(handed) / len(evidence)
    unused = None if handed is None else tuple(sorted(found - handed))
    return Steps(recall, first, wasted, surplus, fresh, repeated, tuple(sorted(evidence - found)), unused, lost)


def _held(evidence: AbstractSet[Span], found: Found) -> set[Span]:
    return {piece for piece in evidence for _, place in found if finds(place, piece)}


Key = tuple[str, str]


class CallValues(NamedTuple):
    """One query's values, each 0 to 1; None where there is nothing to divide by.

    recall, precision: of the calls asked for, those made, and of those made, those asked for. names: recall of names
    alone. arguments: over calls asked for, the share of the arguments of its partner that are right, under the best
    pairing of calls of one name. order: the longest common subsequence of the two lists by the calls asked for.
    unwanted: of the calls made, those that nobody asked for (1 - precision). writes: 1 where the calls that change
    something are exactly those asked for, each as often, else 0.
    ragas: ToolCallAccuracy of Ragas, which gives 0 where the names, in order, are not those asked for.
    """

    recall: float | None
    precision: float | None
    names: float | None
    arguments: float | None
    order: float | None
    unwanted: float | None
    writes: float
    ragas: float


def call_values(wanted: Sequence[ToolCall], made: Sequence[ToolCall], writing: Sequence[str] = ("*",)) -> CallValues:
    """The values of one query. writing: names of the tools that change something, `*` and `?` as in file names."""
    from ..texts.sentences import longest_common_subsequence

    asked, done = [key(call) for call in wanted], [key(call) for call in made]
    same = _shared(asked, done)
    recall, precision = _share(same, len(asked)), _share(same, len(done))
    changing, changed = (
        Counter(one for one in calls if any(fnmatchcase(one[0], name) for name in writing)) for calls in (asked, done)
    )
    return CallValues(
        recall=recall,
        precision=precision,
        names=_share(_shared([name for name, _ in asked], [name for name, _ in done]), len(asked)),
        arguments=_paired(wanted, made),
        order=_share(longest_common_subsequence(asked, done), len(asked)),
        unwanted=None if precision is None else 1 - precision,
        writes=float(changing == changed),
        ragas=ragas_accuracy(wanted, made),
    )


def key(call: ToolCall) -> Key:
    """What makes two calls the same."""
    return call.name, canonical(call.arguments)


def canonical(value: Any) -> str:
    """JSON with keys in order; whole numbers written as such."""
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shared(one: Iterable[object], other: Iterable[object]) -> int:
    return (Counter(one) & Counter(other)).total()


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _paired(wanted: Sequence[ToolCall], made: Sequence[ToolCall]) -> float | None:
    """Calls of one name are paired one to one so that the sum is highest (Kuhn's assignment)."""
    from scipy.optimize import linear_sum_assignment

    total = 0.0
    for name in {call.name for call in wanted}:
        mine, theirs = ([call for call in calls if call.name == name] for calls in (wanted, made))
        if theirs:
            worth = [[_same_share(one.arguments, other.arguments, canonical, 1.0) for other in theirs] for one in mine]
            rows, columns = linear_sum_assignment(worth, maximize=True)
            total += sum(worth[row][column] for row, column in zip(rows, columns, strict=True))
    return _share(total, len(wanted))


def ragas_accuracy(wanted: Sequence[ToolCall], made: Sequence[ToolCall]) -> float:
    """ToolCallAccuracy of Ragas 0.4.3 in strict order: over pairs by place, the mean share of arguments of equal text.

    0 where the names, in order, are not those asked for; 1 where neither list has a call.
    """
    if [call.name for call in wanted] != [call.name for call in made]:
        return 0.0
    if not wanted:
        return 1.0
    shares = [
        _same_share(one.arguments, other.arguments, str, float(not other.arguments))
        for one, other in zip(wanted, made, strict=True)
    ]
    return sum(shares) / len(wanted)


def _same_share(
    wanted: Mapping[str, Any], made: Mapping[str, Any], told: Callable[[Any], str], otherwise: float
) -> float:
    """The share of the arguments wanted that are `told` the same as those made; `otherwise` where none is wanted."""
    same = sum(name in made and told(made[name]) == told(value) for name, value in wanted.items())
    return same / len(wanted) if wanted else otherwise


def pass_hat(successes: int, trials: int, k: int) -> float:
    """pass^k of one task, the chance that k of its trials all succeed: C(successes, k) / C(trials, k), k <= trials.

    Yao et al., "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains", 2024, section 3; theirs is
    the mean over tasks.
    """
    return comb(successes, k) / comb(trials, k)
