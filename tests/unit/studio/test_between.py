"""Scores between two t that are known, against the scores themselves."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.studio import between
from farpoint.studio.between import Between
from farpoint.studio.scoring import Scorer

TIMES = (8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100, 126, 160, 200, 250, 320, 400, 500, 630, 800, 1000)
WORLDS = {
    "maze": fp.maze(),
    "random_maze": fp.random_maze(30, 35, seed=5),
    "open_room": fp.open_room(30, 30),
    "rooms": fp.World.from_map("\n".join(["." * 21 + "#" + "." * 9] * 6 + ["." * 31] + ["." * 21 + "#" + "." * 9] * 8)),
}


@pytest.fixture(scope="module", params=WORLDS)
def scorer(request: pytest.FixtureRequest) -> Scorer:
    scorer = Scorer(WORLDS[request.param])
    for t in TIMES:
        scorer.between.add(t, np.asarray(fp.score(scorer.world, t)))
    return scorer


@pytest.mark.parametrize("t", [9, 11, 22, 45, 70, 140, 300])
def test_scores_and_goals_are_nearly_those_of_the_library(scorer: Scorer, t: int) -> None:
    scores, goals = scorer.preview(t)
    exact = fp.score(scorer.world, t)
    np.testing.assert_allclose(scores, exact, rtol=2e-3)
    expected = set(fp.find_goals(scorer.world, exact).states.tolist())
    assert len(expected ^ set(goals.tolist())) <= 0.02 * len(expected)


def test_a_score_that_is_known_comes_back(scorer: Scorer) -> None:
    np.testing.assert_allclose(scorer.preview(25)[0], fp.score(scorer.world, 25), rtol=1e-12)


def test_nothing_is_said_beyond_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Between()
    assert not known.holds(3)
    for t in (4, 5, 20, 25, 32):
        known.add(t, np.full(100, 1.0 / t))
    # Before the first, after the last, in a wide gap; elsewhere a power of t is found exactly.
    assert [known.holds(t) for t in (3, 40, 10, 22, 28, 4)] == [False, False, False, True, True, True]
    np.testing.assert_allclose(known.scores(28), 1.0 / 28)  # type: ignore[arg-type]
    monkeypatch.setattr(between, "_MOST_BYTES", 5 * 800)
    known.add(40, np.ones(100))
    assert not known.holds(40)
