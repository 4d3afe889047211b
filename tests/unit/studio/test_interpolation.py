"""Scores between two t that are known, against the scores themselves."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion import Scores
from farpoint.studio import interpolation
from farpoint.studio.interpolation import Between
from farpoint.studio.scoring import Scored, Scorer

TIMES = (8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100, 126, 160, 200, 250, 320, 400, 500, 630, 800, 1000)
WORLDS = {
    "maze": fp.maze(),
    "random_maze": fp.random_maze(30, 35, seed=5),
    "open_room": fp.open_room(30, 30),
    "rooms": fp.World.from_map("\n".join(["." * 21 + "#" + "." * 9] * 6 + ["." * 31] + ["." * 21 + "#" + "." * 9] * 8)),
}


@pytest.mark.parametrize("name", WORLDS)
def test_scores_and_goals_are_nearly_those_of_the_library(name: str) -> None:
    scorer = Scorer(WORLDS[name])
    decomposition = fp.diffusion.spectrum(scorer.world)
    for t in TIMES:
        scorer.between.add(t, fp.score(scorer.world, t, decomposition=decomposition))
    for t in (9, 11, 22, 45, 70, 140, 300):
        preview = scorer.interpolated(t)
        assert preview is not None
        exact = fp.score(scorer.world, t, decomposition=decomposition)
        np.testing.assert_allclose(preview.values, exact, rtol=2e-3, err_msg=f"t = {t}")
        expected = set(fp.find_goals(scorer.world, exact).states.tolist())
        assert len(expected ^ set(preview.goals.tolist())) <= 0.02 * len(expected)


def test_a_score_that_is_known_comes_back() -> None:
    scorer = Scorer(WORLDS["maze"])
    exact = fp.score(scorer.world, 25)
    scorer.between.add(25, exact)
    found = scorer.compute(25)
    assert isinstance(found, Scored)
    np.testing.assert_array_equal(found.scores, exact)
    assert found.goals.states.tolist() == fp.find_goals(scorer.world, exact).states.tolist()
    assert found.scores.solver == exact.solver
    assert (found.scores.error_bound is None) == (exact.error_bound is None)
    assert scorer.preview(25) is None


def test_bounds_are_those_of_the_score_or_wider() -> None:
    known, rough = Between(), fp.score(fp.random_maze(60, 60, seed=1), 40, solver="local", tolerance=1e-3)
    known.add(40, rough, 2.0)
    found = known.known(40)
    assert found is not None
    scores, seconds = found
    np.testing.assert_array_equal(scores, rough)
    assert seconds == 2.0
    assert scores.error_bound is not None
    assert rough.error_bound is not None
    assert (scores.error_bound >= rough.error_bound * (1 - 1e-12)).all()
    assert (scores.error_bound <= 1e-3 * rough).all()


def test_nothing_is_said_beyond_what_is_known() -> None:
    known = Between()
    assert known.at(3) is None
    for t in (4, 5, 20, 25, 32):
        known.add(t, Scores(np.full(100, 1.0 / t), t, "local", "walk"))
    # Before the first, after the last, in a wide gap; elsewhere a power of t is found exactly.
    assert [known.at(t) is None for t in (3, 40, 10, 22, 28)] == [True, True, True, False, False]
    np.testing.assert_allclose(known.between(28), 1.0 / 28)  # type: ignore[arg-type]
    # What has mixed has no logarithm that says anything.
    known.add(40, Scores(np.full(100, 1e-31), t, "local", "walk"))
    assert 40 not in known


def test_memory_is_bounded_for_one_world_and_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    room = interpolation.Room()
    monkeypatch.setattr(interpolation, "ROOM", room)
    monkeypatch.setattr(interpolation, "MOST_BYTES", 2 * 800)
    monkeypatch.setattr(interpolation, "MOST_BYTES_OF_ALL", 3 * 800)
    first, second = Between(), Between()
    for t in (1, 2, 3):
        first.add(t, Scores(np.ones(100), t, "local", "walk"))
    for t in (1, 2):
        second.add(t, Scores(np.ones(100), t, "local", "walk"))
    assert ([t in first for t in (1, 2, 3)], [t in second for t in (1, 2)]) == ([True, True, False], [True, False])
    # A tab that is closed makes room for the others.
    del first
    gc.collect()
    second.add(2, Scores(np.ones(100), t, "local", "walk"))
    assert 2 in second


def test_worlds_with_wind_have_no_previews() -> None:
    scorer = Scorer(fp.four_rooms(0.1))
    for t in TIMES[:6]:
        scorer.between.add(t, fp.score(scorer.world, t))
    assert scorer.between.at(12) is not None
    assert scorer.preview(12) is None


def test_room_can_be_given_back_while_it_is_taken() -> None:
    """The garbage collector may run in the middle of a call: in the same thread, with the lock held."""
    room = interpolation.Room()
    given = []

    class Collected(int):
        def __radd__(self, held: int) -> int:
            room.give_back([0])
            given.append(True)
            return held + int(self)

    assert room.take(Collected(5))
    assert given
