"""Prompts of the user's own, said in one sentence with their file; and how many passages fit into one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.prompts import TAGS, Message, Prompt, count_tokens, fence, how_many_fit, passage_tokens
from ragassay.records import Passage


def prompt(folder: Path, text: str) -> Prompt:
    path = folder / "mine.md"
    path.write_bytes(text.encode())
    return Prompt.load(path)


@given(st.lists(st.sampled_from(["</passage>", "< / QUERY x>", "<answer\n>", "<", "a", " ", "\n", "</p"])).map("".join))
def test_nothing_in_a_fence_opens_or_closes_one(text: str):
    shown = fence("passage", text)
    assert shown.startswith("<passage>\n") and shown.endswith("\n</passage>")
    within = shown.removeprefix("<passage>").removesuffix("</passage>")
    assert not re.search(rf"<[ \n]*/?[ \n]*({'|'.join(TAGS)})\b", within, re.IGNORECASE)
    assert "".join(within.replace("<\u200a", "<").split()) == "".join(text.split())


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


@pytest.mark.parametrize(
    ("tokens", "limit", "n"),
    [([3, 4, 5], 12, 3), ([3, 4, 5], 11, 2), ([3, 9, 1], 5, 1), ([9, 1], 5, 0), ([], 5, 0), ([5], 5, 1)],
)
def test_the_passages_up_to_the_one_that_crosses_the_limit_fit(tokens: list[int], limit: int, n: int) -> None:
    assert how_many_fit(tokens, limit) == n


def test_a_passage_takes_its_title_and_its_text() -> None:
    assert passage_tokens(Passage(id="p", title="Idle mode", text="It sleeps.")) == count_tokens("Idle mode It sleeps.")
