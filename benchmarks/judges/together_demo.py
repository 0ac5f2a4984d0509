"""A recorded run judged two ways: passages one by one and answers in pairs, as recorded, and both taken together.

    python -m benchmarks.judges.together_demo [RESULTS]

RESULTS is results/avr-libc-pairs, as `ragassay run benchmarks/replies/avr-libc-pairs` leaves it (the demo as it was
before it ranked answers together): its passages, answers, labels and games are what is compared with. The same answers
are judged with `relevance_batch = 10` and `games = "listwise"` (prompts = "ragassay", with the rules of the demo for
passages), in one, two (the default) and four presentations. Replies are recorded (benchmarks/replies); without them the
requests are written to results/benchmarks/together_demo and the status is 3. Tokens are counted by the offline counter;
dollars are what they cost by the price tables, without a prompt cache.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from benchmarks.judges.agreement import shown
from benchmarks.judges.take_replies import KEPT, WORK, awaited, judging, open_work, print_tables
from benchmarks.tables.plan_accuracy import Counting
from ragassay.calls.reply_cache import ReplyCache
from ragassay.errors import RepliesMissing
from ragassay.evaluate.agreement.agree import agree
from ragassay.evaluate.agreement.label_tables import LabelTable, ratings
from ragassay.evaluate.compare import results_of
from ragassay.evaluate.inputs.findings import Findings, read_findings
from ragassay.evaluate.judging.engine.cases import cases_of, known_relevant
from ragassay.evaluate.judging.engine.rounds import judged
from ragassay.evaluate.judging.games import play_lists, play_pairs
from ragassay.evaluate.judging.judges.relevance import qrels_of
from ragassay.evaluate.judging.panel import panel_of
from ragassay.evaluate.ratings.verdicts import Verdict, verdicts
from ragassay.evaluate.results import Results
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.tables import ModelSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.models.providers import cost_usd
from ragassay.records import Game, Judgment

NAME = "together_demo"
CORPUS = Path("benchmarks/replies/avr-libc-pairs")
PRICED = ("openai:gpt-4o", "anthropic:claude-sonnet-4-5")
PRESENTATIONS = (1, 2, 4)
TOGETHER = {"games": "listwise", "relevance_batch": 10, "prompts": "ragassay"}


@dataclass(frozen=True)
class Took:
    """What was asked: requests, tokens in and out."""

    calls: int
    inputs: int
    outputs: int

    @classmethod
    def of(cls, caller: Counting) -> Took:
        """All that went through a caller."""
        return cls(caller.calls, caller.input_tokens, caller.output_tokens)

    def __add__(self, other: Took) -> Took:
        return Took(self.calls + other.calls, self.inputs + other.inputs, self.outputs + other.outputs)

    def line(self) -> str:
        """The cells of a row: requests, tokens, dollars at the prices of each of `PRICED`."""
        each = (self.inputs // self.calls, self.outputs // self.calls)  # prices can rise with the length of a call
        dollars = [self.calls * (cost_usd(model, ModelSettings(), *each) or 0.0) for model in PRICED]
        return f"{self.calls} | {self.inputs:,} | {self.outputs:,} | " + " | ".join(f"{each:.3f}" for each in dollars)


class Played(Protocol):
    """Games, and the name of the way in which they were judged."""

    @property
    def name(self) -> str: ...

    @property
    def games(self) -> Sequence[Game]: ...


@dataclass(frozen=True)
class Way:
    """One way of judging: its labels and games, and what each took."""

    name: str
    relevance: Sequence[Judgment]
    games: Sequence[Game]
    passages: Took
    answers: Took


def way(name: str, workspace: Workspace, cache: ReplyCache, findings: Findings) -> Way:
    """The demo's answers judged as the workspace's `[judge]` says. Raises RepliesMissing."""
    settings, panel, material = workspace.experiment.judge, panel_of(workspace), findings.material
    first, second = (Counting(workspace, "benchmark", cache) for _ in range(2))
    (rows,) = judged([panel.passages(cases_of(material))], first)
    relevance = sorted((row.judgment() for row in rows), key=lambda row: (row.query_id, row.subject))
    relevant = known_relevant(material, relevance, settings.relevant_from)
    play = play_lists if settings.games == "listwise" else play_pairs
    played = play(material, relevant, [panel], settings, second)
    return Way(name, relevance, played.games, Took.of(first), Took.of(second))


def results(findings: Findings, demo: Workspace, one: Way) -> Results:
    """The report's figures with the labels and games of a way."""
    labelled = replace(
        findings, relevance=tuple(one.relevance), qrels=qrels_of(one.relevance), games=tuple(one.games), repeats=()
    )
    return results_of(labelled, demo.experiment, NAME)[0]


def costs(ways: Sequence[Way]) -> Iterator[str]:
    """What each way asked."""
    prices = " | ".join(f"$ at {model.partition(':')[2]}" for model in PRICED)
    yield f"| judged | requests | tokens in | tokens out | {prices} |"
    yield "|---|--:|--:|--:|--:|--:|"
    yield f"| passages one by one | {ways[0].passages.line()} |"
    yield f"| passages of a query together, up to ten | {ways[1].passages.line()} |"
    for one in ways:
        yield f"| answers: {one.name} | {one.answers.line()} |"
    whole = ways[0].passages + ways[0].answers
    yield f"| **all of it: one by one, in pairs** | {whole.line()} |"
    for one in ways[1:]:
        each = one.passages + one.answers
        tokens = (each.inputs + each.outputs) / (whole.inputs + whole.outputs)
        yield f"| **together, {one.name}** | {each.line()} |"
        yield f"| as a share of it | {each.calls / whole.calls:.1%} | {tokens:.1%} of all tokens | | | |"


def labels(findings: Findings, ways: Sequence[Way]) -> Iterator[str]:
    """How the labels of passages agree, clustered by query."""
    one, other = ({(row.query_id, row.subject): row.label for row in way.relevance} for way in ways[:2])
    both = [key for key in one if one[key] is not None and other.get(key) is not None]
    rows = tuple(
        (line, {"query_id": key[0], "alone": str(int(one[key] or 0)), "together": str(int(other[key] or 0))})
        for line, key in enumerate(both, 2)
    )
    table = LabelTable("passages", ("query_id", "alone", "together"), rows)
    pair = agree(ratings(table, ["alone", "together"], "query_id")).pairs[0]
    apart = sum(abs((one[key] or 0) - (other[key] or 0)) > 1 for key in both)
    yield f"Passages: {len(both)} labels, {len(one) - len(both)} without one in either way; the same label in"
    yield f"{shown(pair.figures['agreement'])}, kappa {shown(pair.figures['kappa'])}; {apart} are two grades apart."


def agreement(ways: Sequence[Played]) -> Iterator[str]:
    """How the verdicts on games agree with those of pairs."""
    told = {(v.query_id, v.agent_a, v.agent_b): v for v in verdicts(ways[0].games)}
    yield "| games | the same verdict as pairs | opposite | ties | changed with the presentation | failed |"
    yield "|---|--:|--:|--:|--:|--:|"
    for one in ways:
        found = verdicts(one.games)
        known = [(v, told[v.query_id, v.agent_a, v.agent_b]) for v in found if v.winner is not None]
        known = [(v, pair) for v, pair in known if pair.winner is not None]
        same = sum(v.winner == pair.winner for v, pair in known)
        opposite = sum({v.winner, pair.winner} == {"a", "b"} for v, pair in known)
        ties, flips = sum(v.winner == "tie" for v in found), sum(bool(v.flipped) for v in found)
        failed = sum(v.winner is None for v in found)
        yield (
            f"| {one.name} | {same} of {len(known)} ({same / len(known):.1%}) | {opposite} | {ties} | "
            f"{_flips(found, flips)} | {failed} |"
        )


def _flips(found: Sequence[Verdict], flips: int) -> str:
    both = sum(v.flipped is not None for v in found)
    return f"{flips} of {both}" if both else "–"


def verdict_rows(findings: Findings, demo: Workspace, ways: Sequence[Way]) -> Iterator[str]:
    """Who leads, who may be best, and the figures of each agent."""
    made = {one.name: results(findings, demo, one) for one in ways}
    yield "| games | leads | decided | possible bests |"
    yield "|---|---|---|---|"
    for name, each in made.items():
        best = ", ".join(sorted(each.verdict.possible_best or ()))
        yield f"| {name} | {each.verdict.leader} | {'yes' if each.verdict.decided else 'no'} | {best} |"
    yield ""
    yield f"| agent | {' | '.join(f'points, {name}' for name in made)} | MRR (very), one by one | together |"
    yield "|---|" + "--:|" * (len(made) + 2)
    first, *_, last = made.values()
    mrr = next(name for name in next(iter(first.retrieval.values())) if "RR(rel=2)" in name)
    for agent in first.agents:
        rates = [shown(each.points[agent]) for each in made.values()]
        passages = [shown(each.retrieval[agent][mrr]) for each in (first, last)]
        yield f"| {agent} | {' | '.join(rates)} | {' | '.join(passages)} |"


def main(folder: Path, *, work: Path = WORK, kept: Path = KEPT) -> int:
    """Print the tables, or where replies are awaited write the requests and give 3."""
    demo = Workspace(CORPUS, folder, load_experiment(CORPUS / "experiment.toml"))
    findings = read_findings(demo, read=read_records)
    ways = [way("pairs in both orders", demo, ReplyCache(demo.replies, [demo.shipped_replies]), findings)]
    for n in sorted(PRESENTATIONS, reverse=True):
        workspace = open_work(NAME, work=work, judge=judging({**TOGETHER, "presentations": n}))
        cache = ReplyCache(workspace.replies, [kept])
        try:
            one = way(f"lists, {n} presentation{'s' * (n > 1)}", workspace, cache, findings)
        except RepliesMissing as missing:
            print(awaited(NAME, f"{n} presentations", missing), file=sys.stderr)
            return RepliesMissing.exit_status
        ways.insert(1, one)
    print_tables([costs(ways), labels(findings, ways), agreement(ways), verdict_rows(findings, demo, ways)])
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) == 2 else "results/avr-libc-pairs")))
