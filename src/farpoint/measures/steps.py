"""How many steps it takes to get from anywhere to anywhere, exactly.

The agent of the paper's Table 1: at each decision it takes, with probability ½ each, a uniformly random primitive
choice or a uniformly random option of those that can start here, which it follows to its end; every primitive step
counts, and reaching the target ends it, also in the middle of an option. Where no option can start it takes a
primitive choice.

The expectation is a linear system. While an option is followed the agent moves by a matrix P_k that is zero in the
rows where the option ends; E_k = (I − P_k)⁻¹ counts the visits, so E_k[s, j] at the states j where it ends is where
it ends, and with F_k[s, g] = E_k[s, g] / E_k[g, g], the chance of passing g, a target g on the way changes visits and
ends by a term of rank one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from farpoint.domain import Domain
from farpoint.errors import InvalidInput, NotConnected
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world

# K × n × targets doubles are held at once.
_MOST_BYTES = 4 * 2**30


@dataclass(frozen=True, eq=False, repr=False)
class StepsBetweenStates:
    """Expected numbers of steps between states, and their summary over targets.

    Attributes
    ----------
    matrix : array, shape (n_states, n_targets)
        Expected steps from each state to each target.
    targets : array of int
    per_goal : array, shape (n_targets,)
        The mean over all start states, the target itself among them as 0.
    median, iqr, mean, std : float
        Of ``per_goal``: quantiles by Hazen's rule, standard deviation with n − 1.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.steps_between_states(fp.grid((3,)), None)
    StepsBetweenStates(median=2.33, iqr=1.25, mean=1.78, std=0.96 over 3 targets)
    """

    matrix: NDArray[np.float64]
    targets: NDArray[np.int64]

    @property
    def per_goal(self) -> NDArray[np.float64]:
        """Mean expected steps to each target, over all starts."""
        return np.asarray(self.matrix.mean(axis=0))

    @property
    def median(self) -> float:
        """Median over targets."""
        return float(np.quantile(self.per_goal, 0.5, method="hazen"))

    @property
    def iqr(self) -> float:
        """Interquartile range over targets, by Hazen's rule."""
        low, high = np.quantile(self.per_goal, [0.25, 0.75], method="hazen")
        return float(high - low)

    @property
    def mean(self) -> float:
        """Mean over targets."""
        return float(self.per_goal.mean())

    @property
    def std(self) -> float:
        """Standard deviation over targets, with n − 1."""
        return float(self.per_goal.std(ddof=1))

    def __repr__(self) -> str:
        summary = ", ".join(f"{name}={getattr(self, name):.2f}" for name in ("median", "iqr", "mean", "std"))
        return f"StepsBetweenStates({summary} over {self.targets.size} targets)"


def steps_between_states(
    domain: Domain, options: OptionSet | None = None, *, targets: ArrayLike | None = None
) -> StepsBetweenStates:
    """Return the exact expected number of steps from every state to every target, for an agent that acts at random.

    Parameters
    ----------
    domain : Domain
        A world in which every state can be reached from every other.
    options : OptionSet or None
        None, or an empty set: primitive choices only.
    targets : array of int, optional
        Default: every state.

    Returns
    -------
    StepsBetweenStates

    Raises
    ------
    NotConnected
        If some state cannot be reached from some other: the expectation would be infinite.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> with_options = fp.steps_between_states(world, fp.discover(world, t=4))
    >>> alone = fp.steps_between_states(world, None)
    >>> round(with_options.median), round(alone.median)
    (149, 487)
    """
    check_crossable(domain)
    check_same_world(domain, options)
    chosen = np.arange(domain.n_states) if targets is None else domain.check_states("targets", targets)
    primitive = primitive_moves(domain)
    if options is None or len(options) == 0:
        return StepsBetweenStates(_hitting_times(primitive.toarray(), chosen), chosen)
    _check_size(domain, options, chosen.size)
    return StepsBetweenStates(_with_options(domain, options, primitive, chosen), chosen)


def check_crossable(domain: Domain) -> None:
    """Fail unless every state can be reached from every other."""
    n_parts, part = connected_components(domain.adjacency, directed=True, connection="strong")
    if n_parts > 1:
        largest = int(np.bincount(part).max())
        raise NotConnected(
            f"every state must be reachable from every other; got {n_parts} parts, the largest of {largest} states."
        )


def primitive_moves(domain: Domain) -> csr_array:
    """Return the row-stochastic matrix of a uniformly random primitive choice, rows "from"."""
    uniform = 1.0 / np.diff(domain.choice_ptr)[domain.choice_states]
    return move_matrix(domain, uniform)


def move_matrix(domain: Domain, chances: NDArray[np.float64]) -> csr_array:
    """Return the matrix of moves, rows "from", when each choice is taken with the given chance in its own state."""
    pick = csr_array(
        (chances, np.arange(domain.n_choices), domain.choice_ptr), shape=(domain.n_states, domain.n_choices)
    )
    return csr_array(pick @ domain.transitions)


def _check_size(domain: Domain, options: OptionSet, n_targets: int) -> None:
    needed = 8 * len(options) * domain.n_states * n_targets
    if needed > _MOST_BYTES:
        fits = _MOST_BYTES // (8 * len(options) * domain.n_states)
        raise InvalidInput(
            f"the exact table must fit into {_MOST_BYTES >> 30} GiB; got {len(options)} options × {domain.n_states} "
            f"states × {n_targets} targets. Pass targets=, at most {fits} of them."
        )


def _hitting_times(moves: NDArray[np.float64], targets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return expected steps to each target of a chain of unit steps."""
    n_states = len(moves)
    times = np.zeros((n_states, targets.size))
    for column, target in enumerate(targets):
        others = np.delete(np.arange(n_states), target)
        system = np.eye(n_states - 1) - moves[np.ix_(others, others)]
        times[others, column] = np.linalg.solve(system, np.ones(n_states - 1))
    return times


def _with_options(
    domain: Domain, options: OptionSet, primitive: csr_array, targets: NDArray[np.int64]
) -> NDArray[np.float64]:
    n_states, n_options = domain.n_states, len(options)
    available = np.zeros(n_states)
    passing = np.empty((n_options, n_states, targets.size))  # F_k[s, g], 0 where option k cannot start
    ends_from_target = np.zeros((n_options, targets.size, n_states))  # where option k ends when followed from g
    steps_from_target = np.empty((n_options, targets.size))
    end = np.zeros((n_states, n_states))  # where a random option ends, summed over options
    steps = np.zeros(n_states)  # how long a random option takes, summed over options
    for k, option in enumerate(options):
        follow = move_matrix(domain, option.choice_probabilities())
        stops = np.asarray(follow.sum(axis=1)) < 0.5
        starts = option.initiation.astype(np.float64)
        endings = np.flatnonzero(stops)
        visits = splu(csc_array(eye_array(n_states, format="csc") - follow))
        columns = np.zeros((n_states, targets.size))
        columns[targets, np.arange(targets.size)] = 1.0
        to_targets = visits.solve(columns)
        unit = np.zeros((n_states, endings.size))
        unit[endings, np.arange(endings.size)] = 1.0
        to_ends = visits.solve(unit)
        lasting = visits.solve((~stops).astype(np.float64))

        available += starts
        passing[k] = starts[:, None] * to_targets / to_targets[targets, np.arange(targets.size)]
        ends_from_target[k][:, endings] = to_ends[targets]
        steps_from_target[k] = lasting[targets]
        end[:, endings] += starts[:, None] * to_ends
        steps += starts * lasting

    some = available > 0
    weight = np.where(some, 0.5 / np.maximum(available, 1.0), 0.0)  # of each option that can start here
    primitive_share = np.where(some, 0.5, 1.0)
    moves = diags_array(primitive_share) @ primitive
    moves = moves.toarray() + weight[:, None] * end
    cost = primitive_share + weight * steps

    times = np.zeros((n_states, targets.size))
    for column, target in enumerate(targets):
        caught = weight[:, None] * passing[:, :, column].T  # (n_states, n_options)
        others = np.delete(np.arange(n_states), target)
        system = np.eye(n_states) - moves + caught @ ends_from_target[:, column]
        right = cost - caught @ steps_from_target[:, column]
        times[others, column] = np.linalg.solve(system[np.ix_(others, others)], right[others])
    return times
