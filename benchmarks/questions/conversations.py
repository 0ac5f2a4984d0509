"""Written conversations: which turns are kept and why not, and what leaning on what was said costs a search.

    python -m benchmarks.questions.conversations

Runs the stages up to `screen` on corpora/avr-libc-conversations, whose replies are recorded (its SOURCES.md says how),
and counts. A turn is *restored* where a reader of the conversation tells its need, and *alone* where one tells it from
the turn by itself; turns that lean on what was said (pronoun, ellipsis, clarification, correction) must be the first
and not the second, underspecified ones not the first. "Answered after all" and "not answered" are by the graded pools.
Recall of evidence is by the first 5 passages; intervals resample sections.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.tables.readme_block import ROOT
from ragassay.cli import main as ragassay
from ragassay.evaluate.report.screening import read_screen
from ragassay.experiment.tables import MOVES, OPENING
from ragassay.files import read_records
from ragassay.records import Figure, Query, Rejected
from ragassay.synth.questions import conversations, find

CORPUS = ROOT / "corpora" / "avr-libc-conversations"
REASONS = {
    "not restored": (conversations.NOT_RESTORED,),
    "alone": (conversations.ALONE,),
    "not left open": (conversations.SPECIFIED,),
    "not answered": (find.NOT_ANSWERED,),
    "answered after all": (find.ANSWERED,),
}


def main() -> int:
    """Print both tables; the exit status of the run."""
    with tempfile.TemporaryDirectory() as made:
        results = Path(made) / CORPUS.name
        with redirect_stdout(sys.stderr):
            for stage in ("ingest", "questions", "screen"):
                if status := ragassay([stage, str(CORPUS), "--results", str(results)]):
                    return status
        kept = read_records(results / "pool.jsonl", Query)
        rejected = read_records(results / "rejected.jsonl", Rejected)
        screened = read_screen(results / "screen.json")
    turns(kept, rejected)
    print("\n| search | evidence recall | price of conversation |\n|---|--:|--:|")
    for one in screened.variants:
        price = (screened.conversation_price or {}).get(one.name)
        print(f"| {one.name} | {told(one.evidence_recall)} | {told(price)} |")
    print(f"\n{machine()}")
    return 0


def turns(kept: list[Query], rejected: list[Rejected]) -> None:
    """Print how many turns of each move are kept, and why the others are not."""
    talks = {query.metadata["conversation"] for query in kept}
    print(f"{len(talks)} conversations, {len(kept)} of {len(kept) + len(rejected)} turns kept.\n")
    print(f"| move | written | kept | {' | '.join(REASONS)} | other |\n|---|{'--:|' * (len(REASONS) + 3)}")
    n_kept = Counter(str(query.metadata["move"]) for query in kept)
    lost: dict[str, Counter[str]] = {move: Counter() for move in (OPENING, *MOVES)}
    for one in rejected:
        name = next((name for name, begins in REASONS.items() if one.reason.startswith(begins)), "other")
        lost[str(one.metadata["move"])][name] += 1
    for move, why in lost.items():
        n = n_kept[move] + why.total()
        print(f"| {move} | {n} | {n_kept[move]} | {' | '.join(str(why[name]) for name in (*REASONS, 'other'))} |")


def told(figure: Figure | None) -> str:
    """A figure with its interval and n."""
    if figure is None or figure.value is None:
        return "–"
    interval = "" if figure.ci_low is None else f" ({figure.ci_low:.3f} to {figure.ci_high:.3f})"
    return f"{figure.value:.3f}{interval}, n {figure.n}"


if __name__ == "__main__":
    sys.exit(main())
