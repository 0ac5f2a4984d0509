"""The stage `compare`: every figure of the report, from the files of the stages before, into `results.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import read_records, write_json
from ragassay.records import Assessment

from .audit.judge_audit import audit_judge, warnings
from .figures import query_values
from .figures.boxes import box
from .figures.compared_measures import compared, comparisons, of_evaluations
from .figures.evaluator_values import Evaluations, evaluations_by_query
from .figures.pass_or_fail import pass_or_fail, verdicts_by_agent
from .figures.pool import pool_by_judge, pool_by_people
from .human_labels.corrections import Judged, People, corrections, read_people
from .inputs.findings import Findings, read_findings
from .inputs.sections import source_sections
from .judging.catalog import experiment_evaluators
from .ratings import bradley_terry, elo
from .ratings.bradley_terry_fit import STEPS
from .ratings.choice import choose, ranked
from .ratings.verdicts import Verdict, verdicts
from .ratings.win_table import contests, first_shown_wins, flip_rate, win_rate, win_rate_by_query, wins
from .results import Boxes, Figures, PairedTest, RatingDetail, Results
from .statistics.clustered import (
    Values,
)
from .statistics.paired_t import paired_test, rag_pairs
from .statistics.resamples import Range, Resamples, resamples

V = TypeVar("V")

ByAgent = Mapping[str, Mapping[str, Values]]
"""Agent to measure to query to value."""

K_FACTOR = 16.0
"""A few dozen queries give an agent some tens of games, after which a smaller K would leave it near where it began."""


def compare(workspace: Workspace) -> StageOutcome:
    """Write `results.json`. The same inputs give the same bytes.

    Raises InputError for a file that is missing or not as the design has it; nothing is written then.
    """
    findings = read_findings(workspace)
    people = read_people(workspace)
    evaluated = _evaluations(workspace, findings)
    results, notices = results_of(findings, workspace.experiment, workspace.results.name, people, evaluated)
    write_json(workspace.figures, results.dump())
    return StageOutcome(notices=notices, exit_status=2 if findings.unusable else 0, n_records=1)


def _evaluations(workspace: Workspace, findings: Findings) -> Evaluations:
    if not workspace.experiment.evaluates or not workspace.judgments.exists():
        return Evaluations()
    rows, cutoffs = read_records(workspace.judgments, Assessment), workspace.experiment.evaluate.k
    evaluators = experiment_evaluators(workspace)
    made = evaluations_by_query(findings, rows, evaluators, cutoffs)
    return replace(made, verdicts=verdicts_by_agent(workspace, evaluators))


def results_of(
    findings: Findings,
    experiment: Experiment,
    corpus: str,
    labelled: People | None = None,
    evaluated: Evaluations | None = None,
) -> tuple[Results, tuple[str, ...]]:
    """Every figure, and the notices that are new here (`Results.notices` has those of the stages before as well)."""
    settings, criteria, k = experiment.compare, experiment.judge.criteria, experiment.retrieval.k
    sections = source_sections(findings.material.queries)
    draws = resamples(findings.queries, settings.bootstrap, settings.seed, sections)
    found, agents = verdicts(findings.games), findings.material.agents
    table = contests(found, agents, findings.queries)
    play = elo.EloSettings(K_FACTOR, tournaments=settings.tournaments, seed=settings.seed)
    elo_figures, strengths = elo.rate(table, draws, play), bradley_terry.rate(table, draws, play.initial)
    order = ranked(agents, strengths, elo_figures)
    retrieval = query_values.retrieval_by_query(findings, k)
    pointwise = query_values.pointwise_by_query(findings, criteria)
    people = query_values.people_by_query(findings, k)
    evaluated = evaluated or Evaluations()
    table_of_measures = compared(findings, k, retrieval, pointwise, found)
    table_of_measures |= of_evaluations(evaluated)
    pairs = comparisons(findings, table_of_measures, order, settings.seed)
    judged = Judged(retrieval, pointwise, found)
    corrected = corrections(findings, judged, labelled, order, criteria, k, draws) if labelled else None
    audit = audit_judge(findings, found, experiment, order, draws)
    notices = (*findings.unusable, *_notices(strengths), *warnings(audit), *(corrected.notes if corrected else ()))
    results = Results(
        corpus=corpus,
        note=experiment.corpus.note,
        notices=tuple(dict.fromkeys((*findings.notices, *notices))),
        settings=_settings(experiment, play, draws),
        agents=order,
        n_queries=len(findings.queries),
        verdict=choose(order, strengths, table, draws, pairs),
        retrieval=_in_order(query_values.figures(retrieval, draws), order),
        retrieval_people=_in_order(query_values.figures(people, draws), order),
        relevance_labels=query_values.relevance_labels(findings),
        n_relevance_failed=sum(row.error is not None for row in findings.relevance),
        pointwise=_in_order(query_values.figures(pointwise, draws, query_values.HIGHEST), order),
        pointwise_labels=_in_order(query_values.pointwise_labels(findings, criteria), order),
        evaluations=_in_order(_evaluation_figures(evaluated, draws), order),
        evaluation_scales=evaluated.scales,
        evaluators=evaluated.evaluators,
        pass_or_fail=_in_order(pass_or_fail(evaluated.verdicts, draws), order),
        boxes=_in_order(_boxes(_scaled(retrieval, pointwise, evaluated), draws), order),
        answers=_in_order(query_values.answer_figures(findings, draws), order),
        wins=wins(found, order, draws),
        win_rate=win_rate(found, order, draws),
        flip_rate=flip_rate(found, draws),
        first_shown_wins=first_shown_wins(findings.games, draws),
        elo=_in_order(elo_figures, order),
        bradley_terry=_in_order(strengths.figures, order),
        bradley_terry_note=strengths.note,
        rating_detail=_rating_detail(strengths, order),
        tests=_tests(experiment, retrieval, pointwise, found, findings.queries),
        usage=findings.usage,
        ledger=findings.ledger,
        pool=_in_order(pool_by_judge(findings, draws, k), order),
        pool_people=_in_order(pool_by_people(findings, draws, k), order),
        audit=audit,
        comparisons=pairs,
        corrected=corrected,
    )
    return results, notices


def _scaled(
    retrieval: ByAgent, pointwise: ByAgent, evaluated: Evaluations
) -> list[tuple[ByAgent, Callable[[str], Range]]]:
    """Every table of measures, with what gives a measure's scale."""
    return [
        (retrieval, lambda name: (0.0, 1.0)),
        (pointwise, lambda name: (0.0, query_values.HIGHEST)),
        (evaluated.values, evaluated.scales.__getitem__),
    ]


def _evaluation_figures(evaluated: Evaluations, draws: Resamples) -> Figures:
    return {
        agent: {name: draws.figure(row, evaluated.scales[name]) for name, row in named.items()}
        for agent, named in evaluated.values.items()
    }


def _boxes(tables: Sequence[tuple[ByAgent, Callable[[str], Range]]], draws: Resamples) -> Boxes:
    """The spread of every measure of `tables`, each with what gives a measure's scale."""
    boxes: Boxes = {}
    for table, scale_of in tables:
        for agent, named in table.items():
            for name, row in named.items():
                scale = scale_of(name)
                boxes.setdefault(agent, {})[name] = box(row, draws.figure(row, scale), scale)
    return boxes


def _tests(
    experiment: Experiment,
    retrieval: Mapping[str, Mapping[str, Values]],
    pointwise: Mapping[str, Mapping[str, Values]],
    found: Sequence[Verdict],
    queries: Sequence[str],
) -> tuple[PairedTest, ...]:
    """RAG against RAG-Fusion for each retriever: on MRR at both levels, each criterion, and the win rate a query."""
    tests = []
    for rag, fusion in rag_pairs(experiment.built_in_agents()):
        for measure in query_values.ranking_measures(experiment.retrieval.k)[:2]:
            if rag in retrieval and fusion in retrieval:
                tests.append(paired_test(measure, rag, retrieval[rag][measure], fusion, retrieval[fusion][measure]))
        for name in experiment.judge.criteria:
            tests.append(paired_test(name, rag, pointwise[rag][name], fusion, pointwise[fusion][name]))
        rates = [win_rate_by_query(found, agent, queries) for agent in (rag, fusion)]
        tests.append(paired_test("win_rate", rag, rates[0], fusion, rates[1]))
    return tuple(tests)


def _notices(strengths: bradley_terry.BradleyTerry) -> tuple[str, ...]:
    notices = [f"Bradley-Terry: {strengths.note}"] if strengths.note else []
    if not strengths.converged:
        notices.append(f"Bradley-Terry did not converge in {STEPS} steps")
    return tuple(notices)


def _rating_detail(strengths: bradley_terry.BradleyTerry, order: Sequence[str]) -> RatingDetail:
    return RatingDetail(
        ranks=_in_order(strengths.ranks, order),
        ties=strengths.ties,
        tie_parameter=strengths.tie_parameter,
        triples=strengths.triples,
        intransitive=strengths.intransitive,
    )


def _settings(experiment: Experiment, play: elo.EloSettings, draws: Resamples) -> dict[str, str | int | float | None]:
    """What the figures depend on, for the reader of the report."""
    return {
        "k": experiment.retrieval.k,
        "retrieval_engine": experiment.retrieval.engine,
        "embedding": experiment.retrieval.embedding,
        "rrf_k": experiment.retrieval.rrf_k,
        "answer_model": experiment.answer.model,
        "judge_model": experiment.judge.model,
        "judge_mode": experiment.judge.mode,
        "games": experiment.judge.games,
        "tournaments": play.tournaments,
        "k_factor": play.k_factor,
        "initial_rating": play.initial,
        "bootstrap": len(draws.weights),
        "confidence": draws.confidence,
        "seed": draws.seed,
    }


def _in_order(table: Mapping[str, V], order: Sequence[str]) -> dict[str, V]:
    return {agent: table[agent] for agent in order if agent in table}
