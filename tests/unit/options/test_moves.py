"""Choices as matrices of moves."""

from __future__ import annotations

import numpy as np

import farpoint as fp
from farpoint.options.moves import move_matrix, primitive_moves


def test_primitive_choices_are_drawn_by_their_weights() -> None:
    weights = np.array([[0.0, 1.0, 0.0], [3.0, 0.0, 1.0], [0.0, 2.0, 0.0]])
    expected = [[0.0, 1.0, 0.0], [0.75, 0.0, 0.25], [0.0, 1.0, 0.0]]
    np.testing.assert_allclose(primitive_moves(fp.World.from_graph(weights)).toarray(), expected, rtol=1e-15)


def test_without_weights_and_restarts_they_are_the_walk_without_laziness() -> None:
    for world in (fp.maze(), fp.four_rooms(wind=0.3)):
        lazy = fp.diffusion.lazy_walk(world).toarray().T
        np.testing.assert_allclose(primitive_moves(world).toarray(), 2 * lazy - np.eye(world.n_states), atol=1e-14)


def test_a_policy_is_a_matrix_of_moves() -> None:
    world = fp.four_rooms(wind=0.3)
    option = fp.discover(world)[0]
    moves = move_matrix(world, option.choice_probabilities()).toarray()
    for state in range(world.n_states):
        expected = option.policy(state) @ world.transitions[list(world.choices(state))].toarray()
        np.testing.assert_allclose(moves[state], expected, atol=1e-15)
