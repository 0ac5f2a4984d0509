"""The expectations of a whole results.json."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import NormalDist, fmean, stdev
from typing import Any

import numpy as np
from scipy.stats import t as student
from support.recomputed import counts
from support.recomputed.audited import audit
from support.recomputed.corrected import corrected
from support.recomputed.expected import Book, Holds, Near, Path
from support.recomputed.files import Line, Run
from support.recomputed.games import Verdict, verdicts_of, winner_of
from support.recomputed.pairs import pairs
from support.recomputed.ranking import Values, retrieval
from support.recomputed.ratings import (
    POINTS,
    chances_of_best,
    circles,
    davidson,
    has_davidson,
    reaches,
    rows_of,
    standing,
    standing_with_ties,
    ties_of,
    tournament,
    wins_of,
)
from support.recomputed.resampling import draw, t_quantile, t_two_sided
from support.recomputed.spread import box

K_FACTOR, INITIAL = 16.0, 500.0
OWN_TOURNAMENTS = 4000
OWN_RATED_DRAWS = 1000
TOO_NEAR = 0.03


def expectations(run: Run) -> Book:
    """What must stand in `run`'s results.json, all of it."""
    replicates = run.setting("compare", "bootstrap", 1000)
    book = Book(draw(run.query_ids, run.source, replicates))
    verdicts = verdicts_of(run.games)
    scores = retrieval(run)
    _head(book, run)
    book.put(("notices",), list(dict.fromkeys(_notices(run))))
    for agent, measures in scores.items():
        for name, values in measures.items():
            book.mean(("retrieval", agent, name), values, (0.0, 1.0))
            box(book, ("boxes", agent, name), values, (0.0, 1.0))
    grades = _pointwise(book, run)
    _answers(book, run)
    _wins(book, run, verdicts)
    _elo(book, run, verdicts)
    _bradley_terry(book, run, verdicts)
    _tests(book, run, scores, grades, verdicts)
    rates = {agent: _rates(agent, verdicts, run.query_ids) for agent in run.agents}
    pairs(book, run, [book.leaves["agents", number] for number in range(len(run.agents))], scores, grades, rates)
    audit(book, run, verdicts)
    notes = corrected(book, run, [book.leaves["agents", number] for number in range(len(run.agents))])
    _append_notices(book, notes)
    return book


def _append_notices(book: Book, said: Sequence[str]) -> None:
    """Notices that are not there yet, after the others."""
    there = [value for path, value in book.leaves.items() if path[0] == "notices"]
    new = [text for text in dict.fromkeys(said) if text not in there]
    if new:
        book.leaves.pop(("notices",), None)
    number = sum(path[0] == "notices" for path in book.leaves)
    for index, text in enumerate(new):
        book.put(("notices", number + index), text)


def _manifests(run: Run) -> list[Line]:
    return [run.manifest(stage) for stage in ("ingest", "questions", "retrieve", "answer", "judge", "evaluate")]


def _notices(run: Run) -> list[str]:
    manifests = _manifests(run)
    grave = [said for m in manifests if m["exit_status"] for said in m["notices"]]
    return grave + [said for m in manifests if not m["exit_status"] for said in m["notices"]]


def _head(book: Book, run: Run) -> None:
    manifests = _manifests(run)
    book.put(("format",), 1)
    book.put(("corpus",), run.results.name)
    book.put(("note",), run.setting("corpus", "note", ""))
    book.put(("n_queries",), len(run.query_ids))
    book.put(("settings",), _settings(run))
    book.put(("relevance_labels",), counts.labels(run.relevance))
    book.put(("n_relevance_failed",), sum(line["label"] is None for line in run.relevance))
    book.put(("retrieval_people",), {})
    for evaluated in ("evaluations", "evaluation_scales", "evaluators", "pass_or_fail"):
        book.put((evaluated,), {})
    book.put(("usage",), [row for m in manifests for row in m["usage"]])
    book.put(("ledger",), run.ledger)


def _settings(run: Run) -> dict[str, Any]:
    return {
        "k": run.k,
        "retrieval_engine": "embedded",
        "embedding": run.setting("retrieval", "embedding", "intfloat/multilingual-e5-base"),
        "rrf_k": run.setting("retrieval", "rrf_k", 60),
        "answer_model": run.setting("answer", "model", None),
        "judge_model": run.setting("judge", "model", None),
        "judge_mode": run.setting("judge", "mode", "auto"),
        "games": run.setting("judge", "games", "all"),
        "tournaments": run.setting("compare", "tournaments", 500),
        "k_factor": K_FACTOR,
        "initial_rating": INITIAL,
        "bootstrap": run.setting("compare", "bootstrap", 1000),
        "confidence": 0.95,
        "seed": run.setting("compare", "seed", 7),
    }


def _pointwise(book: Book, run: Run) -> dict[str, dict[str, Values]]:
    table: dict[str, dict[str, Values]] = {}
    for agent in run.agents:
        for criterion in run.criteria:
            rows = [r for r in run.pointwise if (r["subject"], r["criterion"]) == (agent, criterion)]
            values: Values = {row["query_id"]: row["label"] for row in rows}
            table.setdefault(agent, {})[criterion] = values
            book.mean(("pointwise", agent, criterion), values, (0.0, 2.0))
            box(book, ("boxes", agent, criterion), values, (0.0, 2.0))
            book.put(("pointwise_labels", agent, criterion), counts.labels(rows))
    return table


def _answers(book: Book, run: Run) -> None:
    for agent in run.agents:
        rows = run.answers[agent]
        there = {q: float(row["error"] is None) for q, row in rows.items()}
        n = int(sum(there.values()))
        book.share(("answers", agent, "answered"), there, dict.fromkeys(rows, 1.0), n, len(rows) - n)
        for name in ("latency_s", "output_tokens", "cost_usd"):
            taken = {q: row[name] if name in row else row["usage"][name] for q, row in rows.items() if there[q]}
            known = {q: value for q, value in taken.items() if value is not None}
            ones = dict.fromkeys(known, 1.0)
            book.share(("answers", agent, name), known, ones, len(known), len(rows) - n, limits=None)


def _wins(book: Book, run: Run, verdicts: Sequence[Verdict]) -> None:
    for agent in run.agents:
        own = [v for v in verdicts if agent in v.agents]
        _share(book, ("win_rate", agent), [(v.query, _won(v, agent)) for v in own])
        for other in run.agents:
            if other != agent:
                rows = [(v.query, _won(v, agent)) for v in own if other in v.agents]
                _share(book, ("wins", agent, other), rows)
    _share(book, ("flip_rate",), [(v.query, v.flipped) for v in verdicts])
    played = [g for g in run.games if g["winner"] != "tie"]
    shown = {"a": "agent_a", "b": "agent_b"}
    won = [(g["query_id"], None if g["winner"] is None else winner_of(g) == g[shown[g["first"]]]) for g in played]
    _share(book, ("first_shown_wins",), won)


def _won(verdict: Verdict, agent: str) -> bool | None:
    return None if verdict.winner is None else verdict.won_by(agent)


def _share(book: Book, path: Path, rows: Sequence[tuple[str, bool | None]]) -> None:
    """The share of what holds, by query; None is what failed."""
    held = [(query, holds) for query, holds in rows if holds is not None]
    sums, ones = Counter[str](), Counter[str]()
    for query, holds in held:
        sums[query] += holds
        ones[query] += 1
    book.share(path, _floats(sums), _floats(ones), len(held), len(rows) - len(held))


def _floats(counter: Counter[str]) -> dict[str, float]:
    return {key: float(value) for key, value in counter.items()}


def _behind(agent: str, verdicts: Sequence[Verdict]) -> tuple[int, int, int]:
    """How many verdicts an agent has, how many failed, and on how many queries it has one."""
    own = [v for v in verdicts if agent in v.agents]
    held = [v for v in own if v.winner is not None]
    return len(held), len(own) - len(held), len({v.query for v in held})


def _elo(book: Book, run: Run, verdicts: Sequence[Verdict]) -> None:
    """The run's mean of N tournaments and ours of many differ by chance: five standard errors are allowed.

    An end of the interval is a quantile far in the tail of a thousand replicates, each with the noise of ten orders:
    one standard deviation of the replicates is allowed.
    """
    chance, agents, games = random.Random(1), run.agents, rows_of(verdicts, run.agents)
    played = [tournament(games, len(agents), K_FACTOR, INITIAL, chance) for _ in range(OWN_TOURNAMENTS)]
    replicates = np.array(_elo_replicates(run, verdicts, chance))
    for index, agent in enumerate(agents):
        n, failed, queries = _behind(agent, verdicts)
        ratings = [row[index] for row in played]
        error = stdev(ratings) * sqrt(1 / run.setting("compare", "tournaments", 500) + 1 / OWN_TOURNAMENTS)
        value = Near(fmean(ratings), 5 * error + 1e-6, "tournaments are shuffled")
        own = replicates[:, index]
        ends = [
            Near(float(np.quantile(own, share)), float(own.std()), "resamples are drawn")
            for share in (book.draws.tail(queries), 1 - book.draws.tail(queries))
        ]
        book.figure(("elo", agent), value if n else None, n, failed, (ends[0], ends[1]))


def _elo_replicates(run: Run, verdicts: Sequence[Verdict], chance: random.Random) -> list[list[float]]:
    by_query = {q: rows_of([v for v in verdicts if v.query == q], run.agents) for q in run.query_ids}
    sections: dict[str, list[str]] = {}
    for query in run.query_ids:
        sections.setdefault(run.source[query], []).append(query)
    groups, rows = list(sections.values()), []
    for _ in range(300):
        games = [g for group in chance.choices(groups, k=len(groups)) for query in group for g in by_query[query]]
        played = [tournament(games, len(run.agents), K_FACTOR, INITIAL, chance) for _ in range(10)]
        rows.append([fmean(column) for column in zip(*played, strict=True)])
    return rows


def _bradley_terry(book: Book, run: Run, verdicts: Sequence[Verdict]) -> None:
    agents = run.agents
    tables = {q: wins_of([v for v in verdicts if v.query == q], agents) for q in run.query_ids}
    halves = np.array([tables[q] for q in run.query_ids])
    tied = np.array([ties_of([v for v in verdicts if v.query == q], agents) for q in run.query_ids])
    index = book.draws.index[:OWN_RATED_DRAWS]
    resampled = [((halves - tied / 2)[rows].sum(axis=0), tied[rows].sum(axis=0)) for rows in index]
    whole = (halves - tied / 2).sum(axis=0), tied.sum(axis=0)
    lacking = 1 - fmean(has_davidson(*tables_) for tables_ in resampled)
    by_davidson = has_davidson(*whole) and lacking <= 0.05
    if abs(lacking - 0.05) < TOO_NEAR:
        by_davidson = run.figures["rating_detail"]["ties"] == "davidson"
    if by_davidson:
        above, log = standing_with_ties(*whole)
        drawn = [standing_with_ties(*tables_) for tables_ in resampled]
    else:
        above, log = standing(whole[0] + whole[1] / 2)
        drawn = [standing(won + ties / 2) for won, ties in resampled]
    bounded = np.array([row for _, row in drawn if row is not None])
    intervals = log is not None and _has_intervals(run, 1 - len(bounded) / len(drawn))
    for index, agent in enumerate(agents):
        n, failed, queries = _behind(agent, verdicts)
        if log is None:
            book.figure(("bradley_terry", agent), None, n, failed)
            continue
        value = float(INITIAL + POINTS * log[index])
        point = Near(value, 1e-5, "two algorithms that stop at different distances")
        low, high = book.ends(INITIAL + POINTS * bounded[:, index], value, queries)
        book.figure(("bradley_terry", agent), point, n, failed, (low, high) if intervals else (None, None))
    instead = "" if by_davidson or log is None else "ties are counted as half wins"
    _note(book, instead if intervals else "no intervals" if log is not None else "no finite ratings")
    shares = np.array([row for row, _ in drawn])
    _rating_detail(book, run, whole, by_davidson, shares.mean(axis=0), verdicts)
    _verdict(book, run, above, log, shares, bounded if intervals else None, verdicts)


def _rating_detail(
    book: Book,
    run: Run,
    whole: tuple[np.ndarray, np.ndarray],
    by_davidson: bool,
    shares: np.ndarray,
    verdicts: Sequence[Verdict],
) -> None:
    """Ranks: who surely stands above and below, at 95% for all of an agent's comparisons (Bonferroni)."""
    where, wins = ("rating_detail",), whole[0] + whole[1] / 2
    book.put((*where, "ties"), "davidson" if by_davidson else "half")
    finite = bool(by_davidson and reaches(wins).all())
    parameter = (davidson(*whole)[1] if whole[1].any() else 0.0) if finite else 0.0
    book.put((*where, "tie_parameter"), Near(parameter, 1e-4, "two algorithms") if by_davidson else None)
    triples, intransitive = circles(whole[0])
    book.put((*where, "triples"), triples)
    book.put((*where, "intransitive"), intransitive)
    agents = run.agents
    n = min(len({v.query for v in verdicts if v.winner is not None}), len(set(run.source.values())))
    level = 0.05 / (len(agents) - 1)
    needed = 1 - NormalDist().cdf(sqrt(n / (n - 1)) * float(student.ppf(level / 2, n - 1)))
    slack = 5 * sqrt(needed * (1 - needed) * 2 / len(book.draws.index[:OWN_RATED_DRAWS])) + 3 / book.draws.replicates
    for index, agent in enumerate(agents):
        for place, rivals in ((0, shares[:, index]), (1, shares[index])):
            most, least = (int((rivals >= needed + side * slack).sum()) for side in (-1, 1))
            ends = (1 + least, 1 + most) if place == 0 else (len(agents) - most, len(agents) - least)
            allowed = (ends[1] - ends[0]) / 2 + 0.25
            book.put((*where, "ranks", agent, place), Near(fmean(ends), allowed, "resamples are drawn"))


def _has_intervals(run: Run, unbounded: float) -> bool:
    """There are none where over 5% of the resamples are one-sided; so near to it that draws decide, the file does."""
    near = abs(unbounded - 0.05) < TOO_NEAR
    return run.figures["bradley_terry_note"] is None if near else unbounded < 0.05


def _note(book: Book, lacking: str) -> None:
    """What is lacking stands beside the ratings and among the notices."""
    if not lacking:
        book.put(("bradley_terry_note",), None)
        return
    book.put(("bradley_terry_note",), Holds(lambda said: lacking in said, lacking))
    book.leaves.pop(("notices",), None)
    number = sum(path[0] == "notices" for path in book.leaves)
    book.put(("notices", number), Holds(lambda said: said.startswith("Bradley-Terry: ") and lacking in said, lacking))


def _verdict(
    book: Book,
    run: Run,
    above: np.ndarray,
    log: np.ndarray | None,
    drawn: np.ndarray,
    bounded: np.ndarray | None,
    verdicts: Sequence[Verdict],
) -> None:
    """The order of the agents, and P(best): shrunk where ratings have intervals (`bounded`, log strengths drawn).

    Else the share of resamples in which nobody stands above an agent, and one query more that names all equally. Drawn
    covariances differ by chance: 0.05.
    """
    agents, replicates = run.agents, book.draws.replicates
    n = len({v.query for v in verdicts if v.winner is not None})
    unbeaten = ~drawn.any(axis=1)
    units = min(n, len(set(run.source.values())))
    chances = (units * (unbeaten / unbeaten.sum(axis=1, keepdims=True)).mean(axis=0) + 1 / len(agents)) / (units + 1)
    more = 0.0
    if bounded is not None and log is not None:
        chances, more = chances_of_best(log, np.cov(bounded.T), units), 0.05
    for agent, chance in zip(agents, chances.tolist(), strict=True):
        error = sqrt(max(chance * (1 - chance), 1 / len(drawn)) * (1 / len(drawn) + 1 / replicates))
        book.put(("verdict", "p_best", agent), Near(chance, 5 * error + more, "resamples are drawn"))
    points = log if log is not None else np.array([book.leaves["elo", a, "value"].value for a in agents]) / POINTS
    order = sorted(range(len(agents)), key=lambda i: (above[:, i].sum(), -round(POINTS * points[i], 6), agents[i]))
    named = [agents[index] for index in order]
    book.put(("agents",), named)
    book.put(("verdict", "best"), named[0])
    book.put(("verdict", "runner_up"), named[1])
    shares, needed = {agents[i]: float(drawn[:, order[0], i].mean()) for i in order[1:]}, 1 - book.draws.tail(n)
    slack = 5 * sqrt(needed * (1 - needed) * (1 / len(drawn) + 1 / replicates)) + 1 / replicates
    rivals = [agent for agent, share in shares.items() if share < needed - slack]
    clear = n >= 6 and all(share > needed + slack or share == 1 for share in shares.values())
    sure = (
        False
        if rivals or n < 6
        else True
        if clear
        else Holds(lambda given: True, "either, it is too near to tell", bool)
    )
    book.put(("verdict", "sure"), sure)
    few = min(n, len(set(run.source.values()))) < 6
    told = [named[0], *([] if few else rivals), str(n)]
    book.put(("verdict", "sentence"), Holds(lambda said: all(word in said for word in told), f"names {told}"))


def _tests(
    book: Book,
    run: Run,
    scores: Mapping[str, Mapping[str, Values]],
    grades: Mapping[str, Mapping[str, Values]],
    verdicts: Sequence[Verdict],
) -> None:
    number = 0
    for retriever in run.retrievers:
        pair = (f"{retriever}-rag", f"{retriever}-rag-fusion")
        compared = {m: [scores[agent][m] for agent in pair] for m in (f"RR(rel=2)@{run.k}", f"RR(rel=1)@{run.k}")}
        compared |= {name: [grades[agent][name] for agent in pair] for name in run.criteria}
        compared["win_rate"] = [_rates(agent, verdicts, run.query_ids) for agent in pair]
        for measure, (one, other) in compared.items():
            book.put(("tests", number), _t_test(measure, pair, one, other))
            number += 1


def _rates(agent: str, verdicts: Sequence[Verdict], queries: Sequence[str]) -> Values:
    rates: Values = {}
    for query in queries:
        held = [v.won_by(agent) for v in verdicts if v.query == query and agent in v.agents and v.winner is not None]
        rates[query] = fmean(held) if held else None
    return rates


def _t_test(measure: str, pair: tuple[str, str], one: Values, other: Values) -> Line:
    """t = mean / (s / sqrt n), two-sided, n - 1 degrees of freedom."""
    gaps = [a - b for q in one if (a := one[q]) is not None and (b := other[q]) is not None]
    n, mean = len(gaps), fmean(gaps) if gaps else None
    figure: Line = {"value": mean, "n": n, "n_failed": len(one) - n, "ci_low": None, "ci_high": None}
    row: Line = {"measure": measure, "agent_a": pair[0], "agent_b": pair[1], "difference": figure}
    row |= {"t": None, "df": n - 1 if n else None, "p": None}
    if mean is not None and n > 1 and max(gaps) - min(gaps) > 1e-12:
        error = stdev(gaps) / sqrt(n)
        reach = t_quantile(n - 1) * error
        figure |= {"ci_low": mean - reach, "ci_high": mean + reach}
        p = t_two_sided(mean / error, n - 1)
        row |= {"t": mean / error, "p": Near(p, 6e-6 * p, "kept with six digits")}
    return row
