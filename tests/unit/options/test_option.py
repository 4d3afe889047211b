"""One option: where it can start, what it does, where it ends."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options.option import Option
from tests.helpers.envs import make


def test_a_route_that_does_not_end() -> None:
    world = fp.open_room(12, 12, wind=0.9)
    option = fp.OptionSet(world, np.array([0]), "random")[0]
    with pytest.raises(InvalidInput, match="max_steps must be enough for the option to end; got 500"):
        option.route(143, max_steps=500)


def test_route_lengths_in_wind_average_to_the_expected_steps() -> None:
    world = fp.four_rooms(wind=1 / 3)
    option = fp.discover(world)[0]
    start = world.start
    assert start is not None
    lengths = [option.route(start, seed=seed).size - 1 for seed in range(400)]
    error = np.std(lengths) / np.sqrt(len(lengths))
    assert abs(np.mean(lengths) - option.expected_steps[start]) < 4 * error


def test_ties_are_broken_uniformly() -> None:
    world = fp.open_room(3, 3)
    option = fp.discover(world)[0]
    assert option.goal == 0
    np.testing.assert_allclose(option.policy(8), [0.5, 0.5])
    np.testing.assert_allclose(option.policy(0), [0, 0])
    ways = {tuple(option.route(8, seed=seed)) for seed in range(100)}
    assert len(ways) == 6  # all monotone paths from corner to corner


@pytest.mark.parametrize("world", [fp.maze(), fp.four_rooms(wind=0.3)], ids=str)
def test_policy_of_a_state_is_its_part_of_the_whole(world: fp.World) -> None:
    option = fp.discover(world)[1]
    whole = option.choice_probabilities()
    for state in range(world.n_states):
        choices = world.choices(state)
        np.testing.assert_allclose(option.policy(state), whole[choices.start : choices.stop])
        assert option.ends[state] == (state == option.goal)


def test_option_that_cannot_start_here() -> None:
    world = fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1)]))
    option = fp.OptionSet(world, np.array([0]), "random")[0]
    assert option.initiation.tolist() == [True, False, False]
    with pytest.raises(InvalidInput, match="must be in the option's initiation set; got 2"):
        option.route(2)
    with pytest.raises(InvalidInput, match="state must be at most 2; got 7"):
        option.route(7)


@given(seed=st.integers(0, 10_000), directed=st.booleans())
def test_a_single_route_is_the_one_that_the_potential_gives(seed: int, directed: bool) -> None:
    graph = nx.gnp_random_graph(25, 0.12, seed=seed, directed=directed)
    world = fp.World.from_graph(graph, largest_component=True)
    goal, start = seed % world.n_states, seed // 7 % world.n_states
    searched, known = (fp.OptionSet(world, np.array([goal]), "random")[0] for _ in range(2))
    if np.isfinite(known.potential[start]):
        np.testing.assert_array_equal(searched.route(start, seed=seed), known.route(start, seed=seed))
        assert "potential" not in vars(searched)
    else:
        with pytest.raises(InvalidInput, match="initiation set"):
            searched.route(start)


def test_an_option_can_be_sent_elsewhere() -> None:
    option = fp.discover(fp.maze(), "cover", n_options=2)[0]
    same = pickle.loads(pickle.dumps(option))
    np.testing.assert_array_equal(same.potential, option.potential)
    np.testing.assert_array_equal(same.initiation, option.initiation)
    assert same.goal == option.goal


@pytest.mark.parametrize("method", ["diffusion", "eigen", "cover"])
def test_observations_are_labels_and_unknown_ones_end_the_option(method: str) -> None:
    world = fp.World.from_env(make("CliffWalking-v1"))
    assert world.labels is not None
    assert world.actions is not None
    for option in fp.discover(world, method, n_options=4):
        for state, label in enumerate(world.labels):
            chances = option.policy(state)
            going = bool(chances.any())
            assert option.ended(label) == (not going) == bool(option.ends[state])
            assert option.can_start(label) == (going and bool(option.initiation[state]))
            taken = world.actions[list(world.choices(state))][chances > 0].tolist()
            assert option.act(label) == (taken[0] if going else None)
            drawn = {option.act(label, np.random.default_rng(seed)) for seed in range(30)}
            assert drawn == (set(taken) if going else {None})
        assert option.ended("elsewhere")
        assert not option.can_start("elsewhere")
        assert option.act("elsewhere") is None


def test_an_option_that_climbs_has_no_expected_steps() -> None:
    option = fp.discover(fp.maze(), "eigen", n_options=3)[2]
    with pytest.raises(InvalidInput, match="option must lead to one goal to have expected steps"):
        _ = option.expected_steps
    assert repr(option) == "Option(climbs, starts in 148 states)"


@pytest.mark.parametrize(("goal", "share", "ends"), [(None, 5e-12, False), (None, 5e-13, True), (0, 5e-12, True)])
def test_what_counts_as_rounding_of_climbs_and_of_lengths(goal: int | None, share: float, ends: bool) -> None:
    # State 1 is higher than state 0 by this share of the largest potential: down from it, or rounding?
    option = Option(fp.grid((3,)), np.array([1.0 - share, 1.0, 1.0]), goal)
    assert bool(option.ends[1]) == ends
    assert option.ended(1) == ends
