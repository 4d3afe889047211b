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

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components

from farpoint.blas import one_blas_thread
from farpoint.diffusion.balance import ELIMINATION_LIMIT, stationary_weights
from farpoint.errors import InvalidInput, NotConnected, listed
from farpoint.worlds import World, WorldLike, as_world
from farpoint.worlds.arrays import digest
from farpoint.worlds.floors import Floor, row_pieces

if TYPE_CHECKING:
    from farpoint.diffusion.spectral import Spectrum

Vector = NDArray[np.float64]

# Up to here auto takes Algorithm 2; in larger worlds that are not symmetric (environments with thousands of states) the
# far points of the symmetrized walk are the better goals, and those of the walk's own form the worst: docs/choices.md.
AUTO_POLAR_LIMIT = 1_000
# Rounding is enlarged by this ratio of degrees.
MOST_UNEVEN = 1e12
# Below this a second singular value cannot be distinguished from the first, which is 0.
NEARLY_ZERO = 1e-10
# The graph of a map is kept up to this many states: it is small, and options need it too.
_KEPT_GRAPH_LIMIT = 5_000
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


class _KeptOfGraphs:
    """A property that is computed once in a walk on a matrix; on a floor each time, so that nothing large is kept."""

    def __init__(self, make: Callable[[Any], Vector]) -> None:
        self._make, self._name, self.__doc__ = make, make.__name__, make.__doc__

    def __get__(self, walk: Any, owner: Any = None) -> Vector:
        if walk is None:
            return self  # type: ignore[return-value]
        kept = walk.__dict__
        if self._name in kept:
            return kept[self._name]  # type: ignore[no-any-return]
        value = self._make(walk)
        if walk.matrix is not None:
            kept[self._name] = value
        return value

    def __set__(self, walk: Any, value: Any) -> None:
        raise AttributeError(f"{self._name} cannot be set.")


@dataclass(frozen=True, eq=False)
class Walk:
    """A lazy random walk: in each step it stays with probability ½, or takes a move with probability ∝ its weight.

    Attributes
    ----------
    matrix : sparse matrix, shape (n_states, n_states), or None
        The weight of the move from each state (rows) to each other; None of a walk that is given by a floor alone.
    symmetric : bool
        Whether every weight, jumps included, equals the weight back.
    jumps : Jumps or None
        Restarts.
    floor : Floor or None
        The map, where the moves are those between adjacent cells of one and there are no jumps. Without a matrix
        nothing of the size of the graph is kept: what is asked for is made of the floor, each time (see `written_out`).
    name : str

    Examples
    --------
    >>> import farpoint as fp
    >>> walk = Walk.of(fp.grid((3,)))
    >>> walk.leaving, walk.pi
    (array([1., 2., 1.]), array([0.25, 0.5 , 0.25]))
    >>> walk.forward(np.array([1.0, 0.0, 0.0]))
    array([0.5, 0.5, 0. ])
    """

    matrix: csr_array | None
    symmetric: bool
    jumps: Jumps | None = None
    floor: Floor | None = None
    name: str = "world"

    @classmethod
    def of(cls, world: WorldLike) -> Walk:
        """Return the walk of a world, which must have at least two states and be connected; each world has one."""
        return (world if isinstance(world, World) else as_world(world)).cached(_walk_of)

    @property
    def moves(self) -> csr_array:
        """The weight of the move from each state (rows) to each other."""
        if self.matrix is not None:
            return self.matrix
        return self._only_floor.adjacency()

    @cached_property
    def n_states(self) -> int:
        """Number of states."""
        return int(self._only_floor.n_states if self.matrix is None else self.matrix.shape[0])

    @property
    def n_moves(self) -> int:
        """Number of moves from a state to another."""
        return int(self._only_floor.n_moves if self.matrix is None else self.matrix.nnz)

    @property
    def _only_floor(self) -> Floor:
        assert self.floor is not None
        return self.floor

    @_KeptOfGraphs
    def leaving(self) -> Vector:
        """The total weight that leaves each state."""
        if self.matrix is None:
            return _degrees(self._only_floor)
        total = np.asarray(self.matrix.sum(axis=1), dtype=np.float64)
        return total if self.jumps is None else total + self.jumps.into.sum(axis=1) @ self.jumps.out

    @_KeptOfGraphs
    def entering(self) -> Vector:
        """The total weight that enters each state: the degrees D of Algorithm 2."""
        if self.matrix is None:
            return self.leaving
        total = np.asarray(self.matrix.sum(axis=0), dtype=np.float64)
        return total if self.jumps is None else total + self.jumps.out.sum(axis=1) @ self.jumps.into

    @_KeptOfGraphs
    def stay(self) -> Vector:
        """The probability of staying: ½, or 1 in a state that nothing leaves."""
        return np.where(self.leaving == 0, 1.0, 0.5)

    @_KeptOfGraphs
    def leave(self) -> Vector:
        """The probability per unit of weight of leaving: ½ over the weight that leaves."""
        leaving = self.leaving
        return np.asarray(0.5 / np.where(leaving == 0, 1.0, leaving))

    def forward(self, mass: Vector, *, jumps: bool = True) -> Vector:
        """Return W x: where the mass in each state (rows; any number of columns) is after one step.

        Without ``jumps``, where what did not jump is.
        """
        stay, leave = self._columns("mass", mass)
        going = leave * mass
        after = stay * mass + self.moves.T @ going
        if self.jumps is None or not jumps:
            return np.asarray(after)
        return np.asarray(after + self.jumps.into.T @ (self.jumps.out @ going))

    def backward(self, values: Vector) -> Vector:
        """Return Wᵀ x: the mean of the values (rows; any number of columns) after one step from each state.

        >>> import farpoint as fp
        >>> Walk.of(fp.grid((3,))).backward(np.array([1.0, 0.0, 0.0]))
        array([0.5 , 0.25, 0.  ])
        """
        stay, leave = self._columns("values", values)
        ahead = self.moves @ values
        if self.jumps is not None:
            ahead += self.jumps.out.T @ (self.jumps.into @ values)
        return np.asarray(stay * values + leave * ahead)

    def _columns(self, what: str, values: Vector) -> tuple[Vector, Vector]:
        """Return ``stay`` and ``leave`` in the shape of values of all states."""
        if not isinstance(values, np.ndarray) or len(values.shape) not in (1, 2) or len(values) != self.n_states:
            raise InvalidInput(f"{what} must be an array of one row per state ({self.n_states}); got {values!r}.")
        stay, leave = self.stay, self.leave
        return (stay, leave) if values.ndim == 1 else (stay[:, None], leave[:, None])

    @_KeptOfGraphs
    def pi(self) -> Vector:
        """The stationary distribution π₀.

        In a symmetric world π₀(s) = d(s) / Σ d. Elsewhere it solves W π₀ = π₀ on the one set of states that the walk
        cannot leave, and is zero outside that set.
        """
        if self.matrix is None:
            return np.asarray(self.leaving / self._only_floor.degree_sums[0])
        if self.symmetric:
            return np.asarray(self.leaving / self.leaving.sum())
        if self.stationary_problem:
            raise NotConnected(
                f"{self.stationary_problem} The stationary distribution depends on the start: use form='symmetrized'."
            )
        closed, _, component = self.sets
        inside = np.flatnonzero(closed[component])
        pi = np.zeros(self.n_states)
        pi[inside] = _stationary_inside(self, inside)
        return pi

    @property
    def pi_error(self) -> float:
        """The relative error of π₀ beyond that of a sum: that of the eliminations in a small world."""
        small = not self.symmetric and self.n_states <= ELIMINATION_LIMIT
        return self.n_states * 2.0**-53 if small else 0.0

    @cached_property
    def pi_squared(self) -> float:
        """Σ π₀²."""
        if self.matrix is None:
            total, squares = self._only_floor.degree_sums
            return squares / total**2
        return float(self.pi @ self.pi)

    @cached_property
    def stationary_problem(self) -> str:
        """Why the walk has no stationary distribution of its own; empty where it has."""
        n_closed = 1 if self.symmetric else int(self.sets[0].sum())
        return "" if n_closed == 1 else f"a walk must end in one set of states; got {n_closed}."

    @cached_property
    def polar_problem(self) -> str:
        """Why Algorithm 2 is not defined on this walk; empty where it is.

        It divides by the weight that enters each state, and it leaves out one eigenvalue 0; there is one for each set
        of states that no move enters.
        """
        if self.symmetric:
            return ""
        if (self.entering == 0).any():
            state = int(np.flatnonzero(self.entering == 0)[0])
            return f"every state must be entered by some move for Algorithm 2; got none into state {state}."
        n_sources = int(self.sets[1].sum())
        if n_sources > 1:
            return f"at most one set of states may have no way in for Algorithm 2; got {n_sources}."
        return ""

    @cached_property
    def default_form(self) -> tuple[str, str]:
        """The form of the score that ``form="auto"`` takes in this world, and why (empty in a symmetric world).

        Algorithm 2 must be defined, with all ω from −1 to 1, a second singular value that differs from 0, and degrees
        that a decomposition does not round away; the walk must have one stationary distribution.
        """
        if self.symmetric:
            return "walk", ""
        if self.n_states > AUTO_POLAR_LIMIT:
            return (
                "symmetrized",
                f"the better one in worlds of more than {AUTO_POLAR_LIMIT:,} states that are not symmetric",
            )
        problem = self.polar_problem or self._polar_loss()
        if not problem:
            return "polar", "Algorithm 2, because the world is not symmetric"
        try:
            _ = self.pi
        except NotConnected as error:
            return "symmetrized", f"because no other is defined ({problem} {error})"
        return "walk", f"Proposition 2 on the walk: {problem}"

    def _polar_loss(self) -> str:
        """Return why Algorithm 2 would lose all digits or explode, empty where it does not."""
        ratio = self.entering.max() / self.entering.min()
        if ratio > MOST_UNEVEN:
            return f"the weights that enter two states differ {ratio:.2g} times."
        nu = self.polar_spectrum.nu
        if nu[-1] > 4.0 + 1e-9:
            return f"Algorithm 2 has ω = {1.0 - nu[-1] / 2.0:.3g} here and would explode."
        return f"the world is nearly in two parts (singular value {nu[1]:.2g})." if nu[1] < NEARLY_ZERO else ""

    @cached_property
    def polar_spectrum(self) -> Spectrum:
        """The whole spectrum of Algorithm 2, which the default form of a small world is decided by."""
        from farpoint.diffusion.spectral import polar_spectrum

        return polar_spectrum(self)

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
    def sets(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[Any]]:
        """Which sets of mutually reachable states cannot be left, which cannot be entered, and the set of each."""
        count, component = connected_components(self._graph, directed=True, connection="strong")
        begins, ends = component[self._graph.row], component[self._graph.col]
        between = begins != ends
        closed, sources = np.ones((2, count), dtype=bool)
        closed[begins[between]] = False
        sources[ends[between]] = False
        return closed, sources, component[: self.n_states]

    def symmetrized(self) -> Walk:
        """Return the walk in which every weight is the sum of the weights in both directions."""
        if self.symmetric:
            return self
        moves = csr_array(self.moves + self.moves.T)
        moves.sort_indices()
        return Walk(moves, True, None if self.jumps is None else self.jumps.both_ways(), name=self.name)

    def written_out(self) -> Walk:
        """Return the walk with a matrix, which many steps of a walk on a map need; it lives as long as the result.

        >>> import farpoint as fp
        >>> walk = Walk.of(fp.open_room(100, 100))
        >>> walk.matrix is None, walk.written_out().matrix.nnz
        (True, 39600)
        """
        return self if self.matrix is not None else replace(self, matrix=self.moves)

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

    def steps(self) -> csr_array:
        """Return the probability of going from each state (rows) to each other in one step, jumps written out.

        >>> import farpoint as fp
        >>> Walk.of(fp.grid((3,))).steps().toarray()
        array([[0.5 , 0.5 , 0.  ],
               [0.25, 0.5 , 0.25],
               [0.  , 0.5 , 0.5 ]])
        """
        return csr_array(diags_array(self.stay) + diags_array(self.leave) @ self.weights())

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all weights, the same whether they are written out or not."""
        if self.matrix is None:
            return digest(*self._only_floor.moves_in_pieces())
        jumps = {} if self.jumps is None else {"out": self.jumps.out, "into": self.jumps.into}
        return digest(self.matrix.indptr, self.matrix.indices, self.matrix.data, **jumps)


def _walk_of(world: World) -> Walk:
    """Return the walk of a world."""
    if world.n_states < 2:
        raise InvalidInput("world must have at least 2 states to have far points; got 1.")
    if world.restart is None or world.starts is None or not world.restart.any():
        if isinstance(world.source, Floor):
            # Connected and symmetric, and its moves are all that it needs.
            moves = world.adjacency if world.n_states <= _KEPT_GRAPH_LIMIT else None
            return Walk(moves, True, floor=world.source, name=world.name)
        _check_connected(world.component_sizes)
        return Walk(world.adjacency, world.symmetric, floor=world.floor, name=world.name)
    leaving = np.asarray(world.adjacency.sum(axis=1))
    # The restart takes its share of the weight that leaves a state, so that the weights keep their size.
    out = np.where(leaving > 0, world.restart * leaving, world.restart)
    moves = csr_array(world.adjacency.multiply((1.0 - world.restart)[:, None]))
    moves.eliminate_zeros()
    walk = Walk(moves, False, Jumps(out[None, :], world.starts[None, :]), name=world.name)
    _, component = connected_components(walk._graph, directed=True, connection="weak")
    _check_connected(tuple(np.sort(np.bincount(component[: world.n_states]))[::-1]))
    return walk


def _degrees(floor: Floor) -> Vector:
    """Return the number of floor cells beside each."""
    degrees = np.empty(floor.n_states)
    cells = floor.cells
    for first, last in row_pieces(cells):
        of_rows = floor.degrees(first, last).reshape(last - first, -1)[:, :-1]
        degrees[floor.row_starts[first] : floor.row_starts[last]] = of_rows[cells[first:last]]
    return degrees


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


@one_blas_thread()
def lazy_walk(world: WorldLike) -> csr_array:
    """Return the matrix of the lazy random walk, W = ½ (I + M D⁻¹), columns "from".

    In a state without moves the walk stays. The columns of the result sum to one. Restarts are written out here, which
    takes states × starts entries.

    Paper: Algorithm 1 prints ½ (I − M D⁻¹).
    Here: plus, as in the text and the supplement, because only that is a walk.

    Returns
    -------
    sparse matrix, shape (n_states, n_states)

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.diffusion.lazy_walk(fp.grid((3,))).toarray()
    array([[0.5 , 0.25, 0.  ],
           [0.5 , 0.5 , 0.5 ],
           [0.  , 0.25, 0.5 ]])
    """
    return csr_array(Walk.of(world).steps().T)


@one_blas_thread()
def stationary(world: WorldLike) -> NDArray[np.float64]:
    """Return the stationary distribution π₀ of the lazy walk: the share of time a long walk spends in each state.

    In a symmetric world π₀(s) = d(s) / Σ d. Elsewhere it solves W π₀ = π₀ on the one set of states that the walk
    cannot leave, and is zero outside that set.

    Raises
    ------
    NotConnected
        If the walk can end in several sets of states, so that π₀ depends on the start.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.stationary(fp.grid((3,)))
    array([0.25, 0.5 , 0.25])
    """
    return Walk.of(world).pi


@one_blas_thread()
def normalized_laplacian(world: WorldLike) -> csr_array:
    """Return the normalized Laplacian, N = I − D^-½ M D^-½, with D the weight that enters each state.

    Paper: the supplement prints D^-½ (I − M) D^-½.
    Here: D^-½ (D − M) D^-½, because only that has the eigenvalues ν = 2 (1 − ω).

    Raises
    ------
    InvalidInput
        If some state is entered by no move (it would be divided by zero).

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.diffusion.normalized_laplacian(fp.grid((2,))).toarray()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    walk = Walk.of(world)
    check_polar(walk)
    scale = diags_array(walk.entering**-0.5)
    return csr_array(eye_array(walk.n_states) - scale @ walk.weights().T @ scale)
