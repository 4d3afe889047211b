"""Pictures as observations, logs of them, and the metric that their steps give."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array

import farpoint as fp
from farpoint.envs import PictureLog, PictureMetric, PictureObservation, learn_metric, record_pictures
from farpoint.errors import InvalidFile, InvalidInput, MissingExtra
from farpoint.files import write_arrays


def ring_log(n_places: int = 12, n_steps: int = 4_000) -> PictureLog:
    """Return random steps around a ring, seen as a bright spot that goes around a circle; actions 0 back, 1 forth."""
    angles = np.arange(n_places) * 2 * np.pi / n_places
    y, x = np.indices((16, 16))
    spots = [np.exp(-((x - 7.5 - 5 * np.cos(a)) ** 2 + (y - 7.5 - 5 * np.sin(a)) ** 2) / 4) for a in angles]
    taken = np.random.default_rng(0).integers(2, size=n_steps)
    places = np.concatenate([[0], np.cumsum(2 * taken - 1)]) % n_places
    return PictureLog((255 * np.array(spots)).astype(np.uint8), places[:-1], taken, places[1:])


def changed(**parts: Any) -> PictureLog:
    """Return the log of the ring with some of its parts replaced."""
    log = ring_log()
    pictures, before, actions, after = (
        parts.get(name, getattr(log, name)) for name in ("pictures", "before", "actions", "after")
    )
    return PictureLog(pictures, before, actions, after)


def test_the_coordinates_are_the_eigenfunctions_of_the_walk() -> None:
    log = ring_log()
    metric = learn_metric(log, n_functions=4, n_landmarks=64)
    # From the counts of the steps themselves, by another solver.
    counts = np.zeros((12, 12))
    np.add.at(counts, (log.before, log.after), 1.0)
    counts += counts.T
    degrees = np.diag(counts.sum(axis=1))
    nu, vectors = eigh(degrees - counts, degrees)
    assert metric.nu == pytest.approx(nu[1:5], abs=1e-3)
    assert metric.n_dimensions == 4
    # All of a distance is in the coordinates: squared, Σ (φ_i(s) − φ_i(s′))² / ν_i.
    phi = vectors[:, 1:5] * np.sqrt(counts.sum())
    exact = (phi[:, None] - phi[None]) ** 2 @ (1 / nu[1:5])
    found = metric.rows(log.pictures)[:, :4]
    assert ((found[:, None] - found[None]) ** 2).sum(axis=2) == pytest.approx(exact, rel=0.02, abs=0.05)


def test_one_picture_is_a_row() -> None:
    log = ring_log()
    metric = learn_metric(log, n_functions=3, n_landmarks=32)
    rows = metric.rows(log.pictures)
    assert metric(log.pictures[5]) == pytest.approx(rows[5], abs=1e-6)
    steps = metric.steps(log)
    np.testing.assert_array_equal(steps.observations, rows[log.before])
    np.testing.assert_array_equal(steps.next_observations, rows[log.after])


def test_options_from_pictures_arrive() -> None:
    class Corridor(gym.Env[Any, Any]):
        """A white pixel in a row of black ones, seen and nothing else."""

        observation_space = gym.spaces.Box(0, 255, (3, 12), dtype=np.uint8)
        action_space = gym.spaces.Discrete(2)
        place = 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            self.place = int(self.np_random.integers(12))
            return self._seen(), {}

        def step(self, action: Any) -> Any:
            self.place = min(11, max(0, self.place + 2 * int(action) - 1))
            return self._seen(), 0.0, False, False, {}

        def _seen(self) -> Any:
            picture = np.zeros((3, 12), dtype=np.uint8)
            picture[1, self.place] = 255
            return picture

    env = Corridor()
    log = record_pictures(env, 3_000, seed=0)
    assert log.pictures.shape == (12, 3, 12)
    metric = learn_metric(log, n_functions=6, n_landmarks=64)
    steps = metric.steps(log)
    length = np.sqrt(((steps.next_observations - steps.observations) ** 2).sum(axis=1).mean())
    options = fp.discover(fp.World.from_log(steps, scale=length / 2), n_options=2, form="symmetrized")
    space = gym.spaces.Box(-np.inf, np.inf, (metric.n_dimensions,), np.float64)
    seen = gym.wrappers.TransformObservation(env, metric, space)
    assert fp.envs.option_success(seen, options, n_trials=10).tolist() == [1.0, 1.0]
    ends = []
    for number in range(2):
        observation, _ = seen.reset(seed=1)
        while (action := options.act(number, observation)) is not None:
            observation = seen.step(action)[0]
        ends.append(env.place)
    assert sorted(ends) == [0, 11], "the far points of a corridor are its ends"


def test_pictures_are_kept_once_and_steps_are_those_taken() -> None:
    env = PictureObservation(fp.ContinuousMaze("S...", noise=0.0, max_steps=7, render_mode="rgb_array"), shrink=4)
    log = record_pictures(env, 100, seed=3)
    assert len(np.unique(log.pictures.reshape(len(log.pictures), -1), axis=0)) == len(log.pictures)
    observation, _ = env.reset(seed=3)
    for step in range(100):
        np.testing.assert_array_equal(observation, log.pictures[log.before[step]])
        observation, _, _, truncated, _ = env.step(int(log.actions[step]))
        np.testing.assert_array_equal(observation, log.pictures[log.after[step]])
        if truncated:
            observation, _ = env.reset()


def test_a_picture_is_the_mean_of_squares() -> None:
    env = PictureObservation(fp.ContinuousMaze("S.", render_mode="rgb_array"), shrink=16)
    observation, _ = env.reset(seed=0)
    rendered = env.env.render()
    assert isinstance(rendered, np.ndarray)
    assert observation.tolist() == [[round(rendered[:, :16].mean()), round(rendered[:, 16:].mean())]]
    assert env.observation_space.contains(observation)


def test_a_metric_comes_back_from_its_file(tmp_path: Path) -> None:
    log = ring_log()
    metric = learn_metric(log, n_functions=3, n_landmarks=32)
    metric.save(tmp_path / "metric.npz")
    loaded = PictureMetric.load(tmp_path / "metric.npz")
    np.testing.assert_array_equal(loaded.rows(log.pictures), metric.rows(log.pictures))
    write_arrays(tmp_path / "less.npz", "farpoint-picture-metric", {"shape": [16, 16]}, {"nu": metric.nu})
    with pytest.raises(InvalidFile, match="it is damaged"):
        PictureMetric.load(tmp_path / "less.npz")


@pytest.mark.parametrize(
    ("log", "match"),
    [
        (5, "log must be a PictureLog"),
        (changed(pictures=np.zeros(5)), "log must have pictures"),
        (changed(before=np.array([99] * 4_000)), "log must number its 12 pictures"),
        (changed(actions=np.array([0])), "log must have one number per step"),
        (changed(pictures=np.zeros((12, 4, 4))), "log must hold pictures that differ"),
        (changed(pictures=np.full((12, 4, 4), np.nan)), "log must have pictures of finite numbers"),
        (changed(after=ring_log().before), "log must hold steps that lead from one picture to another"),
    ],
)
def test_logs_that_are_none(log: Any, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        learn_metric(log, n_landmarks=8)


@pytest.mark.parametrize("shape", [(2, 2, 3), (3, 8, 8), (8, 8, 3), (1, 9)])
def test_small_and_colored_pictures(shape: tuple[int, ...]) -> None:
    pictures = np.random.default_rng(0).integers(0, 255, size=(6, *shape), dtype=np.uint8)
    places = np.array([0, 1, 2, 3, 4, 5, 4, 3, 2, 1, 0, 1])
    log = PictureLog(pictures, places[:-1], np.zeros(11, dtype=int), places[1:])
    metric = learn_metric(log, n_functions=3)
    rows = metric.rows(pictures)
    assert rows.shape == (6, 3 + 64)
    # The ends of the line are farther apart than neighbors.
    assert np.linalg.norm(rows[0, :3] - rows[5, :3]) > np.linalg.norm(rows[0, :3] - rows[1, :3])


def test_pictures_of_another_shape_are_refused() -> None:
    metric = learn_metric(ring_log(), n_functions=2, n_landmarks=8)
    with pytest.raises(InvalidInput, match=r"pictures must be numbers of shape \(n, 16, 16\)"):
        metric(np.zeros((4, 4)))


@pytest.mark.parametrize(
    ("env", "match"),
    [
        (gym.make("FrozenLake-v1"), "environment must have observations in a Box"),
        (gym.make("Pendulum-v1"), "environment must have discrete actions"),
    ],
)
def test_environments_that_cannot_be_recorded(env: Any, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        record_pictures(env, 10)


def test_to_look_at_an_environment_does_not_change_its_episodes() -> None:
    text = "......\n......"
    alone, seen = (fp.ContinuousMaze(text, start="random", render_mode="rgb_array") for _ in range(2))
    for env in (alone, seen):
        env.reset(seed=5)
    pictures = PictureObservation(seen)
    for _ in range(3):
        pictures.reset()
        np.testing.assert_array_equal(seen.render(), (alone.reset(), alone.render())[1])


def test_what_is_not_rendered_cannot_be_seen() -> None:
    with pytest.raises(InvalidInput, match="render_mode='rgb_array'"):
        PictureObservation(fp.ContinuousMaze("S."))
    with pytest.raises(InvalidInput, match="shrink must be at most"):
        PictureObservation(fp.ContinuousMaze("S.", render_mode="rgb_array"), shrink=99)


@pytest.mark.parametrize(("partial", "shape"), [(False, (3, 20, 20)), (True, (3, 28, 28))])
def test_images_are_channels_first(partial: bool, shape: tuple[int, ...]) -> None:
    pytest.importorskip("minigrid")
    env = fp.envs.image_observations(gym.make("MiniGrid-Empty-5x5-v0"), tile_size=4, partial=partial)
    log = record_pictures(env, 30, seed=0)
    assert log.pictures.shape[1:] == shape
    assert log.pictures.dtype == np.uint8
    assert env.observation_space.contains(log.pictures[0])
    # Walking and turning is seen.
    assert (log.before != log.after).any()


def test_wrong_environments_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="must be one of MiniGrid"):
        fp.envs.image_observations(gym.make("CartPole-v1"))
    # A matrix that cannot even be printed.
    matrix = csr_array((np.ones(1), np.array([-1]), np.array([0, 1])), shape=(1, 1))
    with pytest.raises(InvalidInput, match="must be one of MiniGrid"):
        fp.envs.image_observations(matrix)
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("minigrid"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"farpoint\[envs\]"):
        fp.envs.image_observations(gym.make("CartPole-v1"))
