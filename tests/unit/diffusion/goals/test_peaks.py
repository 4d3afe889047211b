"""Peaks band by band: the same as by looking at everything at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import farpoint as fp
from farpoint.diffusion.goals import peaks
from farpoint.diffusion.goals.order import descending
from farpoint.worlds.bands import FloorBands, GraphBands
from farpoint.worlds.map_world import MapWorld


# Each example begins and ends four pools of threads.
@settings(max_examples=40)
@given(
    rows=st.integers(1, 15),
    cols=st.integers(2, 15),
    seed=st.integers(0, 999),
    levels=st.integers(1, 5),
    per_band=st.integers(1, 6),
)
def test_bands_find_the_peaks_of_the_whole(rows: int, cols: int, seed: int, levels: int, per_band: int) -> None:
    floor = np.random.default_rng(seed).random((rows, cols)) >= 0.02 * (seed % 13)
    floor[0, 0] = True
    world = fp.World.from_array(floor, largest_component=True)
    assert isinstance(world, MapWorld)
    rng = np.random.default_rng(seed)
    # Few levels make plateaus; steps of half the tolerance make chains whose ends are not equal.
    steps = rng.integers(levels, size=world.n_states).astype(np.float64)
    values = np.asarray(1.0 + steps * (0.5e-9 if seed % 2 else 1.0), dtype=np.float64)
    whole = peaks.find_peaks(GraphBands(world.neighbors), values, 1e-9)
    bands = RowBands(world.map, world.row_starts, per_band)
    found = peaks.find_peaks(bands, values, 1e-9)
    graph = world.neighbors
    alone = peaks.compiled_peaks(graph.indptr, graph.indices, values, 1e-9)
    for one in (found, alone):
        np.testing.assert_array_equal(one.plateau, whole.plateau)
        np.testing.assert_array_equal(one.is_peak, whole.is_peak)
    states = np.flatnonzero(whole.is_peak)
    np.testing.assert_array_equal(
        peaks.prominences_of(bands, values, states, 1e-9),
        peaks.prominences_of(GraphBands(world.neighbors), values, states, 1e-9),
    )


class RowBands(FloorBands):
    """Bands of few rows."""

    def __init__(self, floor: np.ndarray, starts: np.ndarray, rows: int) -> None:
        super().__init__(floor, starts)
        object.__setattr__(self, "rows", rows)

    def ranges(self) -> list[tuple[int, int]]:
        cuts = [*self.starts[: -1 : getattr(self, "rows")].tolist(), self.n_states]  # noqa: B009
        return [(first, last) for first, last in pairwise(cuts) if first < last]


def test_neighbors_of_a_map_are_those_of_its_graph() -> None:
    world = fp.random_maze(40, 50, seed=6)
    assert isinstance(world, MapWorld)
    for states in RowBands(world.map, world.row_starts, 7).ranges():
        indptr, indices = world.bands.neighbors(states)
        ends, all_indices = GraphBands(world.neighbors).neighbors(states)
        np.testing.assert_array_equal(indptr, ends - ends[0])
        np.testing.assert_array_equal(indices, all_indices[ends[0] : ends[-1]])


def test_large_maps_and_small_ones_have_the_same_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.random_maze(60, 70, seed=4)
    scores = fp.score(world, 4)
    small = fp.find_goals(world, scores)
    monkeypatch.setattr(peaks, "FEW_STATES", 10)
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
