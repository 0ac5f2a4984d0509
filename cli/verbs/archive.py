"""`ragassay archive`: a run as one file for auditors."""

from __future__ import annotations

import argparse

from ragassay.errors import InputError

from ..options import Verbs, add_verb, path_of


def add_archive(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(
        verbs, "archive", "put a run into one ZIP file for auditors, with a digest of every file", run_archive
    )
    verb.add_argument("folder", type=path_of, metavar="RESULTS", help="the results folder")
    verb.add_argument(
        "--corpus", type=path_of, metavar="DIR", help="the corpus folder, for experiment.toml and prompts"
    )
    verb.add_argument("--out", type=path_of, required=True, metavar="ZIP", help="the file to write")


def run_archive(options: argparse.Namespace) -> int:
    """Write the archive. Exit 2 where the folder is none, or a file seems to hold a key."""
    from ..on_files.archive import write_archive

    if not (options.folder / "results.json").is_file():
        remedy = "name a folder that `ragassay run` has written"
        raise InputError("has no results.json", file=options.folder, remedy=remedy)
    names = write_archive(options.folder, options.corpus, options.out)
    print(f"{options.out}: {len(names)} files")
    return 0
