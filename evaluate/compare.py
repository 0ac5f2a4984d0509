"""The stage `compare`: every figure of the report, from the files of the stages before, into `results.json`.

One function gives the figures of one section of the report, and `results_of` puts them together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isinf
from pathlib import Path
from typing import Any, TypeVar

from ragassay.cores import Helpers
from ragassay.errors import LEFT_OUT
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import StageOutcome, Workspace, settings_of
from ragassay.files import read_records, write_json
from ragassay.records import Assessment, Figure

from .agreement.agree import agreement_by_criterion
from .audit.judge_audit import audit_of, guessing, judge_guesses, panel_of_judges, warnings, warnings_of
from .audit.taste import begin_control, lengths_of
from .figures.answer_consistency import flip_problems, robustness
from .figures.conversations import conversations_of
from .figures.evaluator_values import (
    CLASSIFICATION,
    Evaluations,
    Judgments,
    classification_figures,
    evaluations_by_query,
)
from .figures.good_enough import by_threshold, found_in, insights, problems, relevant_by_judges, shares_by_agent
from .figures.pass_or_fail import overall_by_agent, pass_or_fail
from .figures.pool import (
    at_bottom,
    failed_answers,
    failures,
    pool_by_judge,
    pool_by_people,
    told_with_failures,
    withhold_pairs,
)
from .figures.query_values import (
    ComparedMeasure,
    answer_figures,
    answered_by,
    boxes_of,
    check_measures,
    compare_agents,
    figures,
    labelled_rows,
    models_by_prompts,
    of_evaluators,
    of_findings,
    people_by_query,
    pointwise_by_query,
    pointwise_labels,
    refusals,
    relevance_labels,
    retrieval_by_query,
    without_values,
)
from .figures.steps import Searched, searched
from .figures.values import all_measures, write_values
from .figures.written_and_real import Measured, told_of_both, written_and_real
from .human_labels.corrections import (
    Judged,
    People,
    SecondJudge,
    correct_figures,
    notes_of_second,
    read_people,
    read_second,
)
from .inputs.clusters import by_source, source_clusters
from .inputs.findings import Findings, Material, limited, originals_alone, read_findings
from .inputs.labels import HIGHEST, by_item
from .judging.catalog import experiment_evaluators
from .judging.engine.evaluator import Evaluator, coverage_of, thresholds_of
from .looks import Drawn, after_stop, drawn_of, looked, passed_over_said, said, taken_of
from .measures.by_labels import LabelRows
from .measures.measure import compared, from_labels
from .ratings import bradley_terry, elo
from .ratings.leader import MARGIN, Standing, choose, rank_intervals, stand
from .ratings.length_control import Controlled
from .ratings.verdicts import Points, Verdict, panel_verdicts, points_of, verdicts
from .ratings.win_table import Contests, contests, first_shown_wins, flip_rate, win_rate, wins
from .results import (
    ANSWERS_OF,
    NOT_DISTINGUISHABLE,
    POINTS,
    Boxes,
    Comparison,
    Corrections,
    Figures,
    RatingDetail,
    Results,
    SecondJudgeResults,
)
from .statistics.clustered import ByAgent, Values
from .statistics.ladder import Look
from .statistics.paired_comparison import FromLeader
from .statistics.resamples import Resamples, resamples
from .statistics.sign_flip import rag_tests


def compare(workspace: Workspace) -> StageOutcome:
    """Write `results.json` and `values.jsonl`. The same inputs give the same bytes.

    Raises InputError for a file that is missing or not as the design has it; nothing is written then.
    """
    check_measures(workspace)
    everything = read_findings(workspace)
    findings = originals_alone(everything)
    people = read_people(workspace)
    rows, evaluators = _assessments(workspace)
    evaluated, second = _evaluations(workspace, everything, findings, rows, evaluators), read_second(workspace)
    with helpers_for(findings, workspace.experiment) as helpers:
        basis = basis_of(findings, workspace.experiment, evaluated, helpers, drawn_of(workspace))
        steps = searched(workspace, findings)
        results, notices = _results_of(basis, workspace.results.name, people, second, steps)
    if findings is not everything:
        changed = robustness(everything, rows, evaluators, results.agents, workspace.experiment.evaluate.thresholds)
        found = tuple(flip_problems(changed)) if changed else ()
        results = results.model_copy(update={"perturbed": changed, "problems": (*results.problems, *found)})
    if looks := looked(workspace, results.verdict):
        known = {"looks": looks, "stopped_early": looks[-1].stopped_early}
        new, fewer = after_stop(looks) if results.corrected else (), passed_over_said(looks)
        notices = (said(looks), *notices, *fewer, *new)
        told = (said(looks), *fewer, *results.notices, *new)
        known |= {"corrected": _noted(results.corrected, new), "notices": told}
        results = results.model_copy(update=known)
    _write_values(workspace.values, basis, rows, steps)
    write_json(workspace.figures, results.dump())
    return StageOutcome(notices=notices, exit_status=LEFT_OUT if findings.unusable else 0, n_records=1)


def _write_values(path: Path, basis: Basis, rows: Sequence[Assessment], steps: Searched) -> None:
    """Of every measure that has values by query; what has none says why, as far as a record does."""
    findings, evaluated = basis.findings, of_evaluators(basis.evaluated)
    said = {(row.query_id, row.subject, row.criterion): row.error for row in (*findings.pointwise, *rows) if row.error}

    def why(query: str, agent: str, measure: str) -> str | None:
        answer = findings.material.answers.get((query, agent))
        failed = f"there is no answer: {answer.error}" if answer and answer.error else None
        return said.get((query, agent, measure)) or failed

    measures = all_measures(basis.retrieval, {**basis.asked, **evaluated, **steps.measures})
    write_values(path, measures, findings.material.agents, findings.queries, basis.draws.clusters, why)


def _assessments(workspace: Workspace) -> tuple[list[Assessment], list[Evaluator]]:
    """What the evaluators gave, and who they are; nothing where there are none."""
    if not workspace.experiment.evaluates or not workspace.judgments.exists():
        return [], []
    return read_records(workspace.judgments, Assessment), experiment_evaluators(workspace)


def _evaluations(
    workspace: Workspace,
    everything: Findings,
    findings: Findings,
    rows: Sequence[Assessment],
    evaluators: Sequence[Evaluator],
) -> Evaluations:
    if not evaluators:
        return Evaluations()
    cutoffs = workspace.experiment.evaluate.k
    # With `max_rows` those are judged that are among the first of all queries.
    there = {query.id for query in limited(everything.material, workspace.experiment.evaluate.max_rows).queries}
    judged = tuple(query for query in findings.material.queries if query.id in there)
    findings = replace(findings, material=replace(findings.material, queries=judged))
    kept = [row for row in rows if row.query_id not in findings.perturbed]
    made = evaluations_by_query(findings, kept, evaluators, cutoffs)
    thresholds = thresholds_of(evaluators, workspace.experiment.evaluate.thresholds)
    found = found_in(findings, relevant_by_judges(evaluators, kept, thresholds), workspace.experiment)
    shares = shares_by_agent(evaluators, kept, findings.material.answers, thresholds, found)
    overall = overall_by_agent(workspace, evaluators)
    return replace(
        made,
        classified=tuple(row for row in kept if row.criterion == CLASSIFICATION),
        overall=overall,
        thresholds=thresholds,
        shares=shares,
        judged=Judgments(evaluators, kept),
    )


def results_of(
    findings: Findings,
    experiment: Experiment,
    corpus: str,
    labelled: People | None = None,
    evaluated: Evaluations | None = None,
    second: SecondJudge | None = None,
) -> tuple[Results, tuple[str, ...]]:
    """Every figure, and the notices that are new here (`Results.notices` has those of the stages before as well)."""
    with helpers_for(findings, experiment) as helpers:
        basis = basis_of(findings, experiment, evaluated or Evaluations(), helpers)
        return _results_of(basis, corpus, labelled, second)


def _results_of(
    basis: Basis,
    corpus: str,
    labelled: People | None,
    second: SecondJudge | None,
    steps: Searched | None = None,
) -> tuple[Results, tuple[str, ...]]:
    """The sections that hang on this process alone come first: others are at the comparisons, length and Elo then."""
    findings, experiment = basis.findings, basis.experiment
    steps = steps or Searched()
    measures = {**basis.asked, **of_evaluators(basis.evaluated)}
    pairs = _pairs(basis, {**measures, **steps.measures})
    boxes, ranking, answers, games, pool = _boxes(basis), _ranking(basis), _answers(basis), _games(basis), _pool(basis)
    panel = panel_of_judges(findings, basis.found, basis.own, experiment, basis.order, basis.draws)
    audit = audit_of(findings, basis.found, basis.own, experiment, basis.order, basis.draws, basis.length)
    corrected, guess, guesses = _corrected(basis, labelled), guessing(audit), judge_guesses(audit, panel)
    notices = [
        *findings.unusable,
        *basis.strengths.notices,
        *warnings(audit),
        *warnings_of(panel),
        *(corrected.notes if corrected else ()),
    ]
    notices += without_values(experiment, basis.evaluated)
    results = Results(
        corpus=corpus,
        note=experiment.corpus.note,
        notices=tuple(dict.fromkeys((*guess, *findings.notices, *notices))),
        settings=_settings(basis),
        agents=basis.order,
        n_queries=len(findings.queries),
        usage=findings.usage,
        ledger=findings.ledger,
        boxes=boxes,
        **ranking,
        **answers,
        **_evaluators(basis, steps),
        **games,
        **_comparisons(basis, pairs, guesses.sentence if guesses.guesses else ""),
        **pool,
        **_ratings(basis),
        audit=audit,
        failures=failures(findings, basis.found),
        corrected=corrected,
        panel=panel,
        second=_second(basis, second),
        classification=basis.in_order(classification_figures(basis.evaluated.classified, basis.draws)) or None,
        models_by_prompts=models_by_prompts(
            answered_by(experiment, findings.material), measures, basis.evaluated.scales, basis.draws
        ),
        conversations=conversations_of(
            findings.material.queries,
            {**measures, **steps.measures},
            basis.evaluated.scales | steps.scales,
            _right(basis),
            basis.draws,
            {
                one.name: settings_of(one.variant, experiment) | {"answers": one[2:]}
                for one in experiment.table_agents()
                if one.variant
            },
        ),
        stepwise=basis.in_order(steps.figures(basis.draws)),
        sources=written_and_real(
            Measured(findings, basis.k, basis.ranking, basis.retrieval, basis.pointwise, basis.found, basis.evaluated),
            basis.draws,
        ),
    )
    return results, tuple(dict.fromkeys((*guess, *notices)))


def _right(basis: Basis) -> dict[str, Values]:
    """Agent to query to the label of the first criterion, by which an answer is right."""
    named = basis.criteria[:1]
    return {agent: row[name] for agent, row in basis.pointwise.items() for name in named if name in row}


def _ranking(basis: Basis) -> dict[str, Any]:
    """The ranking measures by the judge's labels and by people's, and the labels themselves."""
    people = people_by_query(basis.findings, from_labels(basis.k, basis.experiment.compare.measures))
    return {
        "retrieval": basis.in_order(basis.retrieval_means),
        "retrieval_people": basis.in_order(figures(people, basis.draws)),
        "relevance_labels": relevance_labels(basis.findings),
        "n_relevance_failed": sum(row.error is not None for row in basis.findings.relevance),
    }


def _answers(basis: Basis) -> dict[str, Any]:
    """Answers judged by themselves, and what answering took."""
    return {
        "pointwise": basis.in_order(basis.pointwise_means),
        "pointwise_labels": basis.in_order(pointwise_labels(basis.findings, basis.criteria)),
        "refusals": basis.in_order(refusals(basis.findings, basis.draws)),
        "answers": basis.in_order(answer_figures(basis.findings, basis.draws)),
    }


def _evaluators(basis: Basis, steps: Searched) -> dict[str, Any]:
    """What the evaluators of `[evaluate]` gave, and what there is to say of the scales of steps."""
    made, material = basis.evaluated, basis.findings.material
    means, given = basis.in_order(made.figures(basis.draws)), (made.judged.evaluators, made.judged.rows)
    if not made.scales:
        material = Material((), (), {}, {})
    return {
        "evaluations": means,
        "evaluation_scales": {
            name: (low, None if isinf(high) else high) for name, (low, high) in (made.scales | steps.scales).items()
        },
        "evaluators": made.evaluators,
        "evaluator_families": {one.name: one.family for one in made.judged.evaluators},
        "lower_is_better": (
            *(name for name in made.scales if name in made.lower_is_better),
            *steps.lower_is_better,
        ),
        "thresholds": made.thresholds,
        "threshold_shares": basis.in_order(by_threshold(made.shares, basis.draws)),
        "evaluator_tags": coverage_of(made.judged.evaluators),
        "problems": problems(means, made.thresholds, made.lower_is_better, material.answers, basis.draws),
        "insights": insights(*given, made.values, material.answers, material.queries, basis.draws),
        "pass_or_fail": basis.in_order(pass_or_fail(made.overall, basis.draws)),
    }


def _boxes(basis: Basis) -> Boxes:
    """The spread of every measure over queries."""
    evaluated = basis.evaluated
    return basis.in_order(
        boxes_of(
            (basis.retrieval, basis.retrieval_means, lambda name: (0.0, 1.0)),
            (basis.pointwise, basis.pointwise_means, lambda name: (0.0, HIGHEST)),
            (evaluated.values, evaluated.figures(basis.draws), evaluated.limits),
        )
    )


def _games(basis: Basis) -> dict[str, Any]:
    """Who won against whom, and the orders in which the answers were shown."""
    return {
        "points": basis.in_order(
            {agent: basis.draws.figure(row, (0.0, 1.0)) for agent, row in basis.asked[POINTS].values.items()}
        ),
        "wins": wins(basis.found, basis.order, basis.draws),
        "win_rate": win_rate(basis.found, basis.order, basis.draws),
        "flip_rate": flip_rate(basis.own, basis.draws),
        "first_shown_wins": first_shown_wins(basis.findings.games, basis.draws),
    }


def _ratings(basis: Basis) -> dict[str, Any]:
    """The ratings from the games."""
    strengths = basis.strengths
    return {
        "elo": basis.in_order(basis.elo()),
        "bradley_terry": basis.in_order(strengths.figures),
        "bradley_terry_note": strengths.note,
    }


def _comparisons(basis: Basis, begun: Callable[[], tuple[Comparison, ...]], guesses: str) -> dict[str, Any]:
    """Every pair of agents on every measure, what to choose by points, and the paper's tests.

    guesses: why the judge's verdicts on games may be guesses; "" where nothing says so.
    """
    findings, draws = basis.findings, basis.draws
    verdict = choose(basis.standing, basis.points, basis.margin, guesses)
    low = at_bottom(findings, basis.retrieval, basis.pointwise, basis.found, draws, basis.ranking, basis.play.initial)
    again = _pairs(basis, low.measures) if low else None
    failing, pairs = low.figures(verdict, basis.order, draws) if low else None, begun()
    if low and again:
        pairs = withhold_pairs(pairs, again(), low.failed, verdict.leader)
        verdict = told_with_failures(verdict, low, len(findings.queries))
    if guesses:
        pairs = tuple(_guessed(row) if row.measure == POINTS else row for row in pairs)
    return {
        "verdict": told_of_both(verdict, by_source(findings.material.queries), basis.asked[POINTS].values),
        "comparisons": pairs,
        "rating_detail": RatingDetail(
            ranks=rank_intervals(basis.standing, [row for row in pairs if row.measure == POINTS])
            if basis.standing
            else {},
            ties=basis.strengths.ties,
            tie_parameter=basis.strengths.tie_parameter,
            triples=basis.strengths.triples,
            intransitive=basis.strengths.intransitive,
        ),
        "tests": rag_tests(basis.experiment.built_in_agents(), {name: one.values for name, one in basis.asked.items()}),
        "failures_at_bottom": failing,
    }


def _guessed(row: Comparison) -> Comparison:
    """Two agents on games that a judge who guesses gave."""
    said = f"{row.agent_a} and {row.agent_b} are not told apart by their games: the judge may be guessing."
    return row.model_copy(update={"verdict": NOT_DISTINGUISHABLE, "sentence": said})


def _pairs(basis: Basis, measures: Mapping[str, ComparedMeasure]) -> Callable[[], tuple[Comparison, ...]]:
    """Begun; waited for when asked for."""
    draws, matters = basis.draws, {**basis.experiment.compare.matters, POINTS: basis.margin}
    standing = basis.standing
    leader = FromLeader(standing.leader, standing.differences, standing.adjusted) if standing else None
    not_asked = basis.findings.material.not_asked
    return compare_agents(measures, basis.order, draws.clusters, draws.seed, matters, basis.helpers, leader, not_asked)


def _pool(basis: Basis) -> dict[str, Any]:
    """How far labels reach down the rankings."""
    return {
        "pool": basis.in_order(pool_by_judge(basis.findings, basis.draws, basis.k, basis.labelled)),
        "pool_people": basis.in_order(pool_by_people(basis.findings, basis.draws, basis.k)),
    }


def corrected_so_far(workspace: Workspace) -> Corrections | None:
    """`corrected` of the results, from the labels that there are now; None without any. Writes nothing.

    Raises InputError as `compare`.
    """
    people = read_people(workspace)
    if people is None:
        return None
    findings, experiment = originals_alone(read_findings(workspace)), workspace.experiment
    with helpers_for(findings, experiment) as helpers:
        made = _corrected(basis_of(findings, experiment, Evaluations(), helpers), people)
    drawn = drawn_of(workspace)
    return _noted(made, after_stop(taken_of(workspace, drawn) if drawn else ()))


def _noted(corrected: Corrections | None, new: Sequence[str]) -> Corrections | None:
    return corrected.model_copy(update={"notes": (*corrected.notes, *new)}) if corrected and new else corrected


def _corrected(basis: Basis, labelled: People | None) -> Corrections | None:
    """The figures as people's labels correct them, and how far the judge agrees with these."""
    if labelled is None:
        return None
    findings, draws, replicates = basis.findings, basis.draws, basis.experiment.compare.bootstrap
    judged = Judged(basis.retrieval, basis.pointwise, basis.found)
    made = correct_figures(findings, judged, labelled, basis.order, basis.criteria, basis.k, draws)
    said, rows = by_item(labelled.labels), (*findings.relevance, *findings.pointwise)
    agreement = agreement_by_criterion(said, rows, basis.found, draws.clusters, bootstrap=replicates, seed=draws.seed)
    return made.model_copy(update={"agreement": agreement})


def _second(basis: Basis, found: SecondJudge | None) -> SecondJudgeResults | None:
    """The figures with the second judge's labels in the place of people's."""
    judge = basis.experiment.judge
    if found is None or judge.second is None:
        return None
    corrected = _corrected(basis, found.people)
    assert corrected is not None, "there are labels, or an empty table of them"
    return SecondJudgeResults(
        judge=judge.second,
        share=judge.second_share,
        n_asked=found.n_asked,
        n_failed=found.n_failed,
        corrected=corrected.model_copy(update={"notes": notes_of_second(corrected)}),
    )


def _repeats(experiment: Experiment) -> dict[str, int]:
    """Of a run that may end early, how often each agent answers that answers more than once: what it saves."""
    n = experiment.answer.repeats if experiment.run.until else 1
    return dict.fromkeys(experiment.answered_agents(), n) if n > 1 else {}


def _settings(basis: Basis) -> dict[str, str | int | float | None]:
    """What the figures depend on, for the reader of the report."""
    experiment = basis.experiment
    own = {agent.name: agent.model for agent in experiment.table_agents() if agent.model != experiment.answer.model}
    return {
        "k": experiment.retrieval.k,
        "retrieval_engine": experiment.retrieval.engine,
        "embedding": experiment.retrieval.embedding,
        "rrf_k": experiment.retrieval.rrf_k,
        "answer_model": experiment.answer.model,
        **{f"{ANSWERS_OF}{agent}": n for agent, n in _repeats(experiment).items()},
        **{f"answer_model.{agent}": model for agent, model in own.items()},
        "judge_model": ", ".join(experiment.judge.models),
        "judge_mode": experiment.judge.mode,
        "games": experiment.judge.games,
        "tournaments": basis.play.tournaments,
        "k_factor": basis.play.k_factor,
        "initial_rating": basis.play.initial,
        "bootstrap": len(basis.draws.weights),
        "confidence": basis.draws.confidence,
        "seed": basis.draws.seed,
    }


V = TypeVar("V")

K_FACTOR = 16.0
"""A few dozen queries give an agent some tens of games, after which a smaller K would leave it near where it began."""

_LARGE = 10_000_000
"""Queries times the square of the agents, from which on other processes help: seconds of work."""


@dataclass(frozen=True)
class Basis:
    """What the sections are made from. retrieval, pointwise: the judge's values; points: of the agents' games.

    labelled: the labels of the first k passages, where all have one. found: the verdicts on the games, of a panel the
    majority's, and table: the same as arrays. own: each judge's. asked: the measures on which agents are compared, but
    for evaluators'. helpers: who works beside this process; elo and length wait for what they do.
    """

    findings: Findings
    experiment: Experiment
    draws: Resamples
    labelled: Mapping[str, LabelRows]
    retrieval: ByAgent
    pointwise: ByAgent
    evaluated: Evaluations
    found: Sequence[Verdict]
    own: Sequence[Verdict]
    asked: Mapping[str, ComparedMeasure]
    table: Contests
    play: elo.EloSettings
    helpers: Helpers
    elo: Callable[[], Mapping[str, Figure]]
    length: Callable[[], Controlled]
    strengths: bradley_terry.BradleyTerry
    points: Points
    standing: Standing | None

    @property
    def order(self) -> tuple[str, ...]:
        """The agents, best first by points."""
        return self.points.order

    @property
    def margin(self) -> float:
        """The smallest difference of points that matters."""
        return margin_of(self.experiment)

    @property
    def k(self) -> int:
        """The cutoff of the ranking measures."""
        return self.experiment.retrieval.k

    @property
    def ranking(self) -> list[str]:
        """The ranking measures on which agents are compared."""
        return compared(self.k, self.experiment.compare.measures)

    @property
    def criteria(self) -> tuple[str, ...]:
        """Those by which answers were judged by themselves."""
        return self.experiment.judge.criteria

    @cached_property
    def retrieval_means(self) -> Figures:
        """The mean of each ranking measure."""
        return figures(self.retrieval, self.draws)

    @cached_property
    def pointwise_means(self) -> Figures:
        """The mean of each criterion."""
        return figures(self.pointwise, self.draws, HIGHEST)

    def in_order(self, table: Mapping[str, V]) -> dict[str, V]:
        """By agent, best first."""
        return {agent: table[agent] for agent in self.order if agent in table}


def helpers_for(findings: Findings, experiment: Experiment) -> Helpers:
    """None for what is done before they have started."""
    agents, settings = len(findings.material.agents), experiment.compare
    replicates = settings.bootstrap if settings.elo_intervals else 0
    games = elo.is_large(len(findings.games) // 2, replicates, settings.tournaments)
    return Helpers(games or len(findings.queries) * agents**2 > _LARGE)


def basis_of(
    findings: Findings,
    experiment: Experiment,
    evaluated: Evaluations,
    helpers: Helpers,
    drawn: Drawn | None = None,
) -> Basis:
    """What other processes can do is begun before what only this one can."""
    settings, agents = experiment.compare, findings.material.agents
    clusters = source_clusters(findings.material.queries)
    draws = resamples(findings.queries, settings.bootstrap, settings.seed, clusters)
    own = verdicts(findings.games)
    found = panel_verdicts(own, experiment.judge.models)
    table = contests(found, agents, findings.queries)
    play = elo.EloSettings(K_FACTOR, tournaments=settings.tournaments, seed=settings.seed)
    rating = helpers.start(bradley_terry.rate, table, draws, play.initial)
    length = begin_control(found, lengths_of(findings.material.answers), agents, draws, helpers, table)
    points = elo.begin(table, draws if settings.elo_intervals else None, play, helpers)
    k, more = experiment.retrieval.k, settings.measures
    labelled = labelled_rows(findings, k)
    retrieval = retrieval_by_query(findings, k, more, labelled)
    pointwise = pointwise_by_query(findings, experiment.judge.criteria)
    not_asked = findings.material.not_asked
    games = points_of(found, agents, findings.queries, unanswered=failed_answers(findings), not_asked=not_asked)
    asked = of_findings(compared(k, more), retrieval, pointwise, games)
    return Basis(
        findings=findings,
        experiment=experiment,
        draws=draws,
        labelled=labelled,
        retrieval=retrieval,
        pointwise=pointwise,
        evaluated=evaluated,
        found=found,
        own=own,
        asked=asked,
        table=table,
        play=play,
        helpers=helpers,
        elo=points,
        length=length,
        strengths=rating(),
        points=games,
        standing=stand(games, clusters, settings.seed, margin_of(experiment), *_look(drawn)),
    )


def _look(drawn: Drawn | None) -> tuple[Look | None, tuple[str, ...]]:
    """At which look the leader is sought, and who was told from it before."""
    return (drawn.look, drawn.told) if drawn else (None, ())


def margin_of(experiment: Experiment) -> float:
    """The smallest difference of points (0 to 1) that matters: `[run] margin` of a run until something is known, else
    `[compare] matters`, else `MARGIN`."""
    if experiment.run.until:
        return experiment.run.margin
    return experiment.compare.matters.get(POINTS, MARGIN)
