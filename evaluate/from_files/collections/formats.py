"""The formats that a collection is read from and written to, each with what it cannot hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import beir, held, huggingface, ragelo, ragelo_experiment, ragelo_tables, sheets, traces, trec
from .collection import Collection
from .gathered import read_answer_files

SUFFIXES = (".jsonl", ".json", ".csv", ".tsv")


@dataclass(frozen=True)
class Format:
    """title: what messages call it. source: the `--from` that reads what it writes, its own name where None.

    loses: part by part, what it cannot hold of a collection; that and nothing else is another when it is read again.
    """

    title: str
    write: Callable[[Collection, Path], None]
    loses: held.Losses
    source: str | None = None


def _sheets(*layouts: str) -> Callable[[Sequence[Path]], Collection]:
    """Reads files of answers of these layouts, any where none is named, those in folders and their folders too."""
    return lambda sources: read_answer_files(_files(sources), *layouts)


def _files(sources: Sequence[Path]) -> list[Path]:
    inner = [path for one in sources if one.is_dir() for path in sorted(one.iterdir()) if path.is_dir()]
    inner = [one for one in inner if _has_files(one)]
    here = [one for one in sources if not one.is_dir() or _has_files(one)]
    return ragelo.in_folders([*here, *inner] or sources, SUFFIXES)


def _has_files(folder: Path) -> bool:
    return any(path.suffix.lower() in SUFFIXES for path in folder.iterdir())


READERS: Mapping[str, Callable[[Sequence[Path]], Collection]] = {
    "ragelo": ragelo.read,
    "trec": trec.read,
    "beir": beir.read,
    "ragas": _sheets("ragas"),
    "csv": _sheets(),
    "langsmith": _sheets("langsmith", "langsmith-examples"),
    "phoenix": _sheets("openinference"),
    "mlflow-traces": _sheets("mlflow"),
    "deepeval": _sheets("deepeval"),
    "agent-evaluation": _sheets("agent-evaluation"),
    "hf": huggingface.read,
}
"""What `--from` takes. LangSmith's are runs and data sets, told apart by their columns."""

FORMATS: Mapping[str, Format] = {
    "beir": Format("BEIR's data sets", beir.write, beir.LOSES),
    "trec": Format("TREC's files", trec.write, trec.LOSES),
    "ragas": Format("Ragas' samples", sheets.write_ragas, sheets.RAGAS_LOSES),
    "ragas-csv": Format("Ragas' samples", sheets.write_ragas_csv, sheets.RAGAS_LOSES, "ragas"),
    "ragelo": Format("RAGElo's tables", ragelo_tables.write, ragelo_tables.LOSES),
    "ragelo-experiment": Format("RAGElo's experiments", ragelo_experiment.write, ragelo_experiment.LOSES, "ragelo"),
    "deepeval": Format("DeepEval's test cases", sheets.write_deepeval, sheets.DEEPEVAL_LOSES),
    "agent-evaluation": Format("Agent Evaluation's rows", sheets.write_agent_evaluation, sheets.AGENT_EVALUATION_LOSES),
    "csv": Format("a table of answers", sheets.write_csv, sheets.CSV_LOSES),
    "langsmith": Format("LangSmith's runs and data sets", traces.write_langsmith, traces.LANGSMITH_LOSES),
    "phoenix": Format("OpenInference's spans", traces.write_phoenix, traces.SPANS_LOSE),
    "mlflow-traces": Format("MLflow's traces", traces.write_mlflow, traces.SPANS_LOSE),
    "hf": Format("data sets of Hugging Face", huggingface.write, huggingface.LOSES),
}
"""What `--to` takes, besides `mlflow`, which is a run and is not read back."""
