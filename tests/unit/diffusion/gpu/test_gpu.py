"""Scores on a GPU: everything around the kernels, which themselves are checked by ``research/gpu.py``."""

from __future__ import annotations

import re
import sys
from typing import Any

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion.gpu import cuda_source, device, goals_of_map, score_map
from farpoint.diffusion.gpu.solve import worth_it
from farpoint.diffusion.scores.local import LocalScores
from farpoint.diffusion.scores.request import ScoreRequest
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
    from farpoint.diffusion.gpu.graphs import score_graph

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
    states = (np.cumsum(world.floor.ravel()) - 1)[cells]
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
    monkeypatch.setattr(device, "cupy", device.cupy.__wrapped__)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[gpu\]'"):
        device.cupy()
    assert not device.has_gpu()


def test_auto_takes_the_gpu_for_large_maps_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from farpoint.diffusion.gpu import solve

    monkeypatch.setattr(solve, "has_gpu", lambda: True)
    request = ScoreRequest(device="auto")
    assert not worth_it(LocalScores.of(Walk.of(MAZE), 4), request)
    large = LocalScores.of(Walk.of(fp.open_room(1001, 1001)), 4)
    assert worth_it(large, request)
    assert not worth_it(large, ScoreRequest(device="auto", checkpoint="blocks"))
    monkeypatch.setattr(solve, "has_gpu", lambda: False)
    assert not worth_it(large, request)


@pytest.mark.parametrize("t", range(1, 7))
def test_the_kernel_of_one_thread_computes_what_it_should(t: int) -> None:
    """Its text, line by line, as Python: the walk in an open room and next to a wall."""
    body = cuda_source.thread_source(t).split("return; }\n", 1)[1].rsplit("out[place]", 1)[0]
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
