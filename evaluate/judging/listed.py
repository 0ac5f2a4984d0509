"""The list of evaluators: what each reads and asks, its scales, thresholds, source and tags, as data and text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isinf

from ragassay.records import Record

from .catalog import BUILT_IN
from .engine.evaluator import Criterion, Evaluator
from .engine.judge import Setup
from .engine.tags import NIST, SR_11_7
from .engine.thresholds import threshold_of


class ListedCriterion(Record):
    """One number of an evaluator. highest, threshold: None where there is none."""

    name: str
    lowest: float
    highest: float | None
    lower_is_better: bool
    threshold: float | None


class Listed(Record):
    """One evaluator, as `ragassay judges --json` gives it."""

    name: str
    family: str
    about: str
    of: str
    reads: tuple[str, ...]
    needs: tuple[str, ...]
    asks: str
    calls: float
    criteria: tuple[ListedCriterion, ...]
    source: str
    tags: tuple[str, ...]


def listed_judges() -> list[Listed]:
    """Every built-in evaluator, in the catalog's order."""
    return [_listed(kind(Setup("openai:none"))) for kind in BUILT_IN.values()]


def _listed(one: Evaluator) -> Listed:
    return Listed(
        name=one.name,
        family=one.family,
        about=one.about,
        of=one.unit,
        reads=one.reads,
        needs=one.needs,
        asks=one.asks,
        calls=one.calls if one.asks == "judge" else 0.0,
        criteria=tuple(_criterion(one, criterion) for criterion in one.criteria),
        source=one.source,
        tags=one.tags,
    )


def _criterion(one: Evaluator, criterion: Criterion) -> ListedCriterion:
    return ListedCriterion(
        name=criterion.name,
        lowest=criterion.lowest,
        highest=None if isinf(criterion.highest) else criterion.highest,
        lower_is_better=criterion.lower_is_better,
        threshold=threshold_of(one, criterion),
    )


def scale_of(one: ListedCriterion) -> str:
    """`0 to 3, good from 2`, `0 to 1, lower is better, good up to 0.25`, `0 and up, lower is better`."""
    scale = f"{one.lowest:g} and up" if one.highest is None else f"{one.lowest:g} to {one.highest:g}"
    way = ", lower is better" if one.lower_is_better else ""
    side = "up to" if one.lower_is_better else "from"
    return f"{scale}{way}" + ("" if one.threshold is None else f", good {side} {one.threshold:g}")


def asks_of(one: Listed) -> str:
    """`nothing`, `a model of its own`, `the judge, about 2 calls`."""
    if one.asks != "judge":
        return {"model": "a model of its own"}.get(one.asks, one.asks)
    return f"the judge, about {one.calls:g} {'call' if one.calls == 1 else 'calls'}"


def markdown_list(judges: Iterable[Listed]) -> str:
    """The tables of docs/evaluators.md: one a family."""
    lines: list[str] = []
    rows = list(judges)
    for family in dict.fromkeys(one.family for one in rows):
        lines += [
            f"**{family}**",
            "",
            "| judge | of each | reads | gives | asks | source |",
            "|---|---|---|---|---|---|",
        ]
        for one in (row for row in rows if row.family == family):
            scales = dict.fromkeys(scale_of(criterion) for criterion in one.criteria)
            given = "; ".join(
                ", ".join(f"`{c.name}`" for c in one.criteria if scale_of(c) == scale) + f": {scale}"
                for scale in scales
            )
            needs = [f"{part} (needed)" if part in one.needs else part for part in (*one.reads, *_unread(one))]
            reads = ", ".join(needs).replace("_", " ")
            lines.append(f"| `{one.name}` | {one.of} | {reads} | {given} | {asks_of(one)} | {one.source} |")
        lines.append("")
    return "\n".join(lines)


def _unread(one: Listed) -> list[str]:
    return [need for need in one.needs if need not in one.reads]


def coverage(judges: Sequence[Listed]) -> dict[str, list[str]]:
    """Each tag of the two frameworks to the judges that bear on it."""
    return {tag: [one.name for one in judges if tag in one.tags] for tag in (*NIST, *SR_11_7)}


def markdown_coverage(judges: Sequence[Listed]) -> str:
    """The coverage table of docs/evaluators.md."""
    lines = ["| framework | tag | judges |", "|---|---|---|"]
    for tag, names in coverage(judges).items():
        framework = "NIST AI RMF" if tag in NIST else "SR 11-7"
        lines.append(f"| {framework} | {tag} | {', '.join(f'`{name}`' for name in names) or 'none'} |")
    return "\n".join(lines) + "\n"
