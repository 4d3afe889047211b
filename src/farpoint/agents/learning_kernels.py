"""Compiled Q-learning in worlds, SMDP and intra-option: options are decisions with values of their own.

``q`` holds one number per choice, ``q_options[k, s]`` the value of starting option k in state s. A decision is a
choice, or ``-1 - k`` for option k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.agents.task import Rates, Task
from farpoint.compiling import allocation_free, compiled
from farpoint.simulation.kernels import (
    PRIMITIVE,
    Stream,
    below,
    draw_start,
    move,
    option_choice,
    random_choice,
    random_decision,
    takes,
    uniform,
)
from farpoint.simulation.tables import OptionTable, WorldTable

Values = NDArray[np.float64]

# Places in `Learner.now`.
STATE, OPTION, STEPS, EPISODES, EPISODE_STEPS, FIRST, BEGUN, LASTED = range(8)
NOWHERE = -1
NEVER = 2**62


class Learner(NamedTuple):
    """What an agent in a world has learned, and where it is.

    ``now`` holds its state (-1 between episodes), the option that it follows, how many steps and episodes are behind
    it, the steps of this episode, the step of the first positive reward (-1: none yet), and where the option began and
    how long it has lasted; ``earned`` the discounted reward of that option so far.
    """

    q: Values
    q_options: Values
    visits: NDArray[np.int64]
    now: NDArray[np.int64]
    earned: Values

    @classmethod
    def new(cls, world: WorldTable, options: OptionTable) -> Learner:
        """Return an agent that has learned nothing."""
        n_states, n_choices = world.choice_ptr.size - 1, world.next_ptr.size - 1
        now = np.array([NOWHERE, PRIMITIVE, 0, 0, 0, -1, 0, 0])
        visits = np.zeros(n_states, dtype=np.int64)
        return cls(np.zeros(n_choices), np.zeros((options.goals.size, n_states)), visits, now, np.zeros(1))


@compiled(nogil=True, inline="always")
def td(q: Any, reward: Any, discount: float, value: Any) -> Any:
    """Return the temporal difference r + γ max Q(s′, ·) − Q; ``discount`` is γ, or γᵏ after k steps.

    ``value`` is that of the best decision in the next state, 0 where the episode has ended.

    >>> td(0.5, 1.0, 0.9, 2.0)
    2.3
    """
    return reward + discount * value - q


@compiled(nogil=True, inline="always")
def ends(world: WorldTable, options: OptionTable, option: int, state: int) -> bool:
    """Return whether an option ends in a state."""
    taken = 0
    for choice in range(world.choice_ptr[state], world.choice_ptr[state + 1]):
        taken += takes(options, option, choice)
    return taken == 0


@allocation_free(nogil=True)
def best_decision(
    world: WorldTable, options: OptionTable, q: Values, q_options: Values, state: int, stream: Stream
) -> Any:
    """Return a decision of highest value, drawn uniformly among equals, that value, and how many have it."""
    first = world.choice_ptr[state]
    best = first
    highest = q[first]
    count = 1
    for choice in range(first + 1, world.choice_ptr[state + 1]):
        if q[choice] > highest:
            best, highest, count = choice, q[choice], 1
        elif q[choice] == highest:
            count += 1
            if below(stream, count) == 0:
                best = choice
    group = options.group[state]
    for entry in range(options.start_ptr[group], options.start_ptr[group + 1]):
        option = options.startable[entry]
        if ends(world, options, option, state):
            continue
        value = q_options[option, state]
        if value > highest:
            best, highest, count = -1 - option, value, 1
        elif value == highest:
            count += 1
            if below(stream, count) == 0:
                best = -1 - option
    return best, highest, count


@allocation_free(nogil=True)
def next_choice(
    world: WorldTable,
    options: OptionTable,
    learner: Learner,
    rates: Rates,
    state: int,
    option: int,
    stream: Stream,
) -> Any:
    """Return the next choice of a learning agent, the option that it now follows, and whether it made a decision here.

    It follows ``option`` until that ends. Then it takes the best decision if that is unique, except for a share ε of
    the time, and otherwise a random one.
    """
    choice = -1
    decided = False
    while choice < 0:
        if option == PRIMITIVE:
            decided = True
            choice, _, count = best_decision(world, options, learner.q, learner.q_options, state, stream)
            if count > 1 or (rates.epsilon > 0.0 and uniform(stream) < rates.epsilon):
                option = random_decision(options, state, rates.option_probability, stream)
                if option == PRIMITIVE:
                    choice = random_choice(world, state, stream)
            elif choice < 0:
                option = -1 - choice
        if option != PRIMITIVE:
            choice = option_choice(world, options, option, state, stream)
            if choice < 0:
                option = PRIMITIVE
    return choice, option, decided


@allocation_free(nogil=True)
def greedy_step(
    world: WorldTable, options: OptionTable, q: Values, q_options: Values, state: int, option: int, stream: Stream
) -> Any:
    """Return the next state of an agent that takes best decisions, options among them, and the option it follows."""
    choice = -1
    while choice < 0:
        if option == PRIMITIVE:
            choice, _, _ = best_decision(world, options, q, q_options, state, stream)
            if choice < 0:
                option = -1 - choice
        if option != PRIMITIVE:
            choice = option_choice(world, options, option, state, stream)
            if choice < 0:
                option = PRIMITIVE
    return move(world, choice, stream), option


@allocation_free(nogil=True)
def learn_inside_options(
    world: WorldTable,
    options: OptionTable,
    q_options: Values,
    rates: Rates,
    state: int,
    choice: int,
    reward: float,
    after: int,
    best: float,
    ended: bool,
) -> None:
    """Update every option whose policy could have taken this choice: in the next state it continues, or ends."""
    for option in range(q_options.shape[0]):
        if takes(options, option, choice):
            value = best
            if not ended and not ends(world, options, option, after):
                value = q_options[option, after]
            q_options[option, state] += rates.alpha * td(q_options[option, state], reward, rates.gamma, value)


@allocation_free(nogil=True)
def learn_until(
    world: WorldTable,
    options: OptionTable,
    task: Task,
    rates: Rates,
    intra: bool,
    learner: Learner,
    stream: Stream,
    last_step: int,
    last_episode: int,
) -> None:
    """Learn until this many steps were taken, or episodes ended, in all; the learner is changed in place.

    With ``intra`` every step updates its choice and all options that could have taken it. Otherwise an option is one
    decision, updated when it ends, when the episode does, or when the agent leaves it.
    """
    now, q, q_options = learner.now, learner.q, learner.q_options
    alpha, gamma = rates.alpha, rates.gamma
    while now[STEPS] < last_step and now[EPISODES] < last_episode:
        state, option = now[STATE], now[OPTION]
        if state < 0:
            state, option = draw_start(task.starts, task.start_cdf, stream), PRIMITIVE
            now[EPISODE_STEPS] = 0
        choice, option, decided = next_choice(world, options, learner, rates, state, option, stream)
        if decided:
            now[BEGUN], now[LASTED], learner.earned[0] = state, 0, 0.0
        after = move(world, choice, stream)
        reward, ended = task.reward[after], task.ends[after]
        now[STEPS] += 1
        now[EPISODE_STEPS] += 1
        learner.visits[after] += 1
        if reward > 0.0 and now[FIRST] < 0:
            now[FIRST] = now[STEPS]
        over = ended or now[EPISODE_STEPS] >= task.max_steps
        of_choice = intra or option == PRIMITIVE
        of_option = not of_choice and (over or ends(world, options, option, after))
        value = 0.0
        if not ended and (of_choice or of_option):
            _, value, _ = best_decision(world, options, q, q_options, after, stream)
        # Of a choice: Q(s, a) ← Q + α (r + γ max Q(s′, ·) − Q)
        if of_choice:
            q[choice] += alpha * td(q[choice], reward, gamma, value)
        if intra:
            learn_inside_options(world, options, q_options, rates, state, choice, reward, after, value, ended)
        elif option != PRIMITIVE:
            if reward != 0.0:
                learner.earned[0] += gamma ** now[LASTED] * reward
            now[LASTED] += 1
            if of_option:
                # Of an option that took k steps, also where the episode cut it:
                # Q(s, o) ← Q + α (r₁ + γ r₂ + … + γᵏ max Q(s′, ·) − Q)
                begun = now[BEGUN]
                before = q_options[option, begun]
                q_options[option, begun] += alpha * td(before, learner.earned[0], gamma ** now[LASTED], value)
        now[STATE], now[OPTION] = after, option
        if over:
            now[STATE] = NOWHERE
            now[EPISODES] += 1


@allocation_free(nogil=True)
def greedy_episode(
    world: WorldTable, options: OptionTable, task: Task, gamma: float, learner: Learner, stream: Stream
) -> Any:
    """Return the steps of an episode of best decisions, options among them, and its discounted reward.

    One step more than the maximum if it does not end by itself.
    """
    state = draw_start(task.starts, task.start_cdf, stream)
    option = PRIMITIVE
    total = 0.0
    for step in range(task.max_steps):
        state, option = greedy_step(world, options, learner.q, learner.q_options, state, option, stream)
        if task.reward[state] != 0.0:
            total += gamma**step * task.reward[state]
        if task.ends[state]:
            return step + 1, total
    return task.max_steps + 1, total


@allocation_free(nogil=True)
def greedy_return(
    world: WorldTable,
    options: OptionTable,
    task: Task,
    gamma: float,
    learner: Learner,
    n_episodes: int,
    stream: Stream,
) -> float:
    """Return the mean discounted reward of episodes of best decisions."""
    total = 0.0
    for _ in range(n_episodes):
        total += greedy_episode(world, options, task, gamma, learner, stream)[1]
    return total / n_episodes


@allocation_free(nogil=True)
def fill_curve(
    world: WorldTable,
    options: OptionTable,
    task: Task,
    rates: Rates,
    intra: bool,
    learner: Learner,
    stream: Stream,
    evaluation_stream: Stream,
    curve: Values,
) -> None:
    """Learn for one episode after another; fill in the steps that best decisions take after each."""
    for episode in range(curve.size):
        learn_until(world, options, task, rates, intra, learner, stream, NEVER, episode + 1)
        curve[episode] = greedy_episode(world, options, task, rates.gamma, learner, evaluation_stream)[0]
