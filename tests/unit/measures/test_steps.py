from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import farpoint as fp
from farpoint.errors import InvalidInput, NotConnected
from tests.helpers.strategies import connected_weights


def joint_chain(world: fp.World, options: fp.OptionSet, target: int) -> np.ndarray:
    """Expected steps by the chain over (state, what is being followed), written out state by state."""
    n, k = world.n_states, len(options)
    moves = world.transitions.toarray()
    size = n * (k + 1)  # index (k, s): deciding in s; (o, s): following option o in s
    system, right = np.eye(size), np.zeros(size)
    deciding = k * n
    for s in range(n):
        if s == target:
            continue
        choices = np.array(list(world.choices(s)))
        startable = [o for o in range(k) if options[o].initiation[s]]
        share = 0.5 if startable else 1.0
        right[deciding + s] = share
        system[deciding + s, deciding : deciding + n] -= share * moves[choices].mean(axis=0)
        for o in startable:
            system[deciding + s, o * n + s] -= 0.5 / len(startable)
        for o in range(k):
            chances = options[o].policy(s)
            if chances.any():
                right[o * n + s] = 1.0
                system[o * n + s, o * n : o * n + n] -= chances @ moves[choices]
            else:
                system[o * n + s, deciding + s] -= 1.0
    for o in range(k + 1):
        system[o * n + target] = 0.0
        system[o * n + target, o * n + target] = 1.0
    return np.asarray(np.linalg.solve(system, right)[deciding:])


@pytest.mark.parametrize("method", ["diffusion", "eigen", "cover", "random"])
@pytest.mark.parametrize("wind", [0.0, 0.3])
def test_exact_steps_equal_the_joint_chain(method: str, wind: float) -> None:
    world = fp.World.from_map(".....\n.#.#.\n.....\n.###.\n.....", wind=wind)
    options = fp.discover(world, method, n_options=3, seed=4)
    steps = fp.steps_between_states(world, options)
    for target in (0, 7, world.n_states - 1):
        np.testing.assert_allclose(steps.matrix[:, target], joint_chain(world, options, target), rtol=1e-8)


@given(weights=connected_weights(most=12, weighted=False), seed=st.integers(0, 1000))
@settings(max_examples=40)
def test_exact_steps_on_random_graphs(weights: np.ndarray, seed: int) -> None:
    world = fp.World.from_graph(weights)
    options = fp.discover(world, "random", n_options=2, seed=seed)
    steps = fp.steps_between_states(world, options)
    np.testing.assert_allclose(steps.matrix[:, 0], joint_chain(world, options, 0), rtol=1e-7)


def test_gamblers_ruin_by_hand() -> None:
    # On a path 0 … n − 1 the walk from s reaches 0 in s (2 (n − 1) − s) steps.
    n = 8
    steps = fp.steps_between_states(fp.grid((n,)))
    s = np.arange(n)
    np.testing.assert_allclose(steps.matrix[:, 0], s * (2 * (n - 1) - s))
    np.testing.assert_allclose(steps.per_target[0], steps.matrix[:, 0].mean())


def test_summary_follows_hazens_rule() -> None:
    steps = fp.measures.StepsBetweenStates(np.array([[1.0, 2.0, 3.0, 4.0]]), np.arange(4))
    assert (steps.median, steps.iqr, steps.mean) == (2.5, 2.0, 2.5)
    assert steps.std == pytest.approx(np.std([1, 2, 3, 4], ddof=1))


def test_chosen_targets_are_columns_of_the_whole() -> None:
    world = fp.maze()
    options = fp.discover(world, t=13)
    whole, some = fp.steps_between_states(world, options), fp.steps_between_states(world, options, targets=[3, 100])
    np.testing.assert_allclose(some.matrix, whole.matrix[:, [3, 100]])


def test_bad_input() -> None:
    world = fp.maze()
    with pytest.raises(InvalidInput, match="options must belong to this world"):
        fp.steps_between_states(world, fp.discover(fp.ring()))
    one_way = fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1)]))
    with pytest.raises(NotConnected, match="every state must be reachable from every other; got 2 parts"):
        fp.steps_between_states(one_way)
    big = fp.random_maze(60, 60)
    with pytest.raises(InvalidInput, match=r"must fit in 4 GiB.*Pass targets="):
        fp.steps_between_states(big, fp.discover(big, "random", n_options=100))


@pytest.mark.parametrize(("length", "known"), [(12, True), (20, True), (30, False), (60, False)])
def test_a_state_that_options_put_out_of_reach_is_infinitely_far(length: int, known: bool) -> None:
    # One option back to the start: every step forward must outrun it. Beyond about 1e13 a double cannot tell how far.
    world = fp.grid((length,))
    steps = fp.steps_between_states(world, fp.OptionSet(world, np.array([0]), "random"), targets=[length - 1])
    assert np.isfinite(steps.matrix[0, 0]) == known
    assert (steps.matrix >= 0).all()
    if known:
        exact = joint_chain(world, fp.OptionSet(world, np.array([0]), "random"), length - 1)[0]
        assert steps.matrix[0, 0] == pytest.approx(exact, rel=1e-4)


def test_dead_ends_and_limits() -> None:
    dead_end = fp.World.from_graph(nx.DiGraph([(0, 1), (1, 0), (1, 2)]))
    with pytest.raises(InvalidInput, match="must have a choice for an agent to be simulated; got none in 2"):
        fp.visitation(dead_end, start=0)
    with pytest.raises(InvalidInput, match="every state must have a choice"):
        fp.learn(dead_end, start=0, targets=[2])
    path = fp.grid((60,))
    with pytest.raises(InvalidInput, match="most_steps must be enough to reach every target"):
        fp.measures.sample_steps_between_states(
            path, fp.OptionSet(path, np.array([0]), "random"), targets=[59], runs=2, max_steps=5000
        )
    with pytest.raises(InvalidInput, match="targets must have at least one state"):
        fp.steps_between_states(path, targets=[])
    with pytest.raises(InvalidInput, match="n_jobs must be a whole number but 0"):
        fp.steps_between_states(path, n_jobs=0)
    with pytest.raises(InvalidInput, match="targets must be named or drawn; got both"):
        fp.steps_between_states(path, targets=[0], n_targets=3)
    with pytest.raises(InvalidInput, match="n_targets must be at least 1; got 0"):
        fp.steps_between_states(path, n_targets=0)
    assert fp.cover_time(fp.grid((2,))).high == 1.0


def test_simulations_do_not_depend_on_workers() -> None:
    world = fp.four_rooms()
    options = fp.discover(world)
    kwargs = {"targets": [1, 50], "runs": 5, "seed": 3}
    one, two = (fp.measures.sample_steps_between_states(world, options, n_jobs=n, **kwargs) for n in (1, 2))  # type: ignore[arg-type]
    np.testing.assert_array_equal(one.per_target, two.per_target)
    np.testing.assert_array_equal(
        fp.cover_time(world, options, n_runs=9, n_jobs=1).walks, fp.cover_time(world, options, n_runs=9, n_jobs=2).walks
    )
    other = fp.measures.sample_steps_between_states(world, options, targets=[1, 50], n_runs=5, seed=4)
    assert not np.array_equal(one.per_target, other.per_target)


def test_cover_time_of_a_path_by_hand() -> None:
    # From one end, covering a path is reaching the other end: (n − 1)² steps.
    cover = fp.cover_time(fp.grid((6,)), None, start=0, n_runs=2000, seed=5)
    error = cover.walks.std(ddof=1) / np.sqrt(cover.walks.size)
    assert abs(cover.mean - 25) < 4 * error
    assert cover.low < cover.mean < cover.high
    with pytest.raises(InvalidInput, match="most_steps must be enough"):
        fp.cover_time(fp.grid((6,)), None, max_steps=5)


def test_visits_converge_to_the_walks_own_stationary_distribution() -> None:
    world = fp.four_rooms()
    visits = fp.visitation(world, None, n_steps=400_000, n_runs=20, seed=2)
    np.testing.assert_allclose(visits / visits.sum(), fp.stationary(world), rtol=0.05)
