"""People's questions get their relevant passages by the judge: what the screening's variants found, graded together.

    python -m benchmarks.question_worth.judged_pool CORPUS RESULTS

CORPUS has people's questions in queries.jsonl and RESULTS a screening over them and the written ones. The first
`DEPTH` passages of each of the variants that stand for the others (the first of each kind and chunking) are a
question's pool; each is graded from 0 to 2, up to ten in a request, and those that answer it (2) are written to
CORPUS/qrels.tsv, so that `ragassay screen` and `ragassay check validity` count them as its evidence. A variant unlike
those pooled is held too low where it alone finds what answers. Replies are recorded (benchmarks/replies); without them
the requests are written to results/benchmarks/judged_pool and the status is 3.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.judges.take_replies import KEPT, WHO_JUDGED, WORK, awaited, judging, open_work
from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.errors import RepliesMissing
from ragassay.evaluate.inputs.clusters import writer
from ragassay.evaluate.inputs.findings import by_id
from ragassay.evaluate.judging.engine.cases import QueryCase
from ragassay.evaluate.judging.engine.rounds import judged
from ragassay.evaluate.judging.panel import panel_of
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import VariantRun, Workspace
from ragassay.files import read_records, read_run, write_text
from ragassay.records import Judgment, Passage, Query

NAME = "judged_pool"
DEPTH = 2
ANSWERS_IT = 2


def representatives(runs: Sequence[VariantRun]) -> list[str]:
    """The first variant of each retriever's table and chunking."""
    first: dict[tuple[str, str], str] = {}
    for run in runs:
        first.setdefault((run.table, str(run.settings.get("chunking"))), run.variant)
    return list(first.values())


def pools(workspace: Workspace) -> list[QueryCase]:
    """Each real question with its pool."""
    queries = [query for query in by_id(workspace.queries, Query).values() if writer(query) is None]
    passages = by_id(workspace.passages, Passage)
    runs = [
        read_run(workspace.screening / f"{name}.trec")
        for name in representatives(read_records(workspace.screening_runs, VariantRun))
    ]
    cases = []
    for query in queries:
        found = dict.fromkeys(id for run in runs for id, _ in run.get(query.id, [])[:DEPTH])
        cases.append(QueryCase(query, tuple(passages[id] for id in sorted(found)), ()))
    return cases


def tell(rows: Sequence[Judgment], cases: Sequence[QueryCase]) -> None:
    """How many of each label, and how many questions have a passage that answers them."""
    counts = Counter("failed" if row.label is None else f"{row.label:g}" for row in rows)
    answered = {row.query_id for row in rows if row.label == ANSWERS_IT}
    print(f"{len(cases)} questions of people's, {len(rows)} passages: labels {dict(sorted(counts.items()))}.")
    print(f"{len(answered)} questions have a passage that answers them. {WHO_JUDGED}.")


def main(corpus: Path, results: Path, *, work: Path = WORK, kept: Path = KEPT) -> int:
    """Write CORPUS/qrels.tsv, or where replies are awaited the requests and give 3."""
    workspace = Workspace(corpus, results, load_experiment(corpus / "experiment.toml"))
    cases = pools(workspace)
    asking = open_work(NAME, work=work, judge=judging({"relevance_batch": 10}))
    caller = Caller(asking, "benchmark", ReplyCache(asking.replies, [kept]))
    try:
        (rows,) = judged([panel_of(asking).passages(cases)], caller)
    except RepliesMissing as missing:
        print(awaited(NAME, "relevance", missing), file=sys.stderr)
        return 3
    finally:
        caller.close()
    relevant = sorted((row.query_id, row.subject) for row in rows if row.label == ANSWERS_IT)
    lines = [f"{query}\t{passage}\t1\n" for query, passage in relevant]
    write_text(workspace.own_qrels, "query-id\tcorpus-id\tscore\n" + "".join(lines))
    tell([row.judgment() for row in rows], cases)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
