"""`values.jsonl`: every agent's value by query on every measure, once, as `compare` worked them out.

The gate and the workbench read it, so that no measure is worked out twice. A line is a query, an agent and a measure
that owes a value; `value` is null exactly where `error` says why. Files are large (a line is about 160 bytes, and there
may be millions), so lines are put together from parts that are made once, and read in blocks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf, isfinite, isinf
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.files import naming, write_parts
from ragassay.text import plain

from ..inputs.clusters import Clusters
from ..inputs.labels import HIGHEST
from ..results import Results
from ..statistics.clustered import ByAgent, Range, Values, limits_of

FIELDS = ("query_id", "agent", "measure", "value", "error", "cluster")

NO_VALUE = "a judgment or a ranking that it is worked out from failed or is missing"

_AT_ONCE = 50_000

Why = Callable[[str, str, str], str | None]
"""(query id, agent, measure) to why there is no value, if that is known."""


@dataclass(frozen=True)
class Scale:
    """A measure's lowest and highest value (infinite where there is no end), and whether little is good."""

    lowest: float = 0.0
    highest: float = 1.0
    lower_is_better: bool = False

    @property
    def worst(self) -> float:
        """The end that is bad."""
        return self.highest if self.lower_is_better else self.lowest

    @property
    def ends(self) -> Range:
        """Both."""
        return (self.lowest, self.highest)

    @property
    def limits(self) -> Range | None:
        """Both, as an interval takes them; None without an end."""
        return limits_of(*self.ends)

    @property
    def width(self) -> float | None:
        """Of the range; None without an end."""
        return None if isinf(self.highest) else self.highest - self.lowest

    def __str__(self) -> str:
        """`from 0 to 1, lower is better`."""
        end = "up" if isinf(self.highest) else f"to {self.highest:g}"
        return f"from {self.lowest:g} {end}{', lower is better' if self.lower_is_better else ''}"


@dataclass(frozen=True)
class ComparedMeasure:
    """Agent to query to value, on their scale."""

    values: Mapping[str, Values]
    scale: Scale = Scale()


@dataclass(frozen=True)
class StoredValues:
    """measures: measure to agent to query to value, as the file has them. clusters: of the queries in it."""

    measures: Mapping[str, Mapping[str, Values]]
    clusters: Clusters


def all_measures(retrieval: ByAgent, compared: Mapping[str, ComparedMeasure]) -> dict[str, Mapping[str, Values]]:
    """Measure to agent to values: those on which agents are compared, and the other ranking measures."""
    found = {name: one.values for name, one in compared.items()}
    for name in dict.fromkeys(name for row in retrieval.values() for name in row):
        found.setdefault(name, {agent: row[name] for agent, row in retrieval.items() if name in row})
    return found


def highest(measure: str, criteria: Collection[str]) -> float:
    """The best value of a measure: of a pointwise criterion its best label, of all else 1. The worst is 0."""
    return HIGHEST if measure in criteria else 1.0


def scale_of(measure: str, results: Results) -> Scale:
    """The scale of a measure of a run, from its `results.json`."""
    criteria = {name for row in results.pointwise.values() for name in row}
    low, high = results.evaluation_scales.get(measure, (0.0, highest(measure, criteria)))
    return Scale(low, inf if high is None else high, measure in results.lower_is_better)


def write_values(
    path: Path,
    measures: Mapping[str, Mapping[str, Values]],
    agents: Sequence[str],
    queries: Sequence[str],
    clusters: Clusters,
    why: Why = lambda *_: None,
) -> None:
    """Write every value that is owed, atomically: by measure, then in the order of agents and of queries."""
    of_query = {query: (_text(query), _text(clusters.names[clusters.number(query)])) for query in queries}

    def lines(measure: str, agent: str, row: Values) -> Iterator[str]:
        middle = f', "agent": {_text(agent)}, "measure": {_text(measure)}, "value": '
        for query, (name, cluster) in of_query.items():
            if query not in row:
                continue
            value = row[query]
            if value is None:
                said = f'null, "error": {_text(why(query, agent, measure) or NO_VALUE)}'
            else:
                said = f'{float(value)!r}, "error": null'
            yield f'{{"query_id": {name}{middle}{said}, "cluster": {cluster}}}\n'

    rows = ((measure, agent, of.get(agent, {})) for measure, of in measures.items() for agent in agents)
    write_parts(path, ("".join(lines(*row)).encode("utf-8", "surrogatepass") for row in rows))


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_values(path: Path) -> StoredValues:
    """What `write_values` wrote. Raises InputError, with the line where one is at fault."""
    if not path.exists():
        said = "is not there, so that no value by query is known"
        raise InputError(said, file=path, remedy="run `ragassay compare` again")
    measures: dict[str, dict[str, Values]] = {}
    names: dict[str, str] = {}
    for number, row in _rows(path):
        try:
            query, agent, measure, value, error, cluster = (row[name] for name in FIELDS)
        except KeyError as lacking:
            raise _fault(path, number, f"has no field {lacking.args[0]}") from None
        if len(row) > len(FIELDS):
            raise _fault(path, number, f"has a field {plain(next(iter(row.keys() - set(FIELDS))))} of no meaning")
        if not all(isinstance(one, str) for one in (query, agent, measure, cluster)):
            raise _fault(path, number, "has no text as query_id, agent, measure or cluster")
        number_or_none = value is None or (type(value) in (int, float) and isfinite(value))
        if (value is None) is not (isinstance(error, str) and bool(error)) or not number_or_none:
            raise _fault(path, number, "must have either a number as value or a sentence as error")
        column = measures.setdefault(measure, {}).setdefault(agent, {})
        if query in column or names.setdefault(query, cluster) != cluster:
            raise _fault(path, number, "says a value or a query's cluster a second time")
        column[query] = value
    return StoredValues(measures, Clusters.named(list(names), list(names.values())))


def _fault(path: Path, line: int, said: str) -> InputError:
    return InputError(said, file=path, line=line, remedy="run `ragassay compare` again")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object). A block is one JSON array, which is read in half the time of its lines."""
    start = 1
    with naming(path), path.open("rb") as stream:
        while block := list(islice(stream, _AT_ONCE)):
            try:
                rows = json.loads(b"[" + b",".join(block) + b"]")
            except (ValueError, RecursionError):
                rows = []
            if len(rows) != len(block):
                rows = [_one(path, number, line) for number, line in enumerate(block, start)]
            for number, row in enumerate(rows, start):
                if not isinstance(row, dict):
                    raise _fault(path, number, "is not a JSON object")
                yield number, row
            start += len(block)


def _one(path: Path, number: int, line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _fault(path, number, f"is not JSON ({error})") from None
