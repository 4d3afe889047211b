"""What happens to an agent while it follows one option, on worlds of any size.

While it follows option k the agent moves by a matrix P_k that is zero in the rows where the option ends. With
E_k = (I − P_k)⁻¹, the row vector x E_k is how often each state is visited when x is where the option starts; at the
states where it ends that is where it ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from farpoint.compiling import compiled
from farpoint.options.option import Option
from farpoint.options.routes import move_matrix

# A chance of still being on the way that no double can tell from none, next to 1.
_ARRIVED = 1e-16


@dataclass(frozen=True, eq=False)
class Following:
    """One option, ready to be followed by many masses at once.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> following = Following(fp.discover(fp.grid((4,)))[0])      # an option to state 0
    >>> following.stops
    array([ True, False, False, False])
    >>> following.visits(np.array([[0.0], [0.0], [1.0], [1.0]])).T
    array([[2., 2., 2., 1.]])
    """

    option: Option

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """The probability of every choice, in its own state."""
        return self.option.choice_probabilities()

    @cached_property
    def stops(self) -> NDArray[np.bool_]:
        """Whether the option ends in each state."""
        world = self.option.world
        taken = world.choice_states[self.chances > 0.0]
        return np.asarray(np.bincount(taken, minlength=world.n_states) == 0)

    @cached_property
    def starts(self) -> NDArray[np.float64]:
        """1 where the option can start, 0 elsewhere."""
        return self.option.initiation.astype(np.float64)

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """The states in which it ends, of those that it comes to from somewhere it can start."""
        came = self.visits(self.starts[:, None])[:, 0]
        return np.flatnonzero(self.stops & (came > 0.0))

    def visits(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Eᵀ mass: how often each state is visited (rows) when the columns of ``mass`` are where it starts."""
        world = self.option.world
        if not world.deterministic:
            return np.ascontiguousarray(self._factors.solve(mass, "T"))
        visited = np.array(mass, order="C")
        push_down(visited, self._order, world.choice_ptr, world.transitions.indices, self.chances)
        return visited

    def end_matrix(self) -> csr_array:
        """Return the chances with which it ends in each state (columns) when followed from each state (rows).

        Sparse, by squaring the moves until all have arrived: for options that end near where they start.
        """
        stops = self.stops
        moves = csr_array(move_matrix(self.option.world, self.chances) + diags_array(stops.astype(np.float64)))
        underway = (~stops).astype(np.float64)
        while np.asarray(moves @ underway).max() > _ARRIVED:
            moves = csr_array(moves @ moves)
        ends = csr_array(moves @ diags_array(stops.astype(np.float64)))
        ends.eliminate_zeros()
        return ends

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        going = np.flatnonzero(~self.stops)
        return np.asarray(going[np.argsort(-self.option.potential[going], kind="stable")])

    @cached_property
    def _factors(self) -> Any:
        moves = move_matrix(self.option.world, self.chances)
        return factored(csc_array(eye_array(moves.shape[0], format="csc") - moves))


def factored(system: csc_array) -> Any:
    """Return the sparse factors of I minus a matrix of moves.

    Such a system is diagonally dominant by rows, or nearly singular whatever one does: its diagonal needs no pivoting,
    and an order of elimination made for its symmetric pattern fills in least.
    """
    return splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


@compiled(nogil=True, interpret_up_to=25_000)
def push_down(
    mass: NDArray[np.float64],
    order: NDArray[np.int64],
    choice_ptr: NDArray[Any],
    next_state: NDArray[Any],
    chances: NDArray[np.float64],
) -> None:
    """Turn the mass that starts in each state (rows) into the mass that ever visits it, in place, a column at a time.

    ``order`` holds the states from the highest potential down, so that all that can arrive in a state has arrived
    before it is passed on.
    """
    n_columns = mass.shape[1]
    for state in order:
        for choice in range(choice_ptr[state], choice_ptr[state + 1]):
            chance = chances[choice]
            if chance > 0.0:
                after = next_state[choice]
                for column in range(n_columns):
                    mass[after, column] += chance * mass[state, column]
