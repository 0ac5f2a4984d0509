"""The demo's first twelve written questions judged as recorded, passages and answers together, and by ones and pairs.

    python -m benchmarks.judges.pairs_demo [RESULTS]

RESULTS is results/avr-libc, as `make demo` leaves it. The pairs are shown the same passages with the same labels, in
both orders. Replies are recorded (benchmarks/replies); without them the requests are written to
results/benchmarks/pairs_demo and the status is 3. Tokens are counted by the offline counter; dollars are what they cost
by the price tables, without a prompt cache. Passages were not graded one by one: what that would have asked is counted,
and a reply taken to be as long as a passage's part of a reply to several.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.judges.agreement import shown
from benchmarks.judges.take_replies import KEPT, WORK, awaited, judging, open_work, print_tables
from benchmarks.judges.together_demo import PRICED, Took, agreement
from benchmarks.tables.plan_accuracy import Counting
from ragassay.calls.reply_cache import ReplyCache
from ragassay.errors import RepliesMissing
from ragassay.evaluate.compare import results_of
from ragassay.evaluate.inputs.clusters import writer
from ragassay.evaluate.inputs.findings import Findings, read_findings
from ragassay.evaluate.judging.engine.cases import cases_of, known_relevant
from ragassay.evaluate.judging.engine.rounds import judged
from ragassay.evaluate.judging.games import play_lists, play_pairs
from ragassay.evaluate.judging.panel import panel_of
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.models.requests import Batch, Reply
from ragassay.prompts import count_tokens
from ragassay.records import Game

NAME = "pairs_demo"
CORPUS = Path("corpora/avr-libc")
N_QUERIES = 12


class Unasked(Counting):
    """Counts what would be asked, and asks nobody: every reply is an error."""

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        for batch in batches:
            for request in batch.requests:
                self.calls += 1
                self.input_tokens += sum(count_tokens(message.content) for message in request.messages)
        return [[Reply(error="not asked")] * len(batch.requests) for batch in batches]


@dataclass(frozen=True)
class Way:
    """One way of judging the answers to `n` queries, and what it took."""

    name: str
    games: Sequence[Game]
    took: Took
    n: int


def first_written(findings: Findings) -> Findings:
    """What was found of the first twelve written queries alone."""
    some = [query for query in findings.material.queries if writer(query) is not None][:N_QUERIES]
    ids = {query.id for query in some}
    material = findings.material
    return replace(
        findings,
        material=replace(
            material,
            queries=tuple(some),
            answers={key: answer for key, answer in material.answers.items() if key[0] in ids},
        ),
        rankings={agent: {q: r for q, r in ranked.items() if q in ids} for agent, ranked in findings.rankings.items()},
        relevance=tuple(row for row in findings.relevance if row.query_id in ids),
        qrels={query: labels for query, labels in findings.qrels.items() if query in ids},
        pointwise=tuple(row for row in findings.pointwise if row.query_id in ids),
        games=tuple(row for row in findings.games if row.query_id in ids),
        repeats=(),
        lists=tuple(row for row in findings.lists if row.query_id in ids),
    )


def way(name: str, workspace: Workspace, cache: ReplyCache, findings: Findings) -> Way:
    """The answers judged as the workspace's `[judge]` says. Raises RepliesMissing."""
    settings, caller = workspace.experiment.judge, Counting(workspace, "benchmark", cache)
    relevant = known_relevant(findings.material, findings.relevance, settings.relevant_from)
    play = play_lists if settings.listwise else play_pairs
    games = play(findings.material, relevant, [panel_of(workspace)], settings, caller).games
    return Way(name, games, Took.of(caller), len(findings.queries))


def passages(demo: Workspace, findings: Findings) -> tuple[Took, Took]:
    """What grading the passages would have taken one by one, and what it took together."""
    together = Counting(demo, "benchmark", ReplyCache(demo.replies, [demo.shipped_replies]))
    cases = cases_of(findings.material)
    judged([panel_of(demo).passages(cases)], together)
    alone = open_work(NAME, judge=judging({"relevance_batch": 1}))
    one_by_one = Unasked(alone, "benchmark", ReplyCache(alone.replies))
    judged([panel_of(alone).passages(cases)], one_by_one)
    return Took(one_by_one.calls, one_by_one.input_tokens, together.output_tokens), Took.of(together)


def costs(n: int, graded: tuple[Took, Took], ways: Sequence[Way]) -> Iterator[str]:
    """What each way asked, passages of `n` queries included, and what lists and batches are of pairs and ones."""
    yield f"| judged | queries | requests | tokens in | tokens out | {' | '.join(f'$ at {name}' for name in PRICED)} |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name, took in zip(("passages one by one (not asked)", "passages together, up to ten"), graded, strict=True):
        yield f"| {name} | {n} | {took.line()} |"
    for one in ways:
        yield f"| answers: {one.name} | {one.n} | {one.took.line()} |"
    apart, together = (
        [whole / n + part / one.n for whole, part in zip(_size(took), _size(one.took), strict=True)]
        for took, one in zip(graded, ways, strict=True)
    )
    calls, tokens = (few / many for few, many in zip(together, apart, strict=True))
    yield ""
    yield f"A query's passages and answers together took {calls:.1%} of the requests"
    yield f"and {tokens:.1%} of the tokens that they take by ones and pairs."


def _size(took: Took) -> tuple[int, int]:
    return took.calls, took.inputs + took.outputs


def verdict_rows(findings: Findings, demo: Workspace, ways: Sequence[Way]) -> Iterator[str]:
    """Who leads, who may be best, and the points of each agent."""
    made = {one.name: results_of(replace(findings, games=tuple(one.games)), demo.experiment, NAME)[0] for one in ways}
    yield "| games | leads | decided | possible bests |"
    yield "|---|---|---|---|"
    for name, each in made.items():
        best = ", ".join(sorted(each.verdict.possible_best or ()))
        yield f"| {name} | {each.verdict.leader} | {'yes' if each.verdict.decided else 'no'} | {best} |"
    yield ""
    yield f"| agent | {' | '.join(f'points, {name}' for name in made)} |"
    yield "|---|" + "--:|" * len(made)
    for agent in next(iter(made.values())).agents:
        yield f"| {agent} | {' | '.join(shown(each.points[agent]) for each in made.values())} |"


def main(folder: Path, *, work: Path = WORK, kept: Path = KEPT) -> int:
    """Print the tables, or where replies are awaited write the requests and give 3."""
    demo = Workspace(CORPUS, folder, load_experiment(CORPUS / "experiment.toml"))
    findings = read_findings(demo, read=read_records)
    some = first_written(findings)
    work_of_pairs = open_work(NAME, work=work, judge=judging({"games": "all"}))
    try:
        pairs = way("pairs in both orders", work_of_pairs, ReplyCache(work_of_pairs.replies, [kept]), some)
    except RepliesMissing as missing:
        print(awaited(NAME, f"the first {N_QUERIES} written queries", missing), file=sys.stderr)
        return RepliesMissing.exit_status
    # Seats in a list depend on all queries: the demo's lists are made anew as a whole.
    lists = way("lists, 2 presentations", demo, ReplyCache(demo.replies, [demo.shipped_replies]), findings)
    both = [pairs, replace(lists, games=some.games)]
    asked = costs(len(findings.queries), passages(demo, findings), [pairs, lists])
    print_tables([asked, agreement(both), verdict_rows(some, demo, both)])
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) == 2 else "results/avr-libc")))
