"""Methods that train, on the logs of research.ogbench: ``python -m research.ogbench_rivals`` (farpoint[robotics,deep]).

ogbench-rivals: a goal-conditioned behavior cloning, and Stable-Baselines3's TD3 with HerReplayBuffer on the log alone,
with the success after every ``EVERY`` minutes of one core's processor time. What was learned by then is kept in
``research/cache``, so that more ``N_POINTS`` and ``--missing`` go on from the last one.
"""

from __future__ import annotations

import inspect
import json
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import farpoint as fp
from farpoint.files import write_text
from farpoint.options.goal_policy import last_of_segments
from research.ogbench import DATA_SEEDS, RADIUS, evaluate
from research.ogbench_data import CACHE, load, make_env
from research.runner import Part, Row, Table, main

# Minutes of processor time between evaluations, and how many evaluations.
EVERY, N_POINTS = 2.0, 3
MAZES = ("medium", "giant")
N_EPISODES = 10
HIDDEN, BATCH, LEARNING_RATE = 256, 1024, 3e-4
GAMMA = 0.99


class Learner(Protocol):
    """Something that trains on a log for some time, and is a policy."""

    n_updates: int

    def train(self, seconds: float) -> None:
        """Train for this much processor time, of all threads."""

    def __call__(self, observation: Any, goal: Any) -> Any:
        """Return an action."""

    def save(self, path: Path) -> None:
        """Write what was learned."""

    def load(self, path: Path, n_updates: int) -> None:
        """Go on from what was written after so many updates, with other random numbers."""


class Cloning:
    """Behavior cloning of the logged action, given where it began and where its episode was at a later time."""

    def __init__(self, log: fp.Log, maze: str, seed: int) -> None:
        import torch

        torch.manual_seed(seed)
        self.n_updates, self._torch, self._seed, self._rng = 0, torch, seed, np.random.default_rng(seed)
        self._observations = np.asarray(log.observations, dtype=np.float32)
        self._ends = np.asarray(log.next_observations, dtype=np.float32)
        self._actions = np.asarray(log.actions, dtype=np.float32)
        self._last = last_of_segments(log.ended, len(log))
        self._mean, self._scale = self._observations.mean(axis=0), self._observations.std(axis=0)
        layers = [torch.nn.Linear(4, HIDDEN), torch.nn.ReLU()]
        layers += [layer for _ in range(2) for layer in (torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU())]
        self._network = torch.nn.Sequential(*layers, torch.nn.Linear(HIDDEN, self._actions.shape[1]), torch.nn.Tanh())
        self._optimizer = torch.optim.Adam(self._network.parameters(), LEARNING_RATE)

    def _input(self, observations: NDArray[Any], goals: NDArray[Any]) -> Any:
        scaled = [(some - self._mean) / self._scale for some in (observations, goals)]
        return self._torch.as_tensor(np.concatenate(scaled, axis=-1).astype(np.float32))

    def train(self, seconds: float) -> None:
        """Clone, with goals drawn uniformly from the rest of the episode."""
        until = time.process_time() + seconds
        while time.process_time() < until:
            rows = self._rng.integers(len(self._actions), size=BATCH)
            later = self._rng.integers(rows, self._last[rows] + 1)
            said = self._network(self._input(self._observations[rows], self._ends[later]))
            loss = ((said - self._torch.as_tensor(self._actions[rows])) ** 2).mean()
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
            self.n_updates += 1

    def __call__(self, observation: Any, goal: Any) -> Any:
        """Return the mean action."""
        with self._torch.no_grad():
            return self._network(self._input(np.asarray(observation), np.asarray(goal))).numpy()

    def save(self, path: Path) -> None:
        """Write network and optimizer."""
        self._torch.save({"network": self._network.state_dict(), "optimizer": self._optimizer.state_dict()}, path)

    def load(self, path: Path, n_updates: int) -> None:
        """Go on from them."""
        state = self._torch.load(path, weights_only=True)
        self._network.load_state_dict(state["network"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.n_updates, self._rng = n_updates, np.random.default_rng([self._seed, n_updates])


class GoalMaze(gym.Env[Any, Any]):
    """The maze as HerReplayBuffer wants it: a Dict with the goal, and a reward of -1 until it is within the radius."""

    def __init__(self, maze: str) -> None:
        self._env = make_env(maze, 0)
        place = gym.spaces.Box(-np.inf, np.inf, (2,), dtype=np.float32)
        names = ("observation", "achieved_goal", "desired_goal")
        self.observation_space = gym.spaces.Dict(dict.fromkeys(names, place))
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), dtype=np.float32)

    def compute_reward(self, achieved: Any, desired: Any, info: Any) -> Any:
        """Return 0 at the goal and -1 elsewhere."""
        return -(np.linalg.norm(np.asarray(achieved) - desired, axis=-1) > RADIUS).astype(np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Return a first observation; the buffer asks for nothing more."""
        place = np.zeros(2, dtype=np.float32)
        return {"observation": place, "achieved_goal": place, "desired_goal": place}, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Never called: everything comes from the log."""
        raise NotImplementedError

    def close(self) -> None:
        """Release the maze."""
        self._env.close()


class HindsightTD3:
    """Stable-Baselines3's TD3 with hindsight, whose buffer holds the log and nothing else."""

    def __init__(self, log: fp.Log, maze: str, seed: int) -> None:
        from stable_baselines3 import TD3, HerReplayBuffer
        from stable_baselines3.common.logger import configure

        self.n_updates, self._seed = 0, seed
        self._env = GoalMaze(maze)
        self.model = TD3(
            "MultiInputPolicy",
            self._env,
            learning_rate=LEARNING_RATE,
            buffer_size=len(log),
            batch_size=BATCH,
            gamma=GAMMA,
            replay_buffer_class=HerReplayBuffer,
            replay_buffer_kwargs={"n_sampled_goal": 4, "goal_selection_strategy": "future"},
            policy_kwargs={"net_arch": [HIDDEN, HIDDEN]},
            seed=seed,
            device="cpu",
        )
        self.model.set_logger(configure(None, []))
        self._fill(log)

    def _fill(self, log: fp.Log) -> None:
        """Write the whole log into the buffer's arrays, as its `add` would row by row."""
        buffer: Any = self.model.replay_buffer
        before, after = (np.asarray(some, dtype=np.float32) for some in (log.observations, log.next_observations))
        # The log has no goals of its own: each episode's is where it ended.
        goals = after[last_of_segments(log.ended, len(log))]
        for name, here, onward in (
            ("observation", before, after),
            ("achieved_goal", before, after),
            ("desired_goal", goals, goals),
        ):
            buffer.observations[name][:, 0], buffer.next_observations[name][:, 0] = here, onward
        buffer.actions[:, 0] = log.actions
        buffer.rewards[:, 0] = self._env.compute_reward(after, goals, {})
        buffer.dones[:, 0] = buffer.timeouts[:, 0] = log.ended
        starts = np.flatnonzero(np.concatenate([[True], log.ended[:-1]]))
        lengths = np.diff(starts, append=len(log))
        buffer.ep_start[:, 0], buffer.ep_length[:, 0] = np.repeat(starts, lengths), np.repeat(lengths, lengths)
        buffer.full = True

    def train(self, seconds: float) -> None:
        """Take gradient steps from the buffer."""
        until = time.process_time() + seconds
        while time.process_time() < until:
            self.model.train(gradient_steps=50, batch_size=BATCH)
            self.n_updates += 50

    def __call__(self, observation: Any, goal: Any) -> Any:
        """Return the action of the actor."""
        place, there = np.asarray(observation, dtype=np.float32), np.asarray(goal, dtype=np.float32)
        seen = {"observation": place, "achieved_goal": place, "desired_goal": there}
        return self.model.predict(seen, deterministic=True)[0]

    def save(self, path: Path) -> None:
        """Write the networks and their optimizers."""
        # Given a file and not a name, Stable-Baselines3 adds no ending of its own.
        with path.open("wb") as file:
            self.model.save(file)

    def load(self, path: Path, n_updates: int) -> None:
        """Go on from them."""
        with path.open("rb") as file:
            self.model.set_parameters(file)
        self.n_updates = n_updates
        self.model.set_random_seed(self._seed + n_updates)


RIVALS: dict[str, type[Cloning] | type[HindsightTD3]] = {"behavior cloning": Cloning, "TD3 + HER": HindsightTD3}


def measure_rival(
    method: str,
    maze: str,
    data_seed: int,
    core_minutes: float,
    n_steps: int | None = None,
    n_episodes: int = N_EPISODES,
) -> Row:
    """Return the updates and the success after some minutes of processor time, on the first steps of a log."""
    import torch

    torch.set_num_threads(1)
    log = load(maze, "stitch", data_seed)
    if n_steps is not None:
        from research.logs import part_of

        log = part_of(log, n_steps)
    learner: Learner = RIVALS[method](log, maze, data_seed)
    settings = f"{inspect.getsource(RIVALS[method])}{HIDDEN}{BATCH}{LEARNING_RATE}{GAMMA}{RADIUS}"
    name = f"rival-{method}-{maze}-{data_seed}-{n_steps}-{zlib.crc32(settings.encode()):08x}"
    folder = CACHE / name.replace(" ", "")
    folder.mkdir(parents=True, exist_ok=True)
    points = [float(known.stem) for known in folder.glob("*.json")]
    trained = max((point for point in points if point <= core_minutes), default=0.0)
    if trained:
        updates = json.loads((folder / f"{trained!r}.json").read_text(encoding="utf-8"))["updates"]
        learner.load(folder / f"{trained!r}.learned", updates)
    learner.train(60.0 * (core_minutes - trained))
    learner.save(folder / f"{core_minutes!r}.learned")
    # Last: where it is, so is what was learned.
    write_text(folder / f"{core_minutes!r}.json", json.dumps({"updates": learner.n_updates}) + "\n")
    share = np.mean([row["success"] for row in evaluate(learner, maze, 0, n_episodes)])
    return {"updates": learner.n_updates, "success": share}


def parts(quick: bool) -> Iterator[Part]:
    """Yield the parts, each of which goes on from the one before it; a quick look takes seconds."""
    for point in range(1, 2 if quick else N_POINTS + 1):
        for maze in MAZES[: 1 if quick else None]:
            for method in RIVALS:
                part: Part = {"method": method, "maze": maze, "data_seed": DATA_SEEDS[1], "core_minutes": EVERY * point}
                yield part | ({"core_minutes": 0.05, "n_steps": 20_000, "n_episodes": 1} if quick else {})


TABLES = (Table("ogbench-rivals", measure_rival, parts),)

if __name__ == "__main__":
    main("research.ogbench_rivals")
