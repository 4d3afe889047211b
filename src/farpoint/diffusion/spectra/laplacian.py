"""The normalized Laplacian N = I − D^-½ M D^-½ of a walk, its restarts kept as a part of low rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array

from farpoint.diffusion.walk import Walk, check_polar

Vectors = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Laplacian:
    """N = ``sparse`` − ``left`` ``right``ᵀ, with columns as "from".

    Attributes
    ----------
    sparse : sparse matrix, shape (n_states, n_states)
    degrees : array
        D, the weight that enters each state.
    symmetric : bool
    root : int
        A state from which the walk reaches every other.
    left, right : arrays, shape (n_states, rank)
        The restarts; of rank 0 where there are none.

    Examples
    --------
    >>> import farpoint as fp
    >>> laplacian = Laplacian.of(Walk.of(fp.grid((3,))))
    >>> np.abs(laplacian @ np.sqrt(laplacian.degrees)).max() < 1e-15
    np.True_
    """

    sparse: csr_array
    degrees: Vectors
    symmetric: bool
    root: int
    left: Vectors
    right: Vectors

    @classmethod
    def of(cls, walk: Walk) -> Laplacian:
        """Return the Laplacian of a walk on which Algorithm 2 is defined."""
        check_polar(walk)
        scale = walk.entering**-0.5
        sparse = csr_array(eye_array(walk.n_states) - diags_array(scale) @ walk.moves.T @ diags_array(scale))
        none = np.zeros((walk.n_states, 0))
        left = none if walk.jumps is None else (walk.jumps.into * scale).T
        right = none if walk.jumps is None else (walk.jumps.out * scale).T
        if walk.symmetric:
            root = int(walk.entering.argmax())
        else:
            sources, component = walk.source_sets
            root = int(np.flatnonzero(sources[component])[0])
        return cls(sparse, walk.entering, walk.symmetric, root, left, right)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.sparse.shape[0])

    @property
    def T(self) -> Laplacian:
        """The transpose."""
        return Laplacian(csr_array(self.sparse.T), self.degrees, self.symmetric, self.root, self.right, self.left)

    def __matmul__(self, x: Vectors) -> Vectors:
        product = np.asarray(self.sparse @ x)
        return product - self.left @ (self.right.T @ x) if self.rank else product

    @property
    def rank(self) -> int:
        """Rank of the part that is not sparse."""
        return int(self.left.shape[1])

    def toarray(self) -> Vectors:
        """Return the dense matrix."""
        dense = self.sparse.toarray()
        if self.rank:
            dense -= self.left @ self.right.T
        return np.asarray(dense)

    def with_edge(self, low: int, high: int) -> Laplacian:
        """Return N after an edge of weight 1 between two states is added, in both directions.

        >>> import farpoint as fp
        >>> path, ring = fp.grid((3,)), fp.World.from_graph(1 - np.eye(3))
        >>> closed = Laplacian.of(Walk.of(path)).with_edge(0, 2)
        >>> closed.degrees, bool(np.allclose(closed.toarray(), fp.diffusion.normalized_laplacian(ring).toarray()))
        (array([2., 2., 2.]), True)
        """
        ends = np.array([low, high])
        degrees = self.degrees.copy()
        degrees[ends] += 1.0
        # D − M gains b bᵀ with b = e_low − e_high.
        b = np.array([1.0, -1.0]) / np.sqrt(self.degrees[ends])
        edge = csr_array((np.outer(b, b).ravel(), (ends.repeat(2), np.tile(ends, 2))), shape=self.sparse.shape)
        scale = np.sqrt(self.degrees / degrees)
        sparse = csr_array(diags_array(scale) @ (self.sparse + edge) @ diags_array(scale))
        return Laplacian(
            sparse, degrees, self.symmetric, self.root, self.left * scale[:, None], self.right * scale[:, None]
        )
