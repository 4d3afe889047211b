"""The compiled loop of exploring a world that can be simulated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import allocation_free
from farpoint.exploration.memory import NONE, STATES, TAKEN, Memory
from farpoint.exploration.memory_kernels import add_state, has_room, join, remember
from farpoint.exploration.steps import GOES_ON, TERMINATED, TRUNCATED, Steps
from farpoint.exploration.value_kernels import explores, greedy_action, learn_step, next_action
from farpoint.exploration.values import Rates, Values
from farpoint.simulation.kernels import Stream, below, move, uniform
from farpoint.simulation.tables import WorldTable

# A reward that is discounted to this is none.
_NOTHING = 1e-9
# Places in `Agent.now`.
STATE, OPTION, EPISODE_STEPS, EXPLORES = 0, 1, 2, 3


class Agent(NamedTuple):
    """Where an agent is in a simulated world, and which state of the world it calls what.

    ``place`` is the agent's number of every state of the world, -1 where it has not been; ``of_world`` the reverse.
    """

    now: NDArray[np.int64]
    place: NDArray[np.int32]
    of_world: NDArray[np.int32]


class Task(NamedTuple):
    """Where episodes begin, where they end with a reward of 1, and after how many steps they end anyway."""

    starts: NDArray[np.int64]
    starts_cdf: NDArray[np.float64]
    is_target: NDArray[np.bool_]
    max_episode_steps: int


@allocation_free(nogil=True)
def arrive(world: WorldTable, memory: Memory, agent: Agent, there: int, step: int) -> int:
    """Return the agent's number of a state of the world, which it now visits."""
    state = agent.place[there]
    if state == NONE:
        n_actions = world.choice_ptr[there + 1] - world.choice_ptr[there]
        state = add_state(memory, n_actions, step)
        agent.place[there] = state
        agent.of_world[state] = there
    memory.visits[state] += 1
    return int(state)


@allocation_free(nogil=True)
def draw_start(task: Task, stream: Stream) -> int:
    """Return a state of the world in which an episode begins."""
    drawn = 0
    if task.starts.size > 1:
        chance = uniform(stream)
        while task.starts_cdf[drawn] <= chance:
            drawn += 1
    return int(task.starts[drawn])


@allocation_free(nogil=True)
def begin_episode(world: WorldTable, memory: Memory, agent: Agent, task: Task, stream: Stream) -> None:
    """Put the agent into a start state."""
    state = arrive(world, memory, agent, draw_start(task, stream), memory.sizes[TAKEN])
    # A reset leads from one start to another, so that what was seen is always connected.
    join(memory, state, 0)
    agent.now[STATE], agent.now[OPTION], agent.now[EPISODE_STEPS] = state, NONE, 0


@allocation_free(nogil=True)
def explore_world(
    world: WorldTable,
    memory: Memory,
    agent: Agent,
    steps: Steps,
    routes: NDArray[np.int16],
    values: Values,
    rates: Rates,
    task: Task,
    option_probability: float,
    uniform_actions: bool,
    last_step: int,
    stream: Stream,
) -> bool:
    """Step until ``last_step``; return False where the memory needs more room first."""
    now = agent.now
    while memory.sizes[TAKEN] < last_step:
        if not has_room(memory):
            return False
        if now[STATE] == NONE:
            begin_episode(world, memory, agent, task, stream)
            now[EXPLORES] = explores(rates, stream)
        before, step = now[STATE], memory.sizes[TAKEN]
        action, option = next_action(
            memory,
            routes,
            values,
            rates,
            before,
            now[OPTION],
            now[EXPLORES] > 0,
            option_probability,
            uniform_actions,
            stream,
        )
        here = agent.of_world[before]
        there = move(world, world.choice_ptr[here] + action, stream)
        now[EPISODE_STEPS] += 1
        after = arrive(world, memory, agent, there, step + 1)
        remember(memory, before, action, after)
        ended = task.is_target[there] or world.choice_ptr[there + 1] == world.choice_ptr[there]
        memory.terminal[after] |= ended
        reward = 1.0 if task.is_target[there] else 0.0
        learn_step(memory, routes, values, rates, before, action, reward, after, ended)
        cut = now[EPISODE_STEPS] >= task.max_episode_steps
        steps.before[step], steps.actions[step], steps.after[step] = before, action, after
        steps.ended[step] = TERMINATED if ended else TRUNCATED if cut else GOES_ON
        steps.rewards[step] = reward
        if ended or cut:
            now[STATE], now[OPTION] = NONE, NONE
        else:
            now[STATE], now[OPTION] = after, option
    return True


@allocation_free(nogil=True)
def greedy_return(
    world: WorldTable,
    memory: Memory,
    agent: Agent,
    routes: NDArray[np.int16],
    values: Values,
    task: Task,
    gamma: float,
    n_episodes: int,
    longest: int,
    stream: Stream,
) -> float:
    """Return the mean discounted reward of episodes of best decisions, random ones where several are best.

    What comes after ``longest`` steps, or is discounted to nothing, is not waited for: the agent may go in circles.
    """
    total = 0.0
    for _ in range(n_episodes):
        there, discount = draw_start(task, stream), 1.0
        for _ in range(min(task.max_episode_steps, longest)):
            n_actions = world.choice_ptr[there + 1] - world.choice_ptr[there]
            if n_actions == 0:
                break
            state, action = agent.place[there], NONE
            if state != NONE:
                action, _ = greedy_action(memory, routes, values, state)
            if action == NONE:
                action = below(stream, n_actions)
            there = move(world, world.choice_ptr[there] + action, stream)
            if task.is_target[there]:
                total += discount
                break
            discount *= gamma
            if discount < _NOTHING:
                break
    return total / n_episodes


@allocation_free(nogil=True)
def remember_steps(memory: Memory, steps: Steps, n_steps: int, n_actions: NDArray[np.int32]) -> int:
    """Remember steps that were taken before, one after the other, while there is room; return how many are done.

    ``n_actions`` is the number of actions of every state. Numbers of states are given in the order of their first
    visit, so that a state is new exactly when its number is the next.
    """
    done = memory.sizes[TAKEN]
    while done < n_steps and has_room(memory):
        before, after = steps.before[done], steps.after[done]
        if done == 0 or steps.ended[done - 1] != GOES_ON:
            if before == memory.sizes[STATES]:
                add_state(memory, n_actions[before], done)
            memory.visits[before] += 1
            join(memory, before, 0)
        if after == memory.sizes[STATES]:
            add_state(memory, n_actions[after], done + 1)
        memory.visits[after] += 1
        remember(memory, before, steps.actions[done], after)
        memory.terminal[after] |= steps.ended[done] == TERMINATED
        done += 1
    return int(done)
