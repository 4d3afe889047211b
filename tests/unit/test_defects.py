"""Mistakes that were made once: one test for each, named after it."""

from __future__ import annotations

import pickle
import tomllib
import tracemalloc
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.helpers.envs import make
from tests.helpers.sampled import sampled_steps

Matrix = NDArray[np.float64]


@pytest.mark.parametrize("n_states", [20_000, 60_000])
def test_eigenoptions_of_a_long_corridor_end_at_its_ends(n_states: int) -> None:
    corridor = fp.grid((n_states,))
    options = fp.discover(corridor, "eigen", n_options=2, include_first=False)
    # In closed form ψ₂(s) = √d(s) · cos(π s / (n − 1)), up to sign and size.
    place = np.arange(n_states)
    psi = np.sqrt(np.where((place == 0) | (place == n_states - 1), 1.0, 2.0)) * np.cos(np.pi * place / (n_states - 1))
    assert sorted(options.goals.tolist()) == [1, n_states - 2]
    for option, goal in zip(options, options.goals.tolist(), strict=True):
        climbed = np.concatenate([[-np.inf], psi if goal == 1 else -psi, [-np.inf]])
        highest = (climbed[1:-1] >= climbed[:-2]) & (climbed[1:-1] >= climbed[2:])
        taken = np.bincount(corridor.choice_states[option.choice_probabilities() > 0], minlength=n_states)
        np.testing.assert_array_equal(np.flatnonzero(taken == 0), np.flatnonzero(highest))
        assert option.route(n_states // 2)[-1] == goal


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (nx.circular_ladder_graph(3), nx.complete_bipartite_graph(3, 3)),
        (nx.petersen_graph(), nx.circular_ladder_graph(5)),
        (nx.random_regular_graph(3, 40, seed=1), nx.random_regular_graph(3, 40, seed=2)),
    ],
    ids=["prism and K3,3", "Petersen and prism", "random"],
)
def test_the_spectrum_of_another_world_with_equal_degrees_is_refused(one: Any, other: Any) -> None:
    world, stranger = fp.World.from_graph(one), fp.World.from_graph(other)
    np.testing.assert_array_equal(world.adjacency.sum(axis=1), stranger.adjacency.sum(axis=1))
    assert np.abs(np.asarray(fp.score(world)) - np.asarray(fp.score(stranger))).max() > 1e-3
    own = fp.score(world, decomposition=fp.spectrum(fp.World.from_graph(one)))
    np.testing.assert_allclose(own, fp.score(world, solver="local"), rtol=1e-9)
    for spectrum in (fp.spectrum(stranger), fp.spectrum(stranger, 4)):
        with pytest.raises(InvalidInput, match="decomposition must be of this world"):
            fp.score(world, decomposition=spectrum)


def test_the_wrapper_accepts_a_table_with_keys_of_ones_own() -> None:
    env = make("FrozenLake-v1", is_slippery=False)

    def cell(env: Any, observation: Any) -> str:
        return f"cell {int(env.unwrapped.s)}"

    world = fp.World.from_env(env, state=cell)
    assert world.find_state("cell 0") == 0
    wrapped = fp.OptionsWrapper(env, fp.discover(world, n_options=2), state=cell)
    _, info = wrapped.reset(seed=0)
    option = int(np.flatnonzero(info["action_mask"][wrapped.n_actions :])[0])
    *_, terminated, _, info = wrapped.step(wrapped.n_actions + option)
    assert not terminated
    assert world.find_state(cell(env, None)) == wrapped.options.goals[option]  # type: ignore[attr-defined]
    agent = fp.train_tabular(wrapped, 300)
    assert set(agent.index.labels) <= {f"cell {number}" for number in range(16)}


@pytest.mark.parametrize("world", [fp.four_rooms(), fp.random_maze(9, 14), fp.World.from_map("..\n.#")])
def test_the_map_of_a_world_is_the_same_after_pickling(world: fp.World) -> None:
    assert world.floor is not None
    copy = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(world))))
    np.testing.assert_array_equal(copy.floor, world.floor, strict=True)
    np.testing.assert_array_equal(fp.score(copy), fp.score(world))
    assert copy.to_text() == world.to_text()


def test_a_tolerance_of_32_bits_is_a_number() -> None:
    numbers: list[Any] = [np.float32(1e-3), np.float64(1e-3), np.float16(1e-3)]
    for tolerance in numbers:
        scores = fp.score(fp.four_rooms(), 9, tolerance=tolerance)
        assert scores.error_bound is not None
        assert (scores.error_bound <= float(tolerance) * np.asarray(scores)).all()
    with pytest.raises(InvalidInput, match="tolerance must be a number"):
        fp.score(fp.four_rooms(), 9, tolerance=True)


def test_the_declared_scipy_has_what_is_used() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    least = next(line.split(">=")[1] for line in project["dependencies"] if line.startswith("scipy"))
    # `scipy.stats.bootstrap` has the parameter rng since then.
    assert tuple(int(part) for part in least.split(".")) >= (1, 15)


class Corridor(gym.Env[Any, Any]):
    """Six cells in a row; action 1 goes right; a reward of its own for entering each; the last ends the episode."""

    observation_space = gym.spaces.Discrete(6)
    action_space = gym.spaces.Discrete(2)
    rewards = (0.5, -1.0, 2.0, 0.25, -0.5, 3.0)

    def __init__(self) -> None:
        self.steps: list[tuple[int, int, float, int, bool]] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.cell = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        after = int(np.clip(self.cell + (1 if action else -1), 0, 5))
        self.steps.append((self.cell, int(action), self.rewards[after], after, after == 5))
        self.cell = after
        return after, self.rewards[after], after == 5, False, {}


GOALS = (2, 4, 3)


def policy(number: int, cell: int) -> int | None:
    """What an option does: it goes to its goal, from both sides."""
    return None if cell == GOALS[number] else int(cell < GOALS[number])


def intra_option_values(steps: list[tuple[int, int, float, int, bool]], alpha: float, gamma: float) -> Any:
    """Intra-option Q-learning by hand: each step updates its action and every option that would have taken it, once."""
    values: dict[int, Matrix] = defaultdict(lambda: np.zeros(2 + len(GOALS)))
    for cell, action, reward, after, terminated in steps:
        available = [True, True, *(policy(number, after) is not None for number in range(len(GOALS)))]
        best = 0.0 if terminated else float(values[after][available].max())
        old = values[cell].copy()
        values[cell][action] += alpha * (reward + gamma * best - old[action])
        for number in range(len(GOALS)):
            if policy(number, cell) == action:
                goes_on = not terminated and policy(number, after) is not None
                value = values[after][2 + number] if goes_on else best
                values[cell][2 + number] += alpha * (reward + gamma * value - old[2 + number])
    return values


@pytest.mark.parametrize("seed", range(4))
def test_intra_option_learning_updates_each_action_and_option_once_per_step(seed: int) -> None:
    env = Corridor()
    world = fp.World.from_env(env)
    options = fp.OptionSet(world, np.array([world.find_state(goal) for goal in GOALS]))
    env.steps.clear()
    wrapped = fp.OptionsWrapper(env, options, gamma=0.9)
    agent = fp.train_tabular(wrapped, 400, algorithm="intra-option", alpha=0.3, epsilon=0.5, replay=0, seed=seed)
    assert agent.n_steps == len(env.steps)
    expected = intra_option_values(env.steps, 0.3, 0.9)
    assert set(expected) <= set(agent.index.labels)
    for cell, values in expected.items():
        np.testing.assert_allclose(agent.values[agent.index.find(cell)], values, rtol=1e-12, atol=1e-12)


def test_intra_option_learning_also_learns_the_actions_inside_options() -> None:
    env = Corridor()
    world = fp.World.from_env(env)
    wrapped = fp.OptionsWrapper(env, fp.OptionSet(world, np.array([world.find_state(4)])), gamma=0.9)
    # Until a first decision is the option, which takes four steps.
    for seed in range(50):
        env.steps.clear()
        agent = fp.train_tabular(wrapped, 1, algorithm="intra-option", alpha=0.5, seed=seed)
        if agent.n_steps == 4:
            break
    assert [step[:2] for step in env.steps] == [(0, 1), (1, 1), (2, 1), (3, 1)]
    for cell, action, reward, _, _ in env.steps:
        # All values were 0 before: α times the reward, once for the action and once for the option.
        assert agent.values[agent.index.find(cell), action] == pytest.approx(0.5 * reward)
        assert agent.values[agent.index.find(cell), 2] == pytest.approx(0.5 * reward)


def weighted_world() -> fp.World:
    rng = np.random.default_rng(8)
    graph = nx.connected_watts_strogatz_graph(12, 4, 0.3, seed=1)
    weights = nx.to_numpy_array(graph) * rng.uniform(0.1, 5.0, size=(12, 12))
    return fp.World.from_graph(weights)


def steps_by_hand(world: fp.World, options: fp.OptionSet | None, target: int, chance: float) -> Matrix:
    """Expected steps of an agent that decides at random: one equation per state, and per state and option."""
    n_states, n_options = world.n_states, 0 if options is None else len(options)
    walk = world.adjacency.toarray()
    walk /= walk.sum(axis=1, keepdims=True)
    size = n_states * (1 + n_options)
    system, right = np.eye(size), np.zeros(size)
    for state in range(n_states):
        following = [n_states * (1 + number) + state for number in range(n_options)]
        if state == target:
            continue
        able = [row for row, option in zip(following, options or (), strict=True) if option.initiation[state]]
        share = chance if able else 0.0
        system[state, :n_states] -= (1.0 - share) * walk[state]
        right[state] = 1.0 - share
        for row in able:
            system[state, row] -= share / len(able)
        for number, row in enumerate(following):
            assert options is not None
            chances = options[number].policy(state)
            if not chances.any():
                system[row, state] -= 1.0
                continue
            right[row] = 1.0
            for choice, probability in zip(world.choices(state), chances, strict=True):
                after = int(world.transitions[[choice]].indices[0])
                system[row, n_states * (1 + number) + after] -= probability
    return np.asarray(np.linalg.solve(system, right)[:n_states])


@pytest.mark.parametrize("n_options", [0, 3])
def test_steps_between_states_walk_a_weighted_graph_by_weight(n_options: int) -> None:
    from farpoint.measures.sparse_steps import mean_steps

    world = weighted_world()
    options = fp.OptionSet(world, np.array([0, 5, 9])) if n_options else None
    result = fp.steps_between_states(world, options, option_probability=0.3)
    sparse = mean_steps(world, options, np.arange(world.n_states), 0.3, 1)
    for target in range(world.n_states):
        expected = steps_by_hand(world, options, target, 0.3)
        np.testing.assert_allclose(result.matrix[:, target], expected, rtol=1e-9)
        assert sparse[target] == pytest.approx(expected.mean(), rel=1e-9)
    sampled = sampled_steps(world, options, n_runs=400, option_probability=0.3, seed=1)
    assert (np.abs(sampled.per_target - result.per_target) < 5 * sampled.standard_error).all()


def spy_on_local_scores(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float | None, int]]:
    """Note t, tolerance and number of workers of every score that the local solver computes."""
    from farpoint.diffusion import scoring

    computed: list[tuple[int, float | None, int]] = []
    original = scoring.run_blocks

    def run_blocks(plan: Any, walk: Any, t: int, tolerance: float | None, **settings: Any) -> Any:
        if plan.solver == "local":
            computed.append((t, tolerance, settings["n_jobs"]))
        return original(plan, walk, t, tolerance, **settings)

    monkeypatch.setattr(scoring, "run_blocks", run_blocks)
    return computed


@pytest.mark.parametrize("kind", ["map", "windy map"])
def test_n_options_alone_computes_no_score_but_those_it_needs(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.open_room(60, 50) if kind == "map" else fp.open_room(60, 50, wind=0.1)
    computed = spy_on_local_scores(monkeypatch)
    options = fp.discover(world, n_options=2, n_jobs=1, tolerance=0.05)
    times = [t for t, _, _ in computed]
    assert len(times) == len(set(times)), "a score was computed twice"
    assert options.record["t"] in times
    assert {(tolerance, n_jobs) for _, tolerance, n_jobs in computed} == {(0.05, 1)}


def test_the_plan_of_a_map_is_made_once_per_score(monkeypatch: pytest.MonkeyPatch) -> None:
    from farpoint.diffusion.maps import MapPlan

    made: list[int] = []
    original = MapPlan.of

    def counted(floor: Any, t: int, tolerance: float | None = None) -> MapPlan | None:
        made.append(t)
        return original(floor, t, tolerance)

    monkeypatch.setattr(MapPlan, "of", counted)
    for settings in ({}, {"solver": "local"}, {"tolerance": 1e-3}):
        made.clear()
        assert fp.score(fp.open_room(120, 120), 4, **settings).solver == "local"
        assert made == [4]


def test_restarts_are_not_written_out() -> None:
    from farpoint.diffusion import Walk

    def restarting(n_states: int) -> fp.World:
        line, half = fp.grid((n_states,)), n_states // 2
        starts = np.where(np.arange(n_states) < half, 1.0 / half, 0.0)
        return fp.World.from_matrix(line.transitions, line.choice_ptr, restart=np.full(n_states, 0.01), starts=starts)

    n_states = 4_000
    world = restarting(n_states)
    walk = Walk.of(world)
    assert walk.jumps is not None
    assert walk.jumps.rank == 1
    assert walk.moves.nnz == 2 * (n_states - 1)
    # Compiling takes memory too: with a small world first.
    for form in ("walk", "symmetrized"):
        fp.score(restarting(10), 4, "local", form=form)
    tracemalloc.start()
    scores = fp.score(world, 4, "local", form="walk")
    symmetrized = fp.score(world, 4, "local", form="symmetrized")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Written out, the restarts alone are 8 million entries of 12 bytes.
    assert peak < 20e6
    for which, values in ((walk, scores), (walk.symmetrized(), symmetrized)):
        for state in (0, 1, 1_999, 2_000, 3_999):
            mass = np.zeros(n_states)
            mass[state] = 1.0
            for _ in range(4):
                mass = which.forward(mass)
            assert values[state] == pytest.approx(float(((mass - which.pi) ** 2).sum()), rel=1e-9)


def test_options_where_only_the_symmetrized_form_is_defined() -> None:
    graph = nx.DiGraph([(0, 2), (1, 2), (2, 3), (3, 2), (3, 4), (4, 3), (4, 5), (5, 4), (5, 6), (5, 7)])
    options = fp.discover(fp.World.from_graph(graph), n_options=1)
    assert options.record["form"] == "symmetrized"


def test_restarts_that_never_happen_are_none() -> None:
    room = fp.open_room(4, 4)
    never = replace(room, restart=np.zeros(16), starts=np.eye(16)[0])
    np.testing.assert_allclose(fp.score(never, 4), fp.score(room, 4), rtol=1e-12)


def test_a_layout_that_is_not_of_the_plane_is_no_layout() -> None:
    assert fp.World.from_graph(nx.random_geometric_graph(60, 0.6, dim=3, seed=1)).positions is None


def test_repeated_eigenvalues_of_hubs_take_seconds_not_minutes() -> None:
    star = fp.World.from_graph(nx.star_graph(900))
    psi = fp.spectrum(star).psi
    np.testing.assert_allclose(psi.T @ psi, np.eye(901), atol=1e-10)
    assert len(fp.discover(star, "eigen", n_options=4)) == 4
