"""Goals: maxima, plateaus, prominences and their order; band by band as by looking at everything at once."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import farpoint as fp
from farpoint.diffusion import goals as module
from farpoint.diffusion.goals import NeighborLists, descending, find_peaks, prominences_of
from farpoint.errors import InvalidInput
from farpoint.worlds.floors import Floor
from tests.helpers import brute
from tests.helpers.graphs import cylinder


@pytest.mark.parametrize("shape", [(20, 20), (5,), (6, 8), (5, 6, 7), (4, 4, 4, 4)])
@pytest.mark.parametrize("t", [1, 4, 13])
def test_goals_of_a_grid_are_its_corners(shape: tuple[int, ...], t: int) -> None:
    # Grids that t steps do not nearly cross: in a 3×9 room at t = 13 the short side has mixed; its middle is a goal.
    world = fp.grid(shape)
    assert set(fp.find_goals(world, fp.score(world, t))) == brute.corners(shape)


def test_cylinder_has_one_goal_per_rim() -> None:
    # All states of a rim are alike, so each rim is one plateau.
    world = cylinder(24, 8)
    assert len(fp.find_goals(world, fp.score(world, 4))) == 2


def test_a_world_of_equal_states_is_one_plateau() -> None:
    world = fp.World.from_graph(nx.cycle_graph(9))
    goals = fp.find_goals(world, fp.score(world, 3))
    assert goals.states.tolist() == [0]
    assert goals.prominences[0] == pytest.approx(0, abs=1e-15)


def test_scores_that_are_no_scores() -> None:
    with pytest.raises(InvalidInput, match=r"one entry per state \(192\)"):
        fp.find_goals(fp.ring(), np.zeros(5))
    with pytest.raises(InvalidInput, match="must be finite; got 1"):
        fp.find_goals(fp.grid((3,)), [0.0, np.nan, 1.0])
    with pytest.raises(InvalidInput, match="min_prominence must be at least 0"):
        fp.find_goals(fp.grid((3,)), [0.0, 2.0, 1.0], min_prominence=-1)


def test_prominence_by_hand() -> None:
    # Heights along a path: peaks 5, 4 and 3 with saddles 1 and 2.
    world = fp.grid((7,))
    goals = fp.find_goals(world, [5.0, 1.0, 4.0, 2.0, 3.0, 2.5, 0.5])
    assert goals.states.tolist() == [0, 2, 4]
    assert goals.prominences.tolist() == [4.5, 3.0, 1.0]
    assert fp.find_goals(world, [5.0, 1.0, 4.0, 2.0, 3.0, 2.5, 0.5], min_prominence=2).states.tolist() == [0, 2]
    assert np.asarray(goals.most_prominent(2)).tolist() == [0, 2]


def brute_prominences(world: fp.World, scores: np.ndarray, goals: fp.Goals) -> list[float]:
    """Of each goal: its height less the highest level from which a higher goal (or an equal one before it) is seen."""
    graph = nx.from_scipy_sparse_array(world.neighbors)
    falls = []
    for number, state in enumerate(goals.states.tolist()):
        better = {int(other) for other in goals.states[:number]}
        for level in np.unique(scores)[::-1]:
            above = (
                nx.node_connected_component(graph.subgraph(np.flatnonzero(scores >= level).tolist()), state)
                if (scores[state] >= level)
                else set()
            )
            if better & above or (not better and level == scores.min()):
                falls.append(float(scores[state] - level))
                break
    return falls


@pytest.mark.parametrize("seed", range(30))
def test_prominences_are_those_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = nx.connected_watts_strogatz_graph(int(rng.integers(5, 60)), 4, 0.2, seed=seed)
    world = fp.World.from_graph(graph)
    # Few different numbers, so that there are plateaus and equally high peaks.
    scores = rng.integers(1, int(rng.integers(3, 40)), size=world.n_states).astype(float)
    goals = fp.find_goals(world, scores)
    assert goals.prominences.tolist() == brute_prominences(world, scores, goals)
    again = pickle.loads(pickle.dumps(goals))
    np.testing.assert_array_equal(again.prominences, goals.prominences)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_goals_of_a_large_world_use_the_threads_that_were_asked_for(
    monkeypatch: pytest.MonkeyPatch, n_jobs: int
) -> None:
    # More than a million cells: they are looked at in two bands.
    world = fp.random_maze(1100, 1000, seed=1)
    scores = fp.score(world, 1, n_jobs=1)
    expected = fp.find_goals(world, scores)
    assert expected.prominences.size
    started: list[Thread] = []
    start = Thread.start

    def counted(thread: Thread) -> None:
        started.append(thread)
        start(thread)

    monkeypatch.setattr(Thread, "start", counted)
    goals = fp.find_goals(world, scores, n_jobs=n_jobs)
    assert (len(started) > 0) == (n_jobs > 1)
    np.testing.assert_array_equal(goals.states, expected.states)
    np.testing.assert_array_equal(goals.prominences, expected.prominences)
    started.clear()
    options = fp.discover(world, t=1, n_jobs=n_jobs)
    assert options.record["maxima"].prominences.size == len(expected)
    assert (len(started) > 0) == (n_jobs > 1)


def test_number_of_threads_is_checked() -> None:
    with pytest.raises(InvalidInput, match="n_jobs must"):
        fp.find_goals(fp.grid((3,)), [0.0, 2.0, 1.0], n_jobs=0)


@dataclass(frozen=True)
class RowBands:
    """A map in bands of few rows, and as a graph."""

    floor: Floor
    n_rows: int

    @property
    def n_states(self) -> int:
        return self.floor.n_states

    def ranges(self) -> list[range]:
        cuts = [*self.floor.row_starts[: -1 : self.n_rows].tolist(), self.n_states]
        return [range(first, last) for first, last in pairwise(cuts) if first < last]

    def neighbors(self, states: range) -> tuple[Any, Any]:
        return self.floor.neighbors(states)


@given(
    rows=st.integers(1, 15),
    cols=st.integers(2, 15),
    seed=st.integers(0, 999),
    levels=st.integers(1, 5),
    per_band=st.integers(1, 6),
    n_jobs=st.sampled_from([1, 2]),
)
def test_bands_find_the_peaks_of_the_whole(
    rows: int, cols: int, seed: int, levels: int, per_band: int, n_jobs: int
) -> None:
    cells = np.random.default_rng(seed).random((rows, cols)) >= 0.02 * (seed % 13)
    cells[0, 0] = True
    floor = Floor(cells, largest_component=True)
    rng = np.random.default_rng(seed)
    # Few levels make plateaus; steps of half the tolerance make chains whose ends are not equal.
    steps = rng.integers(levels, size=floor.n_states).astype(np.float64)
    values = np.asarray(1.0 + steps * (0.5e-9 if seed % 2 else 1.0), dtype=np.float64)
    graph, bands = NeighborLists(*floor.neighbors(range(floor.n_states))), RowBands(floor, per_band)
    whole = np.empty(floor.n_states, dtype=np.int32)
    states = find_peaks(graph, values, 1e-9, plateau=whole)
    for one in (bands, graph):
        plateau = np.empty_like(whole)
        found = find_peaks(one, values, 1e-9, compiled=True, n_jobs=n_jobs, plateau=plateau)
        np.testing.assert_array_equal(found, states)
        np.testing.assert_array_equal(plateau, whole)
    np.testing.assert_array_equal(
        prominences_of(bands, values, states, 1e-9, n_jobs), prominences_of(graph, values, states, 1e-9)
    )


def test_a_plateau_that_winds_through_bands_is_one() -> None:
    # A snake of equal height whose rows meet in other bands only, with a higher cell at its end.
    rows = ["." * 5, "####.", "." * 5, ".####", "." * 5]
    world = fp.World.from_map("\n".join(rows))
    bands = RowBands(Floor(np.array([[cell == "." for cell in row] for row in rows])), 1)
    values = np.ones(world.n_states)
    assert find_peaks(bands, values, 1e-9).tolist() == [0]
    values[-1] = 2.0
    assert find_peaks(bands, values, 1e-9).tolist() == [world.n_states - 1]
    # Within the tolerance of its neighbor, though not of the first state: one plateau, from which nothing is higher.
    values[[0, 1, 2, 3, 4, 5, 10, 9, 8, 7, 6, 11, 12, 13, 14, 15, 16]] = 1.0 + 0.9e-9 * np.arange(17)
    assert find_peaks(bands, values, 1e-9).tolist() == [0]


def test_large_maps_and_small_ones_have_the_same_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.random_maze(60, 70, seed=4)
    scores = fp.score(world, 4)
    small = fp.find_goals(world, scores)
    monkeypatch.setattr(module, "WHOLE_ARRAYS_LIMIT", 10)
    large = fp.find_goals(world, scores)
    np.testing.assert_array_equal(large.states, small.states)
    np.testing.assert_array_equal(large.prominences, small.prominences)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.booleans(), st.integers(0, 99))
def test_the_order_is_by_runs_of_equal_values_and_then_by_state(levels: list[int], ascending: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = 1.0 + np.array(levels) + rng.uniform(-1e-12, 1e-12, size=len(levels))
    states = np.arange(len(levels)) * 3 if ascending else rng.permutation(len(levels))
    expected = sorted(range(len(levels)), key=lambda place: (-levels[place], states[place]))
    assert descending(values, states).tolist() == expected


_GOALS_OF_A_FILE = """
import resource, sys
import numpy as np
import farpoint as fp

def data():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData"))

warm = fp.random_maze(200, 200, 0.1, seed=1)
fp.find_goals(warm, fp.score(warm, 1))
world = fp.World.from_array(np.ones((4000, 5000), dtype=bool))
scores = np.load(sys.argv[1], mmap_mode="r")
limit = data() + 130 * 2**20
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
print(fp.find_goals(world, scores, n_jobs=1).states.tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory without mapped files is Linux's")
def test_goals_of_scores_in_a_file_need_little_memory(tmp_path: Path) -> None:
    """20 million scores are 160 MB; find_goals may take 130 MB beside the file."""
    path = tmp_path / "scores.npy"
    scores = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(20_000_000,))
    peaks = {12_345: 3.0, 9_999_999: 2.0, 10_000_000: 2.0, 19_999_999: 1.0}
    scores[list(peaks)] = list(peaks.values())
    scores.flush()
    command = [sys.executable, "-c", _GOALS_OF_A_FILE, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # 9,999,999 ends a row and 10,000,000 begins the next: they are no neighbors.
    assert done.stdout == "[12345, 9999999, 10000000, 19999999]\n", done.stderr


def test_scores_that_can_be_written_are_copied() -> None:
    world = fp.grid((7,))
    scores = np.array([5.0, 1.0, 4.0, 2.0, 3.0, 2.5, 0.5])
    goals = fp.find_goals(world, scores)
    scores[:] = 0.0
    assert goals.prominences.tolist() == [4.5, 3.0, 1.0]
    with pytest.raises(InvalidInput, match="complex or masked"):
        fp.find_goals(world, np.ma.masked_less(scores, 1.0))


def test_prominences_are_the_same_interpreted_and_compiled() -> None:
    world = fp.random_maze(40, 40, seed=3)
    values = np.round(np.asarray(fp.score(world, 4)), 2).astype(np.float64)
    graph = module.neighbors_of(world).neighbors(range(world.n_states))
    plateau = np.empty(world.n_states, dtype=np.int32)
    find_peaks(module.neighbors_of(world), values, 1e-9, plateau=plateau)
    results = []
    for kind in ("interpreted", "compiled"):
        climb, number, meet, lowest, fall = (
            getattr(module, name).version(kind)
            for name in ("climb", "number_basins", "saddles", "lowest_levels", "falls_of")
        )
        basin = np.arange(world.n_states, dtype=np.int32)
        climb(*graph, 0, values, plateau, basin)
        peaks = number(plateau, basin)
        pairs, height = meet(*graph, 0, values, plateau, basin)
        least = lowest(values, plateau, basin, peaks.size)
        falls = fall(height, pairs, np.argsort(-height, kind="stable"), values[peaks], least, 1e-9)
        results.append((basin, peaks, pairs, height, least, falls))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
