"""Measures by simulation."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.measures import first_visits
from tests.helpers.envs import Corridor
from tests.helpers.sampled import sampled_steps


def test_dead_ends_and_limits() -> None:
    dead_end = fp.World.from_graph(nx.DiGraph([(0, 1), (1, 0), (1, 2)]))
    with pytest.raises(InvalidInput, match="must have a choice for an agent to be simulated; got none in 2"):
        fp.visitation(dead_end, start=0)
    with pytest.raises(InvalidInput, match="every state must have a choice"):
        fp.learn(dead_end, start=0, targets=[2])
    assert fp.cover_time(fp.grid((2,))).high == 1.0


def test_simulations_do_not_depend_on_workers() -> None:
    world = fp.four_rooms()
    options = fp.discover(world)
    np.testing.assert_array_equal(
        fp.cover_time(world, options, n_runs=9, n_jobs=1).walks, fp.cover_time(world, options, n_runs=9, n_jobs=2).walks
    )


def test_cover_time_of_a_path_by_hand() -> None:
    # From one end, covering a path is reaching the other end: (n − 1)² steps.
    cover = fp.cover_time(fp.grid((6,)), None, start=0, n_runs=2000, seed=5)
    error = cover.walks.std(ddof=1) / np.sqrt(cover.walks.size)
    assert abs(cover.mean - 25) < 4 * error
    assert cover.low < cover.mean < cover.high
    with pytest.raises(InvalidInput, match="max_steps must be enough"):
        fp.cover_time(fp.grid((6,)), None, max_steps=5)


def test_visits_converge_to_the_walks_own_stationary_distribution() -> None:
    world = fp.four_rooms()
    visits = fp.visitation(world, None, n_steps=400_000, n_runs=20, seed=2)
    np.testing.assert_allclose(visits / visits.sum(), fp.stationary(world), rtol=0.05)


def test_walks_on_a_weighted_graph_follow_its_weights() -> None:
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.1, 5.0, (7, 7)) * (rng.random((7, 7)) < 0.7)
    world = fp.World.from_graph(
        np.triu(weights, 1) + np.triu(weights, 1).T + np.diag(np.ones(6), 1) + np.diag(np.ones(6), -1)
    )
    visits = fp.visitation(world, None, n_steps=200_000, n_runs=10, seed=2)
    np.testing.assert_allclose(visits / visits.sum(), fp.stationary(world), rtol=0.02)
    exact = fp.steps_between_states(world)
    sampled = sampled_steps(world, n_runs=2000, seed=3)
    assert (np.abs(sampled.per_target - exact.per_target) < 4 * sampled.standard_error).all()


@pytest.mark.parametrize("p", [0.1, 0.9])
def test_cover_time_and_visits_with_another_share_of_options(p: float) -> None:
    # One option from 0 to 1 and no other place to start it: the walk on two states is the same for any share.
    pair = fp.grid((2,))
    assert fp.cover_time(pair, fp.OptionSet(pair, np.array([1])), option_probability=p, n_runs=20).high == 1.0
    # On a path of 3 with an option to 2 from everywhere: the share of visits to 0 falls as options take over.
    path = fp.grid((3,))
    options = fp.OptionSet(path, np.array([2]))
    visits = fp.visitation(path, options, start=0, option_probability=p, n_steps=100_000, n_runs=5, seed=1)
    # Chain by hand. An option is decided on in 1 (deciding) with probability p; in 0 too, and then it leads on to 2.
    # From 1, deciding: to 2 with p + (1 − p)/2, to 0 with (1 − p)/2. From 2: to 1, deciding. From 0: to 1, following
    # with probability p, which leads to 2, or deciding.
    back = (1 - p) / 2
    states = np.array([[0, 1 - p, p, 0], [back, 0, 0, 1 - back], [0, 0, 0, 1], [0, 1, 0, 0]])
    power = np.linalg.matrix_power(0.5 * (np.eye(4) + states), 4096)[0]
    expected = np.array([power[0], power[1] + power[2], power[3]])
    np.testing.assert_allclose(visits / visits.sum(), expected, rtol=0.02)


def test_a_share_of_one_is_refused_for_it_may_never_move() -> None:
    # In state 0 the only option ends at once.
    world = fp.grid((3,))
    options = fp.OptionSet(world, np.array([0]))
    for measure in (fp.cover_time, fp.visitation):
        with pytest.raises(InvalidInput, match="option_probability must be below 1 for an agent to be simulated"):
            measure(world, options, option_probability=1.0)


def test_walks_start_in_states_of_the_world_only() -> None:
    world = fp.grid((5,))
    assert fp.visitation(world, start=4, n_steps=1, n_runs=1).sum() > 0
    for wrong, rule in ((-1, "at least 0"), (5, "at most 4")):
        with pytest.raises(InvalidInput, match=f"start must be {rule}; got {wrong}"):
            fp.visitation(world, start=wrong, n_steps=1, n_runs=1)


def test_visits_follow_the_seed_and_nothing_else() -> None:
    world = fp.four_rooms()
    first = fp.visitation(world, n_steps=50, n_runs=4, seed=3, n_jobs=1)
    np.testing.assert_array_equal(first, fp.visitation(world, n_steps=50, n_runs=4, seed=3, n_jobs=2))
    assert (first != fp.visitation(world, n_steps=50, n_runs=4, seed=4)).any()
    # One run after another: each has its own stream, that of its place.
    one = fp.visitation(world, n_steps=50, n_runs=1, seed=3)
    assert one.sum() == 50
    assert (4 * first >= one).all()


def test_first_visits_of_a_path_are_its_hitting_times() -> None:
    # From the end of a path, the cell at distance k is first reached after k² steps in the mean.
    visits = first_visits(fp.grid((6,)), n_runs=2_000, seed=1)
    means, errors = visits.mean(axis=0), visits.std(axis=0) / np.sqrt(2_000)
    np.testing.assert_array_less(np.abs(means - np.arange(6) ** 2), 4 * errors + 1e-12)
    assert (np.diff(visits, axis=1) > 0).all()


def test_episodes_begin_anew_and_a_state_that_is_not_reached_is_inf() -> None:
    world = fp.World.from_env(Corridor())
    visits = first_visits(world, n_steps=12, n_runs=50, seed=2)
    assert np.isinf(visits).any()
    assert visits[np.isfinite(visits)].max() <= 12
    # Its end is terminal, so that longer runs go through it many times, and begin again in cell 0.
    every = first_visits(world, n_steps=5_000, n_runs=5)
    assert np.isfinite(every).all()
    start = world.find_state(0)
    assert (every[:, start] == 0).all()


def test_options_are_taken_with_their_own_probability_or_another() -> None:
    world = fp.World.from_env(Corridor())
    options = fp.OptionSet(world, np.array([world.find_state(8)]))
    own = first_visits(world, options, n_runs=10)
    np.testing.assert_array_equal(
        own, first_visits(world, options, option_probability=options.option_probability, n_runs=10)
    )
    end = world.find_state(8)
    often = first_visits(world, options, option_probability=0.9, n_runs=200)[:, end].mean()
    assert 8.0 <= often < first_visits(world, None, n_runs=200)[:, end].mean() / 4
    with pytest.raises(InvalidInput, match="option_probability must be below 1"):
        first_visits(world, options, option_probability=1.0)
