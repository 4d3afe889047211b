"""Scores on a GPU: everything around the kernels, which themselves are checked by ``research/gpu.py``."""

from __future__ import annotations

import re
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.diffusion import gpu
from farpoint.diffusion.gpu import goals_of_map, score_graph, score_map
from farpoint.diffusion.scoring import choose_solver, worth_a_gpu
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput, MissingExtra
from tests.helpers.fake_cupy import use_fake_gpu

MAZE = fp.random_maze(9, 12, seed=3)


@pytest.mark.parametrize("t", [1, 2, 5, 6, 7, 15, 17])
def test_a_map_has_the_scores_of_the_processor(t: int, monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_gpu(monkeypatch)
    found = fp.score(MAZE, t, device="gpu")
    np.testing.assert_allclose(found, fp.score(MAZE, t, "local"), rtol=1e-12, atol=1e-15)
    assert found.solver == "local"
    assert found.reason == "requested; on a GPU"


def test_a_graph_has_the_scores_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_gpu(monkeypatch)
    world = fp.World.from_graph(nx.karate_club_graph())
    np.testing.assert_allclose(fp.score(world, 5, device="gpu"), fp.score(world, 5, "local"), rtol=1e-12)
    np.testing.assert_allclose(score_graph(Walk.of(world), 5, states_per_block=7), fp.score(world, 5), rtol=1e-9)


def test_a_tolerance_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_gpu(monkeypatch)
    world = fp.open_room(12, 30)
    found = fp.score(world, 60, tolerance=1e-2, device="gpu")
    exact = fp.score(world, 60, "local")
    assert found.error_bound is not None
    assert (np.abs(found - exact) <= found.error_bound).all()
    assert (found.error_bound <= 1e-2 * found).all()


def test_bands_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_gpu(monkeypatch)
    assert MAZE.floor is not None
    whole = score_map(MAZE.floor, 3)
    cols = MAZE.floor.shape[1] + 6
    in_bands = score_map(MAZE.floor, 3, memory=12 * cols * 10)
    assert type(in_bands) is np.ndarray
    # On a card they are the same bits; numpy sums larger windows in another order.
    np.testing.assert_allclose(in_bands, whole, rtol=1e-14)
    with pytest.raises(InvalidInput, match="memory must hold 7 rows"):
        score_map(MAZE.floor, 3, memory=1000)


@pytest.mark.parametrize("world", [MAZE, fp.open_room(6, 9), fp.four_rooms()], ids=["maze", "room", "four rooms"])
def test_goals_are_those_of_the_processor(world: fp.World, monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_gpu(monkeypatch)
    assert world.floor is not None
    cells, heights = goals_of_map(world.floor, score_map(world.floor, 4))
    states = (np.cumsum(world.floor.cells) - 1)[cells]
    goals = fp.find_goals(world, fp.score(world, 4, "local"))
    np.testing.assert_array_equal(states, goals.states)
    np.testing.assert_allclose(heights, goals.heights, rtol=1e-12)


def test_bad_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="solver must be 'local' with device='gpu'; got 'spectral'"):
        fp.score(MAZE, 4, "spectral", device="gpu")
    with pytest.raises(InvalidInput, match="checkpoint must not be given with device='gpu'"):
        fp.score(MAZE, 4, checkpoint="blocks", device="gpu")
    with pytest.raises(InvalidInput, match="device must be one of cpu, gpu, auto; got 'tpu'"):
        fp.score(MAZE, 4, device="tpu")
    use_fake_gpu(monkeypatch)
    with pytest.raises(InvalidInput, match=r"floor must be a map of two dimensions; got shape \(4,\)"):
        score_map(np.ones(4))
    with pytest.raises(InvalidInput, match="floor must have cells next to each other; got none"):
        score_map(np.eye(4))
    with pytest.raises(InvalidInput, match="t must be at most 58 for exact scores on a GPU; got 70"):
        score_map(np.ones((4, 4)), 70)
    with pytest.raises(InvalidInput, match=r"scores must have the shape of the map"):
        goals_of_map(np.ones((4, 4)), np.ones(16))
    lake = fp.World.from_env(gym.make("FrozenLake-v1"))
    with pytest.raises(InvalidInput, match="device must be 'cpu' for a world with episodes"):
        fp.score(lake, 4, form="walk", device="gpu")


def test_without_cupy_or_a_card_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "cupy", gpu.cupy.__wrapped__)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[gpu\]'"):
        gpu.cupy()
    assert not gpu.has_gpu()


def test_auto_takes_the_gpu_for_large_maps_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    used: list[int] = []

    def scores(walk: Walk, t: int, tolerance: float | None) -> tuple[NDArray[np.float64], None]:
        used.append(t)
        return np.zeros(walk.n_states), None

    use_fake_gpu(monkeypatch)
    monkeypatch.setattr(gpu, "walk_scores", scores)
    large = fp.open_room(1001, 1001)
    assert fp.score(large, 4, device="auto").reason.endswith("; on a GPU")
    assert used == [4]
    fp.score(MAZE, 4, device="auto")
    fp.score(large, 1, device="auto", checkpoint=tmp_path)
    fp.score(large, 1, device="auto", progress=lambda done, total: None)
    # A card follows walks of at most 58 steps.
    plan, _ = choose_solver(Walk.of(large), "walk", 59, wanted="local")
    assert not worth_a_gpu(plan, Walk.of(large))
    assert worth_a_gpu(choose_solver(Walk.of(large), "walk", 58, wanted="local")[0], Walk.of(large))
    monkeypatch.setattr(gpu, "has_gpu", lambda: False)
    fp.score(large, 1, device="auto")
    assert used == [4]


def test_auto_takes_the_processor_where_the_card_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_gpu(monkeypatch)
    # Of 30 rows of 1 + 1001 + 1 cells, 12 bytes each, a fifth stays free.
    for n_bytes, has_room in ((3 * 1003 * 12 / 0.8 - 1, False), (3 * 1003 * 12 / 0.8 + 1, True)):
        memory = SimpleNamespace(runtime=SimpleNamespace(memGetInfo=lambda free=n_bytes: (free, 10**9)))
        monkeypatch.setattr(type(gpu.cupy()), "cuda", memory)
        assert gpu.can_score((30, 1001), 1) == has_room
    large = fp.open_room(1001, 1001)
    monkeypatch.setattr(type(gpu.cupy()), "cuda", SimpleNamespace(runtime=SimpleNamespace(memGetInfo=lambda: (9, 9))))
    assert fp.score(large, 1, device="auto").reason == fp.score(large, 1).reason


def test_a_tolerance_on_a_map_makes_nothing_of_the_size_of_its_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_gpu(monkeypatch)
    monkeypatch.setattr(gpu, "score_map", lambda floor, t, tolerance: np.ones(floor.shape))
    walk = Walk.of(fp.open_room(700, 700))
    tracemalloc.start()
    _, bounds = gpu.walk_scores(walk, 20, 1e-3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert bounds is not None
    # The graph alone has four moves of 12 bytes per state, and twice that while it is made.
    assert peak < 7 * 8 * walk.n_states


def test_bounds_on_a_graph_count_its_own_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_gpu(monkeypatch)
    # 300 moves enter the hub of a star. At t = 60 all walks have mixed, and what is left is rounding.
    world = fp.World.from_graph(nx.star_graph(300))
    found = fp.score(world, 60, form="walk", tolerance=1e-10, device="gpu")
    # A unit for each of 300 + 3 operations in each of 60 steps, π included, and for each of 301 terms.
    pi_squared = 0.25 + 300 / 600**2
    least = ((303 * 61 * 2.0**-53) ** 2 + 301 * 2.0**-53) * 4 * pi_squared
    assert found.error_bound is not None
    assert (found.error_bound >= least * (1 - 1e-12)).all()


@pytest.mark.parametrize("t", range(1, 7))
def test_the_kernel_of_one_thread_computes_what_it_should(t: int) -> None:
    """Its text, line by line, as Python: the walk in an open room and next to a wall."""
    body = gpu.thread_source(t).split("return; }\n", 1)[1].rsplit("out[place]", 1)[0]
    lines = [re.sub(r"\b(const )?double ", "", line).strip() for line in body.splitlines()]
    code = "\n".join(line.rstrip(";") for line in lines).replace(
        "squares = 0.0, product = 0.0, p", "squares = product = 0.0"
    )
    floor = np.ones((2 * t + 1, 2 * t + 1))
    floor[: t - 1] = 0.0
    padded = np.pad(floor, 1)
    d = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]) * floor
    names: dict[str, Any] = {"h": np.divide(0.5, d, out=np.zeros_like(d), where=d > 0), "d": d, "r": t, "c": t}
    names["fma"] = lambda a, b, c: a * b + c
    exec(code, names)
    walk = np.zeros_like(d)
    walk[t, t] = 1.0
    for _ in range(t):
        share = np.pad(np.divide(walk, 2 * d, out=np.zeros_like(d), where=d > 0), 1)
        walk = walk / 2 + floor * (share[:-2, 1:-1] + share[2:, 1:-1] + share[1:-1, :-2] + share[1:-1, 2:])
    np.testing.assert_allclose(names["squares"], (walk**2).sum(), rtol=1e-13)
    np.testing.assert_allclose(names["product"], (d * walk).sum(), rtol=1e-13)
