"""Blocks: which agents are ranked together on a query, and from which of their lists a pair's game is taken.

Up to eight agents sit in one list. More are split into groups of at most four, drawn anew for each query, and every two
groups are a block: a balanced incomplete block design of the groups, blocks of two (Cochran and Cox, Experimental
Designs, 1957, chapter 11), in which each group is put in its place; of the agents it is a singular group divisible
design (Bose and Connor, Annals of Mathematical Statistics 23, 1952). Two agents of different groups meet in one block,
two of a group in every block of it, of which one, drawn, is the pair's home: its game is taken from there alone.

Agents that join later sit with anchors, agents of the waves before in turn, and only pairs with one of them are taken
from such a list.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import ceil

from .seating import MOST_SEATS, turns

GROUP = MOST_SEATS // 2

Pair = frozenset[str]


@dataclass(frozen=True)
class Block:
    """Agents that are ranked together, in an order that seats go by, and the pairs whose games are taken from it.

    wave: with which, from 0, the last of them joined.
    """

    agents: tuple[str, ...]
    pairs: frozenset[Pair]
    wave: int


@dataclass(frozen=True)
class Plan:
    """Who meets whom over the queries. waves: the agents in the order in which they joined. anchors: how many of those
    before an agent that joins later meets on a query. It hangs on the names and the seed alone."""

    waves: Sequence[Sequence[str]]
    queries: Sequence[str]
    anchors: int
    seed: int

    def blocks(self, query: str) -> list[Block]:
        """Those of a query, wave by wave: every pair that meets on it is taken from exactly one of them."""
        found = self._together(query, 0)
        for wave in range(1, len(self.waves)):
            found += self._joining(query, wave)
        return found

    def _joining(self, query: str, wave: int) -> Iterator[Block]:
        """Newcomers among themselves and each with the anchors, in as few lists as hold them."""
        beside = self._anchors(query, wave)
        room = MOST_SEATS - len(beside)
        groups = [self._names(wave)]
        if len(groups[0]) > room:
            groups = _parts(self._drawn(query, wave, "newcomers"), room)
            yield from self._together(query, wave)
        for group in groups:
            pairs = {frozenset(pair) for pair in product(group, beside)}
            if len(groups) == 1:
                pairs |= _pairs(group)
            yield Block((*group, *beside), frozenset(pairs), wave)

    def _together(self, query: str, wave: int) -> list[Block]:
        """The agents of a wave among themselves."""
        if len(self.waves[wave]) <= MOST_SEATS:
            names = self._names(wave)
            return [Block(tuple(names), _pairs(names), wave)]
        groups = _parts(self._drawn(query, wave, "blocks"), GROUP)
        meetings = list(combinations(range(len(groups)), 2))
        pairs = [{frozenset(pair) for pair in product(groups[one], groups[other])} for one, other in meetings]
        luck = random.Random(f"{self.seed}:homes:{wave}:{query}")
        for number, group in enumerate(groups):
            homes = [place for place, meeting in enumerate(meetings) if number in meeting]
            for pair in combinations(group, 2):
                pairs[luck.choice(homes)].add(frozenset(pair))
        return [
            Block((*groups[one], *groups[other]), frozenset(taken), wave)
            for (one, other), taken in zip(meetings, pairs, strict=True)
        ]

    def _anchors(self, query: str, wave: int) -> list[str]:
        """Agents of the waves before, in turn over the queries: each equally often, as nearly as can be."""
        before = sorted(agent for agents in self.waves[:wave] for agent in agents)
        random.Random(f"{self.seed}:anchors:{wave}").shuffle(before)
        n = min(self.anchors, len(before))
        start = n * self._turns[wave][query]
        return [before[(start + number) % len(before)] for number in range(n)]

    @cached_property
    def _turns(self) -> list[dict[str, int]]:
        """By wave, where each query stands in an order of its own."""
        return [turns(self.queries, f"{self.seed}:turns:{wave}") for wave, _ in enumerate(self.waves)]

    def _names(self, wave: int) -> list[str]:
        """In one order on all queries."""
        names = sorted(self.waves[wave])
        random.Random(f"{self.seed}:seats").shuffle(names)
        return names

    def _drawn(self, query: str, wave: int, what: str) -> list[str]:
        """In another order on each."""
        names = sorted(self.waves[wave])
        random.Random(f"{self.seed}:{what}:{wave}:{query}").shuffle(names)
        return names


def _parts(names: Sequence[str], most: int) -> list[list[str]]:
    """As few as hold at most so many each, as equal as can be."""
    n = ceil(len(names) / most)
    return [list(names[len(names) * part // n : len(names) * (part + 1) // n]) for part in range(n)]


def _pairs(names: Sequence[str]) -> frozenset[Pair]:
    return frozenset(frozenset(pair) for pair in combinations(names, 2))
