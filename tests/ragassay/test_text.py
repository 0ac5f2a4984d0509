"""Untrusted text: no cell is run by a spreadsheet, keys are blanked, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError, ProviderError
from ragassay.experiment.plugins import said
from ragassay.models.providers import of_status
from ragassay.text import MODEL_KEYS, csv_cell, csv_text, safe_cell, untrusted, without_keys, without_own_keys


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", "  =1+1", "\u00a0-1"])
def test_what_begins_a_formula_gets_an_apostrophe(text: str):
    assert csv_cell(text) == f"'{text}" and csv_text(csv_cell(text)) == text
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "1 - 1", "'=1", "''=1", "'quoted'", "a\n=1", "\t1"])
def test_every_cell_comes_back_as_it_was(text: str):
    assert csv_text(csv_cell(text)) == text


@pytest.mark.parametrize("text", ["a - b", "", "what = is", "'s"])
def test_what_a_spreadsheet_shows_as_it_is_stays(text: str):
    assert csv_cell(text) == safe_cell(text) == text


@pytest.mark.parametrize("hidden", ["\u061c", "\u180e", "\u2060", "\u2069", "\ufffb", "\U000e0041", "\x1b", "\u202e"])
def test_what_a_reader_would_not_see_is_made_visible(hidden: str):
    assert untrusted(f"so{hidden}be it") == f"so\\x{ord(hidden):02x}be it"
    assert untrusted("\u0645\u06cc\u200c\u062e") == "\u0645\u06cc\u200c\u062e", "Persian is spelt with joiners"


SECRET = "Zx9-8y7W6v5U4t3S2r1Q0"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Incorrect API key provided: sk-proj-abc123DEF456ghi789.", "Incorrect API key provided: …."),
        ("key sk-ant-api03-abcdEFGH_1234-xyz is wrong", "key … is wrong"),
        (f"headers: Authorization: Bearer {SECRET}", "headers: Authorization: Bearer …"),
        (f"{{'authorization': 'bearer {SECRET}'}}", "{'authorization': 'bearer …'}"),
        (f"x-api-key: {SECRET}, host: a", "x-api-key: …, host: a"),
        (f'{{"api_key": "{SECRET}"}}', '{"api_key": "…"}'),
        (f"http://host/v1?api-version=2&key={SECRET}&x=1", "http://host/v1?api-version=2&key=…&x=1"),
        (f"access_token={SECRET}", "access_token=…"),
        ("postgres://me:hunter22@host/db", "postgres://me:…@host/db"),
        ("hf_abcdefghijklmnopqrst is not valid", "… is not valid"),
        ("AKIAIOSFODNN7EXAMPLE", "…"),
    ],
)
def test_what_looks_like_a_key_is_blanked(text: str, shown: str):
    assert without_keys(text) == shown
    assert without_keys(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "the provider refused the key (status 401)",
        "openai:m needs a key and OPENAI_API_KEY is not set; export OPENAI_API_KEY=…, or name another model",
        "unknown key 'judge.modell'",
        "KeyError: 'answer'",
        "Unexpected token: <html>",
        "the password is wrong or missing",
        "sk-learn is not installed",
        "task-1234567890123 has no reply",
        "http://127.0.0.1:8000/v1: the connection failed",
    ],
)
def test_what_does_not_is_left_as_it_is(text: str):
    assert without_keys(text) == text


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HF_TOKEN", "OPENSEARCH_PASSWORD", "AWS_SECRET_ACCESS_KEY"])
@given(before=st.text(max_size=20), after=st.text(max_size=20))
def test_the_values_of_the_environments_keys_are_blanked_wherever_they_stand(name: str, before: str, after: str):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(name, "correct horse")
        assert "correct horse" not in without_keys(f"{before}correct horse{after}")


@pytest.mark.parametrize("name", MODEL_KEYS)
def test_of_a_reply_our_own_key_is_blanked_and_nothing_else(name: str, monkeypatch: pytest.MonkeyPatch):
    said = {"text": f"you sent {SECRET}", "list": [SECRET, 1, None], f"a {SECRET}": "sk-abc123DEF456ghi789jkl"}
    assert without_own_keys(said) == said
    monkeypatch.setenv(name, SECRET)
    assert without_own_keys(said) == {"text": "you sent …", "list": ["…", 1, None], "a …": "sk-abc123DEF456ghi789jkl"}
    monkeypatch.setenv(name, "none")
    assert without_own_keys({"text": "none"}) == {"text": "none"}


def test_no_error_of_ours_carries_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    long = "x" * 295 + SECRET
    for error in (
        InputError(f"a {SECRET}", remedy=f"b {SECRET}"),
        ProviderError(f"a {SECRET}", retryable=False),
        of_status(400, f"you sent {SECRET}", "openai:m"),
    ):
        assert SECRET not in str(error) + getattr(error, "problem", "")
    assert SECRET[:5] not in said(ValueError(long)), "nor half of one, where a text is cut"
