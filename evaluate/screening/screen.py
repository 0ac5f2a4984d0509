"""The second half of the stage `screen`: what every variant found, held against the evidence, and who goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ragassay.arrays import Floats
from ragassay.errors import InputError
from ragassay.evidence.read import read_evidence
from ragassay.evidence.spans import Evidence, Span, place_of
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import read_records, write_json
from ragassay.perturbed import left_out, originals
from ragassay.records import Passage, Query
from ragassay.screening import VariantRun, handed_over
from ragassay.tokens import passage_tokens
from ragassay.trec import read_run

from ..figures.evidence_measures import MEASURES, query_values
from ..inputs.sections import source_clusters
from .screen_results import screen_results
from .screened import Screened

AT_TOKENS = "_at_tokens"


def check_evidence(workspace: Workspace) -> None:
    """Raises InputError, before anything is searched, where finalists are wanted and no query has evidence."""
    if workspace.experiment.wants_finalists and not _evidence(workspace):
        raise _without_evidence(workspace)


def _evidence(workspace: Workspace) -> dict[str, Evidence]:
    return read_evidence(workspace.queries, workspace.pages, workspace.passages, workspace.own_qrels)


def _without_evidence(workspace: Workspace) -> InputError:
    remedy = 'give questions metadata.evidence (docs/evidence.md), or write them with style = "need"'
    return InputError(
        "no query has evidence, against which variants could be held", file=workspace.queries, remedy=remedy
    )


def screen(workspace: Workspace) -> StageOutcome:
    """Write `screen.json` from `screening.jsonl`, the rankings beside it, and the evidence of the queries.

    Where no query has evidence there is none, and a notice. Raises InputError where finalists are wanted then, and for
    evidence that is not in the documents.
    """
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
    screened = screened_by(workspace, runs, queries, evidence)
    search = workspace.experiment.search_settings
    baseline = _baseline(workspace, search.baseline)
    results = screen_results(screened, places=search.finalists, baseline=baseline)
    results = results.model_copy(update={"context_tokens": search.tokens})
    write_json(workspace.screen, results.dump())
    without = len(asked) - len(queries)
    said = [f"{without} of {len(asked)} queries have no evidence and are no part of the figures"] if without else []
    said += left_out(len(every) - len(asked))
    return StageOutcome((*results.said, *said), n_records=len(runs))


def _baseline(workspace: Workspace, named: str | None) -> str | None:
    """The variant that [search] names; of a table with several, the first."""
    return workspace.experiment.variants.named(named)[0].name if named else None


def screened_by(
    workspace: Workspace, runs: Sequence[VariantRun], queries: Sequence[Query], evidence: Mapping[str, Evidence]
) -> Screened:
    """What the rankings of `runs` are worth by the evidence of these queries, all of which have some."""
    search = workspace.experiment.search_settings
    passages = read_records(workspace.passages, Passage)
    spans = {passage.id: place_of(passage) for passage in passages}
    lengths = {passage.id: passage_tokens(passage) for passage in passages}
    measures = {name: np.full((len(runs), len(queries)), np.nan) for at in ("", AT_TOKENS) for name in _named(at)}
    tokens = np.full((len(runs), len(queries)), np.nan)
    for row, run in enumerate(runs):
        rankings = read_run(workspace.screening / f"{run.variant}.trec")
        for column, query in enumerate(queries):
            if query.id in run.errors:
                continue
            ranking = [identifier for identifier, _ in rankings.get(query.id, ())]
            handed = ranking[: handed_over(ranking, run.k, run.tokens, lengths.__getitem__)]
            fitting = ranking[: handed_over(ranking, None, search.tokens, lengths.__getitem__)]
            tokens[row, column] = sum(map(lengths.__getitem__, handed))
            _set(measures, "", (row, column), evidence[query.id], [spans[one] for one in handed])
            _set(measures, AT_TOKENS, (row, column), evidence[query.id], [spans[one] for one in fitting])
    return Screened(
        names=[run.variant for run in runs],
        settings=[run.settings for run in runs],
        clusters=source_clusters(queries),
        measures=measures,
        quality=search.measure + (AT_TOKENS if search.at == "tokens" else ""),
        tokens=tokens,
        latency_p50_s=_column([run.latency_p50_s for run in runs]),
        latency_p95_s=_column([run.latency_p95_s for run in runs]),
        index_s=_column([run.index_s for run in runs]),
        index_bytes=_column([run.index_bytes for run in runs]),
    )


def _named(at: str) -> list[str]:
    return [name + at for name in MEASURES]


def _set(
    measures: Mapping[str, Floats],
    at: str,
    place: tuple[int, int],
    pieces: Evidence,
    handed: Sequence[Span | None],
) -> None:
    values = query_values(pieces, handed)
    for name, field in MEASURES.items():
        measures[name + at][place] = np.nan if values is None else getattr(values, field)


def _column(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], np.float64)
