"""`ragassay export`: a run in the columns or the files of other tools."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from ragassay.errors import InputError

from ..options import Verbs, add_corpus, add_verb, path_of

TO = (
    *("beir", "trec", "ragas", "ragas-csv", "ragelo", "ragelo-experiment", "deepeval", "agent-evaluation", "csv"),
    *("langsmith", "phoenix", "mlflow-traces", "hf", "mlflow"),
)
"""A test holds it to `from_files.collections.formats.FORMATS` and the run of MLflow."""


def add_export(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(verbs, "export", "write a run in another tool's columns or files", run_export)
    verb.description = (
        "Write what evaluators gave in CORPUS's run as CSV (--format), or its run as another tool's files (--to); "
        "there CORPUS may be a results folder too."
    )
    add_corpus(verb)
    whose = verb.add_mutually_exclusive_group(required=True)
    whose.add_argument("--format", choices=["agent-evaluation", "open-rag-eval"], help="whose columns")
    whose.add_argument("--to", choices=TO, help="whose files; --out is then the folder to make")
    verb.add_argument(
        "--out",
        type=path_of,
        required=True,
        metavar="FILE",
        help="the file to write; in CSV, what a spreadsheet would take for a formula gets an apostrophe before it",
    )
    verb.add_argument(
        "--metrics",
        type=path_of,
        metavar="JSON",
        help="write the run's figures too, each with n, n_failed and its interval (agent-evaluation only)",
    )


def run_export(options: argparse.Namespace) -> int:
    """Write a CSV file, and with --metrics a JSON file of the run's figures; or a folder."""
    from ragassay.evaluate.from_files import export_agent_evaluation, export_open_rag_eval
    from ragassay.files import write_json, write_text

    from ..pipeline.opening import open_workspace

    if options.to:
        if given := "--metrics" if options.metrics else "--results" if options.results else None:
            raise InputError(f"{given} does not go with --to", remedy="leave it out")
        from ..on_files.collections import export_folder

        return export_folder(options)
    ours = options.format == "agent-evaluation"
    if options.metrics and not ours:
        raise InputError(f"--metrics does not go with --format {options.format}", remedy="leave it out")
    workspace = open_workspace(options)
    columns, rows = (export_agent_evaluation if ours else export_open_rag_eval).table(workspace)
    figures = export_agent_evaluation.metrics(workspace) if options.metrics else None
    write_text(options.out, as_csv(columns, rows))
    print(f"{options.out}: {len(rows)} rows")
    if options.metrics:
        write_json(options.metrics, figures)
        print(f"{options.metrics}: the run's metrics")
    return 0


def as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, str | float | int | None]]) -> str:
    """The rows as CSV (RFC 4180); None is an empty cell, as is a column that a row lacks.

    No text can become a formula in a spreadsheet: what might begin one has an apostrophe before it, and control
    characters are made visible.
    """
    from ragassay.text import safe_cell

    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, columns, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: safe_cell(cell) if isinstance(cell, str) else cell for name, cell in row.items()})
    return stream.getvalue()
