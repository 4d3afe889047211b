"""What every kind of world must satisfy; a new kind is one more line of `tests.helpers.worlds`."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import issparse

import farpoint as fp
from farpoint.diffusion import Walk, lazy_walk
from farpoint.errors import InvalidInput, NotConnected
from farpoint.worlds.choices import ChoiceTable
from tests.helpers import brute
from tests.helpers.worlds import WORLDS, assert_same_world

Matrix = NDArray[np.float64]


@pytest.mark.parametrize("name", WORLDS)
def test_contract(name: str, tmp_path: Path) -> None:
    world = WORLDS[name]()
    check_that_choices_are_distributions_grouped_by_state(world)
    check_that_adjacency_joins_the_choices_without_loops(world)
    check_that_arrays_cannot_be_written(world)
    check_that_pickled_and_copied_worlds_are_the_same(world)
    check_that_a_saved_world_is_the_same(world, tmp_path)
    check_that_a_changed_copy_keeps_everything_else(world)
    check_that_find_state_is_the_inverse_of_labels(world)
    check_that_targets_and_starts_are_states(world)
    check_that_the_walk_is_the_one_written_out(world)
    check_that_a_step_forward_is_the_product_with_the_matrix(world)
    check_that_the_stationary_distribution_does_not_change(world)
    check_that_the_symmetrized_walk_has_the_sum_of_both_directions(world)
    check_that_automatic_scores_are_finite_and_not_negative(world)
    check_that_local_scores_follow_the_walk(world)
    check_that_symmetrized_scores_are_those_of_the_summed_weights(world)
    check_that_goals_are_the_local_maxima(world)
    check_that_a_changed_weight_changes_the_fingerprints(world)


def moves(world: fp.World) -> Matrix:
    """The weights of all moves between different states, choice by choice."""
    weights = np.zeros((world.n_states, world.n_states))
    rows = world.transitions.toarray()
    for state in range(world.n_states):
        for choice in world.choices(state):
            weights[state] += rows[choice] * (1.0 if world.weights is None else world.weights[choice])
    np.fill_diagonal(weights, 0.0)
    return weights


def walk_weights(world: fp.World) -> Matrix:
    """The same with restarts: each state gives that share of its weight to the starts."""
    weights = moves(world)
    if world.restart is None or world.starts is None:
        return weights
    for state, share in enumerate(world.restart):
        leaving = weights[state].sum() or 1.0
        weights[state] = (1.0 - share) * weights[state] + share * leaving * world.starts
    return weights


def written_out(weights: Matrix) -> Matrix:
    """W, columns "from": half the time the walk stays, and always where nothing leaves."""
    leaving = weights.sum(axis=1)
    walk = 0.5 * weights.T / np.where(leaving > 0, leaving, 1.0)
    return np.asarray(walk + np.diag(np.where(leaving > 0, 0.5, 1.0)))


def stationary(walk: Matrix) -> Matrix:
    """The only distribution that a step does not change."""
    system = np.vstack([walk - np.eye(len(walk)), np.ones(len(walk))])
    return np.asarray(np.linalg.lstsq(system, np.append(np.zeros(len(walk)), 1.0), rcond=None)[0])


def followed(walk: Matrix, t: int) -> Matrix:
    """‖Wᵗ e_s − π₀‖² of every state s."""
    after = np.linalg.matrix_power(walk, t)
    return np.asarray(((after - stationary(walk)[:, None]) ** 2).sum(axis=0))


def check_that_choices_are_distributions_grouped_by_state(world: fp.World) -> None:
    assert world.transitions.shape == (world.n_choices, world.n_states)
    assert world.choice_ptr.shape == (world.n_states + 1,)
    assert (world.choice_ptr[0], world.choice_ptr[-1]) == (0, world.n_choices)
    assert (np.diff(world.choice_ptr) >= 0).all()
    assert [choice for state in range(world.n_states) for choice in world.choices(state)] == [*range(world.n_choices)]
    np.testing.assert_array_equal(
        world.choice_states, [state for state in range(world.n_states) for _ in world.choices(state)]
    )
    assert (world.transitions.data > 0).all()
    np.testing.assert_allclose(world.transitions.sum(axis=1), 1.0, atol=1e-12)
    assert world.deterministic == (np.count_nonzero(world.transitions.toarray(), axis=1) == 1).all()
    assert world.actions is not None
    for state in range(world.n_states):
        actions = world.actions[list(world.choices(state))].tolist()
        assert len(set(actions)) == len(actions), "an action is one choice"
    # A state in which an episode always ends has nothing to choose.
    assert not np.diff(world.choice_ptr)[world.terminal].any()


def check_that_adjacency_joins_the_choices_without_loops(world: fp.World) -> None:
    expected = moves(world)
    np.testing.assert_allclose(world.adjacency.toarray(), expected, rtol=1e-12)
    assert world.adjacency.has_canonical_format
    assert world.adjacency.diagonal().sum() == 0
    assert world.symmetric == np.allclose(expected, expected.T, rtol=1e-9, atol=0)
    np.testing.assert_array_equal(world.neighbors.toarray() > 0, (expected + expected.T) > 0)
    np.testing.assert_array_equal(world.incoming.toarray(), world.adjacency.toarray().T)
    assert world.component_sizes == (world.n_states,)


def check_that_arrays_cannot_be_written(world: fp.World) -> None:
    names = [item.name for kind in (fp.World, ChoiceTable) for item in fields(kind) if item.name != "source"]
    for value in (getattr(world, name) for name in names):
        if issparse(value):
            assert_read_only(value.data, value.indices, value.indptr)
        elif isinstance(value, np.ndarray):
            assert_read_only(value)
    for matrix in (world.adjacency, world.neighbors, world.incoming):
        assert_read_only(matrix.data, matrix.indices, matrix.indptr)
    if world.floor is not None:
        assert_read_only(world.floor.cells, world.floor.row_starts)


def assert_read_only(*arrays: NDArray[Any]) -> None:
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def check_that_pickled_and_copied_worlds_are_the_same(world: fp.World) -> None:
    for again in (pickle.loads(pickle.dumps(world)), copy.copy(world), copy.deepcopy(world)):
        assert_same_world(again, world)
        check_that_arrays_cannot_be_written(again)


def check_that_a_saved_world_is_the_same(world: fp.World, folder: Path) -> None:
    noted = replace(world, notes=("kept all", "chose nothing"), keyed_by="table")
    noted.save(folder / "world.npz")
    loaded = fp.World.load(folder / "world.npz")
    assert_same_world(loaded, noted)
    assert (loaded.notes, loaded.keyed_by) == (("kept all", "chose nothing"), "table")
    check_that_arrays_cannot_be_written(loaded)


def check_that_a_changed_copy_keeps_everything_else(world: fp.World) -> None:
    changed = replace(world, start=1)
    assert changed.source is world.source
    assert_same_world(replace(changed, start=world.start), world)


def check_that_find_state_is_the_inverse_of_labels(world: fp.World) -> None:
    labels = range(world.n_states) if world.labels is None else world.labels
    assert [world.find_state(label) for label in labels] == [*range(world.n_states)]
    assert world.find_state("no such state") is None
    assert world.find_state(world.n_states + 1000) is None


def check_that_targets_and_starts_are_states(world: fp.World) -> None:
    for states in (world.targets, None if world.start is None else np.array([world.start])):
        if states is not None:
            np.testing.assert_array_equal(world.check_states("states", states), states)
    assert (world.restart is None) == (world.starts is None)
    if world.starts is not None:
        assert world.starts.sum() == pytest.approx(1.0)
        assert (world.starts >= 0).all()


def check_that_the_walk_is_the_one_written_out(world: fp.World) -> None:
    walk, weights = Walk.of(world), walk_weights(world)
    np.testing.assert_allclose(walk.weights().toarray(), weights, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(walk.leaving, weights.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(walk.entering, weights.sum(axis=0), rtol=1e-12)
    matrix = lazy_walk(world).toarray()
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0, atol=1e-12)
    np.testing.assert_allclose(matrix, written_out(weights), atol=1e-14)
    assert walk.symmetric == np.allclose(weights, weights.T, rtol=1e-9, atol=0)


def check_that_a_step_forward_is_the_product_with_the_matrix(world: fp.World) -> None:
    walk, rng = Walk.of(world), np.random.default_rng(0)
    matrix = written_out(walk_weights(world))
    for mass in (rng.random(world.n_states), rng.normal(size=(world.n_states, 3))):
        np.testing.assert_allclose(walk.forward(mass), matrix @ mass, atol=1e-12)


def check_that_the_stationary_distribution_does_not_change(world: fp.World) -> None:
    walk, matrix = Walk.of(world), written_out(walk_weights(world))
    if walk.stationary_problem:
        # As many eigenvalues 1 as there are sets of states that the walk cannot leave.
        assert (np.abs(np.linalg.eigvals(matrix) - 1.0) < 1e-9).sum() > 1
        with pytest.raises(NotConnected, match="a walk must end in one set of states"):
            _ = walk.pi
        return
    assert walk.pi.sum() == pytest.approx(1.0)
    assert (walk.pi >= 0).all()
    np.testing.assert_allclose(matrix @ walk.pi, walk.pi, atol=1e-14)
    np.testing.assert_allclose(walk.pi, stationary(matrix), atol=1e-12)
    np.testing.assert_array_equal(fp.stationary(world), walk.pi)
    assert walk.pi_squared == pytest.approx(float((walk.pi**2).sum()))


def check_that_the_symmetrized_walk_has_the_sum_of_both_directions(world: fp.World) -> None:
    walk, weights = Walk.of(world), walk_weights(world)
    both = walk.symmetrized()
    assert both.symmetric
    expected = weights if walk.symmetric else weights + weights.T
    np.testing.assert_allclose(both.weights().toarray(), expected, rtol=1e-12, atol=1e-15)


def check_that_automatic_scores_are_finite_and_not_negative(world: fp.World) -> None:
    scores = fp.score(world)
    assert scores.shape == (world.n_states,)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    assert scores.max() > 0
    assert scores.reason
    assert scores.form in ("polar", "walk", "symmetrized")


def check_that_local_scores_follow_the_walk(world: fp.World) -> None:
    for t in (1, 4, 9):
        if Walk.of(world).stationary_problem:
            with pytest.raises(NotConnected, match="a walk must end in one set of states"):
                fp.score(world, t, "local", form="walk")
            continue
        expected = followed(written_out(walk_weights(world)), t)
        np.testing.assert_allclose(fp.score(world, t, "local", form="walk"), expected, rtol=1e-9, atol=1e-15)
        rough = fp.score(world, t, form="walk", tolerance=1e-2)
        assert rough.error_bound is not None
        # The reference is exact to about 1e-13 itself.
        assert (np.abs(np.asarray(rough) - expected) <= rough.error_bound + 1e-12).all()


def check_that_symmetrized_scores_are_those_of_the_summed_weights(world: fp.World) -> None:
    weights = walk_weights(world)
    expected = followed(written_out(weights + weights.T), 4)
    for solver in ("auto", "local", "spectral"):
        scores = fp.score(world, 4, solver, form="symmetrized")
        assert scores.form == "symmetrized"
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-14)


def check_that_goals_are_the_local_maxima(world: fp.World) -> None:
    scores = fp.score(world)
    neighbors = moves(world) + moves(world).T
    plateau = brute.plateaus(neighbors, np.asarray(scores))
    expected = []
    for number in set(plateau.values()):
        states = [state for state, own in plateau.items() if own == number]
        around = {int(there) for state in states for there in np.flatnonzero(neighbors[state])} - set(states)
        if all(scores[there] <= scores[states].max() for there in around):
            expected.append(min(states))
    goals = fp.find_goals(world, scores)
    assert sorted(goals) == sorted(expected)
    np.testing.assert_array_equal(goals.heights, scores[goals.states])
    assert (goals.heights[:-1] >= goals.heights[1:] * (1 - 1e-8)).all()
    assert (goals.prominences >= 0).all()


def check_that_a_changed_weight_changes_the_fingerprints(world: fp.World) -> None:
    weights = np.ones(world.n_choices) if world.weights is None else np.array(world.weights)
    # A choice that leads back to its own state is no part of the walk.
    owners, matrix = world.choice_states, world.transitions
    elsewhere = next(c for c in range(world.n_choices) if matrix[[c]].indices.tolist() != [owners[c]])
    weights[elsewhere] *= 1.5
    changed = replace(world, source=replace(world.table, weights=weights))
    assert changed.fingerprint != world.fingerprint
    assert Walk.of(changed).fingerprint != Walk.of(world).fingerprint
    np.testing.assert_allclose(changed.adjacency.toarray(), moves(changed), rtol=1e-12)
    assert changed.symmetric == np.allclose(moves(changed), moves(changed).T, rtol=1e-9, atol=0)
    assert changed.floor is None
    if not Walk.of(world).polar_problem:
        with pytest.raises(InvalidInput, match="decomposition must be of this world"):
            fp.score(changed, decomposition=fp.spectrum(world))
