"""The parts of a page that a script writes: from `<!-- NAME -->` to `<!-- /NAME -->`."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def block(text: str, name: str) -> str:
    """What stands between the two marks, without the blank lines around it. Raises ValueError where they are not."""
    found = re.findall(_pattern(name), text, flags=re.DOTALL)
    if len(found) != 1:
        raise ValueError(f"the page has {len(found)} blocks <!-- {name} -->, not one")
    return str(found[0]).strip()


def fill(name: str, content: str, page: Path) -> None:
    """Put `content` between the two marks. Raises ValueError where they are not there."""
    text = page.read_text(encoding="utf-8")
    block(text, name)
    new = f"<!-- {name} -->\n\n{content.strip()}\n\n<!-- /{name} -->"
    page.write_text(re.sub(_pattern(name), lambda _: new, text, flags=re.DOTALL), encoding="utf-8")


def _pattern(name: str) -> str:
    return rf"<!-- {re.escape(name)} -->(.*?)<!-- /{re.escape(name)} -->"
