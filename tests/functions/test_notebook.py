"""docs/from-python.ipynb runs in a kernel, in an empty folder, without a key, and shows what its page says it shows."""

from __future__ import annotations

import pytest
from support.places import ROOT

PATH = ROOT / "docs" / "from-python.ipynb"


@pytest.mark.slow
def test_the_notebook_runs(tmp_path, monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(PATH, as_version=4)
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    said = ["".join(_texts(cell)) for cell in notebook.cells if cell.cell_type == "code"]
    assert said[0] == "(1.0, 1.0, '1 found: email')"
    assert "answer is missing" in said[1]
    assert said[2] == "(1.0, 'The same header is named.', None)"
    assert said[4].startswith("pii_leakage has the score 0, below 0.9")
    assert (tmp_path / "results" / "avr-libc" / "report.html").exists()
    assert all(agent in said[-1] for agent in ("bm25-rag", "hybrid-rag-fusion"))


def test_the_notebook_is_kept_without_outputs():
    import nbformat

    cells = nbformat.read(PATH, as_version=4).cells
    assert all(not cell.outputs and cell.execution_count is None for cell in cells if cell.cell_type == "code")


def _texts(cell):
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stdout":
            yield output.text
        elif output.output_type == "execute_result":
            yield output.data["text/plain"]
