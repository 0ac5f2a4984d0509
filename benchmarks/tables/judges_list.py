"""Write the table of docs/evaluators.md that is made from the code: `python -m benchmarks.tables.judges_list`."""

from __future__ import annotations

import re
from pathlib import Path

from ragassay.evaluate.judging.catalog import listed_judges, markdown_list

PAGE = Path(__file__).parents[2] / "docs" / "evaluators.md"


def with_table(text: str) -> str:
    """The page with the table between its marks."""
    made = f"<!-- judges -->\n\n{markdown_list(listed_judges()).strip()}\n\n<!-- /judges -->"
    return re.sub(r"<!-- judges -->.*?<!-- /judges -->", lambda _: made, text, flags=re.S)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
