"""Groups, quotients and bounds, against networkx, hitting times by linear algebra, and diffusion distances."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.helpers.envs import make


@st.composite
def graphs(draw: st.DrawFn) -> fp.World:
    """A connected graph with random weights, or one with equal ones."""
    n_states = draw(st.integers(3, 24))
    seed = draw(st.integers(0, 10_000))
    graph = nx.connected_watts_strogatz_graph(n_states, min(4, n_states - 1), draw(st.floats(0, 1)), seed=seed)
    if draw(st.booleans()):
        rng = np.random.default_rng(seed)
        for _, _, data in graph.edges(data=True):
            data["weight"] = float(rng.uniform(0.1, 5.0))
    return fp.World.from_graph(graph)


def exact_steps(world: fp.World, targets: np.ndarray) -> np.ndarray:
    """Steps of a random walk to a set of states, by a dense solve of its own."""
    weights = world.to_adjacency(self_loops=True).toarray()
    chances = weights / weights.sum(axis=1, keepdims=True)
    others = np.flatnonzero(~targets)
    steps = np.zeros(world.n_states)
    steps[others] = np.linalg.solve(np.eye(others.size) - chances[np.ix_(others, others)], np.ones(others.size))
    return steps


@settings(max_examples=60, deadline=None)
@given(graphs(), st.floats(0.01, 1.0), st.integers(1, 6))
def test_scores_and_steps_are_within_their_bounds(world: fp.World, tolerance: float, t: int) -> None:
    found = fp.aggregate(world, tolerance=tolerance, t=t)
    for state in range(0, world.n_states, 5):
        own = found.representatives[found.groups[state]]
        assert found.distances[state] == pytest.approx(fp.diffusion_distance(world, state, t=t)[own], abs=1e-9)
    assert found.distances.max() <= tolerance
    scores, bounds = fp.score(world, t=t), found.score()
    assert (bounds.low <= scores + 1e-9).all()
    assert (scores <= bounds.high + 1e-9).all()
    target = world.n_states // 2
    steps, around = exact_steps(world, found.groups == found.groups[target]), found.steps_to(target)
    assert (around.low <= steps * (1 + 1e-9) + 1e-9).all()
    assert (steps <= around.high * (1 + 1e-9) + 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(graphs(), st.integers(2, 10))
def test_as_many_groups_as_were_asked_for(world: fp.World, n_groups: int) -> None:
    n_groups = min(n_groups, world.n_states)
    found = fp.aggregate(world, n_groups=n_groups)
    assert found.n_groups == n_groups == np.unique(found.groups).size
    assert (found.groups[found.representatives] == np.arange(n_groups)).all()
    assert found.quotient.symmetric


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_an_exact_lumping_has_the_steps_of_the_world(world: fp.World) -> None:
    found = fp.aggregate(world, keep=[1])
    assert found.exact
    around = found.steps_to(1)
    assert np.allclose(around.estimate, exact_steps(world, np.arange(world.n_states) == 1), rtol=1e-7)
    # The quotient as a world of its own says the same.
    if found.n_groups > 1:
        group = int(found.groups[1])
        table = fp.steps_between_states(found.quotient, None, targets=[group], n_jobs=1).matrix[:, 0]
        assert np.allclose(found.lift(table), around.estimate, rtol=1e-7)


def test_a_hypercube_by_hamming_weight() -> None:
    cube = nx.hypercube_graph(8)
    world = fp.World.from_graph(cube)
    assert world.labels is not None
    found = fp.aggregate(world, keep=[world.labels.index((0,) * 8)])
    weights = np.array([str(label).count("1") for label in world.labels])
    assert found.n_groups == 9
    assert all(np.unique(weights[found.groups == group]).size == 1 for group in range(9))


def test_the_equal_branches_of_a_tree() -> None:
    tree = nx.balanced_tree(3, 5)
    depth = nx.single_source_shortest_path_length(tree, 0)
    found = fp.aggregate(fp.World.from_graph(tree), keep=[0])
    assert found.n_groups == 6
    assert len({(depth[node], int(group)) for node, group in enumerate(found.groups)}) == 6


def test_twins_have_no_distance() -> None:
    # Two states with equal rows: the leaves of a star.
    found = fp.aggregate(fp.World.from_graph(nx.star_graph(6)), tolerance=1.0, t=3)
    assert found.distances.max() > 0
    star = fp.World.from_graph(nx.complete_bipartite_graph(2, 5))
    exact = fp.aggregate(star, keep=[0, 1])
    assert exact.groups.tolist() == [0, 1, 2, 2, 2, 2, 2]


def test_an_environment_with_episodes() -> None:
    world = fp.World.from_env(make("FrozenLake-v1", is_slippery=False))
    found = fp.aggregate(world, n_groups=8)
    assert found.quotient.restart is not None
    scores, bounds = fp.score(world, t=4, form="walk"), found.score()
    assert ((bounds.low <= scores + 1e-9) & (scores <= bounds.high + 1e-9)).all()
    same = [set(world.terminal[found.groups == group]) for group in range(found.n_groups)]
    assert all(len(values) == 1 for values in same)


def test_options_and_values_are_carried_back() -> None:
    world = fp.random_maze(12, 12, seed=1)
    found = fp.aggregate(world, n_groups=60)
    options = found.lift_options(fp.discover(found.quotient, "farpoint", n_options=6))
    assert set(options.goals) <= set(found.representatives)
    alone = fp.steps_between_states(world, None, n_jobs=1).mean
    assert fp.steps_between_states(world, options, option_probability=0.05, n_jobs=1).mean < alone


def test_refusals() -> None:
    world = fp.four_rooms()
    with pytest.raises(InvalidInput, match="n_groups must go without tolerance"):
        fp.aggregate(world, n_groups=3, tolerance=0.1)
    with pytest.raises(InvalidInput, match="n_groups must be at least 4, with the states to keep; got 3"):
        fp.aggregate(world, n_groups=3, keep=[1, 2, 3])
    with pytest.raises(InvalidInput, match="t must be a whole number"):
        fp.aggregate(world, n_groups=3, t=2.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"values must have one entry per group \(3\)"):
        fp.aggregate(world, n_groups=3).lift([1.0])
    found = fp.aggregate(world, n_groups=30)
    climbing = fp.discover(found.quotient, "eigen", n_options=2)
    with pytest.raises(InvalidInput, match="options must lead to goals from everywhere"):
        found.lift_options(climbing)
