"""The report, and the templates of its page."""

from pathlib import Path

TEMPLATES = Path(__file__).with_name("templates")
