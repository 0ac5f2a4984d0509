"""How near `ragassay plan` comes to what recorded runs took: `python -m benchmarks.tables.plan_accuracy [CORPUS …]`.

The plan is made before any reply is at hand (PDFs read, nothing else); beside it stands what the recorded run asked and
was answered, its tokens counted by the same offline counter. CORPUS is any corpus folder with recorded replies. The
plan's shares and reply lengths were made from one run: held against that one the table is in sample, and says so.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache, read_replies
from ragassay.cli.pipeline.plan import make_plan
from ragassay.cli.pipeline.stages import STAGES, means_of, stages_of
from ragassay.errors import InputError
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_json
from ragassay.models.endpoint import provider_of
from ragassay.models.requests import Batch, Reply
from ragassay.progress import NoProgress
from ragassay.prompts import count_tokens

Totals = dict[str, tuple[int, int, int]]
"""Stage to (calls, input tokens, output tokens)."""

MADE_FROM = "00d4f43494b0a7d158f5e32adffd91eb0fe58bde48e2dda10c523421e30d2ffa"
"""The run that the plan's constants were made from, by the digest of its reply keys: a folder's name may change."""


class Counting(Caller):
    """Answers from the record and counts what was asked and answered."""

    def __init__(self, workspace: Workspace, stage: str, cache: ReplyCache) -> None:
        super().__init__(workspace, stage, cache)
        self.calls = self.input_tokens = self.output_tokens = self.failed = 0

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        """As the caller's, but no model is called: raises InputError where a reply of one was not recorded."""
        if missing := self.register.missing([batch for batch in batches if provider_of(batch.model) != "file"]):
            raise InputError(f"{len(missing)} replies were not recorded", remedy="name a corpus folder that has all")
        replies = super().ask(batches)
        seen: set[str] = set()
        for batch, row in zip(batches, replies, strict=True):
            for job, reply in zip(self.register.jobs(batch), row, strict=True):
                if job.key not in seen:
                    seen.add(job.key)
                    self.calls += 1
                    self.failed += reply.error is not None
                    self.input_tokens += sum(count_tokens(message.content) for message in job.request.messages)
                    self.output_tokens += _tokens_of(reply)
        return replies


def _tokens_of(reply: Reply) -> int:
    """Of what was understood of it; a reply that was asked for as one token is one."""
    if reply.probabilities is not None:
        return 1
    return count_tokens(reply.value.model_dump_json() if reply.value else reply.text or "")


@dataclass(frozen=True)
class Held:
    """A plan held against a recorded run; `failed` are requests whose replies could not be used, by stage."""

    planned: Totals
    recorded: Totals
    failed: dict[str, int]

    def rows(self, corpus: Path) -> list[str]:
        """Lines of a Markdown table: the plan's figure, the run's, and by how much the plan is above it."""
        lines = []
        for stage, took in self.recorded.items():
            cells = [_beside(p, r) for p, r in zip(self.planned.get(stage, (0, 0, 0)), took, strict=True)]
            lines.append(f"| {corpus.name} | {stage} | {' | '.join(cells)} | {self.failed[stage]} |")
        return lines


def _beside(planned: int, recorded: int) -> str:
    apart = f" ({planned / recorded - 1:+.0%})" if recorded else ""
    return f"{planned:,} / {recorded:,}{apart}"


def planned_and_recorded(corpus: Path, ingested: Path | None = None) -> Held:
    """What the plan foresees for each stage, and what the recorded run took.

    ingested: a results folder for which the PDFs have been read before; what `ingest` left there is taken. Raises
    InputError or RepliesMissing where a reply was not recorded.
    """
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(corpus, Path(folder) / "results", load_experiment(corpus / "experiment.toml"))
        nothing = ReplyCache(workspace.replies)
        if ingested is None:
            STAGES[0].run(workspace, means_of(workspace, Caller(workspace, "ingest", nothing), NoProgress()))
        else:
            workspace.results.mkdir()
            for path in STAGES[0].makes(workspace):
                shutil.copy(ingested / path.relative_to(workspace.results), path)
        planned: Totals = {}
        for row in make_plan(workspace, nothing)[0]:
            calls, inputs, outputs = planned.get(row.stage, (0, 0, 0))
            planned[row.stage] = (calls + row.calls, inputs + row.input_tokens, outputs + row.output_tokens)
        recorded: Totals = {}
        failed: dict[str, int] = {}
        cache = ReplyCache(workspace.replies, [workspace.shipped_replies])
        for stage in stages_of(workspace.experiment)[1:-2]:  # compare and report ask nobody
            caller = Counting(workspace, stage.name, cache)
            stage.run(workspace, means_of(workspace, caller, NoProgress()))
            if caller.calls:
                recorded[stage.name] = (caller.calls, caller.input_tokens, caller.output_tokens)
                failed[stage.name] = caller.failed
    return Held(planned, recorded, failed)


def in_sample(corpus: Path) -> bool:
    """Whether its replies are those that the plan's constants were made from."""
    return replies_digest(corpus) == MADE_FROM


def replies_digest(corpus: Path) -> str:
    """The digest of the keys of a corpus's recorded replies."""
    files = sorted((corpus / "replies").glob("*.jsonl*"))
    return digest_json(sorted({key for path in files for key, _ in read_replies(path)}))


def main() -> None:
    """Print a row a run and stage, and what each run can tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="*", default=[Path("corpora/avr-libc")])
    corpora = parser.parse_args().corpus
    print("| run | stage | calls planned / recorded | input tokens | output tokens | without a usable reply |")
    print("|---|---|---|---|---|--:|")
    for corpus in corpora:
        print("\n".join(planned_and_recorded(corpus).rows(corpus)), flush=True)
    print()
    for corpus in corpora:
        experiment = load_experiment(corpus / "experiment.toml")
        models = f"answers by `{experiment.answer.model}`, judged by `{experiment.judge.model}`"
        print(f"- `{corpus}`: {models}. {IN_SAMPLE if in_sample(corpus) else OTHER}")


IN_SAMPLE = (
    "**In sample**: the plan's shares and reply lengths were made from this run, so its rows say how well they describe"
    " that run, not how near a plan comes to another."
)
OTHER = "**Out of sample**: nothing of the plan was made from this run."


if __name__ == "__main__":
    main()
