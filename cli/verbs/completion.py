"""`ragassay completion SHELL`: verbs, options and file names at the Tab key."""

from __future__ import annotations

import argparse

from ..options import Verbs, actions, add_verb, folder_of, path_of

SHELLS = ("bash", "zsh", "tcsh")


def add_completion(verbs: Verbs, whole: argparse.ArgumentParser) -> None:
    """The verb and its options; `whole` is the command line that is completed."""
    verb = add_verb(
        verbs, "completion", "print what makes a shell complete verbs, options and file names", run_completion
    )
    verb.add_argument("shell", choices=SHELLS, help="whose; see docs/command-line.md for where it goes")
    verb.set_defaults(whole=whole)


def run_completion(options: argparse.Namespace) -> int:
    """Print the shell's script. It is made once: completing a word starts no program."""
    import shtab

    for action in actions(options.whole):
        if action.type in (path_of, folder_of):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(options.whole, options.shell), end="")
    return 0
