"""Which agents meet on which queries in adaptive play: by pairs, by lists, and over many simulated tournaments."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.judged_together import answers_in, fair_together
from support.results_folder import answer
from support.scripted_judge import CRITERIA, Scripted, workspace

from benchmarks.coverage.ratings import World, blind_share, played, simulate
from ragassay.errors import RepliesMissing
from ragassay.evaluate.inputs.clusters import ALONE, Clusters
from ragassay.evaluate.judging.adaptive import (
    Design,
    Standing,
    adaptive_meetings,
    choose,
    decide,
    places,
    play_out,
    play_together,
    running,
    spread,
    standing,
)
from ragassay.evaluate.make_judgments import make_judgments
from ragassay.files import read_records
from ragassay.records import Game, RankedList

SIX = ("bm25-rag", "knn-rag", "hybrid-rag", "bm25-rag-fusion", "knn-rag-fusion", "hybrid-rag-fusion")
QUERIES = [f"q{n:02d}" for n in range(60)]
CLEAR = dict.fromkeys(SIX, 0.0) | {"knn-rag": 4.0, "bm25-rag": 3.7}
"""Two good agents, hard to tell apart, and four that are far behind."""


def judge(strength, seed=1, asked=None):
    """Plays by strengths; each game has its own chance, whenever it is played and whoever is named first."""

    def play(meetings):
        if asked is not None:
            asked.append(list(meetings))
        scores = []
        for query, (a, b) in meetings:
            one, other = sorted((a, b))
            chance = 1 / (1 + np.exp(strength[other] - strength[one]))
            won = random.Random(f"{seed}:{query}:{one}:{other}").random() < chance
            scores.append(float(won if a == one else not won))
        return scores

    return play


def meet(play, agents=SIX, queries=QUERIES, seed=7, max_share=0.5):
    return adaptive_meetings(agents, queries, ALONE, play, seed, 0.95, max_share)


def test_a_clear_best_agent_stops_play_early():
    asked = []
    met = meet(judge({agent: 4.0 * n for n, agent in enumerate(SIX)}, asked=asked))
    assert len(met) == sum(map(len, asked)) < 0.25 * 15 * len(QUERIES)


def test_who_may_be_the_best_plays_more_against_its_like_than_against_the_rest_and_the_rest_no_more_at_all():
    played = Counter(pair for _, pair in meet(judge(CLEAR)))
    best = {"knn-rag", "bm25-rag"}
    by_best = [{count for pair, count in played.items() if len(best & set(pair)) == n} for n in range(3)]
    assert max(by_best[0]) < min(by_best[1]) <= max(by_best[1]) < min(by_best[2]) == len(QUERIES)
    assert min(by_best[0]) == 6, "the first round alone"


def test_no_game_is_played_twice_and_the_path_hangs_on_seed_and_scores_alone():
    one, two, other, turned = [], [], [], []
    met = meet(judge(CLEAR, asked=one))
    assert meet(judge(CLEAR, asked=two), queries=QUERIES[::-1]) == met
    meet(judge(CLEAR, asked=other), seed=8)
    meet(judge(CLEAR, asked=turned), agents=SIX[::-1])
    assert one == two and one[0] != other[0]
    assert one == [[(query, pair[::-1]) for query, pair in part] for part in turned], "nor on the order of the agents"
    flat = [meeting for part in one for meeting in part]
    assert len(flat) == len(set(flat)) == len(met)


@pytest.mark.parametrize("max_share", [0.05, 0.3, 1.0])
def test_the_budget_holds_once_every_pair_has_met(max_share):
    met = meet(judge(dict.fromkeys(SIX, 0.0)), max_share=max_share)
    assert 90 <= len(met) <= max(90, int(max_share * 15 * 60))


def test_games_without_a_verdict_end_too_and_one_agent_or_no_query_has_nothing_to_play():
    assert len(meet(lambda meetings: [None] * len(meetings))) == 450
    assert meet(judge({}), agents=("alone",)) == set() == meet(judge({}), queries=[])


@pytest.mark.parametrize("n_agents", [2, 3, 5, 6, 9])
def test_each_pair_has_an_order_of_the_queries_and_each_agent_s_games_are_spread_over_them(n_agents):
    place = places(np.arange(40), n_agents, random.Random("1"))
    assert (np.sort(place, axis=0) == np.arange(40)[:, None]).all()
    size, pairs = n_agents - 1 + n_agents % 2, np.array(list(combinations(range(n_agents), 2)))
    for agent in range(n_agents):
        own = place[:, (pairs == agent).any(axis=1)]
        games = (own < 40 // size).sum(axis=1)
        assert games.max() <= 2, "a window of 1 / size of the queries a pair, all begun evenly apart"
        assert size == 1 or len(np.unique(own[0])) == n_agents - 1, "no two of an agent's pairs begin together"


def test_the_first_queries_of_a_pair_come_from_all_sections_evenly():
    section = np.repeat(np.arange(10), [2, 2, 2, 2, 2, 6, 6, 6, 6, 6])
    place = places(section, 4, random.Random("2"))
    half = np.array([np.bincount(section[place[:, pair] < 20], minlength=10) for pair in range(6)])
    assert (np.abs(half - np.array([1] * 5 + [3] * 5)) <= 1).all()


def test_every_query_is_as_likely_to_be_among_the_first_of_a_pair():
    section = np.repeat(np.arange(3), [1, 3, 8])
    first = np.mean([places(section, 4, random.Random(f"{n}")) < 3 for n in range(4000)], axis=0)
    assert first == pytest.approx(np.full((12, 6), 0.25), abs=0.035)


def test_standing_by_hand():
    """Of three agents the first won all of 40 games, and the others half of theirs against each other."""
    scores = np.ones((1, 40, 3))
    scores[0, ::2, 2] = 0.0
    found = standing(scores, np.arange(40), 3)
    assert found.leader.tolist() == [0] and found.clusters.tolist() == [40] and np.isinf(found.ahead[0, 0])
    share = 40.25 / 40.5
    gap = 2 * share - (1 - share) - 0.5
    # Each pair's variance: its games' scatter, mixed 2 to 1 with that of games of equal agents.
    pair = (2 * 40 / 39 * 40 * np.array([(1 - share) ** 2, 0.25]) / 40.5**2 + 0.25 / 40.5) / 3
    both_shares = 4 * pair[0] + pair[0] + pair[1]
    # On the same queries the first's games scatter together; with the others', which alternate, they do not.
    same = 2 * 2 * (2 / 3) * 40 / 39 * 40 * (1 - share) ** 2 / 40.5**2
    assert found.ahead[0, 1] == pytest.approx(gap / np.sqrt(both_shares + same), rel=1e-9)


def test_the_leader_the_nearest_rival_and_who_is_within_a_standard_error_are_in_the_running():
    ahead = np.array([[np.inf, 2.0, 1.2], [0.9, np.inf, 3.0], [0.0, 0.5, np.inf]])
    found = Standing(np.array([0, 1, 2]), ahead, np.full(3, 50))
    assert running(found).tolist() == [[True, False, True], [True, True, False], [True, True, True]]


def test_a_round_decides_nothing_that_chance_alone_would_show():
    """The limit of Bonferroni over 10 looks at 5% is 2.81 standard errors, against each other agent."""
    design, leader = Design(3, 100), np.array([0])
    assert design.looks == 10
    for ahead, clusters, best in ((2.80, 50, -1), (2.81, 50, 0), (9.0, 5, -1)):
        found = Standing(leader, np.array([[np.inf, ahead, 9.0]]), np.array([clusters]))
        assert decide(found, design).tolist() == [best]


def test_two_in_the_running_play_two_batches_and_one_a_batch_against_each_other_agent():
    candidates, left, still_open = np.array([[True, True, False, False]]), np.full((1, 6), 50), np.array([False])
    design = Design(4, 100)
    assert choose(candidates, still_open, left, np.array([100]), design).tolist() == [[20, 10, 10, 10, 10, 0]]
    assert choose(candidates, still_open, left, np.array([30]), design).tolist() == [[10, 5, 5, 5, 5, 0]]
    assert choose(candidates, still_open, left - 45, np.array([100]), design).tolist() == [[5, 5, 5, 5, 5, 0]]
    assert not choose(candidates, np.array([True]), left, np.array([100]), design).any(), "the best is known"


def test_sections_are_those_of_the_queries():
    """Sixty queries of one section stand for one: nothing is decided, though one agent wins each game."""
    one = Clusters.named(QUERIES, ["s"] * 60)
    win = judge({"a": 99.0, "b": 0.0})
    assert len(adaptive_meetings(("a", "b"), QUERIES, one, win, 7, 0.95, 1.0)) == 60
    assert len(adaptive_meetings(("a", "b"), QUERIES, ALONE, win, 7, 0.95, 1.0)) < 40


EQUAL = World((0.0,) * 4, n_queries=60)
EXPERIMENTS = 300


@pytest.mark.parametrize("by_section", [0.0, 0.5])
def test_the_simulated_judge_picks_the_first_answer_85_percent_of_the_time(by_section: float):
    """One order of many games, verdict by verdict, by Davidson's shares (1970, eq. 2.1) unless the judge is blind."""
    world, n = replace(EQUAL, by_section=by_section), 400_000
    generator = np.random.default_rng(3)
    luck = np.hypot(world.by_query, by_section) * generator.standard_normal((2, n))
    strength = np.exp(luck)
    tie = world.tie * np.sqrt(strength.prod(axis=0))
    blind = generator.random(n) < blind_share(world, 0.85)
    first = blind | (generator.random(n) < strength[0] / (strength.sum(axis=0) + tie))
    assert first.mean() == pytest.approx(0.85, abs=3 * np.sqrt(0.85 * 0.15 / n))


def test_such_a_judge_decides_on_no_best_of_equal_agents_and_moves_none_of_them():
    generator = np.random.default_rng(4)
    world = replace(EQUAL, first=blind_share(EQUAL, 0.85))
    done = played(world, simulate(world, EXPERIMENTS, generator), generator, max_share=1.0)
    assert (done.best >= 0).mean() <= 0.05
    first_listed = np.nanmean(done.scores[:, :, :3], axis=1).mean(axis=1)  # against each of the others
    assert abs(first_listed.mean() - 0.5) < 3 * first_listed.std() / np.sqrt(EXPERIMENTS)


@pytest.mark.parametrize(("n_queries", "each", "decided"), [(30, 1, 1), (30, 30, 0), (30, 6, 0), (5, 1, 0), (6, 1, 1)])
def test_fewer_than_six_sections_decide_nothing(n_queries: int, each: int, decided: int):
    """A win in each of five is no significant order (two-sided sign test: 2 / 2^5 = 6%); in each of six it is."""
    place = np.arange(n_queries)[None, :, None]
    design, sections = Design(2, n_queries, max_share=1.0), np.arange(n_queries) // each
    done = play_out(design, sections, place, lambda new: np.where(new, 1.0, np.nan))
    assert done.best.tolist() == [decided - 1]


def test_the_best_of_distant_agents_is_decided_rightly_on_a_part_of_the_games():
    generator = np.random.default_rng(5)
    world = replace(EQUAL, strengths=(4.5, 3.0, 1.5, 0.0))
    done = played(world, simulate(world, EXPERIMENTS, generator), generator, max_share=1.0)
    assert not (done.best > 0).any()
    assert (done.best == 0).mean() > 0.8
    assert done.met.sum(axis=1).mean() < 0.5 * 6 * world.n_queries


SETTINGS = {"games": "listwise-adaptive", "criteria": CRITERIA, "adaptive_max_games": 1.0}
NAMES = tuple(f"q{n:02d}" for n in range(40))


def played_lists(world, seed, share=1.0):
    generator = np.random.default_rng(seed)
    scores, luck = simulate(world, EXPERIMENTS, generator), random.Random(seed)
    place = np.array([spread(world.cluster, luck) for _ in range(EXPERIMENTS)])
    design = Design(len(world.strengths), world.n_queries, max_share=share)
    return play_together(design, world.cluster, place, lambda new: np.where(new, scores, np.nan))


def test_the_best_of_distant_agents_is_decided_rightly_on_a_part_of_the_queries():
    done = played_lists(replace(EQUAL, strengths=(4.5, 3.0, 1.5, 0.0)), 5)
    assert not (done.best > 0).any() and (done.best == 0).mean() > 0.8
    assert done.met[:, 0].mean() < 0.6 * 60 and (done.met == done.met[:, :1]).all(), "all pairs on the same queries"


@pytest.mark.parametrize(("share", "most"), [(0.05, 6), (0.5, 30), (0.52, 31), (1.0, 60)])
def test_it_ends_at_the_share_of_the_queries_that_may_be_played(share, most):
    done = played_lists(EQUAL, 6, share)
    assert done.met.max() == most and (~np.isnan(done.scores)).any(axis=2).sum(axis=1).max() == most


@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_an_order_spreads_each_section_evenly(sizes, seed):
    """Of the first k of n queries a section of s has k s / n, to less than two."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    place, n = spread(cluster, random.Random(seed)), len(cluster)
    assert sorted(place.tolist()) == list(range(n))
    for k in range(n + 1):
        begun = np.bincount(cluster[place < k], minlength=len(sizes))
        assert all(abs(begun[c] - k * size / n) < 2 for c, size in enumerate(sizes))


def answers():
    text = {"bm25-rag": "It is in util/delay.h", "ours": "I could not find it", "theirs": "It is sei()"}
    return [answer(query, agent, f"{said} ({query}).", "p1") for query in NAMES for agent, said in text.items()]


class StopsAt(Scripted):
    """Has no more replies after so many rounds."""

    def __init__(self, n):
        super().__init__(fair_together)
        self.n = n

    def ask(self, batches):
        if len(self.rounds) == self.n:
            raise RepliesMissing("no more")
        return super().ask(batches)


def asked(caller):
    return [[(b.label, r.messages, r.sample) for b in batches for r in b.requests] for batches in caller.rounds]


def test_a_clear_best_ends_it_a_batch_after_it_was_decided_and_stopped_it_goes_the_same_way(tmp_path):
    space = workspace(tmp_path / "whole", answers(), queries=NAMES, **SETTINGS)
    whole = Scripted(fair_together)
    make_judgments(space, whole)
    games, lists = read_records(space.games, Game), read_records(space.lists, RankedList)
    on = {row.query_id for row in games}
    assert len(on) % 4 == 0 and 8 <= len(on) < len(NAMES), "whole batches of a tenth"
    assert set(Counter(row.query_id for row in games).values()) == {3 * 2} and len(lists) == 2 * len(on)
    n_rounds = 1 + len(on) // 4
    assert len(whole.rounds) == n_rounds and {label for label, *_ in asked(whole)[2]} == {"listwise-1", "listwise-2"}
    assert len(whole.asked("pointwise")) == 3 * len(NAMES), "answers are judged on all"
    for n in range(1, n_rounds):
        stopped = StopsAt(n)
        with pytest.raises(RepliesMissing):
            make_judgments(workspace(tmp_path / f"{n}", answers(), queries=NAMES, **SETTINGS), stopped)
        assert asked(stopped) == asked(whole)[:n]


def test_at_its_most_it_is_half_of_the_queries_and_another_seed_begins_with_others(tmp_path):
    """A judge without a preference decides nothing."""

    def level(label, text):
        good = fair_together(label, text)
        return good | {"order": [[*answers_in(text)]]} if "order" in good else good

    first = []
    for seed in (7, 8):
        settings = {**SETTINGS, "adaptive_max_games": 0.5, "seed": seed}
        space, caller = workspace(tmp_path / f"{seed}", answers(), queries=NAMES, **settings), Scripted(level)
        make_judgments(space, caller)
        assert len({row.query_id for row in read_records(space.games, Game)}) == 20
        first.append({text for label, text, _ in asked(caller)[1] if label == "listwise-1"})
    assert first[0] != first[1]
