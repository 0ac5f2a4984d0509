"""The stage `compare`: every figure of the report, from the files of the stages before, into `results.json`.

All sections are made from one `Basis`: values, verdicts, ratings, and what other processes are at meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from .figures.turns_and_steps import Searched, conversations_of, searched
from .figures.values import ComparedMeasure, all_measures, write_values
from .figures.written_and_real import told_of_both, written_and_real
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
from .judging.engine.evaluator import coverage_of, thresholds_of
from .looks import Drawn, after_stop, drawn_of, looked, passed_over_said, said, taken_of
from .measures.by_labels import LabelRows
from .measures.measure import compared, from_labels
from .ratings import bradley_terry, elo
from .ratings.leader import MARGIN, Standing, choose, rank_intervals, stand
from .ratings.length_control import Controlled
from .ratings.verdicts import Points, Verdict, panel_verdicts, points_of, verdicts
from .ratings.win_table import contests, first_shown_wins, flip_rate, win_rate, wins
from .results import (
    ANSWERS_OF,
    NOT_DISTINGUISHABLE,
    POINTS,
    Comparison,
    Corrections,
    RatingDetail,
    Results,
    SecondJudgeResults,
)
from .statistics.clustered import ByAgent
from .statistics.paired_comparison import FromLeader
from .statistics.resamples import Resamples, resamples
from .statistics.sign_flip import rag_tests


def compare(workspace: Workspace) -> StageOutcome:
    """Write `results.json` and `values.jsonl`. The same inputs give the same bytes.

    Raises InputError for a file that is missing or not as the design has it; nothing is written then.
    """
    check_measures(workspace)
    experiment, everything = workspace.experiment, read_findings(workspace)
    findings = originals_alone(everything)
    people, judged = read_people(workspace), Judgments()
    if experiment.evaluates and workspace.judgments.exists():
        judged = Judgments(
            rows=read_records(workspace.judgments, Assessment), evaluators=experiment_evaluators(workspace)
        )
    evaluated, second = _evaluations(workspace, everything, findings, judged), read_second(workspace)
    with helpers_for(findings, experiment) as helpers:
        basis = basis_of(findings, experiment, evaluated, helpers, drawn_of(workspace))
        steps = searched(workspace, findings)
        results, notices = _results_of(basis, workspace.results.name, people, second, steps)
    if findings is not everything:
        thresholds = experiment.evaluate.thresholds
        changed = robustness(everything, judged.rows, judged.evaluators, results.agents, thresholds)
        found = flip_problems(changed) if changed else ()
        results = results.model_copy(update={"perturbed": changed, "problems": (*results.problems, *found)})
    if looks := looked(workspace, results.verdict):
        new, fewer = after_stop(looks) if results.corrected else (), passed_over_said(looks)
        notices = (said(looks), *notices, *fewer, *new)
        known = {"looks": looks, "stopped_early": looks[-1].stopped_early}
        known |= {"corrected": _noted(results.corrected, new)}
        known |= {"notices": (said(looks), *fewer, *results.notices, *new)}
        results = results.model_copy(update=known)
    _write_values(workspace.values, basis, judged.rows, steps)
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


def _evaluations(workspace: Workspace, everything: Findings, findings: Findings, judged: Judgments) -> Evaluations:
    evaluators, experiment = judged.evaluators, workspace.experiment
    if not evaluators:
        return Evaluations()
    # With `max_rows` those are judged that are among the first of all queries.
    there = {query.id for query in limited(everything.material, experiment.evaluate.max_rows).queries}
    queries = tuple(query for query in findings.material.queries if query.id in there)
    findings = replace(findings, material=replace(findings.material, queries=queries))
    kept = [row for row in judged.rows if row.query_id not in findings.perturbed]
    thresholds = thresholds_of(evaluators, experiment.evaluate.thresholds)
    found = found_in(findings, relevant_by_judges(evaluators, kept, thresholds), experiment)
    return replace(
        evaluations_by_query(findings, kept, evaluators, experiment.evaluate.k),
        classified=tuple(row for row in kept if row.criterion == CLASSIFICATION),
        overall=overall_by_agent(workspace, evaluators),
        thresholds=thresholds,
        shares=shares_by_agent(evaluators, kept, findings.material.answers, thresholds, found),
        judged=Judgments(evaluators, kept),
    )


def results_of(findings: Findings, experiment: Experiment, corpus: str) -> tuple[Results, tuple[str, ...]]:
    """Every figure, and the notices that are new here (`Results.notices` has those of the stages before as well)."""
    with helpers_for(findings, experiment) as helpers:
        basis = basis_of(findings, experiment, Evaluations(), helpers)
        return _results_of(basis, corpus, None, None, Searched())


def _results_of(
    basis: Basis, corpus: str, labelled: People | None, second: SecondJudge | None, steps: Searched
) -> tuple[Results, tuple[str, ...]]:
    """The sections that hang on this process alone come first: others are at the comparisons, length and Elo then."""
    findings, experiment, material = basis.findings, basis.experiment, basis.findings.material
    evaluated, ndcg = of_evaluators(basis.evaluated), f"nDCG@{basis.k}"
    lists = {ndcg: ComparedMeasure({agent: row[ndcg] for agent, row in basis.retrieval.items() if ndcg in row})}
    measures = basis.asked | evaluated
    pairs, alone = _pairs(basis, measures | steps.measures), _by_itself(basis, steps)
    panel = panel_of_judges(findings, basis.found, basis.own, experiment, basis.order, basis.draws)
    audit = audit_of(findings, basis.found, basis.own, experiment, basis.order, basis.draws, basis.length)
    corrected, guess, guesses = _corrected(basis, labelled), guessing(audit), judge_guesses(audit, panel)
    notices = [*findings.unusable, *basis.strengths.notices, *warnings(audit), *warnings_of(panel)]
    notices += corrected.notes if corrected else ()
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
        **alone,
        **_comparisons(basis, pairs, guesses),
        elo=basis.in_order(basis.elo()),
        bradley_terry=basis.in_order(basis.strengths.figures),
        bradley_terry_note=basis.strengths.note,
        audit=audit,
        failures=failures(findings, basis.found),
        corrected=corrected,
        panel=panel,
        second=_second(basis, second),
        classification=basis.in_order(classification_figures(basis.evaluated.classified, basis.draws)) or None,
        models_by_prompts=models_by_prompts(answered_by(experiment, material), measures, basis.draws),
        conversations=conversations_of(
            material.queries,
            measures | steps.measures,
            # An answer is right by the first criterion.
            {agent: row[one] for agent, row in basis.pointwise.items() for one in basis.criteria[:1] if one in row},
            basis.draws,
            {
                one.name: settings_of(one.variant, experiment) | {"answers": one[2:]}
                for one in experiment.table_agents()
                if one.variant
            },
        ),
        stepwise=basis.in_order(steps.figures(basis.draws)),
        sources=written_and_real(findings, basis.asked | lists | evaluated, basis.found, basis.draws),
    )
    return results, tuple(dict.fromkeys((*guess, *notices)))


def _by_itself(basis: Basis, steps: Searched) -> dict[str, Any]:
    """The sections that wait for nobody."""
    findings, draws, made, in_order = basis.findings, basis.draws, basis.evaluated, basis.in_order
    retrieval, pointwise = figures(basis.retrieval, draws), figures(basis.pointwise, draws, HIGHEST)
    people = people_by_query(findings, from_labels(basis.k, basis.experiment.compare.measures))
    means, evaluators = made.figures(draws), made.judged.evaluators
    scales = made.scales | {name: one.scale for name, one in steps.measures.items()}
    less = [name for name, one in scales.items() if one.lower_is_better]
    material = findings.material if made.scales else Material((), (), {}, {})
    points = {agent: draws.figure(row, (0.0, 1.0)) for agent, row in basis.asked[POINTS].values.items()}
    boxes = boxes_of(
        (basis.retrieval, retrieval, lambda name: (0.0, 1.0)),
        (basis.pointwise, pointwise, lambda name: (0.0, HIGHEST)),
        (made.values, means, lambda name: made.scales[name].limits),
    )
    ordered = in_order(means)
    return {
        "retrieval": in_order(retrieval),
        "retrieval_people": in_order(figures(people, draws)),
        "relevance_labels": relevance_labels(findings),
        "n_relevance_failed": sum(row.error is not None for row in findings.relevance),
        "pointwise": in_order(pointwise),
        "pointwise_labels": in_order(pointwise_labels(findings, basis.criteria)),
        "refusals": in_order(refusals(findings, draws)),
        "answers": in_order(answer_figures(findings, draws)),
        "evaluations": ordered,
        "evaluation_scales": {
            name: (one.lowest, None if isinf(one.highest) else one.highest)
            for name, one in scales.items()
            if name in made.scales or one.ends != (0.0, 1.0)
        },
        "evaluators": made.evaluators,
        "evaluator_families": {one.name: one.family for one in evaluators},
        "lower_is_better": tuple(less),
        "thresholds": made.thresholds,
        "threshold_shares": in_order(by_threshold(made.shares, draws)),
        "evaluator_tags": coverage_of(evaluators),
        "problems": problems(ordered, made.thresholds, less, material.answers, draws),
        "insights": insights(evaluators, made.judged.rows, made.values, material.answers, material.queries, draws),
        "pass_or_fail": in_order(pass_or_fail(made.overall, draws)),
        "boxes": in_order(boxes),
        "points": in_order(points),
        "wins": wins(basis.found, basis.order, draws),
        "win_rate": win_rate(basis.found, basis.order, draws),
        "flip_rate": flip_rate(basis.own, draws),
        "first_shown_wins": first_shown_wins(findings.games, draws),
        "pool": in_order(pool_by_judge(findings, draws, basis.k, basis.labelled)),
        "pool_people": in_order(pool_by_people(findings, draws, basis.k)),
    }


def _comparisons(basis: Basis, begun: Callable[[], tuple[Comparison, ...]], guesses: str) -> dict[str, Any]:
    """Every pair of agents on every measure, what to choose by points, and the paper's tests.

    guesses: why the judge's verdicts on games may be guesses; "" where nothing says so.
    """
    findings, draws, standing = basis.findings, basis.draws, basis.standing
    verdict = choose(standing, basis.points, basis.margin, guesses)
    low = at_bottom(findings, basis.retrieval, basis.pointwise, basis.found, draws, basis.ranking, basis.play.initial)
    again = _pairs(basis, low.measures) if low else None
    failing, pairs = low.figures(verdict, basis.order, draws) if low else None, begun()
    if low and again:
        pairs = withhold_pairs(pairs, again(), low.failed, verdict.leader)
        verdict = told_with_failures(verdict, low, len(findings.queries))
    if guesses:
        pairs = tuple(_guessed(row) if row.measure == POINTS else row for row in pairs)
    ranks = rank_intervals(standing, [row for row in pairs if row.measure == POINTS]) if standing else {}
    detail = {name: getattr(basis.strengths, name) for name in ("ties", "tie_parameter", "triples", "intransitive")}
    return {
        "verdict": told_of_both(verdict, by_source(findings.material.queries), basis.asked[POINTS].values),
        "comparisons": pairs,
        "rating_detail": RatingDetail(ranks=ranks, **detail),
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
    return corrected and corrected.model_copy(update={"notes": (*corrected.notes, *new)})


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


def _settings(basis: Basis) -> dict[str, str | int | float | None]:
    """What the figures depend on, for the reader of the report."""
    experiment = basis.experiment
    n = experiment.answer.repeats if experiment.run.until else 1
    own = {agent.name: agent.model for agent in experiment.table_agents() if agent.model != experiment.answer.model}
    return {
        "k": experiment.retrieval.k,
        "retrieval_engine": experiment.retrieval.engine,
        "embedding": experiment.retrieval.embedding,
        "rrf_k": experiment.retrieval.rrf_k,
        "answer_model": experiment.answer.model,
        # Of a run that may end early, how often an agent answers that answers more than once: what it saves.
        **({f"{ANSWERS_OF}{agent}": n for agent in experiment.answered_agents()} if n > 1 else {}),
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
    majority's. own: each judge's. asked: the measures on which agents are compared, but for evaluators'. margin: the
    smallest difference of points (0 to 1) that matters: `[run] margin` of a run until something is known, else
    `[compare] matters`, else `MARGIN`. helpers: who works beside this process; elo and length wait for what they do.
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
    asked: dict[str, ComparedMeasure]
    margin: float
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
    findings: Findings, experiment: Experiment, evaluated: Evaluations, helpers: Helpers, drawn: Drawn | None = None
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
    margin = experiment.run.margin if experiment.run.until else settings.matters.get(POINTS, MARGIN)
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
        margin=margin,
        play=play,
        helpers=helpers,
        elo=points,
        length=length,
        strengths=rating(),
        points=games,
        standing=stand(games, clusters, settings.seed, margin, *((drawn.look, drawn.told) if drawn else ())),
    )
