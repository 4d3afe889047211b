"""How often options are taken by default, held to the tables of docs/choices.md."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.options.probability import moves_to_nearest, usual_option_probability
from tests.helpers.envs import make


def test_the_rule_by_hand() -> None:
    # Seven cells in a row with a goal in the middle: distances 3 2 1 0 1 2 3, of mean square 4.
    path = fp.grid((7,))
    assert moves_to_nearest(path, np.array([3])).tolist() == [3, 2, 1, 0, 1, 2, 3]
    assert usual_option_probability(path, np.array([3])) == pytest.approx(1 / 9)
    assert usual_option_probability(path, np.arange(7)) == 0.5
    assert usual_option_probability(path, np.empty(0, dtype=np.int64)) == 0.0
    assert moves_to_nearest(path, np.array([0, 6])).tolist() == [0, 1, 2, 3, 2, 1, 0]


def test_an_episode_has_two_options_at_least() -> None:
    world = fp.World.from_env(make("MiniGrid-MultiRoom-N2-S4-v0"), seed=3)
    assert world.restart is not None
    limit = round(1 / world.restart[world.restart < 1].max())
    assert usual_option_probability(world, np.array([0])) == pytest.approx(2 / limit)


@pytest.mark.parametrize("name", ["four_rooms", "maze", "ring"])
@pytest.mark.parametrize("number", [6, 10, None])
def test_mean_steps_are_near_those_of_the_best_probability(name: str, number: int | None) -> None:
    world = fp.worlds.named_world(name)
    options = fp.discover(world, n_options=number)

    def mean(chance: float) -> float:
        return fp.steps_between_states(world, options, option_probability=chance, n_jobs=1).mean

    best = min(mean(chance) for chance in (0.5, 0.2, 0.1, 0.05, 0.02, 0.01))
    assert mean(options.option_probability) < 1.3 * best
    assert mean(options.option_probability) < 0.75 * fp.steps_between_states(world, n_jobs=1).mean


def test_goals_that_are_spread_need_no_more_steps_than_other_choices() -> None:
    """The mean over the paper's worlds and two numbers of options, as multiples of what `n_options` alone takes."""
    ratios = []
    for world in (fp.four_rooms(), fp.maze(), fp.ring(), fp.random_maze(20, 20, seed=1)):
        for number in (6, 10):
            sets = [fp.discover(world, n_options=number), fp.discover(world, t=4, n_options=number)]
            spread, prominent = (
                fp.steps_between_states(
                    world, options, option_probability=options.option_probability, n_targets=30, n_jobs=1
                ).mean
                for options in sets
            )
            ratios.append(prominent / spread)
    assert min(ratios) > 0.9
    assert np.exp(np.log(ratios).mean()) > 1.1
