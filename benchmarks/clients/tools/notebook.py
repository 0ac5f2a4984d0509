"""The notebook of the docs, on a plain install with the extras that its first cell names."""

from pathlib import Path
from typing import Any

PAGE = Path("docs/from-python.ipynb").resolve()


def run(folder: Path) -> list[Any]:
    import nbformat
    from nbclient import NotebookClient

    page = nbformat.read(PAGE, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(page, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    code = [cell for cell in page.cells if cell.cell_type == "code"]
    failed = [one.ename for cell in code for one in cell.outputs if one.output_type == "error"]
    return [[0, True, True], [len(failed), len(code) > 5, '"ragassay[evaluators,pandas]"' in page.cells[0].source]]


CHECKS = ("run",)
