"""README and docs agree with the tables in ``research/results``, which a command wrote."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from farpoint.errors import InvalidInput, UnknownName
from research import runner
from research.pages import IMAGES, MARK, pages, render, unmarked_tables
from research.runner import RESULTS, ROOT

PAGES = [page for page in pages() if MARK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_what_their_tables_say(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert render(text, page) == text, "run: make pages"


def test_pictures_are_what_their_tables_say(tmp_path: Path) -> None:
    for page in PAGES:
        render(page.read_text(encoding="utf-8"), page, images=tmp_path)
    drawn = sorted(tmp_path.iterdir())
    assert drawn
    for picture in drawn:
        assert picture.read_bytes() == (IMAGES / picture.name).read_bytes(), "run: make pages"


def test_every_table_of_numbers_is_in_a_mark() -> None:
    found = {page.name: unmarked_tables(page.read_text(encoding="utf-8")) for page in pages()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_changed_table_changes_page_number_and_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results, images = tmp_path / "results", tmp_path / "images"
    shutil.copytree(RESULTS, results)
    images.mkdir()
    monkeypatch.setattr(runner, "RESULTS", results)
    page = ROOT / "docs" / "scale.md"
    text = page.read_text(encoding="utf-8")
    assert render(text, page) == text
    table = results / "speed-scores.csv"
    head, first, *rest = table.read_text().splitlines()
    cells = dict(zip(head.split(","), first.split(","), strict=True))
    assert (cells["peer"], cells["t"]) == ("farpoint", "4")
    cells["seconds"] = "7.77"
    table.write_text("\n".join([head, ",".join(cells.values()), *rest]) + "\n")
    new = render(text, page, images=images)
    assert "7.77" in new
    assert "7.77" not in text
    assert (images / "speed-figure.svg").read_bytes() != (IMAGES / "speed-figure.svg").read_bytes()
    mazes = results / "goals-mazes.csv"
    mazes.write_text(re.sub(r"(?m)^(\d+,40,\d+),[^,]+,[^,]+,", r"\1,100,50,", mazes.read_text()))
    methods = ROOT / "docs" / "methods.md"
    assert "| 40 | −50.0 % | −50.0 % |" in render(methods.read_text(encoding="utf-8"), methods)


def test_marks() -> None:
    page = ROOT / "docs" / "page.md"
    text = "Twice <!--= typed some.table -->as it is<!--/--> here."
    assert render(text, page) == text
    with pytest.raises(UnknownName, match=r"SHOWN of research/shown/goals.py; got 'goals.nothing'"):
        render("a <!--= goals.nothing --><!--/-->", page)
    with pytest.raises(UnknownName, match=r"got 'nowhere\.at_all'"):
        render("a <!--= nowhere.at_all --><!--/-->", page)
    for wrong in ("a <!--= goals.better -->b <!--= goals.paper_range -->c<!--/-->", "a <!--=goals.better-->b<!--/-->"):
        with pytest.raises(InvalidInput, match=r"marks of page.md must be"):
            render(wrong, page)
    with pytest.raises(InvalidInput, match="must not begin a line"):
        render("a\n<!--= goals.better -->x<!--/--> b", page)
    assert "docs/images/speed-figure.svg" in render("<!--= speed.figure --><!--/-->\n", ROOT / "README.md")
    assert "(../images/speed-figure.svg)" in render("<!--= speed.figure --><!--/-->\n", ROOT / "docs" / "api" / "a.md")
