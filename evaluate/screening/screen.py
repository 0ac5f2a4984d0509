"""The second half of the stage `screen`: what every variant found, held against the evidence, and who goes on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.errors import InputError
from ragassay.evidence import Evidence, Graded, Span, merged, place_of, read_graded, read_judged
from ragassay.experiment.workspace import StageOutcome, VariantRun, Workspace, handed_over
from ragassay.files import read_records, read_run, write_json, write_records
from ragassay.prompts import passage_tokens
from ragassay.records import Figure, Found, Judgment, Passage, Query, grouped, left_out, originals
from ragassay.text import listed, plain

from ..figures.turns_and_steps import bounds, leaning_turns
from ..inputs.clusters import source_clusters
from ..measures.by_place import AT_GRADE_1, MEASURES, UNJUDGED, graded_values, is_judged, unjudged
from ..statistics.ladder import holm_from_leader
from ..statistics.resamples import told
from .screened import ChosenVariant, Screened, ScreenResults, SettingEffect, VariantFigures, mean_figures, two_digits
from .verdict import chosen_variant, crossed, setting_effects

AT_TOKENS = "_at_tokens"
COSTS = ("latency_p50_s", "latency_p95_s", "index_s", "index_bytes")
PLACES = 6
SEED = 7
FEW_UNJUDGED = 0.05
"""Of the passages that a finalist hands over (mean over queries, 0 to 1), the share that may be unjudged."""

GradeOf = Callable[[Sequence[tuple[Query, Sequence[Passage]]]], tuple[list[Found], list[Judgment]]]
"""Queries with their passages to a row of each judge and passage, and what the judges say as one."""
Pieces = Mapping[str, Sequence[tuple[Span, int]]]
"""By query: places with their grades."""


def check_evidence(workspace: Workspace) -> None:
    """Raises InputError, before anything is searched, where finalists are wanted and no query has evidence."""
    if workspace.experiment.wants_finalists and not _evidence(workspace):
        raise _without_evidence(workspace)


def _evidence(workspace: Workspace, deeper: Pieces | None = None) -> dict[str, Graded]:
    return read_graded(workspace.queries, workspace.pages, workspace.passages, workspace.own_qrels, deeper)


def _without_evidence(workspace: Workspace) -> InputError:
    problem = "no query has evidence, against which variants could be held"
    remedy = 'give questions metadata.evidence (docs/evidence.md), or write them with style = "need"'
    return InputError(problem, file=workspace.queries, remedy=remedy)


def screen(workspace: Workspace, grade: GradeOf | None = None) -> StageOutcome:
    """Write `screen.json` from `screening.jsonl`, the rankings beside it, and the evidence of the queries.

    grade: by which what finalists hand over and nobody has judged is graded before they are compared, as TREC deepens a
    pool. The grades are in `found-deeper.jsonl`, and all figures are by them too, but who is a finalist and what
    settings do are told by the pool in which no variant had a part.

    Where no query has evidence there is none, and a notice. Raises InputError where finalists are wanted then, and for
    evidence that is not in the documents, and what `grade` raises.
    """
    workspace.found_deeper.unlink(missing_ok=True)
    runs = read_records(workspace.screening_runs, VariantRun)
    evidence = _evidence(workspace)
    every = read_records(workspace.queries, Query)
    asked = originals(every)
    queries = [query for query in asked if query.id in evidence]
    if not queries and not workspace.experiment.wants_finalists:
        workspace.screen.unlink(missing_ok=True)
        return StageOutcome(("no query has evidence, so no variant was held against it",), n_records=len(runs))
    if not queries:
        raise _without_evidence(workspace)
    judged = read_judged(workspace.found, workspace.passages, workspace.own_qrels)
    search = workspace.experiment.search_settings
    baseline = workspace.experiment.variants.named(search.baseline)[0].name if search.baseline else None

    def held_against(evidence: Mapping[str, Graded], before: ScreenResults | None = None) -> ScreenResults:
        screened = screened_by(workspace, runs, queries, evidence, judged)
        found = screen_results(screened, places=search.finalists, baseline=baseline, before=before)
        prices = conversation_prices(screened, queries)
        return found.model_copy(update={"conversation_price": prices, "said": (*found.said, *_of_prices(prices))})

    results, rows = held_against(evidence), list[Found]()
    # Whether all that were measured have a recall of 0, also of passages that hold a part of an answer.
    recalls = [one.evidence_recall_1 or one.evidence_recall for one in results.variants]
    values = [one.value for one in recalls if one is not None and one.value is not None]
    if values and not any(values):
        problem = f"no variant found any of the evidence of {len(queries)} queries"
        remedy = "check that it is of these documents, with `ragassay check`"
        raise InputError(problem, file=workspace.queries, remedy=remedy)
    if grade:
        shares = {one.name: one.unjudged.value if one.unjudged else None for one in results.variants}
        by_name = {run.variant: run for run in runs}
        hardly = [by_name[name] for name in results.finalists if (shares[name] or 0.0) > FEW_UNJUDGED]
        rows, deeper = _deepened(workspace, hardly, queries, evidence, judged, grade)
        write_records(workspace.found_deeper, rows)
        for query, pieces in deeper.items():
            judged[query] = merged([*judged[query], *(span for span, _ in pieces)])
        results = held_against(_evidence(workspace, deeper), results) if deeper else results
    results = results.model_copy(update={"context_tokens": search.tokens})
    write_json(workspace.screen, results.dump())
    without = len(asked) - len(queries)
    said = [f"{without} of {len(asked)} queries have no evidence and are no part of the figures"] if without else []
    said += left_out(len(every) - len(asked))
    errors = [plain(row.error) for row in rows if row.error is not None]
    if rows:
        said.append(f"{len(rows)} passages that finalists hand over and nobody had judged were put to the judge")
    if errors:
        said[-1] += f", of which {len(errors)} could not be graded, the first: {errors[0]}"
    return StageOutcome((*results.said, *said), n_records=len(runs), n_failed=len(errors))


def conversation_prices(screened: Screened, queries: Sequence[Query]) -> dict[str, Figure] | None:
    """Variant to what it costs that a turn leans on what was said (`ScreenResults.conversation_price`).

    queries: those of the columns of `screened`, in their order.
    """
    pairs = bounds(dict(zip(screened.names, screened.settings, strict=True)))
    turns = leaning_turns(queries)
    if not pairs or not turns:
        return None
    at = {name: row for row, name in enumerate(screened.names)}
    of = {query.id: column for column, query in enumerate(queries)}
    values = screened.values[:, [of[query.id] for query in turns]]
    gaps = np.array([values[at[name]] - values[at[bound]] for name, bound in pairs.items()])
    return dict(zip(pairs, mean_figures(gaps, source_clusters(turns), (-1.0, 1.0), difference=True), strict=True))


def _of_prices(prices: Mapping[str, Figure] | None) -> list[str]:
    said = [f"{plain(name)} {told(one, '+.3f')}" for name, one in (prices or {}).items() if one.value is not None]
    what = "What conversation costs, to the search by the question that stands alone, on turns from the second on"
    return [f"{what}: {listed(said)}."] if said else []


def _deepened(
    workspace: Workspace,
    runs: Sequence[VariantRun],
    queries: Sequence[Query],
    evidence: Mapping[str, Graded],
    judged: Mapping[str, Evidence],
    grade: GradeOf,
) -> tuple[list[Found], Pieces]:
    """(the lines of `found-deeper.jsonl`, what they grade) of what these runs hand over and nobody has judged.

    Of a query that has a pool at most as many passages as the judge takes in a request, those of the first ranks.
    """
    pooled = {row.query_id for row in read_records(workspace.found, Found)} if runs and workspace.found.exists() else ()
    if not pooled:
        return [], {}
    passages = {passage.id: passage for passage in read_records(workspace.passages, Passage)}
    rankings = [read_run(workspace.screening / f"{run.variant}.trec") for run in runs]
    pools, found_by = list[tuple[Query, list[Passage]]](), dict[tuple[str, str], str]()
    for query in (query for query in queries if query.id in pooled):
        known, handed = merged([*judged[query.id], *evidence[query.id].at_1]), list[tuple[int, int, Passage]]()
        for place, run in enumerate(runs):
            ranking = [name for name, _ in rankings[place].get(query.id, ())]
            n = handed_over(ranking, run.k, run.tokens, lambda name: passage_tokens(passages[name]))
            handed += [(rank, place, passages[name]) for rank, name in enumerate(ranking[:n])]
        new: dict[str, Passage] = {}
        for _, place, passage in sorted(handed, key=lambda one: one[:2]):
            span, full = place_of(passage), len(new) == workspace.experiment.judge.pool_batch
            if span and passage.id not in new and not full and not is_judged(span, known):
                new[passage.id] = passage
                found_by[query.id, passage.id] = runs[place].variant
        pools += [(query, list(new.values()))] if new else []
    rows, labels = grade(pools) if pools else ([], [])
    spans = {one.id: span for _, pool in pools for one in pool if (span := place_of(one))}
    found = grouped((one.query_id, (spans[one.subject], int(one.label))) for one in labels if one.label is not None)
    placed = [spans[row.passage]._asdict() | {"found_by": found_by[row.query_id, row.passage]} for row in rows]
    return [row.model_copy(update=more) for row, more in zip(rows, placed, strict=True)], found


def screened_by(
    workspace: Workspace,
    runs: Sequence[VariantRun],
    queries: Sequence[Query],
    evidence: Mapping[str, Graded],
    judged: Mapping[str, Evidence] | None = None,
) -> Screened:
    """What the rankings of `runs` are worth by the evidence of these queries, all of which have some.

    judged: where somebody judged, by query; of one that is not in it, what is unjudged is not told.
    """
    search = workspace.experiment.search_settings
    passages = read_records(workspace.passages, Passage)
    spans = {passage.id: place_of(passage) for passage in passages}
    lengths = {passage.id: passage_tokens(passage) for passage in passages}
    shape = len(runs), len(queries)
    judged = judged or {}
    has_grades = any(evidence[query.id].at_1 != evidence[query.id].relevant for query in queries)
    fields = MEASURES | AT_GRADE_1 if has_grades else MEASURES
    measures = {name + at: np.full(shape, np.nan) for at in ("", AT_TOKENS) for name in fields}
    beside = {name + at: np.full(shape, np.nan) for at in ("", AT_TOKENS) for name in UNJUDGED}
    tokens = np.full(shape, np.nan)
    for row, run in enumerate(runs):
        rankings = read_run(workspace.screening / f"{run.variant}.trec")
        for column, query in enumerate(queries):
            if query.id in run.errors:
                continue
            ranking = [identifier for identifier, _ in rankings.get(query.id, ())]
            handed = ranking[: handed_over(ranking, run.k, run.tokens, lengths.__getitem__)]
            fitting = ranking[: handed_over(ranking, None, search.tokens, lengths.__getitem__)]
            tokens[row, column] = sum(map(lengths.__getitem__, handed))
            for at, shown in (("", handed), (AT_TOKENS, fitting)):
                places, graded = [spans[one] for one in shown], evidence[query.id]
                values = graded_values(graded, places)
                for name, field in fields.items():
                    measures[name + at][row, column] = np.nan if values is None else getattr(values, field)
                left = unjudged(graded, places, judged[query.id]) if query.id in judged else None
                for name, field in UNJUDGED.items():
                    beside[name + at][row, column] = np.nan if left is None else getattr(left, field)
    return Screened(
        names=[run.variant for run in runs],
        settings=[run.settings for run in runs],
        clusters=source_clusters(queries),
        measures=measures,
        quality=search.measure + (AT_TOKENS if search.at == "tokens" else ""),
        tokens=tokens,
        beside=beside if any(query.id in judged for query in queries) else None,
        **{cost: np.array([getattr(run, cost) for run in runs], np.float64) for cost in COSTS},
    )


def screen_results(
    screened: Screened,
    *,
    places: int = PLACES,
    baseline: str | None = None,
    seed: int = SEED,
    before: ScreenResults | None = None,
) -> ScreenResults:
    """What `screen.json` says. places: how many finalists at most. baseline: a variant that is one of them.

    before: the same before what its finalists hand over was judged, from which finalists and effects are taken: these
    grades favour the settings of finalists.

    The order of variants and queries makes no difference but to the order of `variants`. Raises InputError for a
    baseline that is none of the variants.
    """
    if baseline is not None and baseline not in screened.names:
        problem = f"there is no variant '{plain(baseline)}' that could be the baseline"
        raise InputError(problem, remedy="name one of the variants that `ragassay plan` lists")
    at = None if baseline is None else list(screened.names).index(baseline)
    on_front = front(screened)
    ranked, worse = screened.ranked, np.zeros(len(screened.names), dtype=bool)
    if len(ranked):
        # The failures of the first count as the worst value, 0, too: they do not pay.
        values = screened.values[ranked]
        failed = np.isnan(values[0]) & ~np.isnan(values).all(axis=0)
        worst = np.where(failed, 0.0, values[0]) - values[1:] if failed.any() else None
        worse[ranked[1:]] = holm_from_leader(values, screened.clusters, seed, worst).told
    best = chosen_variant(screened, worse, at, seed)
    if before:
        effects, going_on = before.effects, before.finalists
    else:
        effects = setting_effects(screened.values, crossed(screened.names, screened.settings), screened.clusters)
        going_on = tuple(screened.names[each] for each in finalists(screened, on_front, places, at))
    return ScreenResults(
        quality=screened.quality,
        n_queries=len(screened.clusters.queries),
        n_sections=len(screened.clusters.names),
        variants=_variants(screened, on_front),
        finalists=going_on,
        chosen=best,
        effects=effects,
        said=_said(screened, best, on_front, going_on, effects),
    )


def _variants(screened: Screened, on_front: Truths) -> tuple[VariantFigures, ...]:
    measures = {**screened.measures, **(screened.beside or {})}
    columns = {name: mean_figures(values, screened.clusters) for name, values in measures.items()}
    columns["tokens"] = mean_figures(screened.tokens, screened.clusters, None)
    found = []
    for at, name in enumerate(screened.names):
        costs = {cost: float(getattr(screened, cost)[at]) for cost in COSTS}
        known = {cost: value for cost, value in costs.items() if not math.isnan(value)}
        row = {"name": name, "settings": dict(screened.settings[at]), "on_front": bool(on_front[at])}
        figures = {measure: column[at] for measure, column in columns.items()}
        found.append(VariantFigures.model_validate(row | figures | known))
    return tuple(found)


def _said(
    screened: Screened,
    chosen: ChosenVariant | None,
    on_front: Truths,
    going_on: Sequence[str],
    effects: Sequence[SettingEffect],
) -> tuple[str, ...]:
    """The chosen one, its lead, who goes on, the front, what matters and what does not."""
    if chosen is None:
        return ("No variant has a value on half of the queries, so that none can be chosen.",)
    n, there = len(screened.names), sum(on_front)
    front = f"{there} of {n} variants {'is' if there == 1 else 'are'} on the front of quality, latency and tokens."
    finalists = f"To answers and games: {listed([plain(name) for name in going_on])}."
    matter = [effect.sentence for effect in effects if effect.matters]
    if others := [f"{effect.setting} ({effect.among})" for effect in effects if not effect.matters]:
        matter.append(f"Not told to matter: {listed([plain(other) for other in others])}.")
    leads = []
    second = ("the second", chosen.runner_up, chosen.lead)
    for which, other, lead in (second, ("the baseline", chosen.baseline, chosen.lead_over_baseline)):
        if other is None or lead is None or lead.before.value is None or lead.after.value is None:
            continue
        over, after = f"{which}, {plain(other)},", told(lead.after, ".3f")
        leads.append(f"Its lead over {over} is {lead.before.value:.3f} on the queries that chose, {after} on others.")
    return (chosen.sentence, *leads, finalists, front, *matter)


ALIKE = 0.95
"""On this share of the queries two variants have the same value of every measure."""
SAME = 1e-6
CHEAPER_SHARE = 2
"""One place in so many is for a variant that is much cheaper than the best."""
FEWER_TOKENS, FASTER = 1 / 2, 1 / 10
"""Of the tokens of the one before it, and of the search time of the best."""


def finalists(screened: Screened, on_front: Truths, places: int, baseline: int | None = None) -> list[int]:
    """Indices of at most `places` variants (at least 1), the baseline first, then by quality.

    The baseline has a place, then the one of highest quality. Up to half of the places go to variants of the front that
    are much cheaper: the best of those that hand over at most half of its tokens, the best at half of these, and so on,
    and the best of those that search in a tenth of its time. The rest go to the next by quality. One that is alike to a
    finalist, finding the same on nearly every query, has no place of its own: there may then be fewer finalists.

    on_front: (variants,), of quality, latency and tokens.
    """
    ranked = screened.ranked.tolist()
    taken: list[int] = [] if baseline is None else [baseline]
    taken += [at for at in ranked[:1] if at not in taken][: places - len(taken)]
    sparing, faster, latency = list[int](), list[int](), screened.latency_p50_s
    tokens = screened.mean_tokens[ranked[0]] if ranked else 0.0
    for at in (at for at in ranked if on_front[at]):
        if screened.mean_tokens[at] <= FEWER_TOKENS * tokens:
            sparing.append(at)
            tokens = screened.mean_tokens[at]
        if latency[at] <= FASTER * latency[ranked[0]]:
            faster.append(at)
    cheaper = [*sparing[:1], *faster[:1], *sparing[1:]]
    _fill(taken, cheaper, min(places, len(taken) + places // CHEAPER_SHARE), screened.measures)
    _fill(taken, ranked, places, screened.measures)
    rank = {at: place for place, at in enumerate(ranked)}
    return sorted(taken, key=lambda at: (at != baseline, rank.get(at, len(rank))))


def _fill(taken: list[int], candidates: list[int], places: int, measures: Mapping[str, Floats]) -> None:
    """Add candidates in order that are not yet there, nor alike to one that is, up to `places`."""
    for at in candidates:
        if len(taken) >= places:
            return
        if at not in taken and not any(alike(at, other, measures) for other in taken):
            taken.append(at)


def alike(one: int, other: int, measures: Mapping[str, Floats]) -> bool:
    """Whether two variants find the same on `ALIKE` of the queries: all measures agree, or both failed."""
    pairs = [(values[one], values[other]) for values in measures.values()]
    same = np.all([(np.abs(a - b) < SAME) | (np.isnan(a) & np.isnan(b)) for a, b in pairs], axis=0)
    return bool(same.mean() >= ALIKE) if len(same) else False


def front(screened: Screened) -> Truths:
    """(variants,): whether no other is at least as good, as fast and as sparing, and better in one of the three.

    Quality is the mean lead over the field, latency the median in two digits, tokens the mean in whole ones. What is
    unknown is worse than all that is known; what cannot be ranked is not on the front.
    """
    lead = np.where(screened.field.enough, screened.field.lead, np.nan)
    points = np.stack([-lead, two_digits(screened.latency_p50_s), np.round(screened.mean_tokens)], axis=1)
    found: Truths = undominated(np.nan_to_num(points, nan=np.inf)) & screened.field.enough
    return found


def undominated(points: Floats) -> Truths:
    """(points,): whether no other of `points` (points, dimensions) is at most as large in each, smaller in one."""
    kept = np.ones(len(points), dtype=bool)
    for at, point in enumerate(points):
        others = points[kept]
        kept[at] = not ((others <= point).all(axis=1) & (others < point).any(axis=1)).any()
    return kept
