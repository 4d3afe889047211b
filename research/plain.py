"""The paper's learning loop and its walks in plain Python and NumPy, to compare with."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

import farpoint as fp


def learn_plainly(
    world: fp.World, options: fp.OptionSet | None, target: int, *, n_episodes: int, max_steps: int, seed: int
) -> tuple[NDArray[np.float64], int]:
    """Return the learning curve of one trial by the paper's protocol (published counting), and the steps simulated."""
    rng = random.Random(seed)
    alpha, gamma = 0.1, 0.9
    next_state = world.transitions.indices
    choices = [list(world.choices(state)) for state in range(world.n_states)]
    policies = [option.choice_probabilities() for option in options] if options is not None else []
    best = [[[c for c in choices[s] if policy[c] > 0] for s in range(world.n_states)] for policy in policies]
    q = np.zeros(world.n_choices)
    q[choices[target]] = 1.0
    curve = np.empty(n_episodes)
    simulated = 0
    assert world.start is not None

    def update(state: int, choice: int) -> int:
        after = int(next_state[choice])
        reward = 1.0 if state == target else 0.0
        q[choice] = (1 - alpha) * q[choice] + alpha * (reward + gamma * q[choices[after]].max())
        return after

    for episode in range(n_episodes):
        state, used = world.start, 0
        while used < max_steps:
            values = q[choices[state]]
            greedy = np.flatnonzero(values == values.max())
            if greedy.size == 1:
                state = update(state, choices[state][int(greedy[0])])
                used, simulated = used + 1, simulated + 1
            elif best and rng.random() < 0.5:
                option = rng.randrange(len(best))
                used += 1
                while used < max_steps and best[option][state]:
                    state = update(state, rng.choice(best[option][state]))
                    used, simulated = used + 1, simulated + 1
                if used < max_steps and options is not None and state != options.goals[option]:
                    used += 1
            else:
                state = update(state, rng.choice(choices[state]))
                used, simulated = used + 1, simulated + 1
                if state == target:
                    break
        state, steps = world.start, max_steps + 1
        for step in range(1, max_steps + 1):
            values = q[choices[state]]
            state = int(next_state[choices[state][rng.choice(np.flatnonzero(values == values.max()).tolist())]])
            simulated += 1
            if state == target:
                steps = step
                break
        curve[episode] = steps
    return curve, simulated


def walk_plainly(world: fp.World, options: fp.OptionSet, start: int, target: int, rng: random.Random) -> int:
    """Return the steps of one random walk with options to a target: one sample of what Table 1 averages."""
    next_state = world.transitions.indices
    state, steps = start, 0
    while state != target:
        if rng.random() < 0.5:
            state = int(next_state[rng.choice(list(world.choices(state)))])
            steps += 1
            continue
        potential = options[rng.randrange(len(options))].potential
        while state != target:
            after = [int(next_state[choice]) for choice in world.choices(state)]
            lowest = min(potential[s] for s in after)
            if lowest >= potential[state]:
                break
            state = rng.choice([s for s in after if potential[s] == lowest])
            steps += 1
    return steps
