"""What a test session asks with where an assertion does not say, and what its assertions came to."""

from __future__ import annotations

from dataclasses import dataclass, field


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


@dataclass
class Session:
    """The judge of a test session, and what its assertions came to.

    model: the judge where an assertion names none. assertions: of `assert_judged`; judgments, failed: records.
    """

    model: str | None = None
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


_open: list[Session] = []


def current() -> Session:
    """The innermost session under way, or one that nobody keeps."""
    return _open[-1] if _open else Session()


def begin(session: Session) -> None:
    """Make it the current one; `end` must follow."""
    _open.append(session)


def end(session: Session) -> None:
    """Make the one before it the current one again."""
    _open.remove(session)
