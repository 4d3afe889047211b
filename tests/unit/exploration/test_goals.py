"""The score of what was seen, the ways to goals, and what the methods choose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.exploration.goals import GOALS, OF_THE_GRAPH, FarPoints, GraphSnapshot, KeptGoals, rarity
from farpoint.exploration.memory import RESET, neighbor_graph
from farpoint.worlds.state_index import StateIndex

Walk = Iterator[tuple[int, int, int]]


def wanderer(world: fp.World, seed: int) -> tuple[fp.Explorer, Walk]:
    """An explorer that is told of a random walk, and the steps of the walk in its numbers."""
    explorer = fp.Explorer(StateIndex.exact(), 4, seed=seed)
    return explorer, _walk(world, explorer, np.random.default_rng(seed))


def _walk(world: fp.World, explorer: fp.Explorer, rng: np.random.Generator) -> Walk:
    def mask(state: int) -> list[NDArray[np.bool_]]:
        return [np.arange(4) < len(world.choices(state))]

    here = 0
    (before,) = explorer.begin([here], masks=mask(here)).tolist()
    while True:
        choices = world.choices(here)
        action = int(rng.integers(len(choices)))
        here = int(world.transitions[[choices[action]]].indices[0])
        (after,) = explorer.add([before], [action], [here], [False], masks=mask(here)).tolist()
        yield before, action, after
        before = after


def snapshot(explorer: fp.Explorer, far: FarPoints | None = None) -> GraphSnapshot:
    indptr, indices = neighbor_graph(explorer.memory)
    return GraphSnapshot(explorer.memory, indptr, indices, np.random.default_rng(0), far or FarPoints(4))


def test_the_score_is_that_of_the_whole_graph_though_only_changes_are_computed() -> None:
    explorer, walk = wanderer(fp.random_maze(12, 12, seed=3), 3)
    far = FarPoints(4)
    computed = 0
    for n_steps in (30, 31, 60, 400, 401, 3_000):
        while explorer.n_steps < n_steps:
            next(walk)
        indptr, indices = neighbor_graph(explorer.memory)
        computed += int(explorer.memory.changed.sum())
        scores = far.scores(explorer.memory, indptr, indices)
        graph = snapshot(explorer, far).walk.moves
        np.testing.assert_allclose(scores, fp.score(fp.World.from_graph(graph), 4), rtol=1e-11)
    assert 0 < computed < 2 * explorer.n_states


def test_counts_neighbors_and_ways_are_those_of_the_walk() -> None:
    explorer, walk = wanderer(fp.random_maze(12, 12, seed=3), 3)
    taken = [next(walk) for _ in range(2_000)]
    memory, n_states = explorer.memory, explorer.n_states + 1
    tried = Counter((before, action) for before, action, _ in taken)
    assert all(memory.tried[pair] == count for pair, count in tried.items())
    assert memory.tried[:n_states].sum() == 2_000
    visits = Counter([1, *(after for *_, after in taken)])
    assert memory.visits[:n_states].tolist() == [visits[state] for state in range(n_states)]
    indptr, indices = neighbor_graph(memory)
    pairs = {(u, int(v)) for u in range(n_states) for v in indices[indptr[u] : indptr[u + 1]]}
    moves = {pair for a, _, b in taken if a != b for pair in ((a, b), (b, a))}
    assert pairs == moves | {(RESET, 1), (1, RESET)}
    # Ways lead along moves that were seen, as short as networkx finds them.
    graph = nx.DiGraph([(before, after) for before, _, after in taken])
    leads = {(before, action): after for before, action, after in taken}
    goal = n_states - 1
    route = explorer.route_to(goal)
    distance = nx.single_target_shortest_path_length(graph, goal)
    for state, steps in dict(distance).items():
        here, walked = state, 0
        while here != goal:
            here, walked = leads[here, int(route[here])], walked + 1
        assert walked == steps
    assert (route >= 0).sum() == len(dict(distance)) - 1


def test_ways_in_a_noisy_world_prefer_what_mostly_works() -> None:
    explorer = fp.Explorer(StateIndex.exact(), 2)
    states = explorer.begin([0, 1, 2, 3])
    # From 0: action 0 leads to 1 once in ten times, action 1 leads to 2 always; 1 and 2 lead to 3.
    for before, action, after, count in (
        (0, 0, 1, 1),
        (0, 0, 0, 9),
        (0, 1, 2, 5),
        (1, 0, 3, 5),
        (2, 0, 1, 1),
        (2, 1, 3, 4),
    ):
        for _ in range(count):
            explorer.add([states[before]], [action], [after], [False])
    assert explorer.route_to(int(states[3]))[states].tolist() == [1, 0, 1, -1]


def test_rare_states_have_many_untried_actions_and_few_visits() -> None:
    explorer, walk = wanderer(fp.random_maze(12, 12, seed=3), 3)
    taken = [next(walk) for _ in range(300)]
    seen = snapshot(explorer)
    tried = {(before, action) for before, action, _ in taken}
    for state in range(1, explorer.n_states + 1):
        n_actions = int((~explorer.memory.barred[state]).sum())
        untried = n_actions - sum((state, action) in tried for action in range(n_actions))
        assert seen.untried[state] == untried
        assert rarity(seen)[state] == pytest.approx((untried + 1e-3) / seen.visits[state])


@pytest.mark.parametrize("method", [name for name in GOALS if name != "none"])
def test_goals_are_states_that_an_option_may_lead_to(method: str) -> None:
    explorer, walk = wanderer(fp.random_maze(12, 12, seed=3), 3)
    for _ in range(500):
        next(walk)
    explorer.memory.n_actions[[1, 5, explorer.n_states]] = 0
    seen = snapshot(explorer)
    goals = GOALS[method](seen, 6)
    assert len(goals) == 6
    assert seen.allowed[goals].all()


@pytest.mark.parametrize(("side", "n_steps"), [(12, 1_500), (25, 10_000)])
def test_the_goals_of_neo_are_where_the_eigenvectors_of_its_definition_are_largest(side: int, n_steps: int) -> None:
    explorer, walk = wanderer(fp.random_maze(side, side, seed=3), 3)
    taken = [next(walk) for _ in range(n_steps)]
    seen = snapshot(explorer)
    # I − D⁻¹A + ½ diag((c / c_max)^(1/64)) by an unsymmetric solver, from the steps themselves.
    n_states = explorer.n_states + 1
    near = np.zeros((n_states, n_states))
    near[RESET, 1] = near[1, RESET] = 1.0
    visits = np.zeros(n_states)
    visits[1] = 1
    for before, _, after in taken:
        near[before, after] = near[after, before] = 1.0
        visits[after] += 1
    np.fill_diagonal(near, 0.0)
    matrix = (
        np.eye(n_states) - near / near.sum(axis=1, keepdims=True) + 0.5 * np.diag((visits / visits.max()) ** (1 / 64))
    )
    values, vectors = np.linalg.eig(matrix)
    smoothest = vectors[:, np.argsort(values.real)]
    expected = list(dict.fromkeys((1 + np.abs(smoothest[1:]).argmax(axis=0)).tolist()))[:5]
    assert (n_states > 200) == (side > 20)
    assert GOALS["neo"](seen, 5).tolist() == expected


@pytest.mark.parametrize("method", OF_THE_GRAPH)
def test_goals_that_are_kept_are_those_that_would_be_made(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(seen: GraphSnapshot, count: int) -> NDArray[np.int64]:
        made.append(count)
        return goals(seen, count)

    goals = GOALS[method]
    monkeypatch.setitem(GOALS, method, counted)
    kept = fp.explore(fp.four_rooms(), 6_000, method=method, seed=3)
    n_kept = len(made)
    monkeypatch.setattr(KeptGoals, "of", lambda self, seen, method, count: GOALS[method](seen, count))
    anew = fp.explore(fp.four_rooms(), 6_000, method=method, seed=3)
    assert n_kept < len(made) - n_kept
    assert kept.log.observations == anew.log.observations
