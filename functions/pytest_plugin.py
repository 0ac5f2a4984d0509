"""The pytest plugin: `--ragassay-model`, and a line at the end that says what assertions asked and what it cost.

Nothing heavy is imported: every test session of an environment that has ragassay imports this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .asking import Session, begin, end

if TYPE_CHECKING:
    from pytest import Config, Parser, TerminalReporter


def pytest_addoption(parser: Parser) -> None:
    """Add `--ragassay-model`."""
    help_text = "the judge of assert_judged where it names none, such as openai:gpt-4o"
    group = parser.getgroup("ragassay", "judging answers with ragassay")
    group.addoption("--ragassay-model", metavar="MODEL", help=help_text)


def pytest_configure(config: Config) -> None:
    """Begin the session, with the option's judge."""
    config.pluginmanager.register(_Telling(Session(config.getoption("--ragassay-model"))), "ragassay-session")


class _Telling:
    """Keeps the session, and tells of it where something was asked."""

    def __init__(self, session: Session) -> None:
        self._session = session
        begin(session)

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Write the session's line, where anything was asserted."""
        if self._session.assertions:
            terminalreporter.write_line(f"ragassay: {self._session.line()}")

    def pytest_unconfigure(self) -> None:
        """End the session."""
        end(self._session)
