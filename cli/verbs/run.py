"""`ragassay run` and `demo`, the stages one by one, `plan`, `replies`, and what makes a shell complete verbs."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay import __version__
from ragassay.errors import InputError, Obstacles
from ragassay.text import listed, plain

from ..terminal import EXPERIMENT, STAGE, actions, add, add_shared, folder_of, path_of

if TYPE_CHECKING:
    from ragassay.calls.reply_cache import Stored
    from ragassay.experiment.workspace import Workspace

    from ..pipeline.plan import Pace, Row

SHELLS = ("bash", "zsh", "tcsh")


def add_completion(verb: argparse.ArgumentParser) -> None:
    add(verb, "shell", "whose; see docs/command-line.md for where it goes", choices=SHELLS)


def run_completion(options: argparse.Namespace) -> int:
    """Print the shell's script. It is made once: completing a word starts no program."""
    import shtab

    from .. import build_parser

    whole = build_parser(__version__)
    for action in list(actions(whole)):
        if isinstance(action.choices, dict):  # a shell completes one word at a time: no verb of two
            for verb in [verb for verb in action.choices if " " in verb]:
                del action.choices[verb]
            action._choices_actions = [one for one in action._choices_actions if " " not in one.dest]  # type: ignore[attr-defined]
        if action.type in (path_of, folder_of):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(whole, options.shell), end="")
    return 0


def add_demo(verb: argparse.ArgumentParser) -> None:
    add(verb, "--results DIR", "where to write (default: results/avr-libc)", type=folder_of)
    add_shared(verb, *STAGE)


def run_demo(options: argparse.Namespace) -> int:
    """As `ragassay run`; nothing is written beside the corpus, which may lie where only an administrator writes."""
    from ..pipeline.runner import run_all

    options.corpus = Path(str(files("ragassay"))) / "corpora" / "avr-libc"
    return run_all(options)


def add_plan(verb: argparse.ArgumentParser) -> None:
    add_shared(verb, *EXPERIMENT, "--with", "--json")


def run_plan(options: argparse.Namespace) -> int:
    """Print the plan, and all that stands in the way of a run.

    It calls no model; reading the PDFs, which costs nothing, is done if it was not yet. Raises Obstacles, with all of
    them, where no plan can be made.
    """
    from ..pipeline.opening import open_workspace
    from ..pipeline.stages import asking_obstacles, file_obstacles, stages_of

    workspace = open_workspace(options)
    later = asking_obstacles(workspace, stages_of(workspace.experiment))
    if found := file_obstacles(workspace):
        raise Obstacles([*found, *later])
    try:
        rows, pace = _planned(workspace, options)
    except InputError as error:
        raise Obstacles([*later, error]) if later and str(error) not in map(str, later) else error from None
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        _print(rows, pace, workspace)
    stream = sys.stderr if options.json else sys.stdout
    if later:
        print("Before `ragassay run` can begin:", file=stream)
    for number, obstacle in enumerate(later, 1):
        print(plain(f"{number}. {obstacle}"), file=stream)
    return 0


def _planned(workspace: Workspace, options: argparse.Namespace) -> tuple[list[Row], Pace]:
    from ragassay.calls.reply_cache import ReplyCache
    from ragassay.synth.stages import INGEST

    from ..pipeline.opening import check_others, locked
    from ..pipeline.plan import make_plan
    from ..pipeline.runner import Runner, check_k

    with locked(workspace):
        Runner(workspace, options).bring_up_to_date(INGEST)
    check_k(workspace)
    check_others(workspace)
    recorded = () if options.ignore_recorded else workspace.recorded_replies()
    return make_plan(workspace, ReplyCache(workspace.replies, recorded))


def _own_questions(workspace: Workspace) -> list[str]:
    """How a table of the user's own questions is read, and which functions are handed of turns the last words alone."""
    from ragassay.retrieval.agents.own_agents import hears_nothing
    from ragassay.synth.questions.own import read_test_set

    if workspace.experiment.questions.source == "synthetic":
        return []
    queries, told = read_test_set(workspace)
    n = sum(bool(query.history) for query in queries)
    own = [agent for agent in workspace.experiment.own_agents() if n and agent.kind == "python"]
    deaf = [agent.name for agent in own if hears_nothing(str(agent.callable), workspace.corpus)]
    turns = "1 query is a turn" if n == 1 else f"{n:,} queries are turns"
    takes = "takes" if len(deaf) == 1 else "take"
    said = f"{turns}: {listed(deaf)} {takes} no parameter `history`, and so the last turn alone"
    return [plain(one) for one in (told, said if deaf else "") if one]


def _print(rows: Sequence[Row], pace: Pace, workspace: Workspace) -> None:
    from ragassay.evaluate.stages import JUDGE

    from ..pipeline.plan import print_plan, ways_of_judging

    more = []
    if any(row.stage == JUDGE.name and row.calls > row.from_cache for row in rows):
        ways = ways_of_judging(workspace)
        more.append(f"Judging in all, by what stands under [judge]: {'; '.join(ways)}." if ways else "")
    if workspace.experiment.evaluates:
        from ragassay.evaluate.make_judgments import of_evaluators

        loads = of_evaluators(workspace)
        told = ", ".join(f"{plain(one.kind.removeprefix('evaluate-'))} ~{one.calls:,}" for one in loads)
        more.append(f"Calls in all by evaluator: {told}." if told else "No evaluator asks the judge.")
    more += _own_questions(workspace)
    if workspace.experiment.run.until:
        from ragassay.evaluate.looks import forecast

        more += [said] if (said := forecast(workspace)) else []
    print_plan(rows, pace, workspace.experiment.run.max_cost_usd, more)


def add_run(verb: argparse.ArgumentParser) -> None:
    add_shared(verb, *EXPERIMENT, "--with")


def run_run(options: argparse.Namespace) -> int:
    """The gravest exit status of the stages."""
    from ..pipeline.runner import run_all

    return run_all(options)


def add_stage(verb: argparse.ArgumentParser) -> None:
    add_shared(verb, *EXPERIMENT)


def run_stage(options: argparse.Namespace) -> int:
    """Bring the stage up to date; what it reads must be there."""
    from ..pipeline.runner import run_one

    return run_one(options)


def add_replies(verb: argparse.ArgumentParser) -> None:
    add(verb, "file FILE", "replies, .jsonl or .jsonl.gz", type=path_of)
    add_shared(verb, "CORPUS", "--results")


def run_replies(options: argparse.Namespace) -> int:
    """Check FILE and put it among the results' replies; status 2, and nothing taken, where a line is not a reply."""
    from ragassay.calls.reply_cache import read_replies
    from ragassay.files import read_objects

    from ..pipeline.opening import locked, open_workspace

    workspace = open_workspace(options)
    source: Path = options.file
    if not source.is_file():
        raise InputError("there is no such file", file=source)
    replies: dict[str, Stored] = dict(read_replies(source, whole=True))
    if not replies:
        raise InputError("holds no reply", file=source)
    requests = (request for path in workspace.requests.glob("*.jsonl") for _, request in read_objects(path))
    waiting = {str(request["custom_id"]) for request in requests if "custom_id" in request}
    with locked(workspace):
        _keep(source, workspace.replies)
    unknown = len(replies.keys() - waiting)
    failed = sum(stored.body is None for stored in replies.values())
    print(
        f"{len(replies)} replies taken in ({failed} report an error, {unknown} answer no request that is waiting); "
        f"{len(waiting - replies.keys())} requests still wait"
    )
    return 0


def _keep(source: Path, folder: Path) -> None:
    """Put a copy beside what was taken in before, under a number of its own: no file of replies is ever replaced."""
    from ragassay.files import digest_file, write_bytes

    taken = sorted(folder.glob("taken-[0-9][0-9][0-9][0-9]-*"))
    if any(digest_file(path) == digest_file(source) for path in taken):
        return
    number = 1 + max((int(path.name.split("-")[1]) for path in taken), default=0)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", source.name).lstrip(".-")
    name += "" if name.endswith((".jsonl", ".jsonl.gz")) else ".jsonl"
    write_bytes(folder / f"taken-{number:04d}-{name}", source.read_bytes())
