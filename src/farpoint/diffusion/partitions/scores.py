"""Scores and goals of a world in partitions: each is read with a halo of the states around it."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.blas import one_blas_thread
from farpoint.diffusion.goals.order import SAME_SCORE
from farpoint.diffusion.goals.peaks import Peaks, find_peaks
from farpoint.diffusion.partitions.edges import PartitionedWorld, open_partitions, part_path
from farpoint.diffusion.partitions.maps import Crossing, PartitionedMap
from farpoint.diffusion.partitions.tables import TableFacts, read_table, write_table
from farpoint.diffusion.scores.bounds import check_tolerance
from farpoint.diffusion.scores.local import Progress, StateScores
from farpoint.diffusion.walk import Walk
from farpoint.engines import each
from farpoint.errors import InvalidFile, InvalidInput, check_function, check_integer, check_path
from farpoint.files import read_facts, write_facts
from farpoint.worlds.bands import GraphBands

_KIND = "farpoint-partition-scores"

AnyWorld = PartitionedWorld | PartitionedMap


@one_blas_thread()
def score_partitions(
    folder: str | Path,
    t: int = 4,
    *,
    tolerance: float | None = None,
    progress: Progress | None = None,
    n_jobs: int = -1,
) -> Path:
    """Write f_t of every state of a world in partitions as Parquet files; return their folder, ``scores-t<t>``.

    Each partition is a task: it reads its own edges and those of the states within t steps, so no more than that is in
    memory at once. Beside each file is one that says what it must be like. Partitions whose scores exist already, and
    are whole, are not computed again. To spread it over a cluster use `engine`; all workers must see the folder.

    Raises
    ------
    InvalidFile
        A folder that `write_partitions` did not write, or edges that are damaged.

    Examples
    --------
    >>> import tempfile, numpy as np, farpoint as fp
    >>> world = fp.ring()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = fp.diffusion.write_partitions(world, folder, states_per_partition=64)
    ...     scores = fp.diffusion.read_scores(fp.diffusion.score_partitions(folder, t=4))
    >>> bool(np.allclose(scores, fp.score(world, t=4), rtol=1e-12))
    True
    """
    check_function("progress", progress)
    world = open_partitions(folder)
    t, tolerance = check_integer("t", t, 1), check_tolerance(tolerance)
    name = f"scores-t{t}" if tolerance is None else f"scores-t{t}-{tolerance:g}"
    missing = [k for k in range(world.n_partitions) if not _is_there(world, name, k, t, tolerance)]
    tasks = [(k, name, t, tolerance) for k in missing]
    for done, _ in enumerate(
        each(_score_partition, world, tasks, n_jobs=n_jobs, label=None if progress else "score"), start=1
    ):
        if progress is not None:
            progress(world.n_partitions - len(missing) + done, world.n_partitions)
    return Path(folder) / name


def _score_partition(world: AnyWorld, task: tuple[int, str, int, float | None]) -> int:
    partition, name, t, tolerance = task
    first, last = world.bounds[partition], world.bounds[partition + 1]
    if isinstance(world, PartitionedMap):
        scores, bounds = world.scores(partition, t, tolerance)
    else:
        scores, bounds = _graph_scores(world, partition, t, tolerance)
    columns = {"state": np.arange(first, last), "score": scores}
    path = part_path(world.folder, name, partition)
    table = write_table(path, columns | ({} if bounds is None else {"bound": bounds}))
    facts = {**_facts(world, name, partition, t, tolerance), "table": asdict(table)}
    write_facts(path.with_suffix(".json"), _KIND, facts)
    return partition


def _graph_scores(
    world: PartitionedWorld, partition: int, t: int, tolerance: float | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    first, last = world.bounds[partition], world.bounds[partition + 1]
    states, _, matrix, degrees = _with_halo(world, partition, t)
    # One state more than there is, far from everything, so that no walk takes what is here for the whole world.
    matrix.resize((states.size + 1, states.size + 1))
    # The stationary distribution is d / Σ d; Σ π² is over the whole world, most of which is not here.
    walk = Walk(
        matrix,
        symmetric=True,
        known_leaving=np.append(degrees, 0.0),
        known_pi=np.append(degrees / world.total, 0.0),
        known_pi_squared=world.squares / world.total**2,
    )
    own = np.arange(np.searchsorted(states, first), np.searchsorted(states, last))
    return StateScores(walk, t, tolerance).at(own)


def _facts(world: AnyWorld, name: str, partition: int, t: int, tolerance: float | None) -> dict[str, Any]:
    """Return whose scores a file holds: a file of another world, partition, t or tolerance is not taken for it."""
    return {
        "world": world.fingerprint,
        "name": name,
        "partition": partition,
        "n_partitions": world.n_partitions,
        "t": t,
        "tolerance": tolerance,
    }


def _is_there(world: AnyWorld, name: str, partition: int, t: int, tolerance: float | None) -> bool:
    """Return whether the scores of a partition are there and whole."""
    path = part_path(world.folder, name, partition)
    try:
        facts = read_facts(path.with_suffix(".json"), _KIND)
        table = _table_of(facts, path)
        table.check(path)
    except InvalidFile:
        return False
    return facts == {**_facts(world, name, partition, t, tolerance), "table": asdict(table)}


def _table_of(facts: dict[str, Any], path: Path) -> TableFacts:
    try:
        return TableFacts.of(facts["table"])
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidFile(f"{path} must be scores that score_partitions wrote; got {error!r}.") from error


def _checked_facts(path: Path, name: str, partition: int) -> dict[str, Any]:
    """Return what is written beside the scores of a partition; fail if it is not of this name and number."""
    facts = read_facts(path.with_suffix(".json"), _KIND)
    if (facts.get("name"), facts.get("partition")) != (name, partition):
        raise InvalidFile(
            f"{path} must be partition {partition} of {name}; got {facts.get('partition')} of {facts.get('name')}."
        )
    return facts


def _with_halo(
    world: PartitionedWorld, partition: int, steps: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], csr_array, NDArray[np.float64]]:
    """Return the states within ``steps`` of a partition, their distances, the moves among them, and their degrees."""
    front = np.arange(world.bounds[partition], world.bounds[partition + 1])
    states, rings, edges = front, [front], [world.edges_of(front)]
    for _ in range(steps):
        front = np.setdiff1d(edges[-1][1], states, assume_unique=False)
        if front.size == 0:
            break
        states = np.union1d(states, front)
        rings.append(front)
        edges.append(world.edges_of(front))
    source, target, weight = (np.concatenate(part) for part in zip(*edges, strict=True))
    distance = np.zeros(states.size, dtype=np.int64)
    for number, ring in enumerate(rings):
        distance[np.searchsorted(states, ring)] = number
    rows = np.searchsorted(states, source)
    degrees = np.bincount(rows, weights=weight, minlength=states.size).astype(np.float64)
    columns = np.minimum(np.searchsorted(states, target), states.size - 1)
    here = states[columns] == target
    matrix = csr_array((weight[here], (rows[here], columns[here])), shape=(states.size, states.size))
    return states.astype(np.int64), distance, matrix, degrees


def read_scores(folder: str | Path) -> NDArray[np.float64]:
    """Return all scores that `score_partitions` wrote, in one array that fits into memory.

    Examples
    --------
    >>> import tempfile, farpoint as fp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = fp.diffusion.write_partitions(fp.ring(), folder)
    ...     fp.diffusion.read_scores(fp.diffusion.score_partitions(folder, t=4)).size
    192
    """
    path = Path(os.path.realpath(check_path("folder", folder)))
    if not any(path.glob("part-*")):
        raise InvalidInput(f"folder must hold scores; got {folder} without. Write them with score_partitions.")
    first = _checked_facts(part_path(path.parent, path.name, 0), path.name, 0)
    scores = []
    for partition in range(int(first["n_partitions"])):
        file = part_path(path.parent, path.name, partition)
        facts = _checked_facts(file, path.name, partition)
        if facts["world"] != first["world"]:
            raise InvalidFile(f"{file} must be scores of the same world as the others; got those of another.")
        scores.append(read_table(file, _table_of(facts, file), ["score"])["score"])
    return np.concatenate(scores)


def goals_of_partitions(
    folder: str | Path, scores: str | Path, *, tolerance: float = SAME_SCORE, n_jobs: int = -1
) -> NDArray[np.int64]:
    """Return the local maxima of the written scores, ascending, by the rule of `find_goals`.

    Each partition is looked at with the states next to it; plateaus that cross a border are joined afterwards.

    Examples
    --------
    >>> import tempfile, numpy as np, farpoint as fp
    >>> world = fp.ring()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = fp.diffusion.write_partitions(world, folder, states_per_partition=64)
    ...     goals = fp.diffusion.goals_of_partitions(folder, fp.diffusion.score_partitions(folder, t=4))
    >>> bool((goals == np.sort(fp.find_goals(world, fp.score(world, t=4)).states)).all())
    True
    """
    world = open_partitions(folder)
    name = Path(scores).name
    if not (Path(folder) / name).is_dir():
        raise InvalidInput(f"scores must be whole; got {scores}, which is not there. Run score_partitions.")
    tasks = [(k, name, tolerance) for k in range(world.n_partitions)]
    decided: list[NDArray[np.int64]] = []
    borders: list[Border] = []
    for goals, border in each(_goals_of_partition, world, tasks, n_jobs=n_jobs, label="goals"):
        decided.append(goals)
        borders.append(border)
    return np.sort(np.concatenate([*decided, _joined(borders)]))


class Border(NamedTuple):
    """The plateaus that continue beyond a partition: the first state of each, whether it has no higher neighbor so far,
    and the pairs of equal states that join it to the next partition, each with its first state: (first, here, there).
    """

    firsts: NDArray[np.int64]
    is_peak: NDArray[np.bool_]
    links: NDArray[np.int64]


def _goals_of_partition(world: AnyWorld, task: tuple[int, str, float]) -> tuple[NDArray[np.int64], Border]:
    """Return the goals whose plateaus lie within a partition, and the plateaus that continue beyond it."""
    partition, name, same = task
    begin, end = world.bounds[partition], world.bounds[partition + 1]
    values = _scores_of(world, name, np.arange(begin, end))
    if isinstance(world, PartitionedMap):
        facts = _checked_facts(part_path(world.folder, name, partition), name, partition)
        peaks, crossing = world.peaks(partition, values, int(facts["t"]), facts["tolerance"], same)
    else:
        peaks, crossing = _graph_peaks(world, partition, name, values, same)
    # Plateaus of this partition alone: a state of the next one may join two of them, which is found out afterwards.
    plateau, is_peak = peaks
    here, there, beyond = crossing.here, crossing.there, crossing.values
    equal = np.abs(values[here] - beyond) <= same * np.maximum(np.abs(values[here]), np.abs(beyond))
    is_peak[plateau[here[~equal & (beyond > values[here])]]] = False
    here, there = here[equal], there[equal]
    firsts = np.unique(plateau[here]).astype(np.int64)
    within = is_peak.copy()
    within[firsts] = False
    links = np.stack([begin + plateau[here], begin + here, there], axis=1).astype(np.int64)
    return begin + np.flatnonzero(within), Border(begin + firsts, is_peak[firsts], links)


def _graph_peaks(
    world: PartitionedWorld, partition: int, name: str, values: NDArray[np.float64], same: float
) -> tuple[Peaks, Crossing]:
    begin, end = world.bounds[partition], world.bounds[partition + 1]
    source, target, weight = world.edges_of(np.arange(begin, end))
    inner = (target >= begin) & (target < end)
    entries = (weight[inner], (source[inner] - begin, target[inner] - begin))
    alone = csr_array(entries, shape=(end - begin, end - begin))
    there = target[~inner]
    wanted = np.unique(there)
    beyond = _scores_of(world, name, wanted)[np.searchsorted(wanted, there)]
    return find_peaks(GraphBands(alone), values, same), Crossing(source[~inner] - begin, there, beyond)


def _joined(borders: list[Border]) -> NDArray[np.int64]:
    """Return the first states of the plateaus over several partitions that have no higher neighbor in any of them."""
    firsts, is_peak, links = (np.concatenate(part) for part in zip(*borders, strict=True))
    # Every link is seen from both sides, so the state at its far end is the near end of another.
    first_of = dict(zip(links[:, 1].tolist(), links[:, 0].tolist(), strict=True))
    far = np.array([first_of[state] for state in links[:, 2].tolist()], dtype=np.int64)
    order = np.argsort(firsts)
    ends = (order[np.searchsorted(firsts, side, sorter=order)] for side in (links[:, 0], far))
    graph = csr_array((np.ones(far.size), tuple(ends)), shape=(firsts.size, firsts.size))
    n_parts, part = connected_components(graph, directed=False)
    whole = np.ones(n_parts, dtype=bool)
    np.logical_and.at(whole, part, is_peak)
    smallest = np.full(n_parts, np.iinfo(np.int64).max)
    np.minimum.at(smallest, part, firsts)
    return np.asarray(smallest[whole])


def _scores_of(world: AnyWorld, name: str, states: NDArray[np.int64]) -> NDArray[np.float64]:
    owners = np.searchsorted(np.array(world.bounds), states, side="right") - 1
    values = np.empty(states.size)
    for partition in np.unique(owners):
        wanted = states[owners == partition]
        path = part_path(world.folder, name, int(partition))
        facts = _checked_facts(path, name, int(partition))
        if facts["world"] != world.fingerprint:
            raise InvalidFile(f"{path} must be scores of this world; got those of another. Run score_partitions.")
        within = ("state", int(wanted[0]), int(wanted[-1]))
        table = read_table(path, _table_of(facts, path), ["score"], within)
        values[owners == partition] = table["score"][wanted - int(wanted[0])]
    return values
