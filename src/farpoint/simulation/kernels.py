"""Compiled moves of an agent, shared by every simulation: random numbers, one step, one option's step, one decision.

All of them are inlined where they are used: a call that passes arrays costs more than the step itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled
from farpoint.simulation.tables import OptionTable, WorldTable

PRIMITIVE = -1

Stream = NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@compiled(nogil=True, inline="always")
def uniform(stream: Stream) -> float:
    """Return a number in [0, 1) and advance the stream (SplitMix64).

    A stream is one number that belongs to one simulated run. numba's own generator belongs to a thread instead, so
    that results would depend on how runs are spread over threads.
    """
    stream[0] += _STEP
    z = stream[0]
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)  # type: ignore[no-any-return]


@compiled(nogil=True, inline="always")
def below(stream: Stream, count: int) -> int:
    """Return a whole number from 0 to count − 1, uniformly."""
    return int(uniform(stream) * count)


@compiled(nogil=True, inline="always")
def move(world: WorldTable, choice: int, stream: Stream) -> int:
    """Return the state that a choice leads to, drawn by the world's own chances."""
    entry = world.next_ptr[choice]
    if world.next_ptr[choice + 1] - entry > 1:
        chance = uniform(stream)
        while world.next_cdf[entry] <= chance:
            entry += 1
    return world.next_state[entry]  # type: ignore[no-any-return]


@compiled(nogil=True, inline="always")
def random_choice(world: WorldTable, state: int, stream: Stream) -> int:
    """Return a random choice of a state, with probability proportional to its weight."""
    choice = world.choice_ptr[state]
    if world.choice_cdf.size == 0:
        return choice + below(stream, world.choice_ptr[state + 1] - choice)  # type: ignore[no-any-return]
    chance = uniform(stream)
    while world.choice_cdf[choice] <= chance:
        choice += 1
    return choice  # type: ignore[no-any-return]


@compiled(nogil=True, inline="always")
def draw_start(starts: NDArray[np.int64], start_cdf: NDArray[np.float64], stream: Stream) -> int:
    """Return the first state of an episode; only where there are several is one drawn."""
    first: Any = 0
    if starts.size > 1:
        first = np.searchsorted(start_cdf, uniform(stream), side="right")
    return starts[first]  # type: ignore[no-any-return]


@compiled(nogil=True, inline="always")
def terminal(world: WorldTable, state: int) -> bool:
    """Return whether a state has no choices: the episode ends there."""
    return bool(world.choice_ptr[state + 1] == world.choice_ptr[state])


@compiled(nogil=True, inline="always")
def takes(options: OptionTable, option: int, choice: int) -> Any:
    """Return 1 if an option may take a choice in that choice's state, else 0."""
    return (options.best[option, choice >> 3] >> (choice & 7)) & 1


@compiled(nogil=True, inline="always")
def option_choice(world: WorldTable, options: OptionTable, option: int, state: int, stream: Stream) -> int:
    """Return the choice that an option takes in a state, -1 where it ends."""
    found = -1
    count = 0
    for choice in range(world.choice_ptr[state], world.choice_ptr[state + 1]):
        if takes(options, option, choice):
            found = choice
            count += 1
    if count > 1:
        # Of those it takes, counted from the last one found.
        skip = count - 1 - below(stream, count)
        while skip > 0:
            found -= 1
            if takes(options, option, found):
                skip -= 1
    return found


@compiled(nogil=True, inline="always")
def random_decision(options: OptionTable, state: int, option_probability: float, stream: Stream) -> int:
    """Return a uniformly random option of those that can start here with this probability, else `PRIMITIVE`."""
    group = options.group[state]
    first = options.start_ptr[group]
    n_startable = options.start_ptr[group + 1] - first
    if n_startable == 0 or uniform(stream) < 1.0 - option_probability:
        return PRIMITIVE
    return options.startable[first + below(stream, n_startable)]  # type: ignore[no-any-return]


@compiled(nogil=True, inline="always")
def next_random_state(
    world: WorldTable, options: OptionTable, state: int, option: int, option_probability: float, stream: Stream
) -> Any:
    """Return the next state of an agent that acts at random, and the option that it is now following.

    ``option`` is the one it follows on arrival in ``state``, or `PRIMITIVE`. An option that ends here, or that is
    chosen where it ends, costs nothing: the agent decides again.
    """
    choice = -1
    while choice < 0:
        if option == PRIMITIVE:
            option = random_decision(options, state, option_probability, stream)
        if option == PRIMITIVE:
            choice = random_choice(world, state, stream)
        else:
            choice = option_choice(world, options, option, state, stream)
            if choice < 0:
                option = PRIMITIVE
    return move(world, choice, stream), option
