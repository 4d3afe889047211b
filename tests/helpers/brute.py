"""The paper's formulas written out with dense matrices, apart from the package: what the tests expect."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def walk(weights: Matrix) -> Matrix:
    """W = ½ (I + M D⁻¹), columns from; ``weights[s, s2]`` is from s to s2."""
    m = weights.T
    return np.asarray(0.5 * (np.eye(len(m)) + m / m.sum(axis=0)))


def stationary(weights: Matrix) -> Matrix:
    """The long-run distribution, by squaring the walk until it no longer changes."""
    power = walk(weights)
    for _ in range(60):
        power = power @ power
        power /= power.sum(axis=0)
    return power[:, 0]


def score(weights: Matrix, t: int) -> Matrix:
    """‖Wᵗe_s − π₀‖² for every s (Proposition 2), π₀ from the degrees (symmetric weights)."""
    degrees = weights.sum(axis=1)
    after = np.linalg.matrix_power(walk(weights), t)
    return np.asarray(((after - (degrees / degrees.sum())[:, None]) ** 2).sum(axis=0))


def grid_weights(text: str) -> tuple[Matrix, list[tuple[int, int]]]:
    """The adjacency of a text map, cell by cell, and the cells in row-major order."""
    cells = [(r, c) for r, line in enumerate(text.splitlines()) for c, symbol in enumerate(line) if symbol != "#"]
    number = {cell: i for i, cell in enumerate(cells)}
    weights = np.zeros((len(cells), len(cells)))
    for r, c in cells:
        for other in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            if other in number:
                weights[number[r, c], number[other]] = 1.0
    return weights, cells


def prominence(weights: Matrix, values: Matrix, peak: int) -> float:
    """The least fall on a path from ``peak`` to a higher state (or to the lowest if there is none), level by level."""
    for level in sorted(set(values.tolist()), reverse=True):
        if level > values[peak]:
            continue
        reached, frontier = {peak}, [peak]
        while frontier:
            here = frontier.pop()
            for there in np.flatnonzero(weights[here] + weights[:, here]):
                if values[there] >= level and int(there) not in reached:
                    reached.add(int(there))
                    frontier.append(int(there))
        if any(values[state] > values[peak] for state in reached):
            return float(values[peak] - level)
    return float(values[peak] - values.min())


def expected_steps(
    transitions: Any, choice_ptr: Any, goal: int, costs: float | Matrix = 1.0, sweeps: int = 20_000
) -> Matrix:
    """Least expected steps (or costs) to ``goal`` by value iteration over every choice."""
    dense = np.asarray(transitions.toarray())
    n_states = dense.shape[1]
    value = np.zeros(n_states)
    for _ in range(sweeps):
        after = costs + dense @ value
        new = np.array([after[choice_ptr[s] : choice_ptr[s + 1]].min() for s in range(n_states)])
        new[goal] = 0.0
        if np.abs(new - value).max() < 1e-13:
            break
        value = new
    return value


def corners(shape: tuple[int, ...]) -> set[int]:
    """The states of a grid whose every coordinate is first or last."""
    cells = itertools.product(*[(0, length - 1) for length in shape])
    return {int(np.ravel_multi_index(cell, shape)) for cell in cells}


def plateaus(weights: Matrix, values: Matrix, tolerance: float = 1e-9) -> dict[int, int]:
    """The number of the connected set of equal values that each state lies on."""
    graph = nx.from_numpy_array(weights)
    equal = [
        (u, v) for u, v in graph.edges if abs(values[u] - values[v]) <= tolerance * max(abs(values[u]), abs(values[v]))
    ]
    parts = nx.Graph()
    parts.add_nodes_from(graph.nodes)
    parts.add_edges_from(equal)
    return {state: number for number, part in enumerate(nx.connected_components(parts)) for state in part}


def restart_weights(adjacency: Matrix, restart: Matrix, starts: Matrix) -> Matrix:
    """All weights of a walk that begins again: from s, a share ``restart[s]`` of what leaves it goes to the starts.

    A state that nothing leaves sends a weight of ``restart[s]`` there. A restart may lead to the state itself.
    """
    leaving = adjacency.sum(axis=1)
    again = np.where(leaving > 0, restart * leaving, restart)
    return np.asarray((1.0 - restart)[:, None] * adjacency + np.outer(again, starts))


def walk_score(weights: Matrix, t: int) -> Matrix:
    """‖Wᵗe_s − π₀‖² for every s, π₀ where the walk is in the long run (any weights)."""
    after = np.linalg.matrix_power(walk(weights), t)
    return np.asarray(((after - stationary(weights)[:, None]) ** 2).sum(axis=0))


def laplacian(weights: Matrix) -> Matrix:
    """N = I − D^-½ M D^-½, D the weight that enters each state, M with columns from."""
    scale = 1.0 / np.sqrt(weights.sum(axis=0))
    return np.asarray(np.eye(len(weights)) - scale[:, None] * weights.T * scale[None, :])


def decisions(moves: Matrix, goals: tuple[int, ...]) -> float:
    """Mean over pairs of states of min(d(s, x), 1 + min_g d(g, x)), ``moves[s, x]`` being d."""
    return float(np.minimum(moves, 1.0 + moves[list(goals)].min(axis=0)).mean())


def best_medians(moves: Matrix, n_goals: int) -> float:
    """The fewest mean decisions of all sets of so many goals."""
    return min(decisions(moves, goals) for goals in itertools.combinations(range(len(moves)), n_goals))
