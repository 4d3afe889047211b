"""A world: its arrays are checked, its states are found, and it is the same when it was saved and loaded."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import farpoint as fp
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import read_arrays, write_arrays
from farpoint.worlds.choices import ChoiceTable
from farpoint.worlds.floors import Floor
from tests.helpers.worlds import WORLDS, assert_same_world

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_row_groups_and_states_are_whole_numbers() -> None:
    with pytest.raises(InvalidInput, match="choice_ptr must be whole numbers"):
        fp.World.from_matrix(sparse.csr_array([[0.5, 0.5]]), np.array([0, 1.5, 2]))
    with pytest.raises(InvalidInput, match="state must be at least 0"):
        fp.ring().choices(-1)


def test_positions_may_be_any_numbers_and_whole_ones_are_cells() -> None:
    cells = fp.World.from_graph(PATH, positions=[[0, 0], [0, 1], [0, 2]])
    assert cells.on_grid
    assert cells.floor is not None
    assert cells.floor.shape == (1, 3)
    places = fp.World.from_graph(PATH, positions=[[0, 0.2], [0, 0.7], [0, 0.9]])
    assert not places.on_grid
    assert places.floor is None
    np.testing.assert_array_equal(places.positions, [[0, 0.2], [0, 0.7], [0, 0.9]])
    assert not fp.World.from_graph(PATH, positions=[[0], [1], [2]]).on_grid
    with pytest.raises(InvalidInput, match=r"positions must be one row of finite numbers per state \(3\)"):
        fp.World.from_graph(PATH, positions=np.array([[0, np.nan], [0, 1], [0, 2]]))


def test_constructor_checks_what_it_is_given() -> None:
    half = sparse.csr_array([[0.5, 0.4]])
    with pytest.raises(InvalidInput, match=r"must sum to 1; got 0\.9 in row 0"):
        fp.World.from_matrix(half, np.array([0, 1, 1]))
    with pytest.raises(InvalidInput, match="choice_ptr must run from 0 to 1"):
        fp.World.from_matrix(sparse.csr_array([[0.5, 0.5]]), np.array([0, 1]))
    with pytest.raises(InvalidInput, match="negative or NaN"):
        fp.World.from_matrix(sparse.csr_array([[1.5, -0.5]]), np.array([0, 1, 1]))
    with pytest.raises(InvalidInput, match="labels must be 2 different names; got 1"):
        fp.World.from_matrix(sparse.csr_array([[0.5, 0.5]]), np.array([0, 1, 1]), labels=("a",))
    with pytest.raises(InvalidInput, match="start must be at most 1"):
        fp.World.from_matrix(sparse.csr_array([[0.5, 0.5]]), np.array([0, 1, 1]), start=2)


@pytest.mark.parametrize("what", ["weights", "lengths"])
def test_weights_and_lengths_are_positive_and_one_per_choice(what: str) -> None:
    world = fp.World.from_graph(PATH)
    for values, rule in (
        ([1.0, 1.0], r"one entry per choice \(4\); got shape \(2,\)"),
        ([1.0, 0.0, 1.0, 1.0], "finite and above 0; got 0"),
        ([1.0, -2.0, 1.0, 1.0], "finite and above 0; got -2"),
        ([1.0, np.inf, 1.0, 1.0], "finite and above 0"),
    ):
        with pytest.raises(InvalidInput, match=f"{what} must (be|have) {rule}"):
            fp.World.from_matrix(world.transitions, world.choice_ptr, **{what: np.array(values)})


def test_episodes_need_restart_and_starts() -> None:
    matrix, ptr = fp.World.from_graph(PATH).transitions, np.array([0, 1, 3, 4])
    starts = np.array([1.0, 0.0, 0.0])
    with pytest.raises(InvalidInput, match="restart and starts must be given together; got only starts"):
        fp.World.from_matrix(matrix, ptr, starts=starts)
    with pytest.raises(InvalidInput, match=r"restart must be one probability per state \(3\)"):
        fp.World.from_matrix(matrix, ptr, restart=np.array([0.0, 0.0, 1.5]), starts=starts)
    with pytest.raises(InvalidInput, match=r"starts must sum to 1; got 0\.5"):
        fp.World.from_matrix(matrix, ptr, restart=np.zeros(3), starts=0.5 * starts)
    world = fp.World.from_matrix(matrix, ptr, restart=np.array([0.0, 0.1, 1.0]), starts=starts)
    assert world.terminal.tolist() == [False, False, True]
    assert fp.ring().terminal.tolist() == [False] * 192


def test_states_are_found_by_their_labels() -> None:
    world = fp.World.from_graph(PATH)
    assert [world.find_state(label) for label in (0, 2, 3, -1, "a")] == [0, 2, None, None, None]
    named = fp.World.from_matrix(world.transitions, world.choice_ptr, labels=("a", ("b", 1), 7))
    assert [named.find_state(label) for label in ("a", ("b", 1), 7, 0, "z")] == [0, 1, 2, None, None]


def test_targets_are_states() -> None:
    assert fp.World.from_map("S.G").targets == np.array([2])
    with pytest.raises(InvalidInput, match=r"targets must lie in 0 … 2; got 3"):
        fp.World.from_matrix(fp.grid((3,)).transitions, fp.grid((3,)).choice_ptr, targets=np.array([3]))


@pytest.mark.parametrize("make", [fp.four_rooms, lambda: fp.random_maze(9, 9, seed=2), lambda: fp.maze(wind=0.3)])
def test_a_copy_from_another_process_knows_what_the_world_knows(make: Callable[[], fp.World]) -> None:
    world = make()
    again = pickle.loads(pickle.dumps(world))
    assert again.fingerprint == world.fingerprint
    assert (again.symmetric, again.component_sizes, again.on_grid) == (
        world.symmetric,
        world.component_sizes,
        world.on_grid,
    )
    if world.floor is None:
        assert again.floor is None
    else:
        np.testing.assert_array_equal(again.floor, world.floor)


def test_a_copy_with_another_table_keeps_nothing_of_the_map() -> None:
    room = fp.open_room(4, 4)
    moves = room.transitions.toarray()
    moves[0] = 0.0
    moves[0, 15] = 1.0
    changed = replace(room, source=replace(room.table, transitions=sparse.csr_array(moves)), positions=room.positions)
    fresh = fp.World.from_matrix(sparse.csr_array(moves), room.choice_ptr)
    assert not changed.symmetric
    assert changed.floor is None
    assert changed.on_grid
    np.testing.assert_array_equal(fp.score(changed, 2), fp.score(fresh, 2))


def test_a_world_is_made_of_a_floor_or_a_table() -> None:
    with pytest.raises(InvalidInput, match="source must be a Floor or a ChoiceTable; got ndarray"):
        fp.World(np.ones((2, 2)))  # type: ignore[arg-type]
    floor = Floor(np.ones((2, 3), dtype=bool))
    assert fp.World(floor).table.n_choices == 14
    assert fp.World(ChoiceTable.of_cells(floor.cells)).floor is None


def test_a_world_cannot_be_changed_and_does_not_freeze_the_callers_arrays() -> None:
    mine = np.array([0, 1, 1], dtype=np.int32)
    matrix = sparse.csr_array([[0.5, 0.5]])
    world = fp.World.from_matrix(matrix, mine)
    for copy in (world, pickle.loads(pickle.dumps(world))):
        with pytest.raises(ValueError, match="read-only"):
            copy.transitions.data[0] = 1.0
    mine[1] = 0
    matrix.data[:] = [1.0, 0.0]
    assert world.choice_ptr.tolist() == [0, 1, 1]
    assert world.transitions.toarray().tolist() == [[0.5, 0.5]]
    with pytest.raises(AttributeError):
        world.name = "other"  # type: ignore[misc]


def test_memory_that_somebody_can_write_to_is_copied(tmp_path: Path) -> None:
    # A cycle of three states. Its arrays come as read-only views, and from files that are memory-mapped.
    mine: list[NDArray[Any]] = [np.ones(3), np.array([1, 2, 0], dtype=np.int32), np.arange(4, dtype=np.int32)]
    views = [array.view() for array in mine]
    for number, (array, view) in enumerate(zip(mine, views, strict=True)):
        view.setflags(write=False)
        np.save(tmp_path / f"{number}.npy", array)
    mapped = [np.load(tmp_path / f"{number}.npy", mmap_mode="r") for number in range(3)]
    for data, indices, indptr in (views, mapped):
        matrix = sparse.csr_array((data, indices, indptr), shape=(3, 3))
        table = ChoiceTable(matrix, indptr)
        for kept in (table.transitions.data, table.transitions.indices, table.transitions.indptr, table.choice_ptr):
            assert not any(np.may_share_memory(kept, array) for array in (*mine, *mapped))
    # What was closed as a whole is not copied.
    for array in mine:
        array.setflags(write=False)
    table = ChoiceTable(sparse.csr_array(tuple(mine), shape=(3, 3)), mine[2])
    assert np.may_share_memory(table.transitions.indices, mine[1])


def test_stored_zeros_and_repeated_entries_are_tidied() -> None:
    untidy = sparse.csr_array(([0.5, 0.5, 0.0, 1.0, 0.5, 0.5], [1, 0, 2, 1, 2, 2], [0, 3, 4, 6]), shape=(3, 3))
    tidy = sparse.csr_array([[0.5, 0.5, 0.0], [0, 1.0, 0], [0, 0, 1.0]])
    worlds = [fp.World.from_matrix(matrix, np.arange(4)) for matrix in (untidy, tidy)]
    assert worlds[0].fingerprint == worlds[1].fingerprint
    assert worlds[0].transitions.nnz == 4


def test_self_loops_are_dropped_unless_asked_for() -> None:
    world = fp.World.from_graph([[2, 1], [1, 0]])
    np.testing.assert_array_equal(world.adjacency.toarray(), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(world.to_adjacency(self_loops=True).toarray(), [[2, 1], [1, 0]])


def test_fingerprint_sees_the_dynamics_and_nothing_else() -> None:
    world = fp.World.from_map("...", name="one")
    assert world.fingerprint == fp.World.from_map("S.G", name="two").fingerprint
    others = [fp.World.from_map("...."), fp.World.from_map(".\n.\n.", wind=0.5)]
    assert world.fingerprint not in {other.fingerprint for other in others}
    weighted = fp.World.from_graph(2 * PATH)
    assert weighted.fingerprint != fp.World.from_graph(PATH).fingerprint
    graph = fp.World.from_graph(PATH)
    long = fp.World.from_matrix(graph.transitions, graph.choice_ptr, lengths=np.array([1.0, 1.0, 3.0, 3.0]))
    heavy = fp.World.from_matrix(graph.transitions, graph.choice_ptr, weights=np.array([1.0, 1.0, 3.0, 3.0]))
    assert len({graph.fingerprint, long.fingerprint, heavy.fingerprint}) == 3


FORMATS = ("csr", "csc", "bsr", "coo", "lil", "dok", "dia")
FLOAT_PATH = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
TWO_ROWS = sparse.csr_array([[0.5, 0.5], [1.0, 0.0]])


def crossed(kind: Any, indices: list[int], indptr: list[int]) -> Any:
    """A matrix of two edges whose parts are taken as they are."""
    return kind((np.ones(2), np.array(indices), np.array(indptr)), shape=(2, 2))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize(
    "build", [fp.World.from_graph, lambda matrix: fp.World.from_matrix(matrix, np.array([0, 1, 2]))]
)
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
    matrix = sparse.csr_array(FLOAT_PATH.astype(dtype)).asformat(form)
    assert (fp.World.from_graph(matrix).adjacency.toarray() == FLOAT_PATH).all()


def test_repeated_entries_of_small_types_do_not_overflow() -> None:
    rows, cols = np.repeat([0, 1], 200), np.repeat([1, 0], 200)
    edges = sparse.coo_array((np.ones(400, dtype=np.int8), (rows, cols)), shape=(2, 2))
    assert fp.World.from_graph(edges).adjacency.toarray().tolist() == [[0, 200], [200, 0]]


@pytest.mark.parametrize(
    "matrix", [1j * FLOAT_PATH, sparse.csr_array(1j * FLOAT_PATH), np.ma.masked_equal(FLOAT_PATH, 1.0)]
)
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
        fp.World.from_matrix(TWO_ROWS, np.array([0, 1, 2]), actions=actions)


def test_row_groups_beyond_32_bits_do_not_wrap() -> None:
    with pytest.raises(InvalidInput, match="choice_ptr must lie in"):
        fp.World.from_matrix(TWO_ROWS, np.array([0, 2**32 + 1, 2]))


def test_labels_are_different() -> None:
    with pytest.raises(InvalidInput, match="labels must be 2 different names; got 1"):
        fp.World.from_matrix(TWO_ROWS, np.array([0, 1, 2]), labels=("a", "a"))


@pytest.mark.parametrize("starts", [[0.5 + 1j, 0.5], np.ma.masked_equal([0.5, 0.5], 0.5), ["a", "b"]])
def test_distributions_are_real_numbers(starts: Any) -> None:
    with pytest.raises(InvalidInput, match="starts must be"):
        fp.World.from_matrix(TWO_ROWS, np.array([0, 1, 2]), restart=np.array([1.0, 0.0]), starts=starts)


@pytest.mark.parametrize("make", [fp.maze, lambda: fp.random_maze(200, 300, seed=3)])
def test_a_map_is_saved_as_bits_and_loaded_as_a_map(make: Callable[[], fp.World], tmp_path: Path) -> None:
    world = make()
    world.save(tmp_path / "world.npz")
    floor = world.floor
    assert floor is not None
    assert (tmp_path / "world.npz").stat().st_size < floor.size / 8 + 8 * world.n_states * bool(world.labels) + 3_000
    loaded = fp.World.load(tmp_path / "world.npz")
    assert isinstance(loaded.source, Floor)
    # With its walls: the frame is part of a checkpoint.
    np.testing.assert_array_equal(loaded.source.cells, floor.cells)


def test_a_file_of_an_unconnected_map_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "world.npz"
    fp.maze().save(path)
    facts, arrays = read_arrays(path, "farpoint-world")
    write_arrays(path, "farpoint-world", facts, {"floor": np.full_like(arrays["floor"], 0b10100101), **_but(arrays)})
    with pytest.raises(InvalidFile, match="must hold a world; got one that is invalid"):
        fp.World.load(path)
    write_arrays(path, "farpoint-world", {**facts, "shape": [16, 17]}, arrays)
    with pytest.raises(InvalidFile, match="its map has another shape"):
        fp.World.load(path)


def _but(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: array for name, array in arrays.items() if name != "floor"}


def test_files_without_notes_are_read(tmp_path: Path) -> None:
    path = tmp_path / "world.npz"
    world = fp.maze(wind=0.1)
    world.save(path)
    facts, arrays = read_arrays(path, "farpoint-world")
    older = {name: fact for name, fact in facts.items() if name not in ("notes", "keyed_by")}
    write_arrays(path, "farpoint-world", older, arrays)
    assert_same_world(fp.World.load(path), world)


def test_options_of_samples_are_used_elsewhere(tmp_path: Path) -> None:
    world = WORLDS["temporal_samples"]()
    fp.discover(world, n_options=3).save(tmp_path / "options.npz")
    world.save(tmp_path / "world.npz")
    again = fp.World.load(tmp_path / "world.npz")
    options = fp.OptionSet.load(tmp_path / "options.npz", again)
    start = int(again.nearest_states([[0.5, 0.5]])[0])
    assert options[0].route(start)[-1] == options.goals[0]


def test_labels_come_back_as_they_were(tmp_path: Path) -> None:
    labels = (1, "one", b"\x00\xff", ("a", (2, None)), frozenset({"x", 3}))
    world = replace(fp.grid((5,)), labels=labels)
    world.save(tmp_path / "world.npz")
    loaded = fp.World.load(tmp_path / "world.npz")
    assert loaded.labels == labels
    assert [type(label) for label in loaded.labels or ()] == [int, str, bytes, tuple, frozenset]


def test_labels_that_no_file_holds_are_refused(tmp_path: Path) -> None:
    world = replace(fp.grid((2,)), labels=(object(), object()))
    with pytest.raises(InvalidInput, match="labels must be numbers, texts, bytes or tuples of these to be saved"):
        world.save(tmp_path / "world.npz")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_world_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "world.npz"
    with pytest.raises(InvalidFile, match="got no file of that name"):
        fp.World.load(path)
    fp.discover(fp.ring()).save(path)
    with pytest.raises(InvalidFile, match="must be a file of farpoint-world; got another kind"):
        fp.World.load(path)
    fp.ring(0.1).save(path)
    facts, arrays = read_arrays(path, "farpoint-world")
    write_arrays(path, "farpoint-world", facts, {name: a for name, a in arrays.items() if name != "choice_ptr"})
    with pytest.raises(InvalidFile, match="some of its arrays are missing"):
        fp.World.load(path)
    write_arrays(path, "farpoint-world", facts, {**arrays, "transitions.data": -arrays["transitions.data"]})
    with pytest.raises(InvalidFile, match="transitions must be probabilities"):
        fp.World.load(path)
    write_arrays(path, "farpoint-world", {"name": "x"}, arrays)
    with pytest.raises(InvalidFile, match="must hold all parts of a world"):
        fp.World.load(path)
    facts = {**facts, "parts": [*facts["parts"], "labels"]}
    write_arrays(path, "farpoint-world", facts, {**arrays, "labels": np.frombuffer(b"[[1]]", dtype=np.uint8)})
    with pytest.raises(InvalidFile, match="must hold all parts of a world"):
        fp.World.load(path)


@pytest.mark.parametrize("make", [fp.maze, lambda: fp.maze(0.1)])
def test_notes_and_the_origin_of_labels_travel_with_the_world(make: Callable[[], fp.World], tmp_path: Path) -> None:
    noted = replace(make(), notes=("kept 41 of 57 states",), keyed_by="table")
    noted.save(tmp_path / "world.npz")
    for copy in (noted, pickle.loads(pickle.dumps(noted)), replace(noted, start=1), fp.World.load(tmp_path / "world")):
        assert (copy.notes, copy.keyed_by) == (("kept 41 of 57 states",), "table")
    assert (make().notes, make().keyed_by) == ((), "observation")


def test_notes_are_texts_and_labels_come_from_what_is_known() -> None:
    with pytest.raises(InvalidInput, match="notes must be a tuple of texts; got 'one'"):
        replace(fp.maze(), notes="one")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="notes must be a tuple of texts; got 3 among them"):
        replace(fp.maze(), notes=(3,))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="keyed_by must be one of observation, table, minigrid; got 'place'"):
        replace(fp.maze(), keyed_by="place")


@pytest.mark.parametrize("make", [fp.maze, lambda: fp.maze(0.1)])
def test_what_is_cached_belongs_to_one_world(make: Callable[[], fp.World]) -> None:
    calls: list[fp.World] = []

    def counted(world: fp.World) -> int:
        calls.append(world)
        return len(calls)

    world = make()
    assert (world.cached(counted), world.cached(counted)) == (1, 1)
    # Neither a changed nor a pickled copy has it.
    assert "_made" not in pickle.loads(pickle.dumps(world)).__dict__
    assert replace(world, start=1).cached(counted) == 2
