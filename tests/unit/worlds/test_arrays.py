"""What a world is made of is checked before compiled loops read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import farpoint as fp
from farpoint.errors import InvalidInput

FORMATS = ("csr", "csc", "bsr", "coo", "lil", "dok", "dia")
PATH = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
TWO_ROWS = sparse.csr_array([[0.5, 0.5], [1.0, 0.0]])


def crossed(kind: Any, indices: list[int], indptr: list[int]) -> Any:
    """A matrix of two edges whose parts are taken as they are."""
    return kind((np.ones(2), np.array(indices), np.array(indptr)), shape=(2, 2))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("build", [fp.World.from_graph, lambda matrix: fp.World(matrix, np.array([0, 1, 2]))])
@pytest.mark.parametrize("wrong", [900_000_000, -1, 2])
def test_columns_outside_the_matrix(kind: Any, build: Callable[[Any], fp.World], wrong: int) -> None:
    with pytest.raises(InvalidInput, match="matrix of numbers; got cs"):
        build(crossed(kind, [wrong, 0], [0, 1, 2]))


@pytest.mark.parametrize("indptr", [[0, 3, 2], [0, -1, 2]])
def test_rows_that_do_not_fit_the_entries(indptr: list[int]) -> None:
    with pytest.raises(InvalidInput, match="matrix of numbers; got csr"):
        fp.World.from_graph(crossed(sparse.csr_array, [1, 0], indptr))


def test_coordinates_outside_the_matrix() -> None:
    edges = sparse.coo_array((np.ones(2), (np.array([0, 1]), np.array([1, 0]))), shape=(2, 2))
    edges.coords[1][0] = 7
    with pytest.raises(InvalidInput, match="an index lies outside the matrix"):
        fp.World.from_graph(edges)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.float64])
def test_every_format_and_type_gives_the_same_world(form: str, dtype: Any) -> None:
    matrix = sparse.csr_array(PATH.astype(dtype)).asformat(form)
    assert (fp.World.from_graph(matrix).adjacency.toarray() == PATH).all()


def test_repeated_entries_of_small_types_do_not_overflow() -> None:
    rows, cols = np.repeat([0, 1], 200), np.repeat([1, 0], 200)
    edges = sparse.coo_array((np.ones(400, dtype=np.int8), (rows, cols)), shape=(2, 2))
    assert fp.World.from_graph(edges).adjacency.toarray().tolist() == [[0, 200], [200, 0]]


@pytest.mark.parametrize("matrix", [1j * PATH, sparse.csr_array(1j * PATH), np.ma.masked_equal(PATH, 1.0)])
def test_complex_and_masked_matrices(matrix: Any) -> None:
    with pytest.raises(InvalidInput, match=r"real|masked"):
        fp.World.from_graph(matrix)


@pytest.mark.parametrize("ragged", [[[0, 1], [1]], [[0, "x"], [1, 0]]])
def test_ragged_lists_and_words(ragged: Any) -> None:
    with pytest.raises(InvalidInput, match="adjacency must be a matrix of numbers; got list"):
        fp.World.from_graph(ragged)


@pytest.mark.parametrize("actions", [[0.7, 1.9], [0, 2**40], [0, -(2**40)], np.ma.masked_equal([0, 1], 1), ["a", "b"]])
def test_actions_are_whole_numbers_that_fit(actions: Any) -> None:
    with pytest.raises(InvalidInput, match="actions must"):
        fp.World(TWO_ROWS, np.array([0, 1, 2]), actions=actions)


def test_row_groups_beyond_32_bits_do_not_wrap() -> None:
    with pytest.raises(InvalidInput, match="choice_ptr must lie in"):
        fp.World(TWO_ROWS, np.array([0, 2**32 + 1, 2]))


def test_labels_are_different() -> None:
    with pytest.raises(InvalidInput, match="labels must be 2 different names; got 1"):
        fp.World(TWO_ROWS, np.array([0, 1, 2]), labels=("a", "a"))


@pytest.mark.parametrize("starts", [[0.5 + 1j, 0.5], np.ma.masked_equal([0.5, 0.5], 0.5), ["a", "b"]])
def test_distributions_are_real_numbers(starts: Any) -> None:
    with pytest.raises(InvalidInput, match="starts must be"):
        fp.World(TWO_ROWS, np.array([0, 1, 2]), restart=np.array([1.0, 0.0]), starts=starts)
