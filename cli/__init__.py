"""The command line: `ragassay VERB …`. What a verb needs is imported when it runs, so that `--help` is quick."""

from __future__ import annotations

import argparse
import errno
import os
import re
import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any, NoReturn

from ragassay import __version__
from ragassay.errors import InputError, RagassayError
from ragassay.text import did_you_mean, plain

from .terminal import STATUS, actions
from .verbs.agree import add_agree, add_agree_systems, add_calibrate
from .verbs.doctor import add_doctor
from .verbs.import_export import add_archive, add_export, add_import
from .verbs.judge import add_judges
from .verbs.labels import add_label_sheet, add_replies
from .verbs.meta_eval import add_meta_eval
from .verbs.new import add_model, add_new
from .verbs.run import add_completion, add_demo, add_plan, add_run, add_stage
from .verbs.score import add_consistency, add_gate, add_plot, add_rate, add_score
from .verbs.search import add_opensearch, add_search
from .verbs.serve import add_serve
from .verbs.test_set import add_check, add_perturb
from .verbs.validity import add_validity

EXPERIMENT = (
    add_demo,
    add_new,
    add_run,
    add_plan,
    add_stage,
    add_validity,
    add_judges,
    add_replies,
    add_label_sheet,
    add_serve,
    add_model,
    add_doctor,
)
ON_FILES = (
    add_check,
    add_perturb,
    add_search,
    add_opensearch,
    add_score,
    add_rate,
    add_plot,
    add_consistency,
    add_gate,
    add_agree,
    add_agree_systems,
    add_calibrate,
    add_meta_eval,
)


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


def build_parser(version: str) -> argparse.ArgumentParser:
    """The whole command line; each verb's namespace carries its `run` as `handler`."""
    parser: argparse.ArgumentParser = Parser(
        prog="ragassay",
        description="Make a test set from PDFs, run retrieval-augmented pipelines on it, and say which answers best.",
        epilog=STATUS,
    )
    parser.add_argument("--version", action="version", version=f"ragassay {version}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", dest="verb")
    for add in (*EXPERIMENT, *ON_FILES, add_import, add_export, add_archive):
        add(verbs)
    add_completion(verbs, parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit status (see `ragassay --help`)."""
    parser = build_parser(__version__)
    options = parser.parse_args(arguments)
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
