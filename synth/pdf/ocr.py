"""Scanned PDFs: their text recognised by the program `ocrmypdf`, where an experiment asks for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from ragassay.digests import digest_file
from ragassay.errors import InputError
from ragassay.text import plain

PROGRAM = "ocrmypdf"

_TESSERACT = {
    **{"ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng"},
    **{"es": "spa", "et": "est", "eu": "eus", "fa": "fas", "fi": "fin", "fr": "fra", "he": "heb", "hi": "hin"},
    **{"hr": "hrv", "hu": "hun", "id": "ind", "it": "ita", "ja": "jpn", "ko": "kor", "lt": "lit", "lv": "lav"},
    **{"nl": "nld", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sk": "slk", "sl": "slv"},
    **{"sr": "srp", "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr", "vi": "vie", "zh": "chi_sim"},
}
"""Codes of ISO 639-1 to the names of Tesseract's languages."""


def check_ocr(settings: Path) -> None:
    """Raises InputError where the program is not installed; `settings` is the file that asks for it."""
    if shutil.which(PROGRAM) is None:
        remedy = f"install {PROGRAM} (apt install {PROGRAM}), or take ocr out"
        raise InputError(f"ocr needs the program {PROGRAM}, which is not installed", file=settings, remedy=remedy)


def with_text(pdf: Path, folder: Path, language: str, timeout_s: float) -> Path:
    """A copy of the PDF in `folder` with text on the pages that had none; one made before is taken again.

    Raises OSError, which says why, where the program fails or takes longer than `timeout_s`.
    """
    name = _TESSERACT.get(re.split(r"[-_ ]", language.strip().lower())[0])
    made = folder / f"{digest_file(pdf)[:32]}-{name or 'default'}.pdf"
    if made.exists():
        return made
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{made.name}.part"
    command = [PROGRAM, "--skip-text", "--quiet", "--output-type", "pdf", *(["-l", name] if name else [])]
    try:
        _run([*command, str(pdf.absolute()), str(part.absolute())], timeout_s)
        os.replace(part, made)
    finally:
        part.unlink(missing_ok=True)
    return made


def _run(command: list[str], timeout_s: float) -> None:
    try:
        ended = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise OSError(f"{PROGRAM} took longer than {timeout_s:.0f} s") from None
    if ended.returncode:
        said = ended.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [f"status {ended.returncode}"]
        raise OSError(f"{PROGRAM}: {plain(said[0])[:200]}")
