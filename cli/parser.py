"""The command line: the verbs in the order of `ragassay --help`. Nothing heavy is imported here."""

from __future__ import annotations

import argparse
import re
from typing import Any, NoReturn

from ragassay.text import did_you_mean

from .on_files.agree import add_agree
from .on_files.agree_systems import add_agree_systems
from .on_files.calibrate import add_calibrate
from .on_files.check import add_check
from .on_files.consistency import add_consistency
from .on_files.gate import add_gate
from .on_files.meta_eval import add_meta_eval
from .on_files.opensearch import add_opensearch
from .on_files.perturb import add_perturb
from .on_files.plot import add_plot
from .on_files.rate import add_rate
from .on_files.score import add_score
from .on_files.search import add_search
from .options import STATUS, actions
from .verbs.archive import add_archive
from .verbs.completion import add_completion
from .verbs.demo import add_demo
from .verbs.doctor import add_doctor
from .verbs.export import add_export
from .verbs.import_ import add_import
from .verbs.judges import add_judges
from .verbs.label_sheet import add_label_sheet
from .verbs.model import add_model
from .verbs.new import add_new
from .verbs.plan import add_plan
from .verbs.replies import add_replies
from .verbs.run import add_run
from .verbs.serve import add_serve
from .verbs.stage import add_stage
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
