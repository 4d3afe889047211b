"""The result of an aggregation: groups, the quotient world, and what follows from it for the states themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, diags_array

from farpoint.aggregation.chain import Chain, membership
from farpoint.diffusion import Walk
from farpoint.diffusion.geometry import distributions
from farpoint.errors import InvalidInput
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.worlds import World
from farpoint.worlds.arrays import read_only, real_numbers

# Distributions of so many representatives at a time.
_COLUMNS = 256
# Rounding of the chances of a group: a few additions.
_ROUNDING = 1e-9


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
        return World(
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
