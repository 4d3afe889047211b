"""Controllers that look up in a log what actions did nearby."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options import nearest_controller
from farpoint.worlds import SampleLog

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
    for _ in range(50):
        here, target = 20.0 * rng.normal(size=n_dimensions), rng.normal(size=n_dimensions)
        ends = []
        for action in range(4):
            taken = np.flatnonzero(actions == action)
            nearest = taken[np.argsort(np.linalg.norm(places[taken] - here, axis=1))[:n_neighbors]]
            ends.append(here + moves[nearest].mean(axis=0))
        assert control(here, target) == np.linalg.norm(np.array(ends) - target, axis=1).argmin()
