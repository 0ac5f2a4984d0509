"""The pytest plugin: its model, its line at the end, and that assertions work without it."""

from __future__ import annotations

import tomllib

import pytest
from support.places import ROOT

pytest_plugins = ["pytester"]
PLUGIN = ("-p", "no:ragassay", "-p", "ragassay.functions.pytest_plugin")

FORM = """
from ragassay.testing import assert_judged

def test_clean():
    assert_judged(judges=["pii_leakage"], answer="Nothing here")

def test_leaks():
    assert_judged(judges=["pii_leakage"], answer="Write to a@example.com")

def test_blank():
    assert_judged(judges=["pii_leakage"], answer="")
"""
ASKED = """
from ragassay.testing import assert_judged

def test_safe():
    for _ in range(2):
        assert_judged(judges=["safety"], query="q", answer="a"{more})
"""


@pytest.fixture
def run(pytester):
    def run(code, *options):
        pytester.makepyfile(code)
        return pytester.runpytest_inprocess(*options, "-p", "no:cacheprovider")

    return run


def test_failures_read_as_sentences_and_the_line_says_what_was_asked(run):
    result = run(FORM, *PLUGIN)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["E *AssertionError: pii_leakage is 1, above *: 1 found: email"])
    result.stdout.fnmatch_lines(["E *NotJudged: pii_leakage could not be judged: *the answer is empty"])
    line = "ragassay: 3 assertions, 3 judgments (1 failed); replies: 0 new, 0 at hand; $0.0000"
    result.stdout.fnmatch_lines([line])


@pytest.mark.parametrize("by_option", [False, True])
def test_options_name_the_judge_and_replies_at_hand_are_told_from_new_ones(run, bench, by_option):
    url = bench.server.base_url
    options = ["--ragassay-model", "openai:judge", *(["--ragassay-base-url", url] if by_option else [])]
    result = run(ASKED.replace("{more}", "" if by_option else f", base_url={url!r}"), *PLUGIN, *options)
    result.assert_outcomes(passed=1)
    line = "ragassay: 2 assertions, 2 judgments; replies: 1 new, 1 at hand; $0.0000 and what has no known price"
    result.stdout.fnmatch_lines([line])
    assert len(bench.server.requests) == 1


def test_assertions_work_without_the_plugin(run):
    result = run(FORM, "-p", "no:ragassay")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.no_fnmatch_line("ragassay: *")


def test_a_session_that_asserts_nothing_is_told_nothing(run):
    result = run("def test_nothing():\n    assert True", *PLUGIN)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("ragassay: *")


def test_pytest_finds_the_plugin_by_its_entry_point():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"ragassay": "ragassay.functions.pytest_plugin"}
