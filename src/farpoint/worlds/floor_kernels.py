"""Compiled loops over the cells of a map, one byte each, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled

Cells = NDArray[np.uint8]
Numbers = NDArray[np.int64]


@compiled(nogil=True)
def _first(parent: Numbers, label: int) -> int:
    while parent[label] != label:
        parent[label] = parent[parent[label]]
        label = parent[label]
    return label


@compiled(nogil=True)
def _next_run(floor: Cells, row: int, begin: int) -> tuple[int, int]:
    """Return where the next run of floor in a row begins and ends; both are the width where there is none."""
    width = floor.shape[1]
    while begin < width and floor[row, begin] == 0:
        begin += 1
    end = begin
    while end < width and floor[row, end] != 0:
        end += 1
    return begin, end


@compiled(nogil=True)
def component_sizes(floor: Cells) -> Any:
    """Return the component of every label, and the number of cells of every component (0 for other labels).

    A run of floor that touches no run of the row above gets a new label; one that touches several joins their
    components. The first label of a component names it, so components are in the order of their first cells.
    """
    rows, width = floor.shape
    runs = np.empty((2, width // 2 + 1, 3), dtype=np.int64)
    parent = np.empty(1024, dtype=np.int64)
    sizes = np.empty(1024, dtype=np.int64)
    n_labels, n_above = 0, 0
    for row in range(rows):
        above, here = runs[(row + 1) & 1], runs[row & 1]
        n_here, first = 0, 0
        begin, end = _next_run(floor, row, 0)
        while begin < width:
            while first < n_above and above[first, 1] <= begin:
                first += 1
            label = -1
            place = first
            while place < n_above and above[place, 0] < end:
                other = _first(parent, above[place, 2])
                if label < 0:
                    label = other
                elif other != label:
                    parent[max(label, other)] = min(label, other)
                    label = min(label, other)
                place += 1
            if label < 0:
                if n_labels == parent.size:
                    parent = np.concatenate((parent, np.empty_like(parent)))
                    sizes = np.concatenate((sizes, np.empty_like(sizes)))
                label = n_labels
                parent[label], sizes[label] = label, 0
                n_labels += 1
            sizes[label] += end - begin
            here[n_here, 0], here[n_here, 1], here[n_here, 2] = begin, end, label
            n_here += 1
            begin, end = _next_run(floor, row, end)
        n_above = n_here
    for label in range(n_labels):
        parent[label] = _first(parent, label)
        if parent[label] != label:
            sizes[parent[label]] += sizes[label]
            sizes[label] = 0
    return parent[:n_labels].copy(), sizes[:n_labels].copy()


@compiled(nogil=True)
def keep_component(floor: Cells, component: Numbers, kept: int, out: Cells) -> None:
    """Write the cells of one component; labels are given as in `component_sizes`."""
    rows, width = floor.shape
    runs = np.empty((2, width // 2 + 1, 3), dtype=np.int64)
    n_labels, n_above = 0, 0
    for row in range(rows):
        above, here = runs[(row + 1) & 1], runs[row & 1]
        n_here, first = 0, 0
        begin, end = _next_run(floor, row, 0)
        while begin < width:
            while first < n_above and above[first, 1] <= begin:
                first += 1
            if first < n_above and above[first, 0] < end:
                label = above[first, 2]
            else:
                label = component[n_labels]
                n_labels += 1
            if label == kept:
                out[row, begin:end] = 1
            here[n_here, 0], here[n_here, 1], here[n_here, 2] = begin, end, label
            n_here += 1
            begin, end = _next_run(floor, row, end)
        n_above = n_here


@compiled(nogil=True)
def moves_of_rows(
    floor: Cells, row_starts: Numbers, first: int, last: int, indptr: NDArray[Any], indices: NDArray[Any]
) -> int:
    """Write the neighbors of the states in some rows of a map, ascending; return how many there are."""
    rows, width = floor.shape
    walls = np.zeros(width, dtype=np.uint8)
    base = row_starts[first]
    count = 0
    indptr[0] = 0
    for row in range(first, last):
        here = floor[row]
        up = floor[row - 1] if row > 0 else walls
        down = floor[row + 1] if row + 1 < rows else walls
        state = row_starts[row]
        above = row_starts[max(row - 1, 0)]
        below = row_starts[row + 1]
        left = np.uint8(0)
        # Everything is written always, and counted only where it is: nothing for the processor to guess wrongly.
        for col in range(width):
            own = here[col]
            right = here[col + 1] if col + 1 < width else np.uint8(0)
            indices[count] = above
            count += own & up[col]
            indices[count] = state - 1
            count += own & left
            indices[count] = state + 1
            count += own & right
            indices[count] = below
            count += own & down[col]
            state += own
            indptr[state - base] = count
            above += up[col]
            below += down[col]
            left = own
    return count
