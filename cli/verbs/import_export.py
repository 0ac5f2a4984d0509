"""`ragassay import`, `export` and `archive`: a folder that the other verbs take of what another tool wrote, a run as
another tool's files, and a run in one file for auditors.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path

from ragassay import __version__
from ragassay.errors import InputError
from ragassay.evaluate.from_files.collections.collection import (
    Collection,
    check_new,
    new_folder,
    read_folder,
    whole_folder,
    write_folder,
)
from ragassay.evaluate.from_files.collections.format import (
    OF_TURNS,
    format_named,
    formats,
    not_held,
    read_named,
    sources,
)
from ragassay.evaluate.from_files.collections.traces import write_mlflow_run
from ragassay.experiment.plugins import names_of
from ragassay.files import digest_bytes, json_line
from ragassay.text import csv_of, plain, safe_cell, without_keys

from ..terminal import add, add_shared, path_of, print_notes

LEFT_OUT = {
    *("replies", "requests", "batches", "batch-requests", "embeddings", "rerank-scores", "server-calls", "screening")
}
"""Folders of what is kept to run again, not to be read."""

DIGESTS = "digests.json"
_TEXTS = {".json", ".jsonl", ".toml", ".md", ".trec", ".tsv", ".csv", ".html", ".txt", ".py"}
_DATE = (1980, 1, 1, 0, 0, 0)
_OURS = Path(__file__).parents[2]


def write_archive(results: Path, corpus: Path | None, out: Path) -> list[str]:
    """The names in the archive; the same run gives the same bytes.

    It holds the results, the corpus folder's own settings and prompts, and our prompts. Left out are caches
    (`LEFT_OUT`), the passages' index, locks and links. What looks like a key, a token or a password is blanked, and the
    digests' file says where, with the SHA-256 of each file as it stands in the archive and the versions.

    Raises InputError where `out` stands in the results folder or cannot be written.
    """
    if out.resolve().is_relative_to(results.resolve()):
        raise InputError("--out is in the results folder", file=out, remedy="name a file elsewhere")
    if corpus is not None and not (corpus / "experiment.toml").is_file():
        raise InputError("has no experiment.toml", file=corpus, remedy="name the corpus folder")
    files = [*_texts(results, "results", LEFT_OUT)]
    files += _texts(corpus, "corpus", {"replies", "embeddings"}) if corpus is not None else ()
    for room in ("synth", "retrieval", "evaluate"):
        prompts = sorted((_OURS / room).rglob("prompts/*.md"))
        files += [(f"prompts/{path.relative_to(_OURS).as_posix()}", path) for path in prompts]
    versions = {one.metadata["Name"]: one.version for one in distributions() if one.metadata["Name"]}
    digests: dict[str, str] = {}
    blanked: list[str] = []
    beside = out.with_name(f"{out.name}.part")
    try:
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, path in files:
                data = path.read_bytes()
                kept = without_keys(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
                blanked += [name] if kept != data else []
                digests[name] = digest_bytes(kept)
                archive.writestr(zipfile.ZipInfo(name, _DATE), kept, zipfile.ZIP_DEFLATED)
            told = {
                "ragassay": __version__,
                "python": ".".join(map(str, sys.version_info[:3])),
                "packages": dict(sorted(versions.items())),
                "sha256": digests,
                "blanked": blanked,
            }
            archive.writestr(zipfile.ZipInfo(DIGESTS, _DATE), json_line(told), zipfile.ZIP_DEFLATED)
        beside.replace(out)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=out) from None
    finally:
        beside.unlink(missing_ok=True)
    return [*digests, DIGESTS]


def _texts(folder: Path, name: str, left_out: Set[str]) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") for part in parts)
        kept = not hidden and not left_out & set(parts[:-1]) and path.suffix in _TEXTS
        if kept and path.is_file() and not path.is_symlink():
            yield "/".join((name, *parts)), path


def _import_files(options: argparse.Namespace) -> int:
    """Write the folder, and say what is in it and what was left out."""
    for source in options.sources:
        if not source.exists():
            raise InputError("there is no such file", file=source)
    collection = read_named(options.from_, options.sources)
    write_folder(collection, options.out)
    print(f"{plain(str(options.out))}: {_counted(collection)}")
    print_notes(collection.notes, sys.stderr)
    return 0


def _export_folder(options: argparse.Namespace) -> int:
    """Write the folder, and say what it holds and what it cannot."""
    from ..pipeline.opening import open_workspace

    named = Path(str(options.corpus))
    results = open_workspace(options).results if (named / "experiment.toml").exists() else named
    collection = read_folder(results)
    if options.to == "mlflow":
        with new_folder(options.out) as folder:
            said, left_out = write_mlflow_run(collection, results, folder), frozenset[str]()
    else:
        to = format_named(options.to)
        with whole_folder(options.out) as folder:
            to.write(collection, folder)
        loses = to.loses if to.keeps_turns else {**to.loses, **OF_TURNS}
        said, left_out = not_held(to.title, loses, collection), frozenset(to.loses)
    print(f"{plain(str(options.out))}: {_counted(collection, left_out)}")
    print_notes(said, sys.stderr)
    return 0


def _counted(collection: Collection, left_out: Set[str] = frozenset()) -> str:
    counts = collection.counts().items()
    return ", ".join(f"{n} {what}" for what, n in counts if n and what not in left_out) or "nothing"


def add_archive(verb: argparse.ArgumentParser) -> None:
    add(verb, "folder RESULTS", "the results folder", type=path_of)
    add(verb, "--corpus DIR", "the corpus folder, for experiment.toml and prompts", type=path_of)
    add(verb, "--out ZIP", "the file to write", type=path_of, required=True)


def run_archive(options: argparse.Namespace) -> int:
    """Write the archive. Exit 2 where the folder is none, or a file seems to hold a key."""
    if not (options.folder / "results.json").is_file():
        remedy = "name a folder that `ragassay run` has written"
        raise InputError("has no results.json", file=options.folder, remedy=remedy)
    names = write_archive(options.folder, options.corpus, options.out)
    print(f"{options.out}: {len(names)} files")
    return 0


def add_export(verb: argparse.ArgumentParser) -> None:
    verb.description = (
        "Write what evaluators gave in CORPUS's run as CSV (--format), or its run as another tool's files (--to); "
        "there CORPUS may be a results folder too."
    )
    add_shared(verb, "CORPUS", "--results")
    whose = verb.add_mutually_exclusive_group(required=True)
    add(whose, "--format", "whose columns", choices=["agent-evaluation", "open-rag-eval"])
    to = [*formats(), *names_of("exports"), "mlflow"]
    add(whose, "--to", "whose files; --out is then the folder to make", choices=to)
    add(
        verb,
        "--out FILE",
        "the file to write; in CSV, what a spreadsheet would take for a formula gets an apostrophe before it",
        type=path_of,
        required=True,
    )
    add(
        verb,
        "--metrics JSON",
        "write the run's figures too, each with n, n_failed and its interval (agent-evaluation only)",
        type=path_of,
    )


def run_export(options: argparse.Namespace) -> int:
    """Write a CSV file, and with --metrics a JSON file of the run's figures; or a folder."""
    from ragassay.evaluate.from_files.exports import (
        agent_evaluation_metrics,
        agent_evaluation_table,
        open_rag_eval_table,
    )
    from ragassay.files import write_json, write_text

    from ..pipeline.opening import open_workspace

    if options.to:
        if given := "--metrics" if options.metrics else "--results" if options.results else None:
            raise InputError(f"{given} does not go with --to", remedy="leave it out")
        return _export_folder(options)
    ours = options.format == "agent-evaluation"
    if options.metrics and not ours:
        raise InputError(f"--metrics does not go with --format {options.format}", remedy="leave it out")
    workspace = open_workspace(options)
    columns, rows = agent_evaluation_table(workspace) if ours else open_rag_eval_table(workspace)
    figures = agent_evaluation_metrics(workspace) if options.metrics else None
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
    cells = ((row.get(name) for name in columns) for row in rows)
    return csv_of([columns, *([safe_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in cells)])


def add_import(verb: argparse.ArgumentParser) -> None:
    from ragassay.evaluate.from_files.collections.listen import ADDRESS

    add(verb, "sources SOURCE", "files, or folders of them", type=path_of, nargs="*")
    add(verb, "--from", "whose they are", dest="from_", choices=[*sources(), *names_of("exports")])
    add(
        verb,
        "--listen HOST:PORT",
        f"instead: take an application's traces on this machine (OTLP/HTTP) until Ctrl-C; default: {ADDRESS}",
        nargs="?",
        const=ADDRESS,
    )
    add(verb, "--out DIR", "the folder to make", type=path_of, required=True)


def run_import(options: argparse.Namespace) -> int:
    """Write the folder; what is not used is said."""
    if options.listen is not None:
        return _listen(options)
    if not options.sources or not options.from_:
        raise InputError("import needs SOURCE and --from, or --listen", remedy="see `ragassay import --help`")
    return _import_files(options)


def _listen(options: argparse.Namespace) -> int:
    from ragassay.evaluate.from_files.collections.listen import Listener, spool_of

    if options.sources or options.from_:
        raise InputError("--listen goes with neither SOURCE nor --from", remedy="leave them out")
    check_new(options.out)
    options.sources, options.from_ = [spool_of(options.out)], "otlp"
    with Listener(options.listen, *options.sources) as listener:
        again = f"ragassay import --from otlp {plain(str(listener.spool))} --out {plain(str(options.out))}"
        with suppress(KeyboardInterrupt):
            print(f"listening at {listener.address}; stop with Ctrl-C; if killed: `{again}`", flush=True)
            listener.serve_forever()
    print_notes([*listener.notes], sys.stderr)
    if not listener.n:
        raise InputError("nothing came", remedy=f"have the application send OTLP over HTTP to {listener.address}")
    return _import_files(options)
