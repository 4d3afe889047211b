"""The site builds without a warning, has no dead link, and asks nothing of a network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest

pytest.importorskip("sphinx", reason="pip install 'farpoint[docs]'")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """Collects the links, the names that can be linked to, and what a browser would load, of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names |= {name for name in (given.get("id"), given.get("name")) if name}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        if tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.loaded.append(given["src"] or "")
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon"):
            self.loaded.append(given["href"] or "")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    # The gallery is written beside the pages, so that they are built from a copy.
    source, site = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("_build", "auto_gallery"))
    for page in ROOT.glob("*.md"):
        shutil.copy(page, source)
    shutil.copytree(ROOT / "examples", source / "examples")
    command = ["-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source / "docs"), str(site)]
    run = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return {path: Page(path.read_text()) for path in site.rglob("*.html")}


def local(pages: dict[Path, Page], which: str) -> Iterator[tuple[Path, str, Path, str]]:
    for path, page in pages.items():
        for link in getattr(page, which):
            if not urlparse(link).scheme and not link.startswith("data:"):
                file, fragment = urldefrag(link)
                target = (path.parent / unquote(file.split("?")[0])).resolve() if file else path
                yield path, link, target, unquote(fragment)


def test_no_internal_link_is_dead(pages: dict[Path, Page]) -> None:
    checked = 0
    for path, link, target, fragment in local(pages, "links"):
        checked += 1
        assert target.exists(), f"{path.name} links to {link}"
        if fragment and target in pages:
            assert fragment in pages[target].names, f"{path.name} links to {link}"
    assert checked > 500


def test_everything_that_is_loaded_is_there(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        assert not [link for link in page.loaded if urlparse(link).netloc], f"{path.name} asks a network"
    for path, link, target, _ in local(pages, "loaded"):
        assert target.exists(), f"{path.name} loads {link}"


def test_every_example_of_the_gallery_has_a_figure(pages: dict[Path, Page]) -> None:
    examples = {path.stem: page for path, page in pages.items() if path.stem.startswith("plot_")}
    assert set(examples) >= {path.stem for path in (ROOT / "docs" / "gallery").glob("plot_*.py")}
    for name, page in examples.items():
        assert any("sphx_glr" in image for image in page.loaded), f"{name} draws nothing"
