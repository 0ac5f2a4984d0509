"""A session of tests: the judge that its assertions ask, and what they came to; and the pytest plugin, with the options
`--ragassay-model` and `--ragassay-base-url` and a line at the end that says what was asked and what it cost.

Nothing heavy is imported: every test session of an environment that has ragassay imports this module.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest import Config, Parser, TerminalReporter


@dataclass(frozen=True)
class Spent:
    """What was asked of models: replies at hand, new ones, those that failed, and US dollars for the new ones.

    priced: whether every price was known; where not, `usd` is what is known of it.
    """

    cached: int = 0
    new: int = 0
    failed: int = 0
    usd: float = 0.0
    priced: bool = True

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.cached + other.cached,
            self.new + other.new,
            self.failed + other.failed,
            self.usd + other.usd,
            self.priced and other.priced,
        )


@dataclass(eq=False)
class Session:
    """The judge of a test session, and what its assertions came to; as a plugin of pytest it tells that at the end.

    model, base_url: the judge and its address where an assertion names none. assertions: of `assert_judged`; judgments,
    failed: records.
    """

    model: str | None = None
    base_url: str | None = None
    assertions: int = 0
    judgments: int = 0
    failed: int = 0
    spent: Spent = field(default_factory=Spent)

    def line(self) -> str:
        """`3 assertions, 4 judgments (1 failed); replies: 2 new, 1 failed, 2 at hand; $0.0100`."""
        spent = self.spent
        judgments = f"{self.judgments} judgments" + (f" ({self.failed} failed)" if self.failed else "")
        bad = f", {spent.failed} failed" if spent.failed else ""
        cost = f"${spent.usd:.4f}" if spent.priced else f"${spent.usd:.4f} and what has no known price"
        replies = f"replies: {spent.new} new{bad}, {spent.cached} at hand"
        return f"{self.assertions} assertions, {judgments}; {replies}; {cost}"

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Write the line, where anything was asserted."""
        if self.assertions:
            terminalreporter.write_line(f"ragassay: {self.line()}")

    def pytest_unconfigure(self) -> None:
        """Make the session before it the current one again."""
        _open.remove(self)


_open: list[Session] = []


def current() -> Session:
    """The innermost session under way, or one that nobody keeps."""
    return _open[-1] if _open else Session()


def pytest_addoption(parser: Parser) -> None:
    """Add `--ragassay-model` and `--ragassay-base-url`."""
    help_text = "the judge of assert_judged where it names none, such as openai:gpt-4o"
    group = parser.getgroup("ragassay", "judging answers with ragassay")
    group.addoption("--ragassay-model", metavar="MODEL", help=help_text)
    group.addoption("--ragassay-base-url", metavar="URL", help="the address of that judge, if not its provider's")


def pytest_configure(config: Config) -> None:
    """Begin the session, with the judge of the options."""
    session = Session(config.getoption("--ragassay-model"), config.getoption("--ragassay-base-url"))
    _open.append(session)
    config.pluginmanager.register(session, "ragassay-session")
