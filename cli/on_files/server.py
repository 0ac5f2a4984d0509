"""What reaches an OpenSearch server: the options that `search` and `opensearch` share, and the settings they make."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

if TYPE_CHECKING:
    from ragassay.experiment.settings import OpenSearchSettings


def add_server(options: argparse._ActionsContainer) -> None:
    """--url and --aws-region."""
    options.add_argument("--url", metavar="URL", help="of the server, comma between nodes; default: OPENSEARCH_URL")
    options.add_argument("--aws-region", metavar="REGION", help="sign requests for AWS (SigV4)")


def server_settings(options: argparse.Namespace) -> OpenSearchSettings:
    """The settings that the options of a verb give, the rest by default. Raises InputError."""
    from pydantic import ValidationError

    from ragassay.experiment.settings import OpenSearchSettings
    from ragassay.files import first_problem

    given = {
        "hybrid": getattr(options, "hybrid", None),
        "knn_engine": getattr(options, "knn_engine", None),
        "ef_search": getattr(options, "ef_search", None),
        "index": getattr(options, "index_name", None),
        "aws_region": options.aws_region,
        "filter": _filter(getattr(options, "filter", None) or []),
    }
    try:
        return OpenSearchSettings.model_validate({key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        raise InputError(first_problem(error).replace("_", "-"), remedy="correct the option of that name") from None


def _filter(pairs: list[str]) -> dict[str, str]:
    for pair in pairs:
        if not pair.partition("=")[1]:
            raise InputError(f"--filter '{plain(pair)}' is not KEY=VALUE")
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}
