"""The command line: `ragassay VERB …`. What a verb needs is imported when it runs, so that `--help` is quick."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import NoReturn

from ragassay import __version__
from ragassay.errors import InputError, RagassayError
from ragassay.text import plain

from .parser import build_parser


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
