"""Maps that are larger than the screen: means of cells, the most prominent goals, and what Play needs."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from tests.helpers.browser import Page

pytestmark = [pytest.mark.xdist_group("studio"), pytest.mark.slow]


def test_map_seen_from_afar_shows_means_and_the_most_prominent_goals(page: Page) -> None:
    page.open("#world=random_maze&rows=20&cols=1500&seed=3&t=4")
    world = fp.random_maze(20, 1500, seed=3)
    scores = fp.score(world, 4)
    block = page.js("farpointStudio.panels[0].board.block")
    assert block == 2
    page.wait("farpointStudio.panels[0].prominent", 60)
    goals = fp.find_goals(world, scores)
    least = np.sort(goals.prominences)[-100]
    shown = page.js("Array.from(farpointStudio.panels[0].prominent)")
    assert len(shown) == 100
    prominence = dict(zip(goals.states.tolist(), goals.prominences.tolist(), strict=True))
    assert min(prominence[state] for state in shown) == pytest.approx(least)
    said = page.js("document.querySelector('#afar').textContent")
    assert said == "Pixels: means of 2 × 2 cells. Circles: the 100 most prominent goals."
    # The first tile's pixels, of blocks that are all floor.
    assert world.positions is not None
    grid = np.full((22, 1502), np.nan)
    places = world.positions - world.positions.min(axis=0) + 1
    grid[tuple(places.T)] = scores
    for row, col in np.argwhere(np.isfinite(grid[:22, :128].reshape(11, 2, 64, 2)).all(axis=(1, 3)))[::20]:
        mean = grid[2 * row : 2 * row + 2, 2 * col : 2 * col + 2].mean()
        index = int(255 * (mean - scores.min()) / (scores.max() - scores.min()))
        pixel = page.js(
            f"Array.from(farpointStudio.base.tile(0, 0, 2).getContext('2d').getImageData({col}, {row}, 1, 1).data)"
        )
        near = [page.js(f"farpointStudio.base.cssOf({max(0, min(255, index + by))})") for by in (-1, 0, 1)]
        assert "rgb({},{},{})".format(*pixel) in near
    # Nearer, cells and all goals are seen again.
    page.run("for (let time = 0; time < 12; time++) farpointStudio.zoom(1.25)")
    assert page.js("farpointStudio.panels[0].board.block") == 1
    assert page.js("document.querySelector('#afar').textContent") == ""


def test_play_says_what_it_needs_in_a_large_world(page: Page) -> None:
    page.open("#world=open_room&rows=240&cols=240")
    page.browser.find_element("css selector", ".play").click()
    page.wait("!farpointStudio.ui.alert.hidden")
    assert "press Discover in the panel first" in page.js("farpointStudio.ui.alert.textContent")
    assert page.js("farpointStudio.panels.length") == 1
    assert "Play" in page.browser.find_element("css selector", ".play").text
