"""`ragassay calibrate`: from where on a judge's number is a yes, chosen and told by people's labels."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

from ..options import Verbs, add_corpus, add_draws, add_json, add_sections, add_verb, check_least, path_of
from ..printing import interval_of, print_json, print_table, print_undefined, value_of

if TYPE_CHECKING:
    from ragassay.evaluate.agreement.calibration.calibrate import Calibration
    from ragassay.evaluate.agreement.calibration.scored import Scored
    from ragassay.records import Figure

_MODES = "needs CORPUS, or --labels FILE with --judgments FILE, or --labels FILE with --human COL and --judge COL"


def add_calibrate(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "choose a judge's thresholds on one half of people's labels and say what they are worth on the other"
    verb = add_verb(verbs, "calibrate", help_text, run_calibrate)
    add_corpus(verb, needed=False)
    verb.add_argument("--labels", type=path_of, metavar="FILE", help="instead of CORPUS: labels.csv, or a table")
    verb.add_argument(
        "--judgments",
        action="append",
        type=path_of,
        metavar="FILE",
        help="of labels.csv: the judge's relevance.jsonl, pointwise.jsonl or judgments.jsonl; may be repeated",
    )
    verb.add_argument("--human", metavar="COL", help="of a table: the column of people's labels")
    verb.add_argument("--judge", action="append", metavar="COL", help="and a column of a judge's numbers; repeatable")
    verb.add_argument("--by", metavar="COL", help="the column that names the query; default: query_id, if it is there")
    verb.add_argument("--relevant", metavar="LABEL", help="people's lowest label that is a yes; default: 2 of 0 to 2")
    verb.add_argument(
        "--threshold", type=float, metavar="X", help="the judge's at present (default: as the experiment has it)"
    )
    verb.add_argument(
        "--choose-by",
        choices=["kappa", "balanced_accuracy"],
        default="kappa",
        help="what is made as large as it gets; default: kappa",
    )
    add_sections(verb)
    add_draws(verb)
    add_json(verb)


def run_calibrate(options: argparse.Namespace) -> int:
    """Print, for each judge and criterion, what its labels and the best threshold are worth."""
    from ragassay.evaluate.agreement.calibration.calibrate import calibrate

    check_least(options, bootstrap=100, seed=0)
    draws = {"bootstrap": options.bootstrap, "seed": options.seed}
    found = [calibrate(scored, aim=options.choose_by, **draws) for scored in _scored(options)]
    if options.json:
        print_json([each.dump() for each in found])
        return 0
    for each in found:
        _print(each)
    return 0


def _scored(options: argparse.Namespace) -> list[Scored]:
    from ragassay.evaluate.from_files.calibrate import of_experiment, of_files, of_table

    from ..pipeline.opening import locked, open_workspace

    of_columns = bool(options.human or options.judge or options.by)
    if [options.corpus is not None, bool(options.judgments), of_columns].count(True) != 1:
        raise InputError(_MODES)
    if (options.corpus is None) != bool(options.labels) or (options.sections and not options.judgments):
        raise InputError(_MODES, remedy="--sections goes with --judgments" if options.sections else None)
    if of_columns:
        if not (options.human and options.judge):
            raise InputError(_MODES)
        given = {"relevant": options.relevant, "threshold": options.threshold}
        return of_table(options.labels, options.human, options.judge, by=options.by, **given)
    least = _number(options.relevant)
    if options.judgments:
        given = {"relevant": least, "threshold": options.threshold}
        return of_files(options.labels, options.judgments, sections=options.sections, **given)
    workspace = open_workspace(options)
    with locked(workspace):
        return of_experiment(workspace, least, options.threshold)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        raise InputError(f"--relevant is '{plain(text or '')}', and labels.csv has numbers") from None


def _print(found: Calibration) -> None:
    from ragassay.evaluate.agreement.calibration.calibrate import advice

    half = found.reported_on
    title = f"{found.criterion} ({found.file}) by {found.judge}, {found.on}: people's yes {found.relevant}; {half.n} "
    title += f"labels of {half.n_clusters} queries or sections to report on, {half.n_failed} more lack the judge's"
    figures = ((found.before.get(name), found.after.get(name), found.difference.get(name)) for name in found.before)
    rows = [(name, *map(_cell, each)) for name, each in zip(found.before, figures, strict=True)]
    print_table(title, ("95% intervals below", "present", "chosen", "difference"), rows)
    print_undefined(found.undefined)
    print(plain(advice(found)))


def _cell(figure: Figure | None) -> str:
    return "–" if figure is None else f"{value_of(figure, '.3f')}\n{interval_of(figure, '.3f')}"
