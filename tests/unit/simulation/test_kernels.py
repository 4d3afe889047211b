"""The compiled steps of an agent, against the chances of its world and its options."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.options.option_set import option_table
from farpoint.options.routes import primitive_moves
from farpoint.simulation.kernels import (
    PRIMITIVE,
    below,
    move,
    next_random_state,
    option_choice,
    random_choice,
    random_decision,
    uniform,
)
from farpoint.simulation.tables import streams, world_table

N = 4000


def shares(draw: Callable[[], int], n_values: int) -> NDArray[np.float64]:
    return np.bincount([draw() for _ in range(N)], minlength=n_values) / N


def check_shares(found: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    """Five standard errors of a share, for every value."""
    assert (np.abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / N) + 1e-12).all()


def weighted_world() -> fp.World:
    rng = np.random.default_rng(1)
    weights = np.triu(rng.uniform(0.2, 6.0, (5, 5)), 1)
    return fp.World.from_graph(weights + weights.T)


@pytest.mark.parametrize("world", [weighted_world(), fp.open_room(2, 3)], ids=["weighted", "plain"])
def test_random_choices_are_those_of_primitive_moves(world: fp.World) -> None:
    table, stream = world_table(world), streams(3, 1)
    expected = primitive_moves(world).toarray()
    for state in range(world.n_states):

        def next_state(state: int = state) -> int:
            return int(move(table, random_choice(table, state, stream), stream))

        check_shares(shares(next_state, world.n_states), expected[state])


def test_moves_are_drawn_by_the_chances_of_the_world() -> None:
    world = fp.open_room(3, 3, wind=0.3)
    table, stream = world_table(world), streams(1, 1)
    for choice in (0, 5, 9):
        expected = world.transitions[[choice]].toarray()[0]
        check_shares(shares(lambda choice=choice: int(move(table, choice, stream)), 9), expected)  # type: ignore[misc]


def test_options_take_equally_good_choices_alike() -> None:
    world = fp.open_room(3, 3)
    table, options, stream = world_table(world), fp.OptionSet(world, np.array([0])).table, streams(2, 1)
    for state in range(9):
        policy = fp.OptionSet(world, np.array([0]))[0].policy(state)
        if not policy.any():
            assert option_choice(table, options, 0, state, stream) == -1
            continue
        first = int(world.choice_ptr[state])
        found = shares(lambda: int(option_choice(table, options, 0, state, stream)) - first, policy.size)  # noqa: B023
        check_shares(found, policy)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.9])
def test_decisions_are_options_with_their_probability(p: float) -> None:
    # Of three options two can start in state 1.
    world = fp.open_room(2, 2)
    options = fp.OptionSet(world, np.array([0, 3, 2]), initiation=np.array([1, 1, 0]))
    table, stream = option_table(world, options), streams(7, 1)
    found = shares(lambda: int(random_decision(table, 1, p, stream)) + 1, 4)
    check_shares(found, np.array([1 - p, p / 2, p / 2, 0.0]))
    assert random_decision(table, 3, p, stream) == PRIMITIVE, "none can start there"


def test_an_option_that_is_over_costs_no_step() -> None:
    world = fp.grid((4,))
    options, table = fp.OptionSet(world, np.array([0])), world_table(world)
    stream = streams(4, 1)
    # Following the option from 2 leads to 1, still following; at 0 it is over, and the one move leads to 1.
    assert next_random_state(table, options.table, 2, 0, 0.5, stream) == (1, 0)
    assert next_random_state(table, options.table, 0, 0, 0.0, stream) == (1, PRIMITIVE)


def test_uniform_numbers() -> None:
    stream = streams(0, 1)
    numbers = np.array([uniform(stream) for _ in range(N)])
    assert ((numbers >= 0) & (numbers < 1)).all()
    assert abs(numbers.mean() - 0.5) < 5 * np.sqrt(1 / 12 / N)
    check_shares(shares(lambda: int(below(stream, 7)), 7), np.full(7, 1 / 7))
