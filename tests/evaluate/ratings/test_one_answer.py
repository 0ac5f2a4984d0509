"""Leader, told, possible bests, decided, P(best), pairs and ranks are one answer, whatever the tournament."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pytest

from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.judging.adaptive import adaptive_meetings
from ragassay.evaluate.ratings.leader import choose, rank_intervals, stand
from ragassay.evaluate.ratings.points import Points, points_of
from ragassay.evaluate.ratings.verdicts import SCORES, Verdict
from ragassay.evaluate.results import POINTS
from ragassay.evaluate.statistics.paired_comparison import FromLeader, ValueTable, compare_table

SEEDS, EACH = range(10), 100
MARGIN = 0.05


@dataclass(frozen=True)
class Tournament:
    """Points by the verdicts, and the sections of the queries."""

    points: Points
    clusters: Clusters


def tournament(rng):
    """Of 2 to 6 agents on 4 to 60 queries: far apart or level, with ties, failures, sections, all games or some."""
    agents = [f"agent-{place}" for place in rng.permutation(int(rng.integers(2, 7)))]
    queries = [f"q{place:03d}" for place in range(int(rng.integers(4, 61)))]
    sections = rng.integers(0, rng.choice([3, 10, 200]), len(queries))
    clusters = Clusters.named(queries, [f"s{one}" for one in sections])
    level = rng.choice([0.0, 0.3, 1.2]) * rng.standard_normal(len(agents))
    luck = dict(zip(agents, level[:, None] + 0.6 * rng.standard_normal((len(agents), len(queries))), strict=True))
    tie, fails = rng.choice([0.0, 0.3, 0.8, 9.0], p=[0.3, 0.3, 0.3, 0.1]), rng.choice([0.0, 0.0, 0.01, 0.2])
    silent = {agents[0]: set(rng.choice(queries, 2))} if rng.random() < 0.2 else {}

    def play(query, pair):
        if rng.random() < fails or any(query in silent.get(agent, ()) for agent in pair):
            return None
        at = queries.index(query)
        gap = luck[pair[0]][at] - luck[pair[1]][at] + rng.standard_normal()
        return "tie" if abs(gap) <= tie else "a" if gap > 0 else "b"

    met = {}

    def reveal(meetings):
        met.update({(query, pair): play(query, pair) for query, pair in meetings})
        return [None if met[one] is None else SCORES[met[one]] for one in meetings]

    how, pairs = rng.choice(["all", "some", "adaptive"], p=[0.5, 0.2, 0.3]), list(combinations(agents, 2))
    if how == "adaptive":
        adaptive_meetings(agents, queries, clusters, reveal, int(rng.integers(99)), 0.95, 0.5)
    else:
        share = 1.0 if how == "all" else rng.choice([0.02, 0.5])
        reveal([(query, pair) for query in queries for pair in pairs if rng.random() < share])
    found = [Verdict(query, *pair, "j", winner, None, None, 2) for (query, pair), winner in met.items()]
    return Tournament(points_of(found, agents, queries, unanswered=silent), clusters)


def rows_of(found, points, clusters):
    """The pairs on points as `compare` makes them."""
    values = points.values()
    table = ValueTable.of({agent: values[agent] for agent in found.order})
    leader = FromLeader(found.leader, found.differences, found.adjusted)
    return compare_table(POINTS, table, clusters, 1.0, 7, MARGIN, beside=False, leader=leader)


@pytest.mark.parametrize("seed", SEEDS)
def test_decided_told_possible_chances_pairs_and_ranks_say_the_same(seed):
    rng, seen = np.random.default_rng([52, seed]), set()
    for _ in range(EACH):
        one = tournament(rng)
        found = stand(one.points, one.clusters, 7, MARGIN)
        if found is None:
            continue
        means = dict(zip(one.points.agents, one.points.means.tolist(), strict=True))
        assert all(means[a] >= means[b] - 1e-9 for a, b in pairwise(found.order))
        assert found.possible_best == (found.leader, *found.untold) == found.order[: len(found.possible_best)]
        assert (*found.possible_best, *found.told) == found.order
        assert found.decided == (len(found.possible_best) == 1) == (not found.untold)
        chances = list(found.p_best.values())
        assert chances == sorted(chances, reverse=True) and tuple(found.p_best) in (found.order, ())
        rows = rows_of(found, one.points, one.clusters)
        of_leader = {
            ({row.agent_a, row.agent_b} - {found.leader}).pop(): row
            for row in rows
            if found.leader in (row.agent_a, row.agent_b)
        }
        for agent, row in of_leader.items():
            assert row.agent_a == found.leader and (row.verdict == "better") == (agent in found.told), row
            assert row.verdict != "worse" and row.difference == found.differences[agent]
        ranks = rank_intervals(found, rows)
        assert ranks[found.leader] == (1, len(found.possible_best))
        assert [agent for agent in found.order if ranks[agent][0] == 1] == list(found.possible_best)
        said = choose(found, one.points, MARGIN)
        assert (said.leader, said.decided, said.possible_best) == (found.leader, found.decided, found.possible_best)
        assert ("decided" in said.claims) == found.decided and ("told from each" in said.sentence) == found.decided
        seen.add(min(2, len(found.possible_best)) if found.told else 3)
    assert seen == {1, 2, 3}, "decided, some told, none told"
