"""Maps larger than memory: bands of rows of a memory-mapped ``.npy`` file, without a list of edges.

The folder holds ``map.json`` alone: where the file is, which rows each band has, and a digest of each band's bytes, so
that a file that has changed is refused.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.goals.peaks import Peaks, find_peaks
from farpoint.diffusion.scores.lattice import LatticeScores, degree_sums
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import read_facts, write_facts
from farpoint.worlds.bands import FloorBands
from farpoint.worlds.floors import as_bytes, connected_floor, row_starts
from farpoint.worlds.map_files import as_floor, read_floor

FORMAT = "farpoint-map-partitions"
MAP = "map.json"


@dataclass(frozen=True)
class PartitionedMap:
    """The content of ``map.json``: the file, its shape, the first row and the first state of each band, Σ d and Σ d²,
    and the digest of each band.

    Examples
    --------
    >>> import tempfile, numpy as np, farpoint as fp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/room.npy", np.ones((5, 4), dtype=bool))
    ...     fp.diffusion.write_partitions(f"{folder}/room.npy", f"{folder}/parts", states_per_partition=8).bounds
    (0, 8, 16, 20)
    """

    folder: str
    path: str
    shape: tuple[int, int]
    rows: tuple[int, ...]
    bounds: tuple[int, ...]
    total: float
    squares: float
    digests: tuple[str, ...]

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.bounds[-1]

    @property
    def n_partitions(self) -> int:
        """Number of bands."""
        return len(self.bounds) - 1

    @property
    def fingerprint(self) -> str:
        """A digest of the map, which says of scores whose they are."""
        text = f"{self.shape}" + "".join(self.digests)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def floor(self, partition: int) -> NDArray[np.bool_]:
        """Return the whole map, memory-mapped, after checking the bytes of one band."""
        floor = np.asarray(read_floor(self.path)).view(np.bool_)
        first, last = self.rows[partition : partition + 2]
        if floor.shape != self.shape or _digest(floor[first:last]) != self.digests[partition]:
            raise InvalidFile(f"{self.path} must be the map that was written in partitions; it has changed.")
        return floor

    def plan(self, floor: NDArray[np.bool_], t: int, tolerance: float | None) -> LatticeScores:
        """Return the plan for scores of the map."""
        return LatticeScores(as_bytes(floor), t, tolerance, self.total, self.squares)

    def scores(
        self, partition: int, t: int, tolerance: float | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the scores of a band, and bounds on their errors where there is a tolerance."""
        plan = self.plan(self.floor(partition), t, tolerance)
        last = self.rows[partition + 1]
        # No more at a time than in memory: the columns of a band may be many.
        size = plan.blocks()[0][1]
        starts = range(self.rows[partition], last, size)
        pieces = [plan.block((row, min(row + size, last))) for row in starts]
        bounds = [bound for _, bound in pieces if bound is not None]
        return np.concatenate([scores for scores, _ in pieces]), np.concatenate(bounds) if bounds else None

    def peaks(
        self, partition: int, values: NDArray[np.float64], t: int, tolerance: float | None, same: float
    ) -> tuple[Peaks, Crossing]:
        """Return the peaks of a band by itself, and the moves that leave it."""
        floor = self.floor(partition)
        first, last = self.rows[partition : partition + 2]
        starts = row_starts(floor[first:last])
        peaks = find_peaks(FloorBands(np.ascontiguousarray(floor[first:last]), starts), values, same)
        plan = self.plan(floor, t, tolerance)
        begin, end = self.bounds[partition : partition + 2]
        parts = []
        for own, other, base in ((first, first - 1, begin), (last - 1, last, end)):
            if not 0 <= other < self.shape[0]:
                continue
            both = floor[own] & floor[other]
            here = np.cumsum(floor[own])[both] - 1 + starts[own - first]
            place = np.cumsum(floor[other])[both] - 1
            # The row before ends where the band begins, the row after begins where it ends.
            there = place + base - (int(np.count_nonzero(floor[other])) if other < own else 0)
            # Scores of that row are computed again, to the same bit, and not read from its file.
            parts.append((here, there, plan.block((other, other + 1))[0][place]))
        here, there, beyond = (np.concatenate(part) for part in zip(*parts, strict=True)) if parts else _nothing()
        return peaks, Crossing(here, there, beyond)


@dataclass(frozen=True)
class Crossing:
    """Moves that leave a partition: from which of its states (counted within it), to which state, of which score."""

    here: NDArray[np.int64]
    there: NDArray[np.int64]
    values: NDArray[np.float64]


def _nothing() -> tuple[NDArray[Any], ...]:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)


def _digest(rows: NDArray[np.bool_]) -> str:
    return hashlib.blake2b(np.ascontiguousarray(rows).view(np.uint8).data, digest_size=16).hexdigest()


def plan_bands(path: Path, size: int) -> PartitionedMap:
    """Return the bands of a map file, about ``size`` states each; fail unless it is one connected map."""
    cells = read_floor(path)
    floor = as_floor(cells)
    if not np.may_share_memory(floor, cells):
        raise InvalidInput(f"{path} must hold rows of True and False, or of 0 and 1, to be read in bands; got others.")
    connected_floor(floor, largest_component=False)
    starts = row_starts(floor)
    if starts[-1] < 2:
        raise InvalidInput("world must have at least 2 states to have far points; got 1.")
    rows = [0]
    while rows[-1] < floor.shape[0]:
        following = int(np.searchsorted(starts, starts[rows[-1]] + size, side="right")) - 1
        # At least one row, and rows without floor go with those before them.
        following = max(following, rows[-1] + 1)
        rows.append(floor.shape[0] if starts[following] == starts[-1] else following)
    digests = tuple(_digest(floor[first:last]) for first, last in pairwise(rows))
    bounds = tuple(int(starts[row]) for row in rows)
    shape = (int(floor.shape[0]), int(floor.shape[1]))
    return PartitionedMap("", str(path.resolve()), shape, tuple(rows), bounds, *degree_sums(as_bytes(floor)), digests)


def write_map_facts(folder: Path, planned: PartitionedMap) -> None:
    """Write ``map.json``."""
    facts = {name: value for name, value in asdict(planned).items() if name != "folder"}
    write_facts(folder / MAP, FORMAT, facts)


def open_map(folder: Path) -> PartitionedMap:
    """Return the map in a folder of partitions."""
    try:
        facts = read_facts(folder / MAP, FORMAT)
        rows, cols = (int(length) for length in facts["shape"])
        return PartitionedMap(
            str(folder),
            str(facts["path"]),
            (rows, cols),
            tuple(int(row) for row in facts["rows"]),
            tuple(int(bound) for bound in facts["bounds"]),
            float(facts["total"]),
            float(facts["squares"]),
            tuple(str(digest) for digest in facts["digests"]),
        )
    except (InvalidFile, ValueError, KeyError, TypeError) as error:
        raise InvalidFile(f"{folder} must be a folder that write_partitions wrote; got no whole {MAP}.") from error
