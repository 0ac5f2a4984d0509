"""Tables in the terminal: nothing of them is cut, and one without rows is a sentence."""

from __future__ import annotations

import re

import pytest

from ragassay.cli.terminal import print_agreement, print_figures, print_table
from ragassay.records import Figure

NAMES = [f"a-system-whose-name-is-longer-than-the-terminal-{n}" for n in range(2)]


@pytest.fixture(autouse=True, params=["40", "200"])
def _terminal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", request.param)


@pytest.mark.parametrize("terminal", [True, False])
def test_no_cell_is_cut(terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("NO_COLOR", "1")
    figure = Figure(value=0.123456, n=12345, n_failed=678, ci_low=-0.5, ci_high=0.5)
    print_figures(dict.fromkeys(NAMES, figure), "systems", {"P(best)": dict.fromkeys(NAMES, "0.125")})
    out = capsys.readouterr().out
    for cell in ("0.1235", "-0.5000 to 0.5000", "12345", "678", "P(best)", "0.125"):
        assert cell in out
    cells = re.findall(r"(?m)^[a-z0-9-]+", out[out.index("─") :])
    assert "".join(cells) == "".join(NAMES) and "…" not in out


def test_numbers_stand_right_words_left_and_tables_apart(capsys: pytest.CaptureFixture[str]):
    print_table("games", ("agent", "won"), [("a", "7"), ("b", "1,234")])
    print_table("more", ("agent", "interval"), [("a", "0.1 to 0.2")])
    assert [line for line in capsys.readouterr().out.splitlines() if set(line) - {"─"}] == [
        *("games", "agent     won", "a           7", "b       1,234"),
        *("more", "agent   interval  ", "a       0.1 to 0.2"),
    ]


def test_what_is_empty_is_said(capsys: pytest.CaptureFixture[str]):
    print_figures({}, "yes and no")
    print_table("games", ("a", "b"), [])
    print_agreement("people", {"kappa": Figure(value=None, n=0, n_failed=2)}, {"kappa": "one label alone"})
    assert capsys.readouterr().out.splitlines() == [
        "yes and no: none can be computed",
        "games",
        "there is nothing to show",
        "people: no figure is defined",
        "undefined: kappa: one label alone",
    ]
