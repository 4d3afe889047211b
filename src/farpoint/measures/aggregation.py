"""State aggregation: fewer states that move alike, and what is computed on them carried back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from farpoint.blas import one_blas_thread
from farpoint.diffusion import Walk
from farpoint.diffusion.geometry import distributions
from farpoint.errors import InvalidInput, check_integer, check_positive
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.options.routes import primitive_moves
from farpoint.worlds import World, WorldLike, as_world
from farpoint.worlds.arrays import read_only, real_numbers

Vector = NDArray[np.float64]

_LONGEST = 1_000
# Distributions of this many states at a time.
_COLUMNS = 256
# Rounding of the chances of a group: a few additions.
_ROUNDING = 1e-9
# Chances that differ by less are the same: sums of a few, each exact to about 1e-16.
_SAME = 1e-11
# Random directions that the distributions are projected onto: distances are kept to about a tenth.
_DIRECTIONS = 128


@one_blas_thread()
def aggregate(
    world: WorldLike,
    *,
    n_groups: int | None = None,
    tolerance: float | None = None,
    t: int = 4,
    keep: ArrayLike | None = None,
    seed: int = 0,
) -> Aggregation:
    """Return the states in groups that move alike, with the world of the groups and what its answers are worth.

    With ``n_groups`` or ``tolerance``, states whose diffusion distance D_t(s, s′) = ‖Wᵗe_s − Wᵗe_s′‖ is small share a
    group, the idea that the paper leaves to future work. With neither, the groups are the coarsest ones between which
    the random walk is exactly a random walk (ordinary lumpability), the states in ``keep`` being told apart.

    Parameters
    ----------
    world : World
    n_groups : int, optional
        How many.
    tolerance : float, optional
        The largest distance of a state from the representative of its group.
    t : int
        Diffusion time.
    keep : array of int, optional
        States that are not joined with others: those that a task is about. Default: none, but without ``n_groups`` or
        ``tolerance`` the world's targets as one group, or its start, or state 0: otherwise one group would do.
    seed : int
        Of the random directions in which distances are compared first.

    Raises
    ------
    InvalidInput
        Both ``n_groups`` and ``tolerance``; fewer groups than states to keep.

    Examples
    --------
    >>> import networkx as nx, farpoint as fp
    >>> cube = fp.World.from_graph(nx.convert_node_labels_to_integers(nx.hypercube_graph(10)))
    >>> fp.aggregate(cube, keep=[0])                     # by Hamming weight
    Aggregation(1024 states of graph in 11 groups, exact)
    >>> fp.aggregate(fp.four_rooms(), n_groups=40).steps_to(0).estimate.shape
    (104,)
    """
    world = as_world(world)
    walk = Walk.of(world).written_out()
    t, seed = check_integer("t", t, 1, _LONGEST), check_integer("seed", seed, 0)
    if n_groups is not None and tolerance is not None:
        raise InvalidInput("n_groups must go without tolerance; got both. Drop one of them.")
    apart = _apart(world, keep, exact=n_groups is None and tolerance is None)
    if n_groups is None and tolerance is None:
        groups = exact_groups(Chain.of(world), apart, seed=seed)
        representatives = np.unique(groups, return_index=True)[1]
        return Aggregation(world, groups, representatives, t, exact_distances(walk, t, groups, representatives))
    if n_groups is not None:
        least = int(np.unique(apart).size)
        n_groups = check_integer("n_groups", n_groups, 1, world.n_states)
        if n_groups < least:
            raise InvalidInput(f"n_groups must be at least {least}, with the states to keep; got {n_groups}.")
    else:
        tolerance = check_positive("tolerance", tolerance)
    found = near_groups(walk, t, n_groups=n_groups, tolerance=tolerance, apart=apart, seed=seed)
    return Aggregation(world, found[0], found[1], t, found[2])


def _apart(world: World, keep: ArrayLike | None, *, exact: bool) -> NDArray[np.int64]:
    """Return a number for each state; states of different numbers are never joined."""
    apart = np.zeros(world.n_states, dtype=np.int64)
    if keep is not None:
        kept = np.unique(world.check_states("keep", keep))
        apart[kept] = np.arange(1, kept.size + 1)
    elif exact and world.targets is not None and world.targets.size:
        apart[world.targets] = 1
    elif exact:
        apart[0 if world.start is None else world.start] = 1
    # To end an episode is not like anything else.
    return np.where(world.terminal, apart + world.n_states, apart)


class Bounds(NamedTuple):
    """An estimate for every state, with what it is at least and at most.

    Examples
    --------
    >>> Bounds(np.array([2.0]), np.array([1.5]), np.array([3.0])).high
    array([3.])
    """

    estimate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Aggregation:
    """States in groups, and the quotient world, whose states are the groups; made by `aggregate`.

    Attributes
    ----------
    world : World
        The world whose states were aggregated.
    groups : array of int, shape (n_states,)
        The group of each state.
    representatives : array of int, shape (n_groups,)
        One state of each group.
    t : int
        The diffusion time of the distances.
    distances : array of float, shape (n_states,)
        The diffusion distance of each state from its representative.
    quotient : World
        One choice per group and group next to it, weighted by the moves between them, those within a group included.
    error : float
        How far the chances of any state to move between groups are from those of its group, in total (at most 2): 0 for
        an exact lumping.

    Examples
    --------
    >>> import farpoint as fp
    >>> halved = fp.aggregate(fp.open_room(3, 3), keep=[4])
    >>> halved
    Aggregation(9 states of open_room in 3 groups, exact)
    >>> halved.groups.reshape(3, 3)
    array([[0, 1, 0],
           [1, 2, 1],
           [0, 1, 0]])
    """

    world: World
    groups: NDArray[np.int64]
    representatives: NDArray[np.int64]
    t: int
    distances: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name in ("groups", "representatives", "distances"):
            object.__setattr__(self, name, read_only(np.array(getattr(self, name))))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.representatives.size)

    @cached_property
    def _chain(self) -> Chain:
        return Chain.of(self.world)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """What each state counts for in its group: its degree in a symmetric world, so that the quotient is one too."""
        if self.world.symmetric and self.world.restart is None:
            return np.asarray(self.world.to_adjacency(self_loops=True).sum(axis=1))
        return np.ones(self.world.n_states)

    @cached_property
    def _between(self) -> Chain:
        return self._chain.between(self.groups, self._weights)

    @cached_property
    def error(self) -> float:
        """The largest total difference between a state's chances and those of its group."""
        member = membership(self.groups)
        difference = csr_array(self._chain.moves @ member - member @ self._between.moves)
        total = np.asarray(np.abs(difference).sum(axis=1)).ravel()
        total += np.abs(self._chain.restart - self._between.restart[self.groups])
        worst = float(total.max())
        return worst if worst > _ROUNDING else 0.0

    @property
    def exact(self) -> bool:
        """Whether the quotient is an exact lumping."""
        return self.error == 0.0

    @cached_property
    def quotient(self) -> World:
        """The world whose states are the groups."""
        world, between = self.world, self._between
        total = np.bincount(self.groups, self._weights)
        # The restart is not a move: what is left of a row is divided by the rest, as `World` expects it.
        weights = csr_array(diags_array(total) @ between.moves)
        weights.eliminate_zeros()
        weights.sort_indices()
        n_choices = weights.indices.size
        transitions = csr_array(
            (np.ones(n_choices), weights.indices, np.arange(n_choices + 1)), shape=(n_choices, self.n_groups)
        )
        positions = None
        if world.positions is not None:
            counts = np.bincount(self.groups)
            places = np.asarray(world.positions, dtype=np.float64)
            positions = np.stack([np.bincount(self.groups, column) / counts for column in places.T], axis=1)
        return World.from_matrix(
            transitions, weights.indptr, weights=weights.data, positions=positions,
            start=None if world.start is None else int(self.groups[world.start]),
            targets=None if world.targets is None else np.unique(self.groups[world.targets]),
            name=f"{world.name}, {self.n_groups} groups",
            restart=None if world.restart is None else between.restart,
            starts=None if world.starts is None else between.starts,
        )  # fmt: skip

    def lift(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return for every state the value of its group: a score, a value, a number of steps, computed on the quotient.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.aggregate(fp.grid((5,)), keep=[2]).lift([0.0, 1.0, 2.0])
        array([0., 1., 2., 1., 0.])
        """
        array = real_numbers("values", values)
        if array.shape != (self.n_groups,):
            raise InvalidInput(f"values must have one entry per group ({self.n_groups}); got shape {array.shape}.")
        return np.asarray(array[self.groups])

    def lift_options(self, options: OptionSet) -> OptionSet:
        """Return options of the quotient as options of the world: each to the representative of its goal.

        Examples
        --------
        >>> import farpoint as fp
        >>> rooms = fp.aggregate(fp.four_rooms(), n_groups=30)
        >>> rooms.lift_options(fp.discover(rooms.quotient, "random", n_options=4))
        OptionSet(4 random options on four_rooms)
        """
        check_same_world(self.quotient, options)
        if options.climbs is not None or options.initiation is not None or options.regions is not None:
            raise InvalidInput(f"options must lead to goals from everywhere to be lifted; got {options!r}.")
        return OptionSet(self.world, self.representatives[options.goals], options.method, {"aggregated": self.n_groups})

    def score(self) -> Bounds:
        """Return f_t of every state as that of its representative, with what it is at least and at most.

        √f_t(s) is a distance, ‖Wᵗe_s − π₀‖, so it is off by at most the diffusion distance D_t of the two states:
        f_t(s) lies between (√f − D)² and (√f + D)².

        Examples
        --------
        >>> import farpoint as fp
        >>> world = fp.four_rooms()
        >>> found = fp.aggregate(world, tolerance=0.05).score()
        >>> exact = fp.score(world, t=4)
        >>> bool(((found.low <= exact + 1e-12) & (exact <= found.high + 1e-12)).all())
        True
        """
        pi = Walk.of(self.world).pi
        roots = np.empty(self.n_groups)
        for first in range(0, self.n_groups, _COLUMNS):
            some = self.representatives[first : first + _COLUMNS]
            roots[first : first + _COLUMNS] = np.linalg.norm(
                distributions(self.world, self.t, some) - pi[:, None], axis=0
            )
        own = roots[self.groups]
        low, high = np.maximum(own - self.distances, 0.0), own + self.distances
        return Bounds(own**2, low**2, high**2)

    def steps_to(self, target: int) -> Bounds:
        """Return the expected steps of a random walk from every state to the group of one, computed on the quotient.

        With ĥ the steps in the quotient, h the steps in the world, and ρ the largest residual of ĥ in the equations of
        the world, ``|h − ĥ|`` ≤ ρ h, so that h lies between ĥ / (1 + ρ) and ĥ / (1 − ρ) (inf if ρ ≥ 1).

        Examples
        --------
        >>> import farpoint as fp
        >>> found = fp.aggregate(fp.grid((5,)), keep=[2]).steps_to(2)
        >>> found.estimate.round(9), bool((found.low == found.high).all())
        (array([4., 3., 0., 3., 4.]), True)
        """
        state = int(self.world.check_states("target", [target])[0])
        here = np.arange(self.n_groups) == self.groups[state]
        steps = self._between.steps_to(here)[self.groups]
        if not np.isfinite(steps).all():
            return Bounds(steps, np.where(here[self.groups], 0.0, 1.0), steps)
        outside = ~here[self.groups]
        residual = np.abs(1.0 + self._chain.after(steps) - steps)[outside]
        share = float(residual.max(initial=0.0))
        share = share if share > _ROUNDING else 0.0
        high = steps / (1.0 - share) if share < 1.0 else np.where(outside, np.inf, 0.0)
        return Bounds(steps, steps / (1.0 + share), high)

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"error {self.error:.3g}"
        return f"Aggregation({self.world.n_states} states of {self.world.name} in {self.n_groups} groups, {how})"


def exact_groups(chain: Chain, first: NDArray[np.int64], *, seed: int = 0) -> NDArray[np.int64]:
    """Return the coarsest groups within ``first`` between which the chain is a chain (ordinary lumpability).

    States of a group that reach another group with different chances are taken apart, until none are. Chances to all
    groups are compared at once, by their products with random numbers, one per group.

    Examples
    --------
    >>> import farpoint as fp
    >>> exact_groups(Chain.of(fp.grid((5,))), np.array([0, 0, 1, 0, 0]))       # the middle apart
    array([0, 1, 2, 1, 0])
    """
    rng = np.random.default_rng(seed)
    groups = _renumbered(first)
    while True:
        n_groups = int(groups.max()) + 1
        chances = chain.after(rng.standard_normal(n_groups)[groups])
        finer = _renumbered(_split(groups, chances))
        if int(finer.max()) + 1 == n_groups:
            return finer
        groups = finer


def _split(groups: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return groups that differ where the group or, by more than rounding, the value differs."""
    order = np.lexsort((values, groups))
    new = np.diff(groups[order]) != 0
    new |= np.diff(values[order]) > _SAME * max(1.0, float(np.abs(values).max()))
    labels = np.empty(groups.size, dtype=np.int64)
    labels[order] = np.concatenate([[0], np.cumsum(new)])
    return labels


def _renumbered(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the same groups, numbered in the order of their first states."""
    _, first, labels = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    return np.asarray(rank[labels])


def near_groups(
    walk: Walk, t: int, *, n_groups: int | None, tolerance: float | None, apart: NDArray[np.int64], seed: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the group of each state, the representative of each group, and each state's distance to its own.

    Representatives are taken one by one, each the state farthest from those before it, among states with the same
    number in ``apart``, until there are ``n_groups`` or, by exact distances, none is farther than ``tolerance``. Which
    is farthest is judged in a random projection of the distributions Wᵗe_s, so that no n × n matrix is needed.

    Examples
    --------
    >>> import farpoint as fp
    >>> groups, _, distances = near_groups(
    ...     Walk.of(fp.grid((6,))), 4, n_groups=3, tolerance=None, apart=np.zeros(6, dtype=np.int64)
    ... )
    >>> groups
    array([0, 0, 2, 2, 1, 1])
    """
    points = _projected(walk, t, seed)
    n_states = walk.n_states
    nearest, groups = np.full(n_states, np.inf), np.full(n_states, -1, dtype=np.int64)
    chosen: list[int] = []

    def choose(state: int) -> None:
        distances = np.where(apart == apart[state], np.square(points - points[state]).sum(axis=1), np.inf)
        distances[state] = -1.0  # a representative stays in its own group, whatever rounding says
        nearer = distances < nearest
        nearest[nearer], groups[nearer] = distances[nearer], len(chosen)
        chosen.append(state)

    for number in np.unique(apart):
        choose(int(np.flatnonzero(apart == number)[0]))
    if n_groups is not None:
        while len(chosen) < n_groups:
            choose(int(nearest.argmax()))
        representatives = np.array(chosen)
        return groups, representatives, exact_distances(walk, t, groups, representatives)
    assert tolerance is not None
    while True:
        # By the projection first; then by exact distances, of which it may be off by a tenth.
        while nearest.max() > tolerance**2:
            choose(int(nearest.argmax()))
        representatives = np.array(chosen)
        distances = exact_distances(walk, t, groups, representatives)
        too_far = np.flatnonzero(distances > tolerance)
        if too_far.size == 0:
            return groups, representatives, distances
        nearest[too_far] = np.inf
        choose(int(too_far[distances[too_far].argmax()]))


def _projected(walk: Walk, t: int, seed: int) -> NDArray[np.float64]:
    """Return Ωᵀ Wᵗ e_s of every state s (rows): the transposed walk of t steps, applied to random columns."""
    n_states = walk.n_states
    width = min(_DIRECTIONS, n_states)
    columns = np.random.default_rng(seed).standard_normal((n_states, width)) / np.sqrt(width)
    for _ in range(t):
        columns = walk.backward(columns)
    return np.asarray(columns)


def exact_distances(
    walk: Walk, t: int, groups: NDArray[np.int64], representatives: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return ‖Wᵗ(e_s − e_r)‖ of every state s and the representative r of its group: the diffusion distance.

    Sparse, a few states at a time: t steps reach only what is at most t moves away.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.grid((4,))
    >>> exact_distances(Walk.of(world), 1, np.zeros(4, dtype=np.int64), np.array([0])).round(3)
    array([0.   , 0.354, 0.791, 1.   ])
    """
    n_states = walk.n_states
    step = None if walk.jumps is not None else csr_array(walk.steps().T)
    distances = np.zeros(n_states)
    own = representatives[groups]
    moved = np.flatnonzero(own != np.arange(n_states))
    for first in range(0, moved.size, _COLUMNS):
        states = moved[first : first + _COLUMNS]
        count = np.arange(states.size)
        entries = (np.repeat([1.0, -1.0], states.size), (np.concatenate([states, own[states]]), np.tile(count, 2)))
        columns = csc_array(entries, shape=(n_states, states.size))
        if step is not None:
            for _ in range(t):
                columns = step @ columns
            distances[states] = np.sqrt(np.asarray(columns.multiply(columns).sum(axis=0)).ravel())
        else:
            dense = columns.toarray()
            for _ in range(t):
                dense = walk.forward(dense)
            distances[states] = np.linalg.norm(dense, axis=0)
    return distances


@dataclass(frozen=True, eq=False)
class Chain:
    """A Markov chain: from s to s2 with probability moves[s, s2] + restart[s] · starts[s2].

    Examples
    --------
    >>> import farpoint as fp
    >>> Chain.of(fp.grid((3,))).steps_to(np.array([True, False, False]))
    array([0., 3., 4.])
    """

    moves: csr_array
    restart: Vector
    starts: Vector

    @classmethod
    def of(cls, world: World) -> Chain:
        """Return the chain of a world; a state that nothing leaves is never left."""
        moves = primitive_moves(world)
        none = np.zeros(world.n_states)
        restart = none if world.restart is None else np.asarray(world.restart)
        starts = none if world.starts is None else np.asarray(world.starts)
        stuck = np.asarray(moves.sum(axis=1)) == 0.0
        moves = csr_array(moves + diags_array(stuck.astype(np.float64)))
        return cls(csr_array(diags_array(1.0 - restart) @ moves), restart, starts)

    def after(self, values: Vector) -> Vector:
        """Return the expected value after one step."""
        return np.asarray(self.moves @ values + self.restart * (self.starts @ values))

    def between(self, groups: NDArray[np.int64], weights: Vector) -> Chain:
        """Return the chain between groups: the rows of a group are averaged by the weights of its states."""
        n_groups = int(groups.max()) + 1
        member = membership(groups)
        total = np.bincount(groups, weights, n_groups)
        mean = csr_array(diags_array(1.0 / total) @ member.T @ diags_array(weights))
        return Chain(
            csr_array(mean @ self.moves @ member),
            np.asarray(mean @ self.restart),
            np.asarray(self.starts @ member),
        )

    def steps_to(self, targets: NDArray[np.bool_]) -> Vector:
        """Return the expected steps from every state to the first of the targets; inf where that is not certain."""
        others = np.flatnonzero(~targets)
        steps = np.zeros(targets.size)
        if others.size == 0:
            return steps
        system = csc_array(eye_array(others.size) - self.moves[others][:, others])
        try:
            factors = splu(system)
            plain, again = factors.solve(np.ones(others.size)), factors.solve(self.restart[others])
        except RuntimeError:  # singular: a state from which no target is ever reached
            return np.where(targets, 0.0, np.inf)
        share = self.starts[others]
        left = 1.0 - share @ again
        solved = plain + again * ((share @ plain) / left if left > 0.0 else np.inf) if share.any() else plain
        steps[others] = solved
        fine = np.isfinite(steps).all() and (steps >= 0.0).all()
        return steps if fine else np.where(targets, 0.0, np.inf)


def membership(groups: NDArray[np.int64]) -> csr_array:
    """Return the matrix of states × groups with a 1 where a state belongs to a group.

    >>> membership(np.array([0, 1, 0])).toarray()
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    n_states = groups.size
    return csr_array((np.ones(n_states), groups, np.arange(n_states + 1)), shape=(n_states, int(groups.max()) + 1))
