"""The command line: `ragassay VERB …`. What a verb needs is imported when it runs, so that `--help` is quick."""

from __future__ import annotations

import argparse
import errno
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

from ragassay import __version__
from ragassay.errors import InputError, RagassayError
from ragassay.text import did_you_mean, plain

from .terminal import STATUS, actions

VERBS = {
    "demo": (
        "run.demo",
        "run every stage on the manual that comes along, answered from a recorded run: no key, no network",
    ),
    "new": ("new.new", "make a corpus folder from documents, with a commented experiment.toml"),
    "run": ("run.run", "run every stage whose inputs or settings changed, and print the ranked table"),
    "plan": (
        "run.plan",
        "say what each stage and model will take in calls, tokens, dollars and time, and what stands in the way",
    ),
    "ingest": ("run.stage", "stage: read the PDFs of CORPUS into pages, sections and passages"),
    "questions": (
        "run.stage",
        "stage: have models write questions about sections, and sample the test set from them",
    ),
    "screen": (
        "run.stage",
        "stage: run every variant of [[retriever]] and hold it against the evidence, without a judge",
    ),
    "retrieve": ("run.stage", "stage: rank the passages for every query by every agent"),
    "answer": ("run.stage", "stage: have every agent answer every query"),
    "judge": ("judge.judge", "stage: have the judge grade passages, answers and pairs of answers"),
    "evaluate": ("run.stage", "stage: have the evaluators of [evaluate] grade passages and answers"),
    "compare": (
        "run.stage",
        "stage: compute every figure: MRR, win rates, Elo, Bradley-Terry, intervals, tests",
    ),
    "report": ("run.stage", "stage: write report.html"),
    "validity": (
        "test_set.validity",
        "say how far the test set can be trusted: leak, realism, coverage, difficulty, authors, people",
    ),
    "judges": ("judge.judges", "list the evaluators that there are"),
    "replies": ("labels.replies", "take in replies to a file: model's requests (OpenAI's Batch output)"),
    "label-sheet": (
        "labels.label_sheet",
        "draw what people should label, blind to agent and judge, or take a filled sheet into labels.csv",
    ),
    "serve": ("serve.serve", "look at results in a browser: why who won, every query, and labels"),
    "model": ("new.model", "fetch a local model: `ragassay model fetch local:hf:OWNER/REPO/FILE.gguf`"),
    "doctor": (
        "doctor.doctor",
        "say what is installed and at hand, for a corpus what its run would lack, and how to mend it",
    ),
    "check": ("test_set.check", "say what is wrong with a test set from anywhere, held against its corpus"),
    "perturb": (
        "test_set.perturb",
        "ask a test set again with typing errors, other word order, synonyms, other case, or paraphrased",
    ),
    "search": ("search.search", "rank the passages of a BEIR folder or a TREC collection for queries, into a TREC run"),
    "opensearch": (
        "search.opensearch",
        "list the indexes that ragassay made on an OpenSearch server, or remove some",
    ),
    "score": ("score.score", "score a TREC run against qrels (TREC or BEIR)"),
    "rate": ("score.rate", "rate agents from a file of pairwise games"),
    "plot": ("score.plot", "draw box plots of every measure, of one run or several side by side"),
    "consistency": (
        "score.consistency",
        "say how far the answers of several runs agree: BERTScore, ROUGE, and the spread of every measure",
    ),
    "gate": ("score.gate", "say whether a run is worse than a baseline over the same queries, for CI"),
    "agree": (
        "agree.agree",
        "say how far judges agree with people: kappa, Krippendorff's alpha, tau-b, precision, recall, …",
    ),
    "agree-systems": (
        "agree.agree_systems",
        "say whether two sets of labels put systems in the same order: tau-b and Spearman's rho",
    ),
    "calibrate": (
        "agree.calibrate",
        "choose a judge's thresholds on one half of people's labels and say what they are worth on the other",
    ),
    "meta-eval": (
        "meta_eval.meta_eval",
        "hold evaluators against a labelled set: precision, recall, F1, kappa, off-by-one accuracy, …",
    ),
    "import": ("import_export.import", "make a folder that the other verbs take of what another tool wrote"),
    "export": ("import_export.export", "write a run in another tool's columns or files"),
    "archive": ("import_export.archive", "put a run into one ZIP file for auditors, with a digest of every file"),
    "completion": ("run.completion", "print what makes a shell complete verbs, options and file names"),
}
"""Each with where its options (`add_…`) and what it does (`run_…`) stand, and what its help says; in that order."""


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
        hint = did_you_mean(wrong[1], re.findall(r"[\w.-]+", wrong[2])) if wrong else ""
        super().error(message + _hint(hint))


def _hint(hint: str) -> str:
    return f"; {hint.strip()}" if hint else ""


def build_parser(version: str, wanted: str | None = None) -> argparse.ArgumentParser:
    """The whole command line, or with the options of the verb that is `wanted` alone, whose module is then imported.

    Each verb's namespace carries its `run` as `handler`.
    """
    parser: argparse.ArgumentParser = Parser(
        prog="ragassay",
        description="Make a test set from PDFs, run retrieval-augmented pipelines on it, and say which answers best.",
        epilog=STATUS,
    )
    parser.add_argument("--version", action="version", version=f"ragassay {version}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", dest="verb")
    for name, (where, what) in VERBS.items():
        verb = verbs.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.", epilog=STATUS)
        if wanted in {None, name}:
            module, _, function = where.partition(".")
            verb.set_defaults(handler=_found(module, f"run_{function}"))
            _found(module, f"add_{function}")(verb)
    return parser


def _found(module: str, function: str) -> Callable[[Any], Any]:
    found: Callable[[Any], Any] = getattr(import_module(f".verbs.{module}", __package__), function)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit status (see `ragassay --help`)."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = build_parser(__version__, next((word for word in given if not word.startswith("-")), ""))
    options = parser.parse_args(given)
    if not hasattr(options, "handler"):
        parser.print_help()
        return 2
    _show_what_cannot_be_encoded()
    try:
        return int(options.handler(options))
    except RagassayError as error:
        sys.stdout.flush()
        sys.stderr.writelines(f"ragassay: {plain(sentence)}\n" for sentence in error.sentences)
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
    sys.exit(main())


def _show_what_cannot_be_encoded() -> None:
    """A name that the terminal's encoding lacks is shown escaped, and ends nothing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def _of_the_system(error: OSError) -> str:
    """One sentence for what the operating system refused: a full disk, a folder that is none, a missing permission."""
    place = error.filename2 or error.filename
    where = f"{os.fsdecode(place)}: " if isinstance(place, str | bytes) else ""
    if error.errno in _FULL:
        remedy = "all that was written before is whole, make room and run again"
        return f"{where}cannot be written ({error.strerror}); {remedy}"
    return f"{where}cannot be used ({error.strerror or error}); what was received is kept, mend this and run again"
