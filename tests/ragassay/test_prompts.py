"""A prompt of the user's own: whatever its template does wrong is one sentence with its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.prompts import Message, Prompt


def prompt(folder: Path, text: str) -> Prompt:
    path = folder / "mine.md"
    path.write_bytes(text.encode())
    return Prompt.load(path)


def test_lines_may_end_as_on_windows(tmp_path: Path):
    assert prompt(tmp_path, "Judge.\r\n## User\r\n{{ query }}\r\n").render({"query": "Why?"}) == (
        Message("system", "Judge."),
        Message("user", "Why?"),
    )


@pytest.mark.parametrize(
    "expression",
    [
        "1 / 0",
        "query + 1",
        "query.nothing.more",
        "nothing",
        "range(10 ** 9)",
        "fence()",
        'fence("nonsense", query)',
        "''.__class__",
        "'a' * 10 ** 15",
    ],
)
def test_an_expression_that_fails(tmp_path: Path, expression: str):
    with pytest.raises(InputError, match=r"mine.md: cannot be filled .*; given here: query") as raised:
        prompt(tmp_path, "Judge.\n## User\n{{ " + expression + " }}\n").render({"query": "Why?"})
    assert "\n" not in str(raised.value)


def test_a_template_of_another_file(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be filled"):
        prompt(tmp_path, "Judge.\n## User\n{% include 'other.md' %}\n").render({"query": "Why?"})


def test_the_line_of_a_mistake_counts_from_the_top_of_the_file(tmp_path: Path):
    with pytest.raises(InputError, match=r"mine.md:4: is not a Jinja2 template"):
        prompt(tmp_path, "Judge.\n\n## User\n{% if %}\n")
