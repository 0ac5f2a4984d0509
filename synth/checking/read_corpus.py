"""The corpus of a check, from whatever DIR is: results, BEIR's corpus.jsonl, or a folder of documents to be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from ragassay.experiment.reading import load_experiment
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace

from ..formats.kinds import PDF, kind_of
from ..ingest import ingest
from .corpus_text import CorpusText, open_corpus

NO_MODEL = {"model": "file:none"}


def read_corpus(
    place: Path, language: str | None = None, progress: Callable[[int, int], None] | None = None
) -> tuple[CorpusText, tuple[str, ...]]:
    """The corpus, and what is to be said of reading it.

    A folder with neither pages.jsonl nor corpus.jsonl is read as `ragassay ingest` does, by its experiment.toml where
    there is one, into a folder that is gone afterwards. language: ISO 639; without it that of experiment.toml, or "en".
    Raises InputError.
    """
    made = any((place / name).exists() for name in ("pages.jsonl", "corpus.jsonl"))
    if made or not place.is_dir() or not _kinds(place):
        return open_corpus(place, language or _language(place)), ()
    with TemporaryDirectory(prefix="ragassay-check-") as folder:
        workspace = Workspace(place, Path(folder), _experiment(place))
        outcome = ingest(workspace, progress)
        corpus = open_corpus(Path(folder), language or workspace.experiment.corpus.language)
    return CorpusText(
        place, corpus.documents, corpus.pages, corpus.passages, corpus.sections, corpus.language
    ), outcome.notices


def _kinds(place: Path) -> set[str]:
    """Of the documents in the folder."""
    return {kind for path in place.rglob("*") if (kind := kind_of(path.name))}


def _experiment(place: Path) -> Experiment:
    """The folder's own, without further chunkings; else nothing but defaults, for PDFs or what else is there."""
    if not (place / "experiment.toml").exists():
        ingested = {"kinds": [PDF] if PDF in (kinds := _kinds(place)) else sorted(kinds)}
        return Experiment.model_validate(
            {"ingest": ingested, "questions": {"source": "own"}, "answer": NO_MODEL, "judge": NO_MODEL}
        )
    return load_experiment(place / "experiment.toml").model_copy(update={"chunking": ()})


def _language(place: Path) -> str:
    file = place / "experiment.toml"
    return load_experiment(file).corpus.language if file.exists() else "en"
