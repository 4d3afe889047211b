"""Whether options make things worse than none."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.measures.harm import effect_of
from tests.helpers.envs import make
from tests.helpers.graphs import without_map


def test_few_options_taken_every_second_time_harm_and_taken_seldom_help() -> None:
    world = fp.maze()
    options = fp.discover(world, n_options=6)
    often, seldom = effect_of(world, options, option_probability=0.5), effect_of(world, options)
    assert often is not None
    assert seldom is not None
    assert often.harms
    assert not seldom.harms
    assert often.alone == seldom.alone == fp.steps_between_states(world, n_targets=20).mean
    assert often.measure == "steps between states"


def test_an_environment_is_judged_by_its_targets() -> None:
    world = fp.World.from_env(make("CliffWalking-v1"))
    effect = effect_of(world, fp.discover(world))
    assert effect is not None
    assert effect.measure == "steps until a target is first reached"
    assert effect.helped < effect.alone / 5


def test_what_cannot_be_judged() -> None:
    one_way = fp.World.from_graph(np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]]))
    assert effect_of(one_way, fp.OptionSet(one_way, np.array([2]))) is None
    # Too many states of a map, too many of a graph, and too many options.
    for world, n_options in (
        (fp.open_room(320, 320), 1),
        (without_map(fp.open_room(60, 60)), 1),
        (fp.open_room(300, 300), 23),
    ):
        assert effect_of(world, fp.OptionSet(world, np.arange(n_options))) is None
    with pytest.raises(InvalidInput, match="option_probability must be"):
        effect_of(fp.maze(), fp.discover(fp.maze(), n_options=2), option_probability=1.5)


@pytest.mark.parametrize("n_cells", [1, 2])
def test_the_smallest_worlds(n_cells: int) -> None:
    world = fp.grid((n_cells,))
    effect = effect_of(world, fp.OptionSet(world, np.array([0])))
    assert effect is not None
    assert not effect.harms


def test_options_of_thousands_of_states_are_judged() -> None:
    world = fp.random_maze(30, 30, seed=1)
    options = fp.discover(world, n_options=10)
    effect = effect_of(world, options)
    assert effect is not None
    dense = [
        fp.steps_between_states(world, chosen, n_targets=20, option_probability=options.option_probability).mean
        for chosen in (options, None)
    ]
    np.testing.assert_allclose((effect.helped, effect.alone), dense, rtol=1e-9)
    larger = fp.random_maze(80, 80, seed=1)
    helped = effect_of(larger, fp.discover(larger, n_options=10))
    assert helped is not None
    assert helped.helped < 0.9 * helped.alone
