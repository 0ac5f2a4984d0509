"""How near `ragassay plan` comes to what a recorded run took: `python -m benchmarks.tables.plan_accuracy [CORPUS]`.

The plan is made before any reply is at hand (PDFs read, nothing else); beside it stands what the recorded run asked and
was answered, its tokens counted by the same offline counter.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.cli.pipeline.plan import make_plan
from ragassay.cli.pipeline.stages import stages
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.models.requests import Batch, Reply
from ragassay.tokens import count_tokens

Totals = dict[str, tuple[int, int, int]]
"""Stage to (calls, input tokens, output tokens)."""


class Counting(Caller):
    """Answers from the record and counts what was asked and answered."""

    def __init__(self, workspace: Workspace, stage: str, cache: ReplyCache) -> None:
        super().__init__(workspace, stage, cache)
        self.calls = self.input_tokens = self.output_tokens = 0

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        replies = super().ask(batches)
        seen: set[str] = set()
        for batch, row in zip(batches, replies, strict=True):
            for (key, request), reply in zip(self.keyed(batch), row, strict=True):
                if key not in seen:
                    seen.add(key)
                    self.calls += 1
                    self.input_tokens += sum(count_tokens(message.content) for message in request.messages)
                    self.output_tokens += count_tokens(
                        reply.value.model_dump_json() if reply.value else reply.text or ""
                    )
        return replies


def planned_and_recorded(corpus: Path, ingested: Path | None = None) -> tuple[Totals, Totals]:
    """What the plan foresees for each stage, and what the recorded run took.

    ingested: a results folder for which the PDFs have been read before; what `ingest` left there is taken.
    """
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(corpus, Path(folder) / "results", load_experiment(corpus / "experiment.toml"))
        nothing = ReplyCache(workspace.replies)
        if ingested is None:
            stages()[0].run(workspace, Caller(workspace, "ingest", nothing))
        else:
            workspace.results.mkdir()
            for path in stages()[0].makes(workspace):
                shutil.copy(ingested / path.relative_to(workspace.results), path)
        planned: Totals = {}
        for row in make_plan(workspace, nothing)[0]:
            calls, inputs, outputs = planned.get(row.stage, (0, 0, 0))
            planned[row.stage] = (calls + row.calls, inputs + row.input_tokens, outputs + row.output_tokens)
        recorded: Totals = {}
        cache = ReplyCache(workspace.replies, [workspace.shipped_replies])
        for stage in stages()[1:-2]:  # compare and report ask nobody
            caller = Counting(workspace, stage.name, cache)
            stage.run(workspace, caller)
            if caller.calls:
                recorded[stage.name] = (caller.calls, caller.input_tokens, caller.output_tokens)
    return planned, recorded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, nargs="?", default=Path("corpora/avr-libc"))
    planned, recorded = planned_and_recorded(parser.parse_args().corpus)
    print("| stage | calls planned / recorded | input tokens | output tokens |")
    print("|---|---|---|---|")
    for stage, took in recorded.items():
        cells = [f"{p:,} / {r:,} ({p / r - 1:+.0%})" for p, r in zip(planned[stage], took, strict=True)]
        print(f"| {stage} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
