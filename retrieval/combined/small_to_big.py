"""Small to big: small passages are searched, and the sections that they stand in are handed over.

A section's score is that of its best passage, which is how LlamaIndex' and LangChain's parent retrievers rank them, and
MaxP of Dai and Callan, Deeper Text Understanding for IR with Contextual Neural Language Modeling (SIGIR 2019).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragassay.errors import InputError
from ragassay.records import Passage
from ragassay.text import plain

from ..rankers.failures import Failed, all_found, search_each
from ..rankers.ranker import Ranker, Ranking

FIRST_DEPTH = 50
_A_SECTION = 4  # passages that are looked for at first, for each section that is wanted


def sections_of(passages: Iterable[Passage]) -> dict[str, str]:
    """The section of each passage by id: `metadata.section`. Raises InputError where one has none."""
    found = {}
    for passage in passages:
        section = passage.metadata.get("section")
        if not isinstance(section, str):
            raise InputError(f"passage '{plain(passage.id)}' has no metadata.section, so it cannot stand for one")
        found[passage.id] = section
    return found


class SmallToBig:
    """The sections of the passages that `ranker` finds, each once; `section_of` has every passage that it can find.

    As many passages are looked at as k sections need, at least max(4 k, 50).
    """

    def __init__(self, ranker: Ranker, section_of: Mapping[str, str]) -> None:
        self._ranker, self._section_of = ranker, section_of

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` best sections for each query, equal scores by id. Raises what `ranker` does."""
        found: dict[str, Ranking | Failed] = {}
        owed, depth = list(dict.fromkeys(queries)), max(FIRST_DEPTH, _A_SECTION * k)
        while owed:
            rows = dict(zip(owed, search_each(self._ranker, owed, depth), strict=True))
            owed = [query for query, row in rows.items() if not self._is_enough(row, k, depth)]
            found |= {query: self._sections(row, k) for query, row in rows.items() if query not in set(owed)}
            depth *= 2
        return all_found([found[query] for query in queries])

    def _is_enough(self, row: Ranking | Failed, k: int, depth: int) -> bool:
        """Whether no passage further down can be of the k best sections, or equal in score to the last of them."""
        if isinstance(row, Failed) or len(row) < depth:
            return True
        lowest = row[-1][1]
        return len({self._section_of[identifier] for identifier, score in row if score > lowest}) >= k

    def _sections(self, row: Ranking | Failed, k: int) -> Ranking | Failed:
        if isinstance(row, Failed):
            return row
        best: dict[str, float] = {}
        for identifier, score in row:
            best.setdefault(self._section_of[identifier], score)
        return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:k]
