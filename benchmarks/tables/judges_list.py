"""Write the tables of docs/evaluators.md that are made from the code: `python -m benchmarks.tables.judges_list`."""

from __future__ import annotations

import re
from pathlib import Path

from ragassay.evaluate.judging.catalog import listed_judges, markdown_coverage, markdown_list

PAGE = Path(__file__).parents[2] / "docs" / "evaluators.md"


def with_tables(text: str) -> str:
    """The page with the two tables between their marks."""
    judges = listed_judges()
    for mark, table in (("judges", markdown_list(judges)), ("tags", markdown_coverage(judges))):
        made = f"<!-- {mark} -->\n\n{table.strip()}\n\n<!-- /{mark} -->"
        text = re.sub(rf"<!-- {mark} -->.*?<!-- /{mark} -->", lambda _, made=made: made, text, flags=re.S)
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
