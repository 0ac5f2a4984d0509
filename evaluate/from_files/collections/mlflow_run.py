"""A run of MLflow from a results folder: its figures as metrics, tables of answers and games, and the report."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragassay.errors import InputError, MissingExtra
from ragassay.files import read_json
from ragassay.text import plain

from .collection import Collection

PARTS = ("value", "n", "n_failed", "ci_low", "ci_high")
"""What a figure has; each is a metric of its own."""

_NOT_IN_A_NAME = re.compile(r"[^\w\-. /]+", re.ASCII)
_WHOLE = ("results.json", "report.html", "validity.html")


def metrics(figures: Any) -> tuple[dict[str, float], list[str]]:
    """(name to number, names of figures without a value) of everything in results.json that is a figure.

    Names are the path to it and one of PARTS, divided by slashes, with underscores for what MLflow takes in no name; a
    second figure that this makes one of the same name has a number behind it. A value that is missing is no metric.
    """
    made: dict[str, float] = {}
    missing: list[str] = []
    taken: dict[str, int] = {}
    for path, figure in _figures(figures, ()):
        name = "/".join(_NOT_IN_A_NAME.sub("_", part).strip("/") or "_" for part in path)
        taken[name] = taken.get(name, 0) + 1
        name = name if taken[name] == 1 else f"{name}.{taken[name]}"
        if figure.get("value") is None:
            missing.append(name)
        for part in PARTS:
            value = figure.get(part)
            if isinstance(value, int | float) and math.isfinite(value):
                made[f"{name}/{part}"] = float(value)
    return made, missing


def write(collection: Collection, results: Path, folder: Path) -> list[str]:
    """Write a run into the file store `folder`; sentences on what it cannot hold.

    Raises MissingExtra without the package mlflow, and InputError for a folder without results.json.
    """
    if not (results / "results.json").is_file():
        remedy = "name a results folder that `ragassay compare` has finished"
        raise InputError("has no results.json", file=results, remedy=remedy)
    found, missing = metrics(read_json(results / "results.json"))
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    try:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param
        from mlflow.exceptions import MlflowException
    except ImportError:
        raise MissingExtra("an export to MLflow", "mlflow") from None
    try:
        _log(MlflowClient(tracking_uri=folder.resolve().as_uri()), found, Metric, Param, collection, results)
    except MlflowException as error:
        raise InputError(f"MLflow does not take it ({plain(str(error))})", file=results) from None
    return [f"figures without a value are no metrics: {len(missing)} left out"] if missing else []


def _log(
    client: Any, found: Mapping[str, float], metric: Any, param: Any, collection: Collection, results: Path
) -> None:
    experiment = client.create_experiment(results.resolve().name or "ragassay")
    run = client.create_run(experiment, tags={"mlflow.source.name": "ragassay"}).info.run_id
    rows = [metric(name, value, 0, 0) for name, value in found.items()]
    for start in range(0, len(rows), 500):
        client.log_batch(run, metrics=rows[start : start + 500])
    params = {f"n_{name}": str(n) for name, n in collection.counts().items()}
    client.log_batch(run, params=[param(name, value) for name, value in params.items()])
    _artifacts(client, run, collection, results)
    client.set_terminated(run)


def _artifacts(client: Any, run: str, collection: Collection, results: Path) -> None:
    for name in _WHOLE:
        if (results / name).is_file():
            client.log_artifact(run, str(results / name))
    tables = {
        "answers": [answer.dump() for rows in collection.answers.values() for answer in rows.values()],
        "games": [game.dump() for game in collection.games],
    }
    for name, rows in tables.items():
        if rows:
            client.log_dict(run, _columns(rows), f"{name}.json")


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A table as MLflow's viewer reads it: columns and data."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {"columns": names, "data": [[row.get(name) for name in names] for row in rows]}


def _figures(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        if {"value", "n", "n_failed"} <= value.keys():
            yield path, value
            return
        for name, inner in value.items():
            yield from _figures(inner, (*path, str(name)))
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            yield from _figures(inner, (*path, str(number)))
