"""Replies to the requests of a benchmark that asks a model, kept by request key in benchmarks/replies/NAME.jsonl.gz.

    python -m benchmarks.judges.take_replies NAME FILE …

NAME is that of a benchmark below, a FILE holds replies in the layout of OpenAI's Batch output (.jsonl, .jsonl.gz).
The benchmark writes its requests to results/benchmarks/NAME and ends with status 3 until all replies are there.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache, Stored, output_line, read_replies
from ragassay.errors import InputError, RagassayError, RepliesMissing
from ragassay.evaluate.judging.catalog import type_of
from ragassay.evaluate.judging.engine.cases import Prompts, Setup
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import json_line, read_objects, write_bytes
from ragassay.models.requests import Body

NAMES = (
    "meta_evaluation",
    "injection",
    "together_people",
    "together_demo",
    "pairs_demo",
    "injection_lists",
    "questions",
    "judged_pool",
    "pools",
)
MODEL = "file:claude-judge"
KEPT = Path(__file__).parents[1] / "replies"
WORK = Path("results") / "benchmarks"
REQUESTS_PER_FILE = 30
WHO_JUDGED = "Claude judged, from request files (benchmarks/replies/SOURCES.md)"


def judging(settings: Mapping[str, Any]) -> dict[str, Any]:
    """`[judge]` with our model and these settings."""
    return {"model": MODEL, **settings}


def open_work(name: str, part: str = "", work: Path = WORK, judge: Mapping[str, Any] | None = None) -> Workspace:
    """Where a benchmark's requests are written; parts have folders of their own, and so never share a file.

    judge: what `[judge]` says.
    """
    experiment = Experiment.model_validate(
        {
            "questions": {"source": "own"},
            "answer": {"model": MODEL},
            "judge": judge or judging({}),
            "models": {MODEL: {"requests_per_file": REQUESTS_PER_FILE}},
        }
    )
    return Workspace(Path(), work / name / part, experiment)


def open_caller(workspace: Workspace, kept: Path = KEPT) -> Caller:
    """Asks nobody: finds replies among those kept, and those put into the workspace's own folder."""
    return Caller(workspace, "benchmark", ReplyCache(workspace.replies, [kept]))


def evaluator(name: str, prompts: Prompts = "ragassay", **options: str) -> Evaluator:
    """One of ours, asking `MODEL` in that wording, with the options that are texts."""
    kind = type_of(name, Path(), Path())
    return kind(Setup(MODEL, prompts=prompts), kind.options_type.model_validate(options))


def print_tables(tables: Iterable[Sequence[str]]) -> None:
    """Each in lines, and below them who judged."""
    for lines in tables:
        print("\n".join(lines), end="\n\n")
    print(f"{WHO_JUDGED}; cost and latency were not measured.")


def awaited(name: str, what: str, missing: RepliesMissing) -> str:
    """What is waited for, and how replies are taken in."""
    where = str(missing).partition("; ")[0]
    return f"{what}: {where}; take replies in with `python -m benchmarks.judges.take_replies {name} FILE …`"


def waiting(name: str, work: Path = WORK) -> set[str]:
    """The keys of the requests that the benchmark wrote last."""
    files = sorted((work / name).rglob("requests/*.jsonl"))
    return {str(row["custom_id"]) for file in files for _, row in read_objects(file)}


def take(name: str, files: Sequence[Path], *, kept: Path = KEPT, work: Path = WORK) -> str:
    """Add the replies to those kept, in the order of their keys, and say how many; the last of a key counts.

    Raises InputError, with nothing taken, for a line that is no reply, and for one that reports an error.
    """
    found: dict[str, Body] = {}
    for file in files:
        if not file.is_file():
            raise InputError("there is no such file", file=file)
        for key, stored in read_replies(file, whole=True):
            found[key] = _body(stored, key, file)
    path = kept / f"{name}.jsonl.gz"
    known = {key: _body(stored, key, path) for key, stored in read_replies(path)} if path.exists() else {}
    everything = known | found
    text = "".join(json_line(output_line(key, everything[key])) for key in sorted(everything))
    write_bytes(path, gzip.compress(text.encode("utf-8", "surrogatepass"), mtime=0))
    asked = waiting(name, work)
    return (
        f"{len(found)} replies taken in ({len(found.keys() - asked)} answer no request that is waiting), "
        f"{len(everything)} kept in {path}; {len(asked - everything.keys())} requests still wait"
    )


def _body(stored: Stored, key: str, file: Path) -> Body:
    if stored.body is None:
        raise InputError(f"the reply to {key[:16]} reports an error ({stored.error})", file=file)
    return stored.body


def main(name: str, files: Sequence[Path]) -> int:
    """Take in FILEs; 2 where one cannot be used."""
    try:
        print(take(name, files))
    except RagassayError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in NAMES:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], [Path(name) for name in sys.argv[2:]]))
