"""The command line: `ragassay VERB …`. What a verb needs is imported when it runs, so that `--help` is quick."""

from __future__ import annotations

import argparse
import errno
import gc
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from textwrap import wrap
from typing import Any, NoReturn

from ragassay import __version__
from ragassay.errors import InputError, RagassayError
from ragassay.text import did_you_mean, listed, plain

from .terminal import EXITS, STATUS, actions

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "start": {
        "demo": ("run.demo", "the whole job on the manual that comes along: no key, no network"),
        "new": ("new.new", "make a corpus folder from documents, and questions you have"),
        "plan": ("run.plan", "calls, tokens, dollars, time, and what stands in the way"),
        "run": ("run.run", "run every stage whose inputs or settings changed"),
        "serve": ("serve.serve", "look at results in a browser: why who won, every query, labels"),
        "doctor": ("doctor.doctor", "what is installed, what a run would lack, how to mend it"),
    },
    "one stage of a run": {
        "ingest": ("run.stage", "read the documents of CORPUS into pages, sections and passages"),
        "questions": ("run.stage", "have models write questions, and draw the test set"),
        "screen": ("run.stage", "run every variant and hold it against the evidence, without a judge"),
        "retrieve": ("run.stage", "rank the passages for every query by every agent"),
        "answer": ("run.stage", "have every agent answer every query"),
        "judge": ("judge.judge", "have the judge grade passages, answers and pairs of answers"),
        "evaluate": ("run.stage", "have the evaluators of [evaluate] grade passages and answers"),
        "compare": ("run.stage", "compute every figure: MRR, points, intervals, tests"),
        "report": ("run.stage", "write report.html"),
    },
    "trust": {
        "label-sheet": ("agree.label_sheet", "draw what people should label, blind; or take a sheet in"),
        "agree": ("agree.agree", "judges held against people"),
        "agree systems": ("agree.agree_systems", "whether two sets of labels order systems alike"),
        "agree calibrate": ("agree.calibrate", "a judge's thresholds by people's labels, and what they are worth"),
        "agree meta-eval": ("meta_eval.meta_eval", "evaluators held against a labelled set"),
        "check": ("test_set.check", "what is wrong with a test set from anywhere"),
        "check validity": ("test_set.validity", "how far a run's test set can be trusted"),
        "perturb": ("test_set.perturb", "a test set again, misspelt or in other words"),
        "judge --list": ("judge.judges", "the evaluators that there are"),
    },
    "look closer": {
        "gate": ("score.gate", "whether a run is worse than a baseline, for CI"),
        "plot": ("score.plot", "box plots of every measure, of one run or several"),
        "consistency": ("score.consistency", "how far the answers of several runs agree"),
    },
    "files from elsewhere": {
        "import": ("import_export.import", "a folder for the other verbs, of what another tool wrote"),
        "export": ("import_export.export", "a run in another tool's columns or files"),
        "score": ("score.score", "score a TREC run against qrels (TREC or BEIR)"),
        "rate": ("score.rate", "rate agents from a file of pairwise games"),
        "search": ("search.search", "rank a collection's passages for its queries"),
    },
    "housekeeping": {
        "replies": ("run.replies", "take in replies to a file: model's requests"),
        "model": ("new.model", "fetch a local model"),
        "opensearch": ("search.opensearch", "list the indexes made on an OpenSearch server, or remove some"),
        "archive": ("import_export.archive", "a run in one ZIP file for auditors, with digests"),
        "completion": ("run.completion", "what makes a shell complete verbs, options and file names"),
    },
}
"""Each verb with where its options (`add_…`) and what it does (`run_…`) stand, and what its help says."""

VERBS = {name: verb for group in GROUPS.values() for name, verb in group.items()}
OLD = {
    "agree-systems": "agree systems",
    "calibrate": "agree calibrate",
    "meta-eval": "agree meta-eval",
    "validity": "check validity",
    "judges": "judge --list",
}
"""Names of the version before, which go on working for this one."""


class Parser(argparse.ArgumentParser):
    """One that says what a misspelt verb, option or choice may have been meant to be."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As of ArgumentParser; an option that is not known is held against those of the verb."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            known = [name for action in actions(self, options.verb) for name in action.option_strings]
            hints = [did_you_mean(one.partition("=")[0], known) for one in unknown if one.startswith("-")]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{_hint(''.join(hints))}")
        return options

    def error(self, message: str) -> NoReturn:
        """Usage and message on stderr, and exit status 2."""
        wrong = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        hint = did_you_mean(wrong[1], [one.strip("' ") for one in wrong[2].split(",")]) if wrong else ""
        super().error(message + _hint(hint))


def _hint(hint: str) -> str:
    return f"; {hint.strip()}" if hint else ""


class _Whole(Parser):
    """The command line as a whole, whose help names each verb in a line, by what it is for."""

    def format_help(self) -> str:
        """At most 40 lines of 80 characters."""
        lines = ["usage: ragassay VERB …        (`ragassay VERB --help` has its options)"]
        lines += ["Make a test set from documents, run RAG pipelines on it, say which wins."]
        for group, verbs in GROUPS.items():
            lines.append(f"{group}:")
            if "ingest" in verbs:
                lines += wrap(", ".join(verbs), 80, initial_indent="  ", subsequent_indent="  ")
                continue
            for name, (_, what) in verbs.items():
                below = [other.split()[1] for other in verbs if other.startswith(f"{name} ")]
                if name.split()[0] not in verbs or " " not in name:
                    also = f" ({', '.join(below)})" if below else ""
                    lines.append(f"  {name:<13}{what}{also}")
        lines.append("`ragassay help exits` says what an exit status means, --version which this is.")
        return "\n".join(lines) + "\n"


def build_parser(version: str, wanted: str | None = None) -> argparse.ArgumentParser:
    """The whole command line, or of it the verb that is `wanted` alone, whose module is then imported.

    Where there is no such verb, all are there without their options. Each verb's namespace carries its `run` as
    `handler`.
    """
    parser: argparse.ArgumentParser = _Whole(prog="ragassay")
    parser.add_argument("--version", action="version", version=f"ragassay {version}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", dest="verb", parser_class=Parser)
    for name in (wanted,) if wanted is not None and wanted in VERBS else VERBS:
        where, what = VERBS[name]
        others = [f"`ragassay {other}` ({VERBS[other][1]})" for other in VERBS if other.startswith(f"{name} ")]
        also = f" See also {listed(others)}." if others else ""
        said = f"{what[0].upper()}{what[1:]}.{also}"
        verb = verbs.add_parser(name, help=what, prog=f"ragassay {name}", description=said, epilog=EXITS)
        if wanted in {None, name}:
            module, _, function = where.partition(".")
            found = import_module(f".verbs.{module}", __package__)
            verb.set_defaults(handler=getattr(found, f"run_{function}"))
            getattr(found, f"add_{function}")(verb)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit status (see `ragassay --help`)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal lacks ends nothing
    given = named(list(sys.argv[1:] if arguments is None else arguments))
    try:
        if given[:2] == ["help", "exits"]:
            print(STATUS, flush=True)
            return 0
        parser = build_parser(__version__, next((word for word in given if not word.startswith("-")), ""))
        options = parser.parse_args(given)
        if not hasattr(options, "handler"):
            parser.print_help()
            return 2
        return int(options.handler(options))
    except RagassayError as error:
        sys.stdout.flush()
        said = (plain(sentence).replace("\n", " ") for sentence in error.sentences)
        sys.stderr.writelines(f"ragassay: {sentence}\n" for sentence in said)
        return error.exit_status
    except KeyboardInterrupt:
        sys.stderr.write("\nragassay: stopped; what was received is kept, run again to go on\n")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        sys.stderr.write(f"ragassay: {plain(_of_the_system(error))}\n")
        return InputError.exit_status


def named(given: list[str]) -> list[str]:
    """With a verb of two words as one, an old name as the one that it has now, and `help VERB` as its `--help`."""
    if given[:1] == ["help"] and given[1:2] != ["exits"]:
        given = [*given[1:], "--help"]
    if given and given[0] in OLD:
        now = OLD[given[0]]
        sys.stderr.write(f"ragassay: `{given[0]}` is now `ragassay {now}`; its old name goes with the next version\n")
        return [now, *given[1:]]
    return [" ".join(given[:2]), *given[2:]] if " ".join(given[:2]) in VERBS else given


def console() -> NoReturn:
    """`main` as a program of its own: a second Ctrl-C does not wait for the calls that are under way."""

    def leave_at_once(*_: object) -> None:
        os.write(2, b"\nragassay: stopped at once; what was received is kept, run again to go on\n")
        os._exit(130)

    def stop(*_: object) -> NoReturn:
        signal.signal(signal.SIGINT, leave_at_once)
        os.write(2, b"\nragassay: stopping when the calls under way have ended; Ctrl-C again stops at once\n")
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, stop)
    gc.set_threshold(100_000)  # what is imported and read stays: looking through it takes a tenth of the time
    sys.exit(main())


def _of_the_system(error: OSError) -> str:
    """One sentence for what the operating system refused: a full disk, a folder that is none, a missing permission."""
    place = error.filename2 or error.filename
    where = f"{os.fsdecode(place)}: " if isinstance(place, str | bytes) else ""
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        remedy = "all that was written before is whole, make room and run again"
        return f"{where}cannot be written ({error.strerror}); {remedy}"
    return f"{where}cannot be used ({error.strerror or error}); what was received is kept, mend this and run again"
