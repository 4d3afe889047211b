"""How often options are taken by default, held to the tables of docs/choices.md."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options.probability import (
    exploring_option_probability,
    moves_to_nearest,
    resolve_option_probability,
    usual_option_probability,
)
from farpoint.options.protocol import OptionList
from farpoint.simulation.tables import episodes_of
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


def test_a_state_that_ends_some_episodes_is_no_time_limit() -> None:
    # A corridor of eleven cells: waiting at the far end ends an episode in two of five tries. No time limit strikes.
    before = [*range(10), 10, 10, 10, 10, *range(10, 0, -1), 10]
    after = [*range(1, 11), 10, 10, 10, 10, *range(9, -1, -1), 10]
    ended = [False] * 24 + [True]
    log = fp.World.from_log(before, after, [1] * 10 + [4] * 4 + [0] * 10 + [4], terminated=ended)
    assert log.labels == (*range(11), ("end", 10))
    assert log.truncation_rate == 0.0
    # The distances of a line to its first state are 0 … 10, and 11 to the end: their mean square is 506 / 12.
    assert usual_option_probability(log, np.array([0])) == pytest.approx(1 / (1 + 2 * 506 / 12))
    assert episodes_of(log, 500).max_steps == 500
    # The same world as others make it: a state whose restart is the share of arrivals that end there.
    restart = np.full(11, 1 / 200)
    restart[10] = 0.4 + 0.6 / 200
    corridor = replace(fp.grid((11,)), restart=restart, starts=np.eye(11)[0])
    assert corridor.truncation_rate == 1 / 200
    assert usual_option_probability(corridor, np.array([0])) == pytest.approx(1 / (1 + 2 * 385 / 11))
    assert episodes_of(corridor, 500).max_steps == 200


def test_one_function_says_how_often() -> None:
    options = fp.OptionSet(fp.grid((7,)), np.array([3]))
    # Given, else a default, else 1 / (1 + 2 d²) with d² = 4; without options never.
    assert resolve_option_probability(None, options) == pytest.approx(1 / 9)
    assert resolve_option_probability(0, options) == 0.0
    assert resolve_option_probability(None, options, default=0.5) == 0.5
    assert resolve_option_probability(0.3, options, default=0.5) == 0.3
    assert resolve_option_probability(1, options, may_be_one=True) == 1.0
    assert [resolve_option_probability(0.3, none) for none in (None, options[:0])] == [0.0, 0.0]
    assert exploring_option_probability(None) == OptionList([options[0]]).option_probability == 0.05
    for value, message in ((1, "must be below 1"), (-0.1, "a number from 0 to 1"), ("half", "a number from 0 to 1")):
        for check in (exploring_option_probability, lambda value: resolve_option_probability(value, None)):
            with pytest.raises(InvalidInput, match=message):
                check(value)


def test_by_default_options_are_taken_as_often_as_they_say() -> None:
    world = fp.maze()
    options = fp.discover(world, n_options=6)
    steps = fp.steps_between_states(world, options)
    # With ½ this takes 1.07e9 steps; without options, 1,382.
    assert steps.mean < 0.6 * fp.steps_between_states(world).mean
    own = options.option_probability
    assert steps.option_probability == own
    assert steps.mean == fp.steps_between_states(world, options, option_probability=own).mean
    few: dict[str, Any] = {"targets": [5], "n_runs": 1, "n_episodes": 2}
    found: dict[str, Any] = {
        "cover": fp.cover_time(world, options, n_runs=2),
        "smdp": fp.learn(world, options, algorithm="smdp", **few),
        "intra-option": fp.learn(world, options, algorithm="intra-option", **few),
    }
    assert all(result.option_probability == own for result in found.values())
    assert fp.learn(world, options, **few).option_probability == 0.5
    for result in (steps, *found.values()):
        assert f"option_probability={own:.3g})" in repr(result)
    for alone in (fp.steps_between_states(world), fp.learn(world, **few)):
        assert alone.option_probability == 0.0
        assert "option_probability" not in repr(alone)
    np.testing.assert_array_equal(
        fp.visitation(world, options, n_runs=2), fp.visitation(world, options, option_probability=own, n_runs=2)
    )


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
