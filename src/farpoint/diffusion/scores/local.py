"""The local solver: the walk of every state is followed inside its own t-step neighborhood, block by block.

Nothing but the neighborhood and three sums over the whole world enters a score, so blocks of states can be computed
anywhere, in any order, and be kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from farpoint.diffusion.scores.bounds import loss_bound, product_bound, rounding_bound, worth_stating
from farpoint.diffusion.scores.lattice import LatticeScores, lattice_scores
from farpoint.diffusion.walk import Walk
from farpoint.engines import each_as_done
from farpoint.errors import InvalidInput
from farpoint.files import PieceFolder

Vector = NDArray[np.float64]
# The scores of some states, and bounds on their errors where a tolerance was given.
BlockResult = tuple[Vector, Vector | None]
Progress = Callable[[int, int], None]

_STATES_PER_BLOCK = 1 << 16
# A block should not take longer than this, for it cannot be interrupted; a single state that does is refused.
_BLOCK_SECONDS = 10.0
_LONGEST_STATE_SECONDS = 600.0
# Up to here Wᵗ is a dense matrix that is squared log₂ t times, where that is less work than t steps from every state.
_DENSE_STATES = 2_500
_SECONDS_PER_PRODUCT = 2e-10
# Of a sample of moves more than this share must lead far away before the states are put into another order.
_SCATTERED = 0.5
_FAR = 1_000
_WORTH_ORDERING = 50_000
# A cutoff ε loses about this many ε per step on a plane, and a loss δ costs about 4 δ of the score.
_LOSS_PER_STEP = 25.0
_FINER = 8.0
# Seconds of one core: an edge update on a graph, a sum of the lattice kernel.
_SECONDS_PER_MOVE = 2.5e-9
_SECONDS_PER_SUM = 0.5e-9
# t distributions over all states are kept for a walk with jumps.
_MOST_JUMP_BYTES = 4 * 2**30


@dataclass(frozen=True, eq=False)
class LocalScores:
    """Scores to be computed by following walks: of which walk, how long, and to which relative error (None: exact).

    Examples
    --------
    >>> import farpoint as fp
    >>> plan = LocalScores.of(Walk.of(fp.open_room(3, 3)), t=4)
    >>> scores, bounds = plan.compute()
    >>> scores.reshape(3, 3)[0].round(3), bounds
    (array([0.048, 0.032, 0.048]), None)
    """

    walk: Walk
    t: int
    tolerance: float | None
    lattice: LatticeScores | None

    @classmethod
    def of(cls, walk: Walk, t: int, tolerance: float | None = None) -> LocalScores:
        """Return the plan for one score."""
        return cls(walk, t, tolerance, lattice_scores(walk.floor, t, tolerance))

    def with_tolerance(self, tolerance: float) -> LocalScores:
        """Return the plan for the same score to a relative error."""
        return LocalScores.of(self.walk, self.t, tolerance)

    @property
    def seconds(self) -> float:
        """Roughly how long this takes on one core."""
        if self.walk.jumps is not None and not JumpTables.fit(self.walk, self.t):
            return float("inf")
        if self.lattice is not None:
            return _SECONDS_PER_SUM * self.lattice.cost
        from farpoint.diffusion.scores.walk_kernels import moves_per_state

        n_states, moves = self.walk.n_states, self.walk.moves
        samples = np.linspace(0, n_states - 1, num=min(32, n_states)).astype(np.int64)
        # With a tolerance the walk is followed about c √k far, as if it were that many steps long.
        far = self.t if self.tolerance is None else min(self.t, int(np.ceil(2.5 * np.sqrt(self.t))))
        updates = float(moves_per_state(moves.indptr, moves.indices, samples, far)) * self.t / far
        # What jumped in each step may jump again in each later one.
        jumped = 0 if self.walk.jumps is None else 1.5 * (self.walk.jumps.rank * float(self.t)) ** 2
        return _SECONDS_PER_MOVE * n_states * (updates + jumped)

    def compute(
        self,
        *,
        checkpoint: str | PathLike[str] | None = None,
        progress: Progress | None = None,
        n_jobs: int = -1,
    ) -> BlockResult:
        """Return the scores of all states, and bounds on their errors where there is a tolerance."""
        if self.lattice is not None:
            blocks = self.lattice.blocks()
            sizes = self.lattice.sizes(blocks)
            return self._in_blocks(LatticeScores.block, self.lattice, blocks, sizes, checkpoint, progress, n_jobs)
        n_states, seconds = self.walk.n_states, self.seconds
        # With a tolerance only what would take long: the bound on steps is the better one.
        allowed = 0.0 if self.tolerance is None else _BLOCK_SECONDS
        if allowed < seconds and squaring_is_cheaper(self.walk, seconds, self.t):
            return self._squared()
        JumpTables.check(self.walk, self.t)
        if seconds / n_states > _LONGEST_STATE_SECONDS:
            raise InvalidInput(
                f"t must be small enough to be followed; got {self.t}, which would take about {seconds / n_states:.0f} "
                "s per state. Use solver='spectral' or 'truncated' in a symmetric world."
            )
        order = _better_order(self.walk.moves)
        walk = self.walk if order is None else self.walk.in_order(order)
        # Computed once, here, and not by every worker.
        plan = StateScores(walk, self.t, self.tolerance).prepared()
        size = int(np.clip(_BLOCK_SECONDS * n_states / max(seconds, 1e-9), 1, _STATES_PER_BLOCK))
        blocks = [(first, min(first + size, n_states)) for first in range(0, n_states, size)]
        sizes = [last - first for first, last in blocks]
        scores, bounds = self._in_blocks(StateScores.block, plan, blocks, sizes, checkpoint, progress, n_jobs)
        if order is not None:
            back = np.empty_like(order)
            back[order] = np.arange(order.size, dtype=order.dtype)
            scores, bounds = scores[back], None if bounds is None else bounds[back]
        return scores, bounds

    def _squared(self) -> BlockResult:
        scores = dense_scores(self.walk, self.t)
        bounds = product_bound(scores, self.t, self.walk.n_states, self.walk.pi_error)
        return scores, bounds if self.tolerance is not None else worth_stating(bounds, scores, self.walk.pi_squared)

    def _in_blocks(
        self,
        function: Callable[[Any, tuple[int, int]], BlockResult],
        shared: Any,
        blocks: list[tuple[int, int]],
        sizes: list[int],
        checkpoint: str | PathLike[str] | None,
        progress: Progress | None,
        n_jobs: int,
    ) -> BlockResult:
        about = {} if checkpoint is None else self._about()
        folder = PieceFolder(checkpoint, "score", about)
        names = ["scores"] if self.tolerance is None else ["scores", "bounds"]
        # Filled as blocks finish, so that nothing is there twice.
        ends = np.concatenate([[0], np.cumsum(sizes)])
        together = {name: np.empty(ends[-1]) for name in names}

        def fill(number: int, piece: dict[str, Vector]) -> None:
            for name in names:
                together[name][ends[number] : ends[number + 1]] = piece[name]

        missing = []
        for number, size in enumerate(sizes):
            piece = _usable(folder.load(_block_name(blocks[number])), names, size)
            if piece is None:
                missing.append(number)
            else:
                fill(number, piece)
        label = "score" if progress is None else None
        results = each_as_done(function, shared, [blocks[number] for number in missing], n_jobs=n_jobs, label=label)
        for done, (place, (scores, bounds)) in enumerate(results, start=1):
            piece = {"scores": scores} if bounds is None else {"scores": scores, "bounds": bounds}
            fill(missing[place], piece)
            folder.save(_block_name(blocks[missing[place]]), piece)
            if progress is not None:
                progress(len(blocks) - len(missing) + done, len(blocks))
        return together["scores"], together.get("bounds")

    def _about(self) -> dict[str, Any]:
        return {"world": self.walk.fingerprint, "t": self.t, "tolerance": self.tolerance}


def dense_scores(walk: Walk, t: int) -> Vector:
    """Return ‖Wᵗe_s − π₀‖² of every state from the dense matrix Wᵗ, squared log₂ t times.

    Examples
    --------
    >>> import farpoint as fp
    >>> dense_scores(Walk.of(fp.grid((3,))), 2).round(4)
    array([0.0312, 0.    , 0.0312])
    """
    return np.asarray((dense_power(walk, t) ** 2).sum(axis=0))


def dense_power(walk: Walk, t: int) -> Vector:
    """Return Wᵗ − π₀1ᵀ as a dense matrix, squared log₂ t times.

    Examples
    --------
    >>> import farpoint as fp
    >>> dense_power(Walk.of(fp.grid((2,))), 1)
    array([[0., 0.],
           [0., 0.]])
    """
    # (W − π₀1ᵀ)ᵗ = Wᵗ − π₀1ᵀ, and it goes to 0 with all its digits.
    return np.asarray(np.linalg.matrix_power(walk.forward(np.eye(walk.n_states)) - walk.pi[:, None], t))


def squaring_is_cheaper(walk: Walk, seconds: float, t: int) -> bool:
    """Return whether a small world's Wᵗ takes less time than the given seconds."""
    squarings = 2.0 * np.log2(t + 1) * _SECONDS_PER_PRODUCT * float(walk.n_states) ** 3
    return bool(walk.n_states <= _DENSE_STATES and squarings < seconds)


def _usable(piece: dict[str, Vector] | None, names: list[str], size: int) -> dict[str, Vector] | None:
    """Return a piece of a checkpoint if it holds what its block holds; otherwise None, and it is computed again."""
    if piece is None or piece.keys() != set(names):
        return None
    return piece if all(one.shape == (size,) and np.isfinite(one).all() for one in piece.values()) else None


def _block_name(block: tuple[int, int]) -> str:
    """Return the name of a block's file: by what is in it, for the division into blocks may change."""
    return f"block-{block[0]}-{block[1]}"


@dataclass(frozen=True, eq=False)
class JumpTables:
    """What all sources of a walk with jumps share; see `walk_kernels.jumping_scores`."""

    out: Vector
    arrived: Vector
    back: Vector
    highest: Vector
    gram: Vector

    @staticmethod
    def fit(walk: Walk, t: int) -> bool:
        """Return whether the tables of walks of t steps fit into memory."""
        return walk.jumps is None or 8 * walk.jumps.rank * t * walk.n_states <= _MOST_JUMP_BYTES

    @classmethod
    def check(cls, walk: Walk, t: int) -> None:
        """Fail unless they fit."""
        if not cls.fit(walk, t):
            raise InvalidInput(
                f"t × states must leave the tables of a world with restarts within {_MOST_JUMP_BYTES >> 30} GiB; got "
                f"{t} × {walk.n_states}. Use solver='probes'."
            )

    @classmethod
    def of(cls, walk: Walk, t: int) -> JumpTables:
        """Return the tables of walks of t steps."""
        jumps = walk.jumps
        assert jumps is not None
        cls.check(walk, t)
        within = replace(walk, jumps=None, known_leaving=walk.leaving)
        out = jumps.out * walk.leave
        arrived = np.empty((t, jumps.rank, walk.n_states))
        now = jumps.into.T
        for k in range(t):
            arrived[k] = now.T
            now = within.forward(now)
        back = np.einsum("js,kis->kji", out, arrived)
        rows = np.concatenate([arrived.reshape(t * jumps.rank, -1), walk.pi[None, :]])
        return cls(out, arrived, np.ascontiguousarray(back), arrived.max(axis=2), rows @ rows.T)


@dataclass(frozen=True, eq=False)
class StateScores:
    """Scores of single states of any walk, by following it from each; what every task shares."""

    walk: Walk
    t: int
    tolerance: float | None = None

    def prepared(self) -> StateScores:
        """Return the same with everything computed that does not depend on the state."""
        _ = self.walk.pi, self.walk.pi_squared, self.walk.stay, self.walk.leave, self._jump_tables
        return self

    @cached_property
    def _jump_tables(self) -> JumpTables | None:
        return None if self.walk.jumps is None else JumpTables.of(self.walk, self.t)

    def block(self, states: tuple[int, int]) -> BlockResult:
        """Return the scores of a range of states."""
        return self.at(np.arange(*states))

    def at(self, states: NDArray[np.int64]) -> BlockResult:
        """Return the scores of some states, and bounds on their errors where there is a tolerance."""
        if self.tolerance is None:
            return self._follow(states, 0.0)[0], None
        walk = self.walk
        # Each entry is a sum over moves, and with jumps one over all states too.
        n_terms = int(np.diff(walk.moves.indptr).max()) + (0 if walk.jumps is None else walk.n_states)
        cutoff = self.tolerance / (4.0 * _LOSS_PER_STEP * self.t)
        scores, losses = self._follow(states, cutoff)
        while True:
            rounding = rounding_bound(scores, self.t, n_terms, walk.n_states, walk.pi_squared, walk.pi_error)
            # Where the loss is below the rounding already, following more would mend nothing.
            poor = np.flatnonzero((losses + rounding > self.tolerance * scores) & (losses > rounding))
            if poor.size == 0 or cutoff == 0.0:
                return scores, losses + rounding
            cutoff = cutoff / _FINER if cutoff > 1e-30 else 0.0
            scores[poor], losses[poor] = self._follow(states[poor], cutoff)

    def _follow(self, sources: NDArray[np.int64], cutoff: float) -> tuple[Vector, Vector]:
        """Return scores and bounds on what dropping mass below the cutoff costs them."""
        from farpoint.diffusion.scores.walk_kernels import jumping_scores, neighborhood_scores

        walk, tables = self.walk, self._jump_tables
        scores, lost, peaks = np.empty(sources.size), np.empty(sources.size), np.empty(sources.size)
        graph = (walk.moves.indptr, walk.moves.indices, walk.moves.data, walk.stay, walk.leave)
        if tables is None:
            neighborhood_scores(*graph, walk.pi, walk.pi_squared, sources, self.t, cutoff, scores, lost, peaks)
        else:
            jumping_scores(
                *graph, tables.out, tables.arrived, tables.back, tables.highest, tables.gram,
                walk.pi, sources, self.t, cutoff, scores, lost, peaks,
            )  # fmt: skip
        return scores, loss_bound(lost, np.maximum(peaks, walk.pi.max()))


def _better_order(moves: csr_array) -> NDArray[np.int32] | None:
    """Return an order that brings neighbors together, or None where they lie together already."""
    n_states = moves.shape[0]
    if n_states < _WORTH_ORDERING:
        return None
    sample = np.linspace(0, moves.nnz - 1, num=10_000).astype(np.int64)
    begins = np.searchsorted(moves.indptr, sample, side="right") - 1
    far = np.abs(begins - moves.indices[sample]) > max(_FAR, 4 * int(np.sqrt(n_states)))
    if far.mean() < _SCATTERED:
        return None
    return np.asarray(reverse_cuthill_mckee(moves, symmetric_mode=False))
