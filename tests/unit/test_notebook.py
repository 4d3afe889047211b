"""The notebook runs from top to bottom, and everything in it shows itself without a magic line."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")

NOTEBOOK = Path(__file__).parents[2] / "examples" / "tour.ipynb"
# Starting a kernel opens sockets that its own packages close late.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@cache
def executed() -> Any:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(NOTEBOOK.parent))
    return notebook


def results() -> dict[str, dict[str, Any]]:
    """What each cell showed at its end, by its last line."""
    shown: dict[str, dict[str, Any]] = {}
    for cell in executed().cells:
        if cell.cell_type == "code":
            last = cell.source.splitlines()[-1]
            shown[last] = next((one.data for one in cell.outputs if one.output_type == "execute_result"), {})
    return shown


def test_there_is_no_magic_and_no_stored_output() -> None:
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        assert not any(line.startswith(("%", "!")) for line in cell.source.splitlines())
        assert not cell.get("outputs")


def test_objects_show_a_table_and_a_picture() -> None:
    for last in ("world", "fp.find_goals(world, scores)", "options", 'learning["diffusion"]'):
        html = results()[last]["text/html"]
        assert "<table" in html, last
        assert "src='data:image/png;base64," in html, last
    assert "20 diffusion options" in results()["options"]["text/html"]


def test_pictures_are_shown_inline() -> None:
    drawn = [last for last in results() if ".draw" in last]
    assert len(drawn) == 5
    for last in drawn:
        assert results()[last]["image/png"].startswith("iVBOR"), last
    (animated,) = [last for last in results() if "animate" in last]
    assert "data:image/png;base64," in results()[animated]["text/html"]
    assert "http" not in results()[animated]["text/html"]


def test_frames_are_shown_and_nothing_went_wrong() -> None:
    assert "prominences" in results()["options.to_frame().head()"]["text/html"]
    every = [output for cell in executed().cells for output in cell.get("outputs", [])]
    # Progress bars may have been seen, and are gone; nothing else was printed.
    assert all(output.output_type in ("execute_result", "stream") for output in every)
