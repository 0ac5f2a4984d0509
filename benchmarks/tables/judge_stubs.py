"""Write ragassay/judges.pyi, the signatures of the judges' functions: `python -m benchmarks.tables.judge_stubs`."""

from __future__ import annotations

from pathlib import Path

from ragassay.evaluate.judging.catalog import built_in
from ragassay.functions.judges import stubs

FILE = Path(__file__).parents[2] / "ragassay" / "judges.pyi"


def text() -> str:
    """Of all judges of the catalog, in its order."""
    return stubs(built_in().values())


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
