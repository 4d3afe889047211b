"""Stable-Baselines3's own agents with and without options: the tables of docs/tutorials/training.md.

sb3-PLACE-AGENT: DQN, PPO and MaskablePPO, and examples/train_cleanrl_style.py, with `DiscoveringWrapper` and without
options, for the same number of primitive steps; a table of its own for each, so that they can be computed one by one,
or some seeds at a time. sb3-two-states: what DQN learns in a decision process of two states, with γᵏ and with a
constant γ.

    python -m research.sb3 sb3-warehouse-maskableppo --only 0,1 --jobs 1

`N_STEPS` and `N_SEEDS` say how long and how often; `python -m research.status` says what was not computed.
"""

from __future__ import annotations

import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import farpoint as fp
from research.runner import ROOT, Part, Row, Table, main
from research.warehouse import warehouse

GAMMA, TWO_STATE_GAMMA = 0.99, 0.9
N_STEPS, N_SEEDS = 200_000, 5
N_OPTIONS = 16
# Of the steps: how long ε falls from 1 to 0.05, and the last part, in which success is counted.
EXPLORING, LATE = 0.3, 0.2
# Copies of the environment for PPO and MaskablePPO, and decisions that the targets of DQN look ahead.
N_COPIES, N_LOOKAHEAD = 8, 3
N_DIRECTIONS, N_DOOR_STATES = 4, 3
EXAMPLE = ROOT / "examples" / "train_cleanrl_style.py"


class WholeGrid(gym.Wrapper[Any, Any, Any, Any]):
    """All that changes in a MiniGrid, as bits: column, row and direction of the agent, where the key lies, the door.

    That is what `FullyObsWrapper` shows besides the walls, which stay as they are. Bits of a key that is carried, and
    of what a grid does not have, are 0. Pictures, which take most of the time of a step, are not drawn.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        grid: Any = env.unwrapped
        grid.gen_obs = dict
        self._grid, width, height = grid, grid.width, grid.height
        self._sizes = (width, height, N_DIRECTIONS, width, height, N_DOOR_STATES)
        self.observation_space = gym.spaces.MultiBinary(sum(self._sizes))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin an episode."""
        _, info = self.env.reset(seed=seed, options=options)
        things = {thing.type: thing for thing in self._grid.grid.grid if thing is not None}
        self._key, self._door = things.get("key"), things.get("door")
        return self._bits(), info

    def step(self, action: int) -> tuple[NDArray[np.int8], Any, bool, bool, dict[str, Any]]:
        """Take one action."""
        _, reward, terminated, truncated, info = self.env.step(action)
        return self._bits(), reward, terminated, truncated, info

    def _bits(self) -> NDArray[np.int8]:
        # MiniGrid says (-1, -1) of a key that is carried.
        key = (-1, -1) if self._key is None else self._key.cur_pos
        door = -1 if self._door is None else self._door.encode()[2]
        bits = np.zeros(sum(self._sizes), dtype=np.int8)
        first = 0
        for size, fact in zip(self._sizes, (*self._grid.agent_pos, self._grid.agent_dir, *key, door), strict=True):
            if fact >= 0:
                bits[first + fact] = 1
            first += size
        return bits


def minigrid(name: str, layout: int) -> gym.Env[Any, Any]:
    """Return an environment of MiniGrid whose walls, goal and start are those of a layout in every episode."""
    from minigrid.wrappers import ReseedWrapper

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = gym.make(name, disable_env_checker=True)
    return WholeGrid(ReseedWrapper(env, seeds=[layout]))


PLACES: dict[str, Callable[[int], gym.Env[Any, Any]]] = {
    "FourRooms": partial(minigrid, "MiniGrid-FourRooms-v0"),
    "DoorKey-8x8": partial(minigrid, "MiniGrid-DoorKey-8x8-v0"),
    "Warehouse": lambda layout: warehouse(),
}
NONE, OPTIONS, CONSTANT, ALIKE = WAYS = ("none", "options", "options, constant γ", "options, every action alike")
# The ways that each agent is trained in each place.
RUNS: dict[tuple[str, str], tuple[str, ...]] = {
    ("Warehouse", "MaskablePPO"): (NONE, OPTIONS, ALIKE),
    ("FourRooms", "MaskablePPO"): (NONE, OPTIONS),
    ("Warehouse", "DQN"): (NONE, OPTIONS),
    ("FourRooms", "DQN"): (NONE, OPTIONS),
    ("FourRooms", "PPO"): WAYS,
    ("FourRooms", "CleanRL"): (NONE, OPTIONS),
    ("DoorKey-8x8", "MaskablePPO"): (NONE, OPTIONS),
    ("DoorKey-8x8", "DQN"): (NONE, OPTIONS),
}


def measure(place: str, agent: str, way: str, n_steps: int, seed: int) -> Row:
    """Train one agent; return how often it reached the goal at the end of training, and when it first did.

    Seed and layout are the same number.
    """
    if agent == "CleanRL":
        return measure_example(way, n_steps, seed)
    import torch
    from stable_baselines3.common.vec_env import DummyVecEnv

    torch.set_num_threads(1)
    make = partial(PLACES[place], seed)
    explorer = fp.Explorer.for_env(make(), n_options=N_OPTIONS, seed=seed)

    def wrapped() -> gym.Env[Any, Any]:
        if way == "none":
            return fp.OptionsWrapper(make(), gamma=GAMMA)
        return fp.DiscoveringWrapper(make(), gamma=GAMMA, explorer=explorer)

    env = DummyVecEnv([wrapped] * (1 if agent == "DQN" else N_COPIES))
    env.seed(seed)
    watch = _watch(n_steps)
    learner, callbacks = make_agent(agent, env, constant=way == CONSTANT, alike=way == ALIKE, seed=seed)
    if agent == "DQN":
        learner.exploration_schedule = watch.epsilon
    learner.learn(n_steps, callback=[watch, *callbacks])
    row: Row = watch.row(explorer)
    return row


def measure_example(way: str, n_steps: int, seed: int) -> Row:
    """Run examples/train_cleanrl_style.py in FourRooms; return the same numbers of it."""
    words = {"n-steps": n_steps, "layout": seed, "seed": seed, "n-options": 0 if way == NONE else N_OPTIONS}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        argv, sys.argv = sys.argv, [EXAMPLE.name, "--log-dir", folder, *(f"--{name}={words[name]}" for name in words)]
        try:
            left = runpy.run_path(str(EXAMPLE))
        finally:
            sys.argv = argv
    # The last rollout goes beyond the number of steps.
    episodes = [(taken, success) for taken, success in left["episodes"] if taken <= n_steps]
    reached = [taken for taken, success in episodes if success]
    late = [success for taken, success in episodes if taken > (1.0 - LATE) * n_steps]
    return {
        "success": float(np.mean(late)) if late else None, "first": min(reached, default=None),
        "decisions": left["decisions"], "options_taken": left["options"] / left["decisions"],
        "n_states": left["explorer"].n_states,
    }  # fmt: skip


def make_agent(agent: str, env: Any, *, constant: bool, alike: bool, seed: int) -> tuple[Any, list[Any]]:
    """Return an agent and its callbacks.

    ``constant``: with the γ of Stable-Baselines3 for decisions of any length. ``alike``: as it comes, with every
    action alike at first.
    """
    from sb3_contrib import MaskablePPO
    from stable_baselines3 import DQN, PPO

    policy = "MultiInputPolicy" if isinstance(env.observation_space, gym.spaces.Dict) else "MlpPolicy"
    settings: dict[str, Any] = {"gamma": GAMMA, "seed": seed, "device": "cpu"}
    if agent == "DQN":
        settings |= {"learning_rate": 5e-4, "buffer_size": 50_000, "learning_starts": 1_000, "batch_size": 64}
        settings |= {"target_update_interval": 100}
        if constant:
            settings["n_steps"] = N_LOOKAHEAD
        else:
            settings["replay_buffer_class"] = fp.deep.DurationReplayBuffer
            settings["replay_buffer_kwargs"] = {"n_steps": N_LOOKAHEAD}
        return DQN(policy, env, **settings), []
    kind = PPO if agent == "PPO" else MaskablePPO
    settings |= {"n_steps": 64, "batch_size": 128, "ent_coef": 0.01, "learning_rate": 1e-3}
    if not constant:
        buffers = (fp.deep.DurationRolloutBuffer, fp.deep.MaskableDurationRolloutBuffer)
        settings["rollout_buffer_class"] = buffers[agent == "MaskablePPO"]
    learner = kind(policy, env, **settings)
    if not alike:
        fp.deep.set_option_probability(learner)
    return learner, [] if constant else [fp.deep.DurationCallback()]


def _watch(n_steps: int) -> Any:
    from stable_baselines3.common.callbacks import BaseCallback

    class Watch(BaseCallback):  # type: ignore[misc]
        """Counts primitive steps, and ends the training after ``n_steps`` of them."""

        def __init__(self) -> None:
            super().__init__()
            self.taken = self.decisions = self.options = 0
            self.first: int | None = None
            self.late: list[bool] = []

        def _on_step(self) -> bool:
            for info, done in zip(self.locals["infos"], self.locals["dones"], strict=True):
                self.taken += info["duration"]
                self.decisions += 1
                self.options += info["option"] >= 0
                # In all of these environments an episode that a time limit does not cut ends at the goal.
                reached = bool(done) and not info["TimeLimit.truncated"]
                if reached and self.first is None:
                    self.first = self.taken
                if done and self.taken > (1.0 - LATE) * n_steps:
                    self.late.append(reached)
            return self.taken < n_steps

        def epsilon(self, _: float) -> float:
            """Return ε, which falls with primitive steps: an agent with options makes fewer decisions in as many."""
            return max(0.05, 1.0 - 0.95 * self.taken / (EXPLORING * n_steps))

        def row(self, explorer: fp.Explorer) -> Row:
            return {
                "success": float(np.mean(self.late)) if self.late else None, "first": self.first,
                "decisions": self.decisions, "options_taken": self.options / self.decisions,
                "n_states": explorer.n_states,
            }  # fmt: skip

    return Watch()


def parts_of(place: str, agent: str, quick: bool) -> Iterator[Part]:
    """Yield the runs of an agent in a place."""
    n_steps = 4_000 if quick else N_STEPS
    for way in RUNS[place, agent][: 2 if quick else None]:
        for seed in range(1 if quick else N_SEEDS):
            # The seed comes first, so that `--only` chooses by it.
            yield {"seed": seed, "place": place, "agent": agent, "way": way, "n_steps": n_steps}


def table_name(place: str, agent: str) -> str:
    """Return the name of the table of an agent in a place.

    >>> table_name("DoorKey-8x8", "DQN")
    'sb3-doorkey-dqn'
    """
    return f"sb3-{place.partition('-')[0]}-{agent}".lower()


class TwoStates(gym.Env[Any, Any]):
    """States 0 and 1 in turn, for ever: from 0 in one step with reward 1, from 1 in four steps with reward 2."""

    durations, rewards = (1, 4), (1.0, 2.0)

    def __init__(self) -> None:
        self.observation_space, self.action_space = gym.spaces.Discrete(2), gym.spaces.Discrete(1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        """Begin in state 0."""
        super().reset(seed=seed)
        self.state = 0
        return self.state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Go to the other state."""
        duration, reward = self.durations[self.state], self.rewards[self.state]
        self.state = 1 - self.state
        return self.state, reward, False, False, {"duration": duration, "discount": TWO_STATE_GAMMA**duration}


def measure_two_states(discount: str, seed: int) -> Row:
    """Return the values of both states that DQN learns, and those that its discount leads to, by two equations."""
    import torch
    from stable_baselines3 import DQN

    torch.set_num_threads(1)
    lasting = discount == "γᵏ"
    agent = DQN(
        "MlpPolicy", TwoStates(), gamma=TWO_STATE_GAMMA, learning_rate=lambda left: 0.1 * left, learning_starts=100,
        train_freq=1, target_update_interval=20, policy_kwargs={"net_arch": []}, seed=seed, device="cpu",
        replay_buffer_class=fp.deep.DurationReplayBuffer if lasting else None,
    ).learn(4_000)  # fmt: skip
    with torch.no_grad():
        learned = agent.q_net(torch.arange(2)).flatten().tolist()
    # V(0) = R₀ + d₀ V(1),  V(1) = R₁ + d₁ V(0)
    first, second = (TWO_STATE_GAMMA**k if lasting else TWO_STATE_GAMMA for k in TwoStates.durations)
    equations = np.array([[1.0, -first], [-second, 1.0]])
    solved = np.linalg.solve(equations, TwoStates.rewards)
    return {"learned_0": learned[0], "learned_1": learned[1], "solved_0": solved[0], "solved_1": solved[1]}


def parts_of_two_states(quick: bool) -> Iterator[Part]:
    yield from ({"discount": name, "seed": seed} for name in ("γᵏ", "γ") for seed in range(1 if quick else N_SEEDS))


TABLES = (
    *(Table(table_name(*run), measure, partial(parts_of, *run)) for run in RUNS),
    Table("sb3-two-states", measure_two_states, parts_of_two_states),
)

if __name__ == "__main__":
    main("research.sb3")
