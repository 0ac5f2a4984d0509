"""The templates' environment: every text that a template prints is untrusted, and escaped."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ragassay.text import one_line, untrusted

from . import TEMPLATES, plots
from .wording import interval, number, shown


def environment() -> Environment:
    """With what all pages word figures by; control and direction characters are made visible before escaping."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"plots": plots, "shown": shown, "number": number, "interval": interval, "one_line": one_line}
    return made


def _finalize(value: Any) -> Any:
    """Every text that a template prints passes here, unless it is markup already."""
    return untrusted(value) if isinstance(value, str) and not isinstance(value, Markup) else value
