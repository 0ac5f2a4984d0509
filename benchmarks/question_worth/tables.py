"""The figures as Markdown: one row a kind of question, and one a retriever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.question_worth.measured import Measured
from benchmarks.question_worth.worth import Worth
from ragassay.records import Figure
from ragassay.text import one_line

CLAIMS = "377e113688887d7477a19306c7b9c04be000e186d9af44dd6e8bbba14c08ba8d"
PUBLISHED = {
    "plain": {"tau": ".17", "decided": "58%", "contradicted": "20%"},
    "other_words": {"tau": ".47", "decided": "82%", "contradicted": "16%"},
    "fresh": {"tau": ".74", "decided": "86%", "contradicted": "0.5%"},
}
"""What SOURCE.md beside the 600 claims written from SciFact says of them, from 26 retrievers of its own."""


def lines(measured: Mapping[str, Measured], digest: str) -> Iterator[str]:
    """Both tables. digest: SHA-256 of the questions' file; where it is the claims', what is published stands beside."""
    any_one = next(iter(measured.values()))
    yield (
        "| questions | n | words shared | tau | rho | decided | contradicted | best | its place | loss | worth"
        " | worth by loss |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|"
    yield (
        f"| people's | {any_one.n_people} | {any_one.people_shared_words.value:.2f} | ceiling"
        f" {_number(any_one.ceiling)} | | {any_one.n_decided} of {any_one.n_pairs} pairs | | | | | | |"
    )
    for one in measured.values():
        yield _row(one)
        if digest == CLAIMS and one.kind in PUBLISHED:
            theirs = PUBLISHED[one.kind]
            yield (
                f"| {one.kind}, as published | 200 | | {theirs['tau']} | | {theirs['decided']} |"
                f" {theirs['contradicted']} | | | | | |"
            )
    if any_one.n_people_failed:
        yield ""
        yield f"{any_one.n_people_failed} judged queries have no relevant passage in the corpus and take no part."
    yield ""
    kinds = list(measured)
    yield f"| retriever, nDCG@10 | people's | {' | '.join(one_line(kind) for kind in kinds)} |"
    yield f"|---|--:|{'--:|' * len(kinds)}"
    means = {name: row.people.value or 0.0 for name, row in any_one.retrievers.items()}
    for name in sorted(means, key=lambda name: -means[name]):
        cells = [any_one.retrievers[name].people, *(measured[kind].retrievers[name].written for kind in kinds)]
        yield f"| {name} | {' | '.join(f'{cell.value:.4f}' for cell in cells)} |"


def _row(one: Measured) -> str:
    cells = [
        one_line(one.kind),
        str(one.n),
        f"{one.shared_words.value:.2f}",
        _number(one.tau),
        _number(one.rho),
        _percent(one.decided),
        _percent(one.contradicted),
        one.best,
        f"{one.place.value:g}",
        _number(one.loss, 4),
        _worth(one.worth),
        _worth(one.worth_by_loss),
    ]
    return f"| {' | '.join(cells)} |"


def _number(figure: Figure, digits: int = 2) -> str:
    return _spelt(figure, f".{digits}f")


def _percent(figure: Figure) -> str:
    return _spelt(figure, ".1%")


def _spelt(figure: Figure, form: str) -> str:
    if figure.value is None:
        return "undefined"
    ends = "" if figure.ci_low is None else f" [{figure.ci_low:{form}}, {figure.ci_high:{form}}]"
    return f"{figure.value:{form}}{ends}"


def _worth(found: Worth) -> str:
    if found.value is None:
        return "undefined"
    low = f"below {found.smallest}" if found.ci_low is None else f"{found.ci_low:.0f}"
    high = f"above {found.largest}" if found.ci_high is None else f"{found.ci_high:.0f}"
    return f"{found.bound + ' ' if found.bound else ''}{found.value:.0f} [{low}, {high}]"
