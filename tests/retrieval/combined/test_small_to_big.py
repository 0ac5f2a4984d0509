"""Small to big against every passage ranked, so that no section is missed however deep its best passage stands."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.records import Passage
from ragassay.retrieval.rankers.combined import SmallToBig, sections_of
from ragassay.retrieval.rankers.ranker import Failed, QueriesFailed, Ranking


class Ranked:
    """The passages with their scores, the same for every query; "?" fails."""

    def __init__(self, scores: dict[str, float]) -> None:
        self.whole = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        found = [Failed("no") if query == "?" else self.whole[:k] for query in queries]
        if "?" in queries:
            raise QueriesFailed(found)
        return [row for row in found if not isinstance(row, Failed)]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=400), st.integers(1, 12))
def test_it_is_the_best_passage_of_every_section(rows: list[tuple[int, int]], k: int) -> None:
    scores = {f"p{i:03}": float(score) for i, (score, _) in enumerate(rows)}
    section_of = {f"p{i:03}": f"s{section:02}" for i, (_, section) in enumerate(rows)}
    best: dict[str, float] = {}
    for identifier, section in section_of.items():
        best[section] = max(best.get(section, 0.0), scores[identifier])
    expected = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:k]
    assert SmallToBig(Ranked(scores), section_of).search(["q", "r"], k) == [expected] * 2


def test_one_that_fails_does_not_fail_the_others() -> None:
    ranker = SmallToBig(
        Ranked({f"p{i:03}": 1000.0 - i for i in range(300)}), {f"p{i:03}": f"s{i // 100}" for i in range(300)}
    )
    with pytest.raises(QueriesFailed) as raised:
        ranker.search(["q", "?"], 2)
    assert raised.value.found == [[("s0", 1000.0), ("s1", 900.0)], Failed("no")]


def test_passages_say_their_sections() -> None:
    passage = Passage.model_validate({"_id": "small.p1", "text": "a", "metadata": {"section": "sections.s1"}})
    assert sections_of([passage]) == {"small.p1": "sections.s1"}
    with pytest.raises(InputError, match="'p2' has no metadata"):
        sections_of([passage, Passage.model_validate({"_id": "p2", "text": "a", "metadata": {}})])
