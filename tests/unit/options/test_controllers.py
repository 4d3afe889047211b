"""Controllers: learned ones as files and as functions, and those that look up what actions did nearby."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import farpoint as fp
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import write_arrays
from farpoint.options import nearest_controller
from farpoint.options.learned_actor import KIND as ACTOR_KIND
from farpoint.options.learned_controller import KIND as CONTROLLER_KIND
from farpoint.worlds import SampleLog
from tests.helpers.options import learned_actor, learned_controller


def test_the_action_of_the_highest_value_is_taken() -> None:
    control = learned_controller()
    assert control([3.0], [5.0]) == 1
    assert control([3.0], [2.0]) == 0
    assert pickle.loads(pickle.dumps(control))([3.0], [5.0]) == 1


def test_continuous_actions_are_copies() -> None:
    control = fp.options.LearnedController(learned_controller().network, np.array([[-1.0], [1.0]]))
    taken = control([3.0], [5.0])
    taken[:] = 7.0
    assert control([3.0], [5.0]).tolist() == [1.0]


@pytest.mark.parametrize("actions", [[0], ["up", "down"], [[[0]], [[1]]], None])
def test_actions_that_do_not_fit_are_refused(actions: Any) -> None:
    with pytest.raises(InvalidInput, match="actions must be"):
        fp.options.LearnedController(learned_controller().network, actions)


def test_a_controller_without_a_network_is_refused() -> None:
    with pytest.raises(InvalidInput, match="network must be a GoalNetwork"):
        fp.options.LearnedController(None, np.array([0, 1]))  # type: ignore[arg-type]


def test_a_file_whose_actions_do_not_fit_is_damaged(tmp_path: Path) -> None:
    control = learned_controller()
    facts = {"n_layers": 1, "record": {}}
    write_arrays(tmp_path / "a.npz", CONTROLLER_KIND, facts, {"actions": np.arange(3), **control.network.arrays()})
    with pytest.raises(InvalidFile, match="it is damaged"):
        fp.options.LearnedController.load(tmp_path / "a.npz")


def test_repr_of_a_controller() -> None:
    assert repr(learned_controller()) == "LearnedController(2 actions, 2 numbers as input)"


def test_the_action_lies_between_the_bounds() -> None:
    control = learned_actor()
    assert control([3.0], [5.0]).tolist() == [2.0]
    assert control([3.0], [1.0]).tolist() == [-1.0]
    assert control([3.0], [3.0]).tolist() == [0.5], "halfway"
    # -1 + 3 (tanh(50 / 100) + 1) / 2
    assert control([3.0], [3.01]) == pytest.approx([-1.0 + 1.5 * (np.tanh(0.5) + 1.0)], abs=1e-5)
    assert pickle.loads(pickle.dumps(control))([3.0], [5.0]).tolist() == [2.0]


def test_an_action_is_never_beyond_a_bound() -> None:
    network = learned_actor().network
    low, high = np.array([-0.1]), np.array([0.7])
    control = fp.options.LearnedActor(network, low, high)
    assert control([0.0], [9.0]) == high
    assert control([9.0], [0.0]) == low


@pytest.mark.parametrize(
    ("bounds", "match"),
    [
        (([0.0, 1.0], [1.0]), "low must be one finite number per output of the network, 1"),
        (([0.0], [np.inf]), "high must be one finite number per output"),
        (([0.0], "up"), "high must"),
        (([1.0], [0.0]), "low must be at most high"),
    ],
)
def test_bounds_that_do_not_fit_are_refused(bounds: tuple[Any, Any], match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        fp.options.LearnedActor(learned_actor().network, *bounds)


def test_an_actor_without_a_network_is_refused() -> None:
    with pytest.raises(InvalidInput, match="network must be a GoalNetwork"):
        fp.options.LearnedActor(None, np.zeros(1), np.ones(1))  # type: ignore[arg-type]


def test_a_file_whose_bounds_do_not_fit_is_damaged(tmp_path: Path) -> None:
    arrays = {"low": np.zeros(2), "high": np.ones(2), **learned_actor().network.arrays()}
    write_arrays(tmp_path / "a.npz", ACTOR_KIND, {"n_layers": 1, "record": {}}, arrays)
    with pytest.raises(InvalidFile, match="it is damaged"):
        fp.options.LearnedActor.load(tmp_path / "a.npz")


def test_repr_of_an_actor() -> None:
    assert repr(learned_actor()) == "LearnedActor(actions of shape (1,), 2 numbers as input)"


# On a line: left of 0 action 0 goes right and action 1 left; right of 0 it is the other way round.
LINE = SampleLog(
    np.array([[-2.0], [-2.0], [2.0], [2.0]]), np.array([0, 1, 0, 1]), np.array([[-1.0], [-3.0], [1.0], [3.0]])
)


@pytest.mark.parametrize(("here", "target", "action"), [(-2, 5, 0), (-2, -5, 1), (2, 5, 1), (2, -5, 0)])
def test_what_an_action_did_near_here_counts(here: float, target: float, action: int) -> None:
    control = nearest_controller(LINE, n_neighbors=1)
    assert control(np.array([here]), np.array([target])) == action
    assert pickle.loads(pickle.dumps(control))(np.array([here]), np.array([target])) == action


def test_displacements_are_averaged_over_the_neighbors() -> None:
    # Two steps of action 0 that cancel, and one of action 1 that moves by a half.
    log = ([[0.0], [0.0], [0.0]], [0, 0, 1], [[1.0], [-1.0], [0.5]])
    assert nearest_controller(log, n_neighbors=2)(np.zeros(1), np.array([1.0])) == 1
    # The target is nearer than either end: standing still is better than stepping over it.
    assert nearest_controller(log, n_neighbors=2)(np.zeros(1), np.array([0.1])) == 0


def test_at_a_wall_the_action_that_slides_along_it_is_taken() -> None:
    env = fp.ContinuousMaze("S..\n#.#\n...", start="random", noise=0.0)
    control = nearest_controller(fp.envs.record_samples(env, 20_000, seed=0))
    # The target lies below the wall; straight ahead nothing moves, so that the way around begins to the right.
    assert control(np.array([0.9, 0.99]), np.array([1.2, 2.5])) in (0, 1)


def test_continuous_actions_are_those_of_the_log() -> None:
    env = fp.ContinuousMaze("S...", start="random", noise=0.0, actions="box")
    log = fp.envs.record_samples(env, 2_000, seed=0)
    assert not log.discrete
    control = nearest_controller(log)
    for target in ([3.5, 0.5], [0.1, 0.5]):
        action = control(np.array([2.0, 0.5]), np.array(target))
        assert action.shape == (2,)
        assert np.sign(action[0]) == np.sign(target[0] - 2.0)
        assert (log.actions == action).all(axis=1).any()


@pytest.mark.parametrize(
    ("log", "match"),
    [
        (5, "log must be observations, actions and next observations"),
        (([[0.0]], [0], None), "log must have next observations"),
        (([[0.0]], [0.5], [[1.0]]), "actions must be whole numbers"),
        (([[0.0]], [-1], [[1.0]]), "actions must be whole numbers of at least 0; got -1"),
        (([[0.0]], [0, 1], [[1.0]]), r"actions must be one whole number or one row .* per step \(1\)"),
        (([[0.0]], [[np.nan]], [[1.0]]), "actions must be one whole number or one row of finite numbers"),
        (([[0.0]], [0], [[1.0], [2.0]]), "next_observations must have the shape of observations"),
        (([[np.inf]], [0], [[1.0]]), "observations must be finite"),
    ],
)
def test_wrong_logs_are_named(log: Any, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        nearest_controller(log)
    with pytest.raises(InvalidInput, match="n_neighbors must be at least 1"):
        nearest_controller(LINE, n_neighbors=0)


def test_a_log_of_tuples_will_do() -> None:
    log = fp.Log([(-2.0,), (-2.0,)], [(-1.0,), (-3.0,)], np.array([0, 1]), np.zeros(2, dtype=bool))
    assert nearest_controller(log)(np.array([-2.0]), np.array([5.0])) == 0


@pytest.mark.parametrize(("n_dimensions", "n_neighbors"), [(2, 5), (2, 40), (1, 1), (30, 5)])
def test_the_nearest_steps_of_every_action_are_found(n_dimensions: int, n_neighbors: int) -> None:
    """As by sorting all distances; action 3 was taken three times only, and places may lie outside the log."""
    rng = np.random.default_rng(0)
    places, moves = rng.normal(size=(200, n_dimensions)), rng.normal(size=(200, n_dimensions))
    actions = np.where(np.arange(200) < 3, 3, rng.integers(3, size=200))
    control = nearest_controller((places, actions, places + moves), n_neighbors=n_neighbors)
    # One thread: on a busy machine those of scikit-learn wait for each other longer than they work.
    with threadpool_limits(1):
        for _ in range(50):
            here, target = 20.0 * rng.normal(size=n_dimensions), rng.normal(size=n_dimensions)
            ends = []
            for action in range(4):
                taken = np.flatnonzero(actions == action)
                nearest = taken[np.argsort(np.linalg.norm(places[taken] - here, axis=1))[:n_neighbors]]
                ends.append(here + moves[nearest].mean(axis=0))
            assert control(here, target) == np.linalg.norm(np.array(ends) - target, axis=1).argmin()
