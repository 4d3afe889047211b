"""Arguments that someone passes by mistake: each is refused with one line that says what to do, or accepted."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from scipy.sparse import csr_array, dia_array

import farpoint as fp
from farpoint.diffusion.geometry import distributions
from farpoint.errors import FarpointError, InvalidFile, InvalidInput, MissingExtra, UnknownName
from tests.helpers.envs import make

ROOMS = fp.four_rooms()
OPTIONS = fp.OptionSet(ROOMS, np.array([0, 50]))


def vector_env() -> fp.OptionsVectorEnv:
    env = fp.OptionsVectorEnv(SyncVectorEnv([lambda: make("FrozenLake-v1")]))
    env.reset(seed=0)
    return env


def lake_agent() -> fp.agents.TabularAgent:
    return fp.train_tabular(make("FrozenLake-v1"), n_steps=20)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: ROOMS.cached(3), "make must be a function of a world; got 3"),  # type: ignore[arg-type]
        (lambda: lake_agent().act(0, [0, 1]), "mask must have one entry per action (4); got shape (2,)."),
        (lambda: lake_agent().act(0, csr_array(np.eye(3))), "mask must be numbers"),
        (lambda: fp.learn(ROOMS, "diffusion"), "options must be an OptionSet or None; got 'diffusion'. Make them with"),  # type: ignore[arg-type]
        (lambda: fp.cover_time(ROOMS, [0, 1]), "options must be an OptionSet or None"),  # type: ignore[arg-type]
        (lambda: fp.World.from_graph([[0, 1], [1]]), "adjacency must be a matrix of numbers"),
        (lambda: fp.score(ROOMS, solver="local", n_jobs=10**12), "n_jobs must be at most 1024"),
        (lambda: fp.learn(ROOMS, n_runs=1, n_jobs=-(10**12)), "n_jobs must be at least -1024"),
        (lambda: fp.open_room(10**9, 10**9), "size of the world must fit into the memory of this machine"),
        (lambda: fp.random_maze(10**9, 10**9), "size of the world must fit into the memory of this machine"),
        (lambda: fp.grid((10**6, 10**6, 10**6)), "size of the world must fit into the memory of this machine"),
        (lambda: fp.grid([1] * 100), "shape must be 1 to 30 lengths"),
        (lambda: fp.grid("text"), "shape must be whole numbers"),  # type: ignore[arg-type]
        (lambda: fp.learn(ROOMS, n_runs=10**12), "n_runs × n_episodes must fit into the memory"),
        (lambda: fp.visitation(ROOMS, n_runs=10**12), "number of runs must fit into the memory"),
        (lambda: fp.score(ROOMS, progress=5), "progress must be a function or None; got 5."),  # type: ignore[arg-type]
        (lambda: fp.find_goals(ROOMS, np.ones(104, dtype=complex)), "scores must be real numbers"),
        (lambda: fp.find_goals(ROOMS, np.ma.masked_array(np.ones(104), np.arange(104) < 3)), "must be real numbers"),
        (
            lambda: fp.OptionSet(ROOMS, np.array([0]), climbs=np.full((1, 104), np.nan)),
            "climbs must be finite",
        ),
        (lambda: fp.Option(ROOMS, np.full(104, np.nan)), "potential must be one number per state"),
        (lambda: OPTIONS.option(7), "number must be that of one of 2 options; got 7."),
        (lambda: OPTIONS.subset([0.5]), "numbers must be whole numbers"),  # type: ignore[arg-type]
        (lambda: OPTIONS.save(""), "path must be the name of a file or folder; got ''."),
        (lambda: fp.OptionSet.load(5, ROOMS), "path must be the name of a file or folder; got 5."),  # type: ignore[arg-type]
        (lambda: fp.score(ROOMS, solver="local", checkpoint=3), "checkpoint must be the name"),  # type: ignore[arg-type]
        (lambda: fp.World.from_env("FrozenLake-v1"), "env must be a Gymnasium environment; got 'FrozenLake-v1'."),
        (lambda: fp.record_log("FrozenLake-v1", 5), "env must be a Gymnasium environment"),
        (lambda: fp.OptionsWrapper(make("FrozenLake-v1"), 5), "options must be a sequence of options"),  # type: ignore[arg-type]
        (lambda: fp.World.from_log(3, 4), "observations must be a sequence of numbers or labels"),
        (lambda: fp.ContinuousMaze("...").observe([np.nan, 1.0]), "places must be finite pairs"),
        (lambda: fp.World.from_samples(csr_array((10**6, 10**6))), "must be rows of numbers; got a sparse matrix"),
        (lambda: fp.measures.estimate([]), "values must be finite, one per run, at least one"),
        (lambda: ROOMS.to_text({0: "long"}), "mark must be one character"),
        (lambda: ROOMS.check_states("goals", range(10**15)), "goals must fit into the memory"),
        (lambda: fp.extend(ROOMS, np.broadcast_to(np.int64(1), (10**12,))), "must fit into the memory"),
        (lambda: fp.worlds.read_log(dia_array(np.eye(3))), "log must have next observations"),
        (lambda: vector_env().step(range(10**12)), "actions must fit into the memory"),
        (
            lambda: fp.Scores(np.ones(2), 1, "local", "walk", details=np.ones(2)),  # type: ignore[arg-type]
            "details must be a mapping of names to values; got ndarray.",
        ),
    ],
)
def test_mistakes_are_refused(call: Callable[[], Any], match: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(match)) as caught:
        call()
    assert len(str(caught.value)) <= 300
    assert "\n" not in str(caught.value)


ANY_WORLD: list[Callable[[Any], Any]] = [
    fp.score,
    fp.stationary,
    lambda world: fp.spectrum(world, 5).omega,
    lambda world: fp.find_goals(world, fp.score(world)).states,
    lambda world: fp.discover(world).goals,
    lambda world: fp.OptionSet(world, np.array([3])).goals,
    lambda world: fp.difficulty(world, n_times=2),
    lambda world: fp.diffusion_distance(world, 3),
    lambda world: fp.extend(world, range(40), 4),
    lambda world: fp.diffusion.choose_landmarks(world, 5),
    lambda world: fp.diffusion.lazy_walk(world).toarray(),
    lambda world: fp.diffusion.normalized_laplacian(world).toarray(),
    lambda world: fp.diffusion.diffusion_map(world, n_components=2),
    lambda world: fp.diffusion.score_bound(world),
    lambda world: distributions(world, 2, np.array([1])),
    lambda world: fp.steps_between_states(world).median,
    lambda world: fp.cover_time(world, n_runs=2).mean,
    lambda world: fp.visitation(world, n_steps=10, n_runs=2),
    lambda world: fp.learn(world, n_runs=1, n_episodes=2).mean,
    lambda world: fp.learn(world, fp.discover("four_rooms"), n_runs=1, n_episodes=2).mean,
    lambda world: fp.ContinuousMaze(world).floor,
]


@pytest.mark.parametrize("call", ANY_WORLD)
def test_a_name_stands_for_a_world_everywhere(call: Callable[[Any], Any]) -> None:
    np.testing.assert_array_equal(call("four_rooms"), call(ROOMS))


def test_a_map_file_stands_for_a_world(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(b"\xef\xbb\xbf####\r\n#S.#\r\n#.G#\r\n####\r\n")
    for given in (path, str(path)):
        assert fp.worlds.as_world(given).name == "mine"
        assert fp.discover(given, n_options=1).world.n_states == 4


@pytest.mark.parametrize("given", ["four_room", "no/such/map.txt", "x" * 5_000, "\0"])
def test_a_name_that_no_world_has(given: str) -> None:
    with pytest.raises(UnknownName, match="world must be a World, a map file or one of four_rooms"):
        fp.discover(given)


@pytest.mark.parametrize("given", [None, 5, [[0, 1], [1, 0]], np.eye(3), b"four_rooms"])
def test_what_is_no_world(given: Any) -> None:
    with pytest.raises(InvalidInput, match="world must be a World, or the name of one"):
        fp.score(given)


def test_a_file_of_one_array_is_named_as_such(tmp_path: Path) -> None:
    np.save(tmp_path / "options.npy", np.arange(3))
    with pytest.raises(InvalidFile, match=r"must be a \.npz file of farpoint-options; got a \.npy file"):
        fp.OptionSet.load(tmp_path / "options.npy", ROOMS)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_maps_of_any_editor(mark: str, ending: str) -> None:
    world = fp.World.from_map(f"{mark}S.#{ending}..G{ending}{ending}")
    assert (world.n_states, world.start, world.targets.tolist()) == (5, 0, [4])  # type: ignore[union-attr]


def test_a_large_map_is_read_in_little_memory() -> None:
    side = 400
    text = "\n".join(["." * side] * side)
    fp.World.from_map("...")
    tracemalloc.start()
    fp.World.from_map(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Measured: 250 bytes per cell with a list of characters, about 115 without; the world itself has 92.
    assert peak < 130 * side**2


@pytest.mark.parametrize("kind", [FarpointError, InvalidInput, InvalidFile, MissingExtra])
def test_messages_are_one_short_line(kind: type[FarpointError]) -> None:
    message = str(kind(f"t must be a number; got {'x' * 9_000}\n{'y' * 9_000}. Use 4."))
    assert len(message) == 300
    assert message.startswith("t must be a number; got xxx")
    assert message.endswith("yyy. Use 4.")
    assert "\n" not in message
