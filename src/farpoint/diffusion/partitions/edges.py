"""Worlds larger than memory: the edges of a graph in a folder of Parquet files, one per range of states.

``world.json`` says how many states there are, where each partition begins, the sums over the whole world that every
score needs, and the length and digest of every file. ``edges/part-….parquet`` holds the edges that leave the
partition's states (columns ``source``, ``target``, ``weight``, sorted by source). A file that is not the one that was
written is refused before anything parses it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from farpoint.diffusion.partitions.maps import MAP, PartitionedMap, open_map, plan_bands, write_map_facts
from farpoint.diffusion.partitions.structure import EdgeBalance, StreamedComponents
from farpoint.diffusion.partitions.tables import TableFacts, parquet, read_table, write_table
from farpoint.errors import InvalidFile, InvalidInput, NotConnected, OutputError, check_integer, check_path
from farpoint.files import has_unfinished, read_facts, results_folder, write_facts
from farpoint.worlds import World, WorldLike, as_world
from farpoint.worlds.arrays import real_numbers, whole_numbers

FORMAT = "farpoint-partitions"
VERSION = 2
_WORLD = "world.json"

Edges = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True)
class PartitionedWorld:
    """The content of ``world.json``: ``bounds[k] … bounds[k + 1] − 1`` are the states of partition k; Σ d and Σ d²; the
    file of every partition.

    Examples
    --------
    >>> import tempfile, farpoint as fp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fp.diffusion.write_partitions(fp.grid((5,)), folder, states_per_partition=2).bounds
    (0, 2, 4, 5)
    """

    folder: str
    n_states: int
    bounds: tuple[int, ...]
    total: float
    squares: float
    parts: tuple[TableFacts, ...]

    @property
    def fingerprint(self) -> str:
        """A digest of all edges, which says of scores whose they are."""
        return hashlib.blake2b("".join(part.digest for part in self.parts).encode(), digest_size=16).hexdigest()

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(self.bounds) - 1

    def edges_of(self, states: NDArray[np.int64]) -> Edges:
        """Return the edges that leave the given states (ascending), sorted by state."""
        owners = np.searchsorted(np.array(self.bounds), states, side="right") - 1
        pieces = []
        for partition in np.unique(owners):
            wanted = states[owners == partition]
            within = ("source", int(wanted[0]), int(wanted[-1]))
            path = part_path(self.folder, "edges", int(partition))
            edges = read_table(path, self.parts[partition], within=within)
            source, target = edges["source"].astype(np.int64), edges["target"].astype(np.int64)
            weight = edges["weight"].astype(np.float64)
            place = np.minimum(np.searchsorted(wanted, source), wanted.size - 1)
            keep = wanted[place] == source
            pieces.append((source[keep], target[keep], weight[keep]))
        return tuple(np.concatenate(part) for part in zip(*pieces, strict=True))  # type: ignore[return-value]


def part_path(folder: str | Path, kind: str, partition: int) -> Path:
    """Return the file of one partition."""
    return Path(folder) / kind / f"part-{partition:05d}.parquet"


@overload
def write_partitions(
    world: World | Iterable[Edges], folder: str | Path, *, states_per_partition: int = 1_000_000
) -> PartitionedWorld: ...
@overload
def write_partitions(
    world: str | PathLike[str], folder: str | Path, *, states_per_partition: int = 1_000_000
) -> PartitionedWorld | PartitionedMap: ...
def write_partitions(
    world: WorldLike | Iterable[Edges], folder: str | Path, *, states_per_partition: int = 1_000_000
) -> PartitionedWorld | PartitionedMap:
    """Write a symmetric connected graph into a folder of Parquet files, one per range of states.

    Of a map in a ``.npy`` file nothing is written but which rows are a partition: they are read from that file.

    Parameters
    ----------
    world : World, path of a ``.npy`` map, or iterable of (source, target, weight) arrays
        Of a graph that does not fit into memory, its edges piece by piece, in ascending order of source, every edge in
        both directions with the same weight; states are 0 … n − 1, each with an edge.
    folder : path
        A new or empty folder, or one that an earlier call could not finish.
    states_per_partition : int
        A partition and its halo must fit into a worker's memory, several times.

    Returns
    -------
    PartitionedWorld or PartitionedMap

    Raises
    ------
    InvalidInput
        Edges out of order or in one direction only, states without edges, weights that are not positive.
    NotConnected
        Several components.
    OutputError
        A folder that has something in it, that another process is writing to, or that cannot be written.

    Examples
    --------
    >>> import tempfile, farpoint as fp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = fp.diffusion.write_partitions(fp.ring(), folder, states_per_partition=64)
    >>> written.n_partitions, written.total
    (3, 680.0)
    """
    parquet()
    size = check_integer("states_per_partition", states_per_partition, 1)
    path = check_path("folder", folder)
    _check_free(path)
    if isinstance(world, (str, PathLike)) and os.fspath(world).lower().endswith(".npy"):
        return _write_bands(check_path("world", world), path, size)
    if isinstance(world, (str, PathLike)):
        world = as_world(world)
    if isinstance(world, World):
        if not world.symmetric or world.restart is not None:
            raise InvalidInput(
                f"world must be symmetric and without restarts to be written in partitions; got {world!r}."
            )
        if len(world.component_sizes) > 1:
            raise NotConnected(f"world must be connected; got {len(world.component_sizes)} components.")
        world, checked = _pieces(world, size), True
    elif isinstance(world, Iterable) and not (isinstance(world, (np.ndarray, range)) or issparse(world)):
        checked = False
    else:
        raise InvalidInput(f"world must be a World, or pieces of (source, target, weight); got {world!r}.")
    with results_folder(path) as unfinished:
        # What a process left that was killed while its files were moved into place; ``world.json`` is the last of them.
        _check_free(path)
        shutil.rmtree(path / "edges", ignore_errors=True)
        written = _write(world, unfinished, size, checked=checked)
    return replace(written, folder=str(path))


def _write_bands(map_file: Path, path: Path, size: int) -> PartitionedMap:
    planned = plan_bands(map_file, size)
    with results_folder(path) as unfinished:
        _check_free(path)
        write_map_facts(unfinished, planned)
    return replace(planned, folder=str(path))


def _check_free(path: Path) -> None:
    try:
        free = not path.exists() or has_unfinished(path) or not any(path.iterdir())
        free = free and not (path / _WORLD).exists() and not (path / MAP).exists()
    except OSError as error:
        raise OutputError(f"folder must be one that can be written; got {path} ({error.strerror}).") from error
    if not free:
        raise OutputError(f"folder must be new or empty; got {path}, which has files in it.")


def _write(pieces: Iterable[Edges], path: Path, size: int, *, checked: bool) -> PartitionedWorld:
    """Write all partitions and ``world.json``."""
    parts: list[TableFacts] = []
    bounds, total, squares, farthest = [0], 0.0, 0.0, -1
    balance, components = EdgeBalance(), StreamedComponents()
    for source, target, weight in _regrouped(pieces, size):
        degrees = np.bincount(source - bounds[-1], weights=weight)
        if not (np.isfinite(weight).all() and (weight > 0).all() and (degrees > 0).all()):
            state = bounds[-1] + int((~(degrees > 0)).argmax())
            raise InvalidInput(
                f"every state must have an edge, and every edge a positive weight; got none from state {state}."
            )
        if target.min() < 0:
            raise InvalidInput(f"targets must be states; got {target.min()}.")
        farthest = max(farthest, int(target.max()))
        if not checked:
            balance.add(source, target, weight)
            components.add(bounds[-1], int(source[-1]) + 1, source, target)
        columns = {"source": source, "target": target, "weight": weight}
        parts.append(write_table(part_path(path, "edges", len(bounds) - 1), columns))
        bounds.append(int(source[-1]) + 1)
        total, squares = total + float(degrees.sum()), squares + float(degrees @ degrees)
    if len(bounds) == 1:
        raise InvalidInput("world must have edges; got none.")
    if farthest >= bounds[-1]:
        raise InvalidInput(
            f"targets must be states, 0 … {bounds[-1] - 1}; got {farthest}. Give edges in both directions."
        )
    if not balance.balanced:
        raise InvalidInput("every edge must come in both directions with the same weight; got some that do not.")
    if not checked and components.count() > 1:
        raise NotConnected(f"world must be connected; got {components.count()} components.")
    written = PartitionedWorld(str(path), bounds[-1], tuple(bounds), total, squares, tuple(parts))
    facts = {name: value for name, value in asdict(written).items() if name != "folder"}
    write_facts(path / _WORLD, FORMAT, facts, version=VERSION)
    return written


def _pieces(world: World, size: int) -> Iterator[Edges]:
    matrix = world.adjacency
    for first in range(0, world.n_states, size):
        last = min(first + size, world.n_states)
        entries = slice(matrix.indptr[first], matrix.indptr[last])
        source = np.repeat(np.arange(first, last), np.diff(matrix.indptr[first : last + 1]))
        yield source, matrix.indices[entries].astype(np.int64), matrix.data[entries]


def _regrouped(pieces: Iterable[Edges], size: int) -> Iterator[Edges]:
    """Yield the edges of ``size`` states at a time, however the pieces were cut."""
    waiting: list[Edges] = []
    first, newest = 0, -1
    for piece in pieces:
        if not isinstance(piece, Sequence) or isinstance(piece, str) or len(piece) != 3:
            raise InvalidInput(f"edges must come in pieces of (source, target, weight); got {piece!r}.")
        source = whole_numbers("source", piece[0], np.int64)
        if source.size == 0:
            continue
        if source[0] < newest or (np.diff(source) < 0).any():
            raise InvalidInput("edges must come in ascending order of source; got a source that falls.")
        newest = int(source[-1])
        others = whole_numbers("target", piece[1], np.int64), real_numbers("weight", piece[2])
        if not source.ndim == 1 or not source.shape == others[0].shape == others[1].shape:
            raise InvalidInput("source, target and weight must be equally long; got different shapes.")
        waiting.append((source, *others))
        while newest >= first + size:
            joined = tuple(np.concatenate(part) for part in zip(*waiting, strict=True))
            cut = int(np.searchsorted(joined[0], first + size))
            if cut == 0:
                raise InvalidInput(f"every state must have an edge of positive weight; got none from state {first}.")
            yield tuple(part[:cut] for part in joined)  # type: ignore[misc]
            waiting = [tuple(part[cut:] for part in joined)]  # type: ignore[list-item]
            first += size
    if waiting and newest >= first:
        yield tuple(np.concatenate(part) for part in zip(*waiting, strict=True))  # type: ignore[misc]


def open_partitions(folder: str | Path) -> PartitionedWorld | PartitionedMap:
    """Return the world in a folder of partitions.

    Examples
    --------
    >>> import tempfile, farpoint as fp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = fp.diffusion.write_partitions(fp.ring(), folder)
    ...     open_partitions(folder).n_states
    192
    """
    path = check_path("folder", folder)
    if (path / MAP).exists():
        return open_map(path)
    try:
        facts = read_facts(path / _WORLD, FORMAT, version=VERSION)
        return PartitionedWorld(
            str(folder),
            int(facts["n_states"]),
            tuple(int(bound) for bound in facts["bounds"]),
            float(facts["total"]),
            float(facts["squares"]),
            tuple(TableFacts.of(part) for part in facts["parts"]),
        )
    except (InvalidFile, ValueError, KeyError, TypeError) as error:
        raise InvalidFile(
            f"{folder} must be a folder that write_partitions wrote; got no whole {_WORLD} of version {VERSION}."
        ) from error
