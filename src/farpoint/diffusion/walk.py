"""The lazy random walk of a world.

Convention
----------
A `Walk` holds weights with rows "from" and columns "to", as `World.adjacency` does. The paper's matrices act on column
vectors and have columns as "from": ``M[i, j]`` is the weight of the move from j to i, so M is the transpose of the
weights here, and W = ½ (I + M D⁻¹) has columns that sum to one. In a symmetric world the weight that leaves a state
equals the weight that enters it; elsewhere the walk divides by what leaves, and Algorithm 2 divides by what enters
(row sums of M).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from farpoint.diffusion.balance import FEW_STATES, stationary_weights
from farpoint.errors import InvalidInput, NotConnected, check_integer, listed
from farpoint.worlds import WorldLike, as_world
from farpoint.worlds.arrays import digest, whole_numbers
from farpoint.worlds.map_world import MapWorld

Vector = NDArray[np.float64]

# Writing out the restarts takes states × starts entries of 12 bytes: about 2.4 GB at this number.
_MOST_ENTRIES = 200_000_000


@dataclass(frozen=True, eq=False)
class Jumps:
    """Weights between all pairs of states, of low rank: from s to s2, Σ_j out[j, s] · into[j, s2].

    A world with episodes has one: from each state by its restart, to the starts (it may land on the state itself). It
    is never written out, for states × starts entries would be far more than the world has.
    """

    out: Vector
    into: Vector

    @property
    def rank(self) -> int:
        """How many products are added."""
        return len(self.out)

    def both_ways(self) -> Jumps:
        """Return the jumps and their reverse together."""
        return Jumps(np.concatenate([self.out, self.into]), np.concatenate([self.into, self.out]))


@dataclass(frozen=True, eq=False)
class Walk:
    """A lazy random walk: in each step it stays with probability ½, or takes a move with probability ∝ its weight.

    Attributes
    ----------
    moves : sparse matrix, shape (n_states, n_states)
        The weight of the move from each state (rows) to each other.
    symmetric : bool
        Whether every weight, jumps included, equals the weight back.
    jumps : Jumps or None
        Restarts.
    floor : array of bool or None
        The map, where the moves are those between adjacent cells of one and there are no jumps.
    name : str
    known_leaving, known_pi, known_pi_squared
        Of a walk that is part of a larger one (`partitions`): what the whole one has here.

    Examples
    --------
    >>> import farpoint as fp
    >>> walk = Walk.of(fp.grid((3,)))
    >>> walk.leaving, walk.pi
    (array([1., 2., 1.]), array([0.25, 0.5 , 0.25]))
    >>> walk.forward(np.array([1.0, 0.0, 0.0]))
    array([0.5, 0.5, 0. ])
    """

    moves: csr_array
    symmetric: bool
    jumps: Jumps | None = None
    floor: NDArray[np.bool_] | None = None
    name: str = "world"
    known_leaving: Vector | None = None
    known_pi: Vector | None = None
    known_pi_squared: float | None = None

    @classmethod
    def of(cls, world: WorldLike) -> Walk:
        """Return the walk of a world, which must have at least two states and be connected."""
        world = as_world(world)
        if world.n_states < 2:
            raise InvalidInput("world must have at least 2 states to have far points; got 1.")
        if world.restart is None or world.starts is None or not world.restart.any():
            _check_connected(world.component_sizes)
            if isinstance(world, MapWorld):
                from farpoint.diffusion.map_walk import MapWalk

                return MapWalk.on(world)
            return cls(world.adjacency, world.symmetric, floor=world.floor, name=world.name)
        leaving = np.asarray(world.adjacency.sum(axis=1))
        # The restart takes its share of the weight that leaves a state, so that the weights keep their size.
        out = np.where(leaving > 0, world.restart * leaving, world.restart)
        moves = csr_array(world.adjacency.multiply((1.0 - world.restart)[:, None]))
        moves.eliminate_zeros()
        walk = cls(moves, False, Jumps(out[None, :], world.starts[None, :]), name=world.name)
        _, component = connected_components(walk._graph, directed=True, connection="weak")
        _check_connected(tuple(np.sort(np.bincount(component[: world.n_states]))[::-1]))
        return walk

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.moves.shape[0])

    @cached_property
    def leaving(self) -> Vector:
        """The total weight that leaves each state."""
        if self.known_leaving is not None:
            return self.known_leaving
        total = np.asarray(self.moves.sum(axis=1), dtype=np.float64)
        return total if self.jumps is None else total + self.jumps.into.sum(axis=1) @ self.jumps.out

    @cached_property
    def entering(self) -> Vector:
        """The total weight that enters each state: the degrees D of Algorithm 2."""
        total = np.asarray(self.moves.sum(axis=0), dtype=np.float64)
        return total if self.jumps is None else total + self.jumps.out.sum(axis=1) @ self.jumps.into

    @cached_property
    def stay(self) -> Vector:
        """The probability of staying: ½, or 1 in a state that nothing leaves."""
        return np.where(self.leaving == 0, 1.0, 0.5)

    @cached_property
    def leave(self) -> Vector:
        """The probability per unit of weight of leaving: ½ over the weight that leaves."""
        return np.asarray(0.5 / np.where(self.leaving == 0, 1.0, self.leaving))

    def forward(self, mass: Vector) -> Vector:
        """Return W x: where the mass in each state (rows; any number of columns) is after one step."""
        if not isinstance(mass, np.ndarray) or len(mass.shape) not in (1, 2) or len(mass) != self.n_states:
            raise InvalidInput(f"mass must be an array of one row per state ({self.n_states}); got {mass!r}.")
        stay, leave = (side if mass.ndim == 1 else side[:, None] for side in (self.stay, self.leave))
        going = leave * mass
        after = stay * mass + self.moves.T @ going
        return np.asarray(after if self.jumps is None else after + self.jumps.into.T @ (self.jumps.out @ going))

    @cached_property
    def pi(self) -> Vector:
        """The stationary distribution π₀.

        In a symmetric world π₀(s) = d(s) / Σ d. Elsewhere it solves W π₀ = π₀ on the one set of states that the walk
        cannot leave, and is zero outside that set.
        """
        if self.known_pi is not None:
            return self.known_pi
        if self.symmetric:
            return np.asarray(self.leaving / self.leaving.sum())
        if self.stationary_problem:
            raise NotConnected(
                f"{self.stationary_problem} The stationary distribution depends on the start: use form='symmetrized'."
            )
        closed, component = self._closed_sets
        inside = np.flatnonzero(closed[component[: self.n_states]])
        pi = np.zeros(self.n_states)
        pi[inside] = _stationary_inside(self, inside)
        return pi

    @property
    def pi_error(self) -> float:
        """The relative error of π₀ beyond that of a sum: that of the eliminations in a small world."""
        small = not self.symmetric and self.known_pi is None and self.n_states <= FEW_STATES
        return self.n_states * 2.0**-53 if small else 0.0

    @cached_property
    def pi_squared(self) -> float:
        """Σ π₀²."""
        return float(self.pi @ self.pi) if self.known_pi_squared is None else self.known_pi_squared

    @cached_property
    def stationary_problem(self) -> str:
        """Why the walk has no stationary distribution of its own; empty where it has."""
        n_closed = 1 if self.symmetric else int(self._closed_sets[0].sum())
        return "" if n_closed == 1 else f"a walk must end in one set of states; got {n_closed}."

    @cached_property
    def polar_problem(self) -> str:
        """Why Algorithm 2 is not defined on this walk; empty where it is.

        It divides by the weight that enters each state, and it leaves out one eigenvalue 0, of which there are as many
        as there are sets of states that no move enters.
        """
        if self.symmetric:
            return ""
        if (self.entering == 0).any():
            state = int(np.flatnonzero(self.entering == 0)[0])
            return f"every state must be entered by some move for Algorithm 2; got none into state {state}."
        n_sources = self.source_sets[0].sum()
        return (
            "" if n_sources <= 1 else f"at most one set of states may have no way in for Algorithm 2; got {n_sources}."
        )

    @cached_property
    def _graph(self) -> coo_array:
        """The pattern of the weights, with one more node per jump: a state leads to it, and it leads on."""
        edges = self.moves.tocoo()
        rows, columns = [edges.row], [edges.col]
        rank = 0 if self.jumps is None else self.jumps.rank
        for number in range(rank):
            assert self.jumps is not None
            begins, ends = np.flatnonzero(self.jumps.out[number]), np.flatnonzero(self.jumps.into[number])
            rows += [begins, np.full(ends.size, self.n_states + number)]
            columns += [np.full(begins.size, self.n_states + number), ends]
        size = self.n_states + rank
        row, column = np.concatenate(rows), np.concatenate(columns)
        return coo_array((np.ones(row.size), (row, column)), shape=(size, size))

    @cached_property
    def _components(self) -> tuple[int, NDArray[Any]]:
        count, component = connected_components(self._graph, directed=True, connection="strong")
        return int(count), component

    @cached_property
    def _closed_sets(self) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Which sets of mutually reachable states cannot be left, and the set of each state."""
        count, component = self._components
        begins, ends = component[self._graph.row], component[self._graph.col]
        closed = np.ones(count, dtype=bool)
        closed[begins[begins != ends]] = False
        return closed, component

    @cached_property
    def source_sets(self) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Which sets of mutually reachable states are entered by no move from outside, and the set of each state."""
        count, component = self._components
        begins, ends = component[self._graph.row], component[self._graph.col]
        sources = np.ones(count, dtype=bool)
        sources[ends[begins != ends]] = False
        return sources, component[: self.n_states]

    def symmetrized(self) -> Walk:
        """Return the walk in which every weight is the sum of the weights in both directions."""
        if self.symmetric:
            return self
        moves = csr_array(self.moves + self.moves.T)
        moves.sort_indices()
        return Walk(moves, True, None if self.jumps is None else self.jumps.both_ways(), name=self.name)

    def with_edge(self, low: int, high: int) -> Walk:
        """Return the walk with one more edge of weight 1 between two states, in both directions."""
        low, high = (check_integer("state", state, 0, self.n_states - 1) for state in (low, high))
        edge = csr_array(([1.0, 1.0], ([low, high], [high, low])), shape=self.moves.shape)
        return replace(self, moves=csr_array(self.moves + edge), floor=None)

    def in_order(self, order: NDArray[Any]) -> Walk:
        """Return the same walk with the states numbered in another order."""
        order = whole_numbers("order", order, np.int64)
        if order.shape != (self.n_states,) or (np.sort(order) != np.arange(self.n_states)).any():
            raise InvalidInput(f"order must hold each of {self.n_states} states once; got {order!r}.")
        moves = csr_array(self.moves[order][:, order])
        moves.sort_indices()
        jumps = None if self.jumps is None else Jumps(self.jumps.out[:, order], self.jumps.into[:, order])
        return Walk(moves, self.symmetric, jumps, None, self.name, self.leaving[order], self.pi[order])

    def weights(self) -> csr_array:
        """Return all weights as one matrix, jumps written out; fail where that would be too many entries."""
        if self.jumps is None:
            return self.moves
        entries = sum(
            np.count_nonzero(out) * np.count_nonzero(into)
            for out, into in zip(self.jumps.out, self.jumps.into, strict=True)
        )
        if entries > _MOST_ENTRIES:
            raise InvalidInput(
                f"restarts must make at most {_MOST_ENTRIES:,} entries to be written out as a matrix; got {entries:,}. "
                "Use score, which keeps them apart."
            )
        return csr_array(self.moves + csr_array(self.jumps.out.T) @ csr_array(self.jumps.into))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all weights."""
        jumps = {} if self.jumps is None else {"out": self.jumps.out, "into": self.jumps.into}
        return digest(self.moves.indptr, self.moves.indices, self.moves.data, **jumps)


def _check_connected(sizes: tuple[int, ...]) -> None:
    if len(sizes) > 1:
        raise NotConnected(
            f"world must be connected; got {len(sizes)} components (sizes {listed(sizes)}). "
            "Build it with largest_component=True to keep the largest."
        )


def _stationary_inside(walk: Walk, inside: NDArray[np.int64]) -> Vector:
    """Return the stationary distribution on one closed set of mutually reachable states."""
    kept = csc_array((walk.moves.T @ diags_array(walk.leave)).tocsc()[:, inside])[inside]
    jumps = walk.jumps
    none = np.empty((0, inside.size))
    out, into = (none, none) if jumps is None else (jumps.out[:, inside] * walk.leave[inside], jumps.into[:, inside])
    return stationary_weights(kept, out, into)


def check_polar(walk: Walk) -> None:
    """Fail unless Algorithm 2 is defined."""
    if walk.polar_problem:
        raise InvalidInput(
            f"{walk.polar_problem} Use form='walk', or a world in which every state can be reached again."
        )
