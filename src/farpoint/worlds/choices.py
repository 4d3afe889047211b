"""The table of choices: one row per choice, grouped by state.

``transitions`` has one row per *choice* and one column per state; row ``c`` is the distribution over next states when
choice ``c`` is taken. The choices of state ``s`` are the rows ``choice_ptr[s] … choice_ptr[s + 1] - 1``. In
``adjacency[s, s2]`` the first index is "from", the second "to".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from farpoint.compiling import compiled
from farpoint.errors import InvalidInput
from farpoint.worlds import arrays
from farpoint.worlds.arrays import read_only
from farpoint.worlds.floors import adjacent_states

# Weights whose relative difference is smaller count as equal: they are sums of a few probabilities, each exact to about
# 1e-16.
SAME_WEIGHT_RTOL = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceTable:
    """Choices of all states and where they lead; checked, read-only, on arrays of its own.

    Parameters
    ----------
    transitions : sparse matrix, shape (n_choices, n_states)
        Each row a distribution over next states.
    choice_ptr : array of int, shape (n_states + 1,)
        The row group of each state.
    actions : array of int, shape (n_choices,), optional
        The environment's own action of each choice. Default: 0, 1, 2, … within each state.
    weights : array of float, shape (n_choices,), optional
        The random walk takes a choice with probability proportional to its weight. Default: all 1.
    lengths : array of float, shape (n_choices,), optional
        How long each choice is, for shortest routes. Default: all 1.

    Examples
    --------
    >>> table = ChoiceTable(np.eye(2)[[1, 0]], np.arange(3))
    >>> table.n_choices, table.deterministic, table.adjacency().toarray()
    (2, True, array([[0., 1.],
           [1., 0.]]))
    """

    transitions: csr_array
    choice_ptr: NDArray[Any]
    actions: NDArray[np.int32] | None = None
    weights: NDArray[np.float64] | None = None
    lengths: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        transitions = arrays.canonical(arrays.read_sparse("transitions", self.transitions))
        n_choices, n_states = transitions.shape
        # Half the memory and one compiled version of every kernel, wherever 32 bits suffice.
        index_type = np.int32 if max(transitions.nnz, n_choices, n_states) < 2**31 else np.int64
        choice_ptr = arrays.whole_numbers("choice_ptr", self.choice_ptr, index_type)
        _check_structure(transitions, choice_ptr)
        if self.actions is None:
            actions = np.arange(n_choices) - np.repeat(choice_ptr[:-1], np.diff(choice_ptr))
        else:
            actions = arrays.entries_per_choice("actions", self.actions, n_choices, np.int32)
        checked: dict[str, Any] = {"choice_ptr": choice_ptr, "actions": actions.astype(np.int32, copy=False)}
        for what in ("weights", "lengths"):
            if getattr(self, what) is not None:
                checked[what] = arrays.entries_per_choice(what, getattr(self, what), n_choices, np.float64)
        object.__setattr__(self, "transitions", arrays.frozen(transitions, index_type))
        for what, value in checked.items():
            object.__setattr__(self, what, read_only(value))

    def __reduce__(self) -> tuple[Any, ...]:
        # Constructed again on arrival, so that a copy in another process is checked and read-only too.
        return ChoiceTable, tuple(getattr(self, item.name) for item in fields(self))

    @classmethod
    def of_cells(cls, cells: NDArray[np.bool_], wind: float = 0.0) -> ChoiceTable:
        """Return the moves between adjacent floor cells, in any number of dimensions.

        Actions are the columns of `adjacent_states`: in two dimensions up, left, right, down. Wind blows forward along
        axis 0.

        >>> ChoiceTable.of_cells(np.ones((1, 2), dtype=bool)).actions
        array([2, 1], dtype=int32)
        """
        next_state, n_axes = adjacent_states(cells), cells.ndim
        n_states = len(next_state)
        open_move = next_state >= 0
        targets = next_state[open_move]
        n_choices = targets.size
        choice_ptr = np.zeros(n_states + 1, dtype=np.int32 if n_choices < 2**31 else np.int64)
        np.cumsum(open_move.sum(axis=1), out=choice_ptr[1:])
        actions = np.broadcast_to(np.arange(2 * n_axes, dtype=np.int32), open_move.shape)[open_move]
        if wind == 0.0:
            del next_state, open_move
            entries = (np.ones(n_choices), targets, np.arange(n_choices + 1, dtype=choice_ptr.dtype))
            transitions = csr_array(tuple(map(read_only, entries)), shape=(n_choices, n_states))
        else:
            blown_to = np.repeat(next_state[:, -1], np.diff(choice_ptr))
            windy = np.flatnonzero(blown_to >= 0)
            kept = np.ones(n_choices)
            kept[windy] = 1.0 - wind
            rows = np.concatenate([np.arange(n_choices), windy])
            columns = np.concatenate([targets, blown_to[windy]])
            chances = np.concatenate([kept, np.full(windy.size, wind)])
            transitions = coo_array((chances, (rows, columns)), shape=(n_choices, n_states)).tocsr()
        # Read-only arrays are not copied.
        return cls(transitions, read_only(choice_ptr), read_only(actions))

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.transitions.shape[1])

    @property
    def n_choices(self) -> int:
        """Number of choices, over all states."""
        return int(self.transitions.shape[0])

    @property
    def deterministic(self) -> bool:
        """Whether every choice leads to one state only."""
        return bool(self.transitions.nnz == self.n_choices)

    def adjacency(self, *, self_loops: bool = False) -> csr_array:
        """Return Σ_c weight_c p(s2 | c) over the choices c of each state s, sorted by column within each row."""
        matrix = self.transitions
        data = matrix.data
        if self.weights is not None:
            data = data * np.repeat(self.weights, np.diff(matrix.indptr))
        # The entries of a state's choices lie side by side, so its row of the sum needs no product, only the joining of
        # equal columns; a deterministic grid has none to join and shares its arrays.
        shape = (self.n_states, self.n_states)
        joined = csr_array((data, matrix.indices, matrix.indptr[self.choice_ptr]), shape=shape)
        if not joined.has_canonical_format:
            joined = joined.copy()
            joined.sum_duplicates()
        if not self_loops and joined.diagonal().any():
            entries = joined.tocoo()
            off = entries.row != entries.col
            joined = csr_array((entries.data[off], (entries.row[off], entries.col[off])), shape=shape)
        return arrays.frozen(joined, self.choice_ptr.dtype)

    def __repr__(self) -> str:
        kind = "deterministic" if self.deterministic else "stochastic"
        return f"ChoiceTable({self.n_states} states, {self.n_choices} choices, {kind})"


def _check_structure(transitions: csr_array, choice_ptr: NDArray[Any]) -> None:
    """Fail unless the rows are distributions and the row groups fit them."""
    n_choices, n_states = transitions.shape
    if n_states == 0:
        raise InvalidInput("world must have at least one state; got none.")
    if choice_ptr.shape != (n_states + 1,) or choice_ptr[0] != 0 or choice_ptr[-1] != n_choices:
        raise InvalidInput(
            f"choice_ptr must run from 0 to {n_choices} in {n_states + 1} entries; got {choice_ptr.size} entries."
        )
    if (np.diff(choice_ptr) < 0).any():
        state = int(np.flatnonzero(np.diff(choice_ptr) < 0)[0])
        raise InvalidInput(f"choice_ptr must not fall; got {choice_ptr[state]}, {choice_ptr[state + 1]} at {state}.")
    if not np.isfinite(transitions.data).all() or (transitions.data < 0).any():
        raise InvalidInput(f"transitions must be probabilities; got {transitions.data.min():g} (negative or NaN).")
    # In rows of one entry each the entry is the sum; for a large map a vector of sums would be as large as the matrix.
    one_each = transitions.nnz == n_choices and bool((np.diff(transitions.indptr) == 1).all())
    sums = transitions.data if one_each else transitions.sum(axis=1)
    if sums.size and max(sums.max() - 1, 1 - sums.min()) > arrays.ROW_SUM_TOLERANCE:
        wrong = int(np.abs(sums - 1).argmax())
        raise InvalidInput(f"each row of transitions must sum to 1; got {sums[wrong]:.6g} in row {wrong}.")


def is_symmetric(matrix: csr_array) -> bool:
    """Return whether a square matrix with sorted rows equals its transpose, without forming the transpose.

    >>> is_symmetric(csr_array([[0.0, 1.0], [1.0 + 1e-15, 0.0]])), is_symmetric(csr_array([[0.0, 1.0], [0.0, 0.0]]))
    (True, False)
    """
    return bool(_count_one_way(matrix.indptr, matrix.indices, matrix.data, SAME_WEIGHT_RTOL) == 0)


@compiled(nogil=True, interpret_up_to=5_000)
def _count_one_way(indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[np.float64], rtol: float) -> int:
    """Return the number of entries without an equal entry in the transpose; rows are searched by bisection."""
    mismatches = 0
    for row in range(indptr.size - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            col = indices[entry]
            first, last = indptr[col], indptr[col + 1]
            while first < last:
                middle = (first + last) // 2
                if indices[middle] < row:
                    first = middle + 1
                else:
                    last = middle
            if (
                first == indptr[col + 1]
                or indices[first] != row
                or abs(data[first] - data[entry]) > rtol * max(abs(data[first]), abs(data[entry]))
            ):
                mismatches += 1
    return mismatches
