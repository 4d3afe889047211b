"""An ant learns to walk in any direction: a gait for AntMaze, trained by PPO on flat ground.

``python -m research.ant_gait --minutes 20 --out gait.npz`` needs MuJoCo and torch alone, and takes all cores; the
network is trained on a GPU where there is one. The gait knows its body and a direction, not where it is. It is written
as plain arrays, and a run goes on from a file that is there. ``--ratio --minutes 0.7`` compares the whole machine with
two of its cores.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
N_FEATURES, N_TORQUES = 28, 8
FRAME_SKIP = 5
HIDDEN = 128
# Metres per second beyond which a gait is not rewarded: a faster ant falls over more often.
FAST_ENOUGH = 1.0
_ENVS_PER_WORKER, _STEPS = 4, 256
_EPISODE, _SAME_DIRECTION = 1_000, 80
_GAMMA, _LAMBDA, _CLIP = 0.98, 0.95, 0.2
_EPOCHS, _BATCH = 6, 4_096


def rotation(quaternion: Array) -> Array:
    """Return the matrix that turns what the body sees into what the world sees.

    >>> rotation(np.array([1.0, 0.0, 0.0, 0.0]))
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def features(qpos: Array, qvel: Array, direction: Array) -> Array:
    """Return what the gait knows: its body, and the direction as its body sees it. North is the same as east to it."""
    turned = rotation(qpos[3:7])
    yaw = np.arctan2(turned[1, 0], turned[0, 0])
    cos, sin = np.cos(yaw), np.sin(yaw)
    ahead = [cos * direction[0] + sin * direction[1], cos * direction[1] - sin * direction[0]]
    return np.concatenate(
        [qpos[2:3], turned[2], ahead, turned.T @ qvel[:3], qvel[3:6], qpos[7:15], 0.1 * qvel[6:14]]
    ).astype(np.float32)


def fallen(qpos: Array) -> bool:
    """Return whether the ant lies on its back or has jumped away."""
    return bool(not 0.25 <= qpos[2] <= 1.2 or rotation(qpos[3:7])[2, 2] < 0.2)


class Gait:
    """A network of two layers that gives torques, as plain arrays."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.arrays = arrays

    @classmethod
    def load(cls, path: str | Path) -> Gait:
        """Return the gait of a file."""
        with np.load(path, allow_pickle=False) as file:
            return cls({name: file[name] for name in file.files})

    def save(self, path: str | Path) -> None:
        """Write the gait."""
        np.savez_compressed(path, **self.arrays)  # type: ignore[arg-type]

    def __call__(self, seen: Array) -> Array:
        """Return the torques for one row of features, or for several."""
        a = self.arrays
        now = np.clip((seen - a["mean"]) / a["spread"], -5.0, 5.0)
        now = np.tanh(now @ a["w0"].T + a["b0"])
        now = np.tanh(now @ a["w1"].T + a["b1"])
        return np.asarray(now @ a["w2"].T + a["b2"])


class FlatGround:
    """An ant on flat ground that is told in which direction to walk."""

    def __init__(self, xml: str, seed: int) -> None:
        import mujoco

        self._mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_path(xml)
        self.data = mujoco.MjData(self.model)
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self) -> Array:
        """Begin anew, nearly upright, in any direction."""
        self._mujoco.mj_resetData(self.model, self.data)
        numbers = self.model.numeric_data[:15]
        self.data.qpos[:] = numbers
        yaw = self.rng.uniform(-np.pi, np.pi)
        self.data.qpos[3:7] = [np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]
        self.data.qpos[7:] += self.rng.uniform(-0.1, 0.1, 8)
        self.data.qvel[:] = self.rng.normal(0.0, 0.1, 14)
        self.n_steps = 0
        self._turn()
        return self.seen

    def _turn(self) -> None:
        angle = self.rng.uniform(-np.pi, np.pi)
        self.direction = np.array([np.cos(angle), np.sin(angle)])

    @property
    def seen(self) -> Array:
        """What the gait knows now."""
        return features(self.data.qpos, self.data.qvel, self.direction)

    def step(self, torques: Array) -> tuple[float, bool, bool]:
        """Return the reward, whether the ant has fallen, and whether the episode has lasted long enough."""
        before = self.data.qpos[:2].copy()
        torques = np.clip(torques, -1.0, 1.0)
        self.data.ctrl[:] = torques
        self._mujoco.mj_step(self.model, self.data, nstep=FRAME_SKIP)
        velocity = (self.data.qpos[:2] - before) / (FRAME_SKIP * self.model.opt.timestep)
        ahead = float(velocity @ self.direction)
        aside = abs(float(velocity[0] * self.direction[1] - velocity[1] * self.direction[0]))
        fell = fallen(self.data.qpos)
        reward = min(ahead, FAST_ENOUGH) - 0.4 * aside + 0.2 - 0.03 * float(torques @ torques)
        self.n_steps += 1
        if self.n_steps % _SAME_DIRECTION == 0:
            self._turn()
        return (-1.0 if fell else reward), fell, self.n_steps >= _EPISODE


def _work(pipe: Any, xml: str, seed: int) -> None:
    """Collect steps with whatever gait comes through the pipe."""
    envs = [FlatGround(xml, seed * 1_000 + number) for number in range(_ENVS_PER_WORKER)]
    rng = np.random.default_rng(seed)
    while True:
        message = pipe.recv()
        if message is None:
            return
        gait, spread = Gait(message[0]), message[1]
        shape = (_STEPS, _ENVS_PER_WORKER)
        seen = np.empty((_STEPS + 1, _ENVS_PER_WORKER, N_FEATURES), np.float32)
        last = np.zeros((*shape, N_FEATURES), np.float32)
        actions, rewards = np.empty((*shape, N_TORQUES), np.float32), np.empty(shape, np.float32)
        fell, ended, ahead = np.zeros(shape, bool), np.zeros(shape, bool), []
        seen[0] = [env.seen for env in envs]
        for step in range(_STEPS):
            mean = gait(seen[step])
            actions[step] = mean + spread * rng.standard_normal(mean.shape)
            for number, env in enumerate(envs):
                before = env.data.qpos[:2].copy()
                direction = env.direction
                rewards[step, number], fell[step, number], over = env.step(actions[step, number])
                ahead.append(float((env.data.qpos[:2] - before) @ direction) / 0.05)
                if fell[step, number] or over:
                    ended[step, number] = True
                    last[step, number] = env.seen
                    env.reset()
                seen[step + 1, number] = env.seen
        pipe.send((seen, last, actions, rewards, fell, ended, float(np.mean(ahead))))


def train(xml: str, path: Path, minutes: float, n_workers: int, device: str, seed: int = 0) -> float:
    """Train a gait, and write it after every tenth round; return the steps per second."""
    import torch

    torch.manual_seed(seed)

    def network(n_out: int) -> Any:
        layers = [torch.nn.Linear(N_FEATURES, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, HIDDEN)]
        return torch.nn.Sequential(*layers, torch.nn.Tanh(), torch.nn.Linear(HIDDEN, n_out)).to(device)

    actor, critic = network(N_TORQUES), network(1)
    with torch.no_grad():
        actor[4].weight *= 0.01
    log_spread = torch.nn.Parameter(torch.full((N_TORQUES,), -0.5, device=device))

    def likelihood(seen: Any, torques: Any) -> Any:
        """Return the logarithm of the density of torques, up to a constant."""
        return (-0.5 * ((torques - actor(seen)) / log_spread.exp()) ** 2 - log_spread).sum(-1)

    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters(), log_spread], lr=3e-4)
    count, mean, square = 1e-4, np.zeros(N_FEATURES), np.ones(N_FEATURES)
    state = path.with_suffix(".state.pt")
    if state.exists():
        kept = torch.load(state, map_location=device, weights_only=True)
        actor.load_state_dict(kept["actor"])
        critic.load_state_dict(kept["critic"])
        optimizer.load_state_dict(kept["optimizer"])
        with torch.no_grad():
            log_spread.copy_(kept["log_spread"])
        count, mean, square = kept["count"], kept["mean"].cpu().numpy(), kept["square"].cpu().numpy()
    context = multiprocessing.get_context("spawn")
    pipes, workers = [], []
    for number in range(n_workers):
        here, there = context.Pipe()
        worker = context.Process(target=_work, args=(there, xml, seed * 100 + number), daemon=True)
        worker.start()
        pipes.append(here)
        workers.append(worker)
    begun, round_, total = time.time(), 0, 0
    while time.time() - begun < 60 * minutes:
        spread = np.sqrt(np.maximum(square - mean**2, 1e-4))
        arrays = {"mean": mean.astype(np.float32), "spread": spread.astype(np.float32)}
        for name, layer in zip(("0", "1", "2"), (actor[0], actor[2], actor[4]), strict=True):
            arrays["w" + name] = layer.weight.detach().cpu().numpy()
            arrays["b" + name] = layer.bias.detach().cpu().numpy()
        noise = log_spread.detach().exp().cpu().numpy()
        for pipe in pipes:
            pipe.send((arrays, noise))
        parts = [pipe.recv() for pipe in pipes]
        seen, last, actions, rewards, fell, ended = (np.concatenate([part[k] for part in parts], 1) for k in range(6))
        speed = float(np.mean([part[6] for part in parts]))

        def scaled(values: Array, arrays: dict[str, Array] = arrays) -> Any:
            return torch.as_tensor(np.clip((values - arrays["mean"]) / arrays["spread"], -5, 5), device=device)

        x = scaled(seen)
        with torch.no_grad():
            value = critic(x)[..., 0]
            beyond = critic(scaled(last))[..., 0]
        r, f, e = (torch.as_tensor(one, device=device) for one in (rewards, fell, ended))
        # After a fall nothing follows; after an episode that lasted long enough, what would have followed there.
        after = torch.where(e, torch.where(f, torch.zeros_like(beyond), beyond), value[1:])
        advantage, running = torch.zeros_like(r), torch.zeros(r.shape[1], device=device)
        for step in reversed(range(_STEPS)):
            error = r[step] + _GAMMA * after[step] - value[step]
            running = error + _GAMMA * _LAMBDA * torch.where(e[step], torch.zeros_like(running), running)
            advantage[step] = running
        target = (advantage + value[:-1]).reshape(-1)
        advantage = advantage.reshape(-1)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        flat, taken = x[:-1].reshape(-1, N_FEATURES), torch.as_tensor(actions, device=device).reshape(-1, N_TORQUES)
        with torch.no_grad():
            old = likelihood(flat, taken)
        for _ in range(_EPOCHS):
            order = torch.randperm(flat.shape[0], device=device)
            for first in range(0, order.numel(), _BATCH):
                chosen = order[first : first + _BATCH]
                ratio = (likelihood(flat[chosen], taken[chosen]) - old[chosen]).exp()
                gain = advantage[chosen]
                policy = -torch.minimum(ratio * gain, ratio.clamp(1 - _CLIP, 1 + _CLIP) * gain).mean()
                loss = policy + 0.5 * (critic(flat[chosen])[..., 0] - target[chosen]).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters(), log_spread], 0.5)
                optimizer.step()
        # The scale of the features moves slowly once much was seen.
        batch = seen[:-1].reshape(-1, N_FEATURES).astype(np.float64)
        share = len(batch) / (count + len(batch))
        mean, square = mean + share * (batch.mean(0) - mean), square + share * ((batch**2).mean(0) - square)
        count, total, round_ = min(count + len(batch), 5e6), total + len(batch), round_ + 1
        if round_ % 10 == 0:
            Gait(arrays).save(path)
            numbers = {"count": count, "mean": torch.as_tensor(mean), "square": torch.as_tensor(square)}
            networks = {"actor": actor.state_dict(), "critic": critic.state_dict(), "log_spread": log_spread.detach()}
            torch.save({**networks, **numbers, "optimizer": optimizer.state_dict()}, state)
            print(
                f"{time.time() - begun:5.0f} s, {total:,} steps: reward {rewards.mean():.3f}, {speed:.2f} m/s ahead, "
                f"falls {1000 * fell.mean():.2f} per 1,000 steps, noise {noise.mean():.2f}",
                flush=True,
            )
    elapsed = time.time() - begun
    for pipe in pipes:
        pipe.send(None)
    for worker in workers:
        worker.join()
    return total / elapsed


def print_ratio(xml: str, minutes: float, device: str) -> None:
    """Print how many times as many steps per second all of this machine takes as two of its cores do."""
    cores = sorted(os.sched_getaffinity(0))
    rates = []
    for some, where in ((cores[:2], "cpu"), (cores, device)):
        os.sched_setaffinity(0, some)
        with tempfile.TemporaryDirectory() as folder:
            rates.append(train(xml, Path(folder, "gait.npz"), minutes, len(some), where))
        print(f"{len(some)} cores, network on {where}: {rates[-1]:,.0f} steps per second", flush=True)
    print(f"ratio {rates[1] / rates[0]:.1f}")


def ant_xml() -> str:
    """Return the file of Gymnasium's ant."""
    import gymnasium.envs.mujoco

    return str(Path(gymnasium.envs.mujoco.__file__).parent / "assets" / "ant.xml")


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--out", type=Path, default=Path("gait.npz"))
    parser.add_argument("--xml", help="the file of the ant; default: Gymnasium's")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--ratio", action="store_true", help="compare the whole machine with two of its cores instead")
    words = parser.parse_args()
    import torch

    xml, device = words.xml or ant_xml(), "cuda" if torch.cuda.is_available() else "cpu"
    if words.ratio:
        print_ratio(xml, words.minutes, device)
    else:
        train(xml, words.out, words.minutes, words.jobs, device)


if __name__ == "__main__":
    main()
