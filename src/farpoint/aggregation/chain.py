"""The chain of random primitive choices of a world, its episodes included, between states or groups of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from farpoint.options.moves import primitive_moves
from farpoint.worlds import World

Vector = NDArray[np.float64]


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
