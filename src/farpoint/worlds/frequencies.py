"""The world that a log of transitions shows: the frequencies of the log are its probabilities."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.errors import NotConnected, listed
from farpoint.worlds.logs import Log
from farpoint.worlds.samples import read_rows
from farpoint.worlds.state_index import END, StateIndex, check_scale, is_end
from farpoint.worlds.world import World


def world_from_log(
    log: Log, *, scale: ArrayLike | None = None, symmetrize: bool, largest_component: bool, name: str
) -> World:
    """Return the world with the frequencies of a log as its probabilities; see `World.from_log`."""
    if scale is None:
        index = StateIndex.exact()
        before, after = index.add_all(log.observations), index.add_all(log.next_observations)
        labels: list[Hashable] = list(index.labels)
    else:
        rows, next_rows = read_rows(log.observations, log.next_observations)
        assert next_rows is not None
        reach = check_scale(scale, rows.shape[1])
        index = StateIndex.nearest(np.empty((0, reach.size)), scale=reach, within=1.0)
        before, after = _places(index, np.concatenate([rows, next_rows]))
        labels = [tuple(row) for row in np.asarray(index.labels).tolist()]
    actions, notes = log.actions, list(log.notes)
    if actions is not None and actions.ndim == 2:
        actions = None
        notes.append("actions are rows of numbers, so each pair of states that was seen is a choice.")
    world = world_of_steps(
        before,
        after,
        actions,
        labels,
        terminated=log.terminated,
        truncated=log.truncated,
        begins=log.begins,
        symmetrize=symmetrize,
        largest_component=largest_component,
        name=name,
        notes=notes,
    )
    return world if scale is None else with_points(world, reach)


def _places(index: StateIndex, rows: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Return the state of each row, new ones in the order in which they were observed; the two halves apart."""
    different, where = np.unique(rows, axis=0, return_inverse=True)
    where = where.ravel()
    numbers = np.full(len(different), -1)
    for row in where.tolist():
        if numbers[row] < 0:
            numbers[row] = index.add(different[row])
    return np.split(numbers[where], 2)


def with_points(world: World, scale: NDArray[np.float64]) -> World:
    """Return a world whose labels are points with these as its observations: others are of the nearest state."""
    points = [label[1] if is_end(label) else label for label in world.labels or ()]  # type: ignore[index]
    return replace(world, observations=np.array(points, dtype=np.float64), scale=scale)


def world_of_steps(
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    actions: NDArray[np.int64] | None,
    labels: Sequence[Hashable],
    *,
    terminated: NDArray[np.bool_],
    truncated: NDArray[np.bool_],
    begins: NDArray[np.bool_],
    symmetrize: bool = False,
    largest_component: bool = False,
    name: str = "log",
    notes: Iterable[str] = (),
) -> World:
    """Return the world of numbered steps, with their frequencies as its probabilities.

    A state in which episodes ended, and which was passed through too, is two states: the end of episodes is
    ("end", label), has no choices and always restarts. Every other state restarts by the share of steps that were cut.

    Parameters
    ----------
    before, after : array of int, shape (n_steps,)
        States, as places in ``labels``.
    actions : array of int, shape (n_steps,), optional
    labels : sequence
        The name of each state.
    terminated, truncated, begins : array of bool, shape (n_steps,)
        Without any step that begins an episode, the steps are a walk without episodes.
    symmetrize, largest_component, name
        As in `World.from_log`.
    notes : sequence of str

    Examples
    --------
    >>> step = np.array([0, 1, 0]), np.array([1, 2, 1])                   # 0 → 1 → 2 and 0 → 1, where it ends too
    >>> ended, begins = np.array([False, True, True]), np.array([True, False, True])
    >>> world = world_of_steps(*step, None, "abc", terminated=ended, truncated=~ended & False, begins=begins)
    >>> world.labels, world.restart
    (('a', 'b', 'c', ('end', 'b')), array([0., 0., 1., 1.]))
    """
    labels, notes = list(labels), list(notes)
    restart = starts = None
    if symmetrize:
        if begins.any():
            notes.append(
                f"left out {int(begins.sum())} episodes, {int(terminated.sum())} of which ended: symmetrize=True "
                "counts every step backwards too."
            )
        before, after = np.concatenate([before, after]), np.concatenate([after, before])
        actions = None
    elif begins.any():
        after, labels, ends = _with_end_states(before, after, terminated, labels)
        restart = np.where(ends, 1.0, float((truncated & ~terminated).mean()))
        starts = np.bincount(before[begins], minlength=len(labels)).astype(np.float64)
    n_states = len(labels)
    keep, n_parts = _crossed_states(before, after, n_states, restart, starts, largest_component)
    if keep.size < n_states:
        notes.append(
            f"kept {keep.size} of {n_states} states: the largest of {n_parts} parts that the log crosses in both "
            "directions."
        )
    place = np.full(n_states, -1)
    place[keep] = np.arange(keep.size)
    inside = (place[before] >= 0) & (place[after] >= 0)
    before, after = place[before[inside]], place[after[inside]]
    # Without actions every pair of states that was seen is a choice of its own, weighted by how often it was seen.
    column = after if actions is None else actions[inside]
    choices, index = np.unique(np.stack([before, column], axis=1), axis=0, return_inverse=True)
    counts = csr_array((np.ones(before.size), (index.ravel(), after)), shape=(len(choices), keep.size))
    totals = np.asarray(counts.sum(axis=1))
    return World.from_matrix(
        csr_array(counts.multiply(1.0 / totals[:, None])),
        np.searchsorted(choices[:, 0], np.arange(keep.size + 1)),
        actions=None if actions is None else choices[:, 1].astype(np.int32),
        weights=totals if actions is None else None,
        labels=tuple(labels[state] for state in keep),
        name=name,
        restart=None if restart is None else restart[keep],
        starts=None if starts is None else starts[keep] / starts[keep].sum(),
        notes=tuple(notes),
    )


def _with_end_states(
    before: NDArray[np.int64], after: NDArray[np.int64], terminated: NDArray[np.bool_], labels: list[Hashable]
) -> tuple[NDArray[np.int64], list[Hashable], NDArray[np.bool_]]:
    """Return where each step led, the labels, and which states end episodes, with end states of their own.

    The end of episodes at a place that was never passed through keeps the label of the place.
    """
    passed = np.zeros(len(labels), dtype=bool)
    passed[before] = True
    passed[after[~terminated]] = True
    reached = np.zeros(len(labels), dtype=bool)
    reached[after[terminated]] = True
    twins = np.flatnonzero(passed & reached)
    number = np.arange(len(labels))
    number[twins] = len(labels) + np.arange(twins.size)
    ends = np.concatenate([reached & ~passed, np.ones(twins.size, dtype=bool)])
    return np.where(terminated, number[after], after), [*labels, *((END, labels[place]) for place in twins)], ends


def _crossed_states(
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    n_states: int,
    restart: NDArray[np.float64] | None,
    starts: NDArray[np.float64] | None,
    largest_component: bool,
) -> tuple[NDArray[np.int64], int]:
    """Return the largest set of states that the log crosses in both directions, and how many such sets there are.

    Fail if the largest is not all of them, unless that is allowed. Restarts lead back too: an extra node
    connects every state that has a restart to every start.
    """
    if restart is not None and starts is not None:
        again, first = np.flatnonzero(restart), np.flatnonzero(starts)
        before = np.concatenate([before, again, np.full(first.size, n_states)])
        after = np.concatenate([after, np.full(again.size, n_states), first])
    size = n_states if restart is None else n_states + 1
    graph = csr_array((np.ones(before.size), (before, after)), shape=(size, size))
    _, component = connected_components(graph, directed=True, connection="strong")
    component = component[:n_states]
    sizes = np.bincount(component)
    n_components = int((sizes > 0).sum())
    if sizes.max() < 2:
        raise NotConnected(
            f"log must cross some states in both directions; got {n_states} states and no way back to any. Pass "
            "symmetrize=True if moves can be undone."
        )
    if n_components > 1 and not largest_component:
        raise NotConnected(
            f"log must lead from every state to every other; got {n_components} components (sizes "
            f"{listed(np.sort(sizes[sizes > 0])[::-1])}). Pass largest_component=True to keep the largest, or "
            "symmetrize=True if moves can be undone."
        )
    keep = np.flatnonzero(component == sizes.argmax())
    if starts is not None and not starts[keep].any():
        raise NotConnected("log must have its first states among those it crosses in both directions; got none there.")
    return keep, n_components
