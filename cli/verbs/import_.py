"""`ragassay import`: what another tool wrote, as a folder that the other verbs take."""

from __future__ import annotations

import argparse

from ..options import Verbs, add_verb, path_of

FROM = (
    *("ragelo", "trec", "beir", "ragas", "csv", "langsmith", "phoenix"),
    *("mlflow-traces", "deepeval", "agent-evaluation", "hf"),
)
"""A test holds it to `from_files.collections.formats.READERS`."""


def add_import(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(verbs, "import", "make a folder that the other verbs take of what another tool wrote", run_import)
    verb.add_argument("sources", type=path_of, nargs="+", metavar="SOURCE", help="files, or folders of them")
    verb.add_argument("--from", dest="from_", choices=FROM, required=True, help="whose they are")
    verb.add_argument("--out", type=path_of, required=True, metavar="DIR", help="the folder to make")


def run_import(options: argparse.Namespace) -> int:
    """Write the folder; what is not used is said."""
    from ..on_files.collections import import_files

    return import_files(options)
