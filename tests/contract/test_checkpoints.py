"""What every computation with ``checkpoint=`` must satisfy; a new one is one more line of `COMPUTATIONS`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import OutputError, WrongCheckpoint
from farpoint.files import read_arrays, write_arrays

Content = dict[str, Any]


class Interrupted(Exception):
    """Raised in the middle of a computation."""


@dataclass(frozen=True)
class Computation:
    """Something that can be interrupted: ``run(**settings)`` returns all that it computes.

    ``changes`` are settings of another computation, and the word that the error must contain.
    """

    run: Callable[..., Content]
    changes: list[tuple[dict[str, Any], str]]


def score(world: Callable[[], fp.World], other: Callable[[], fp.World], **settings: Any) -> Computation:
    worlds = {"one": world(), "other": other()}

    def run(*, world: str = "one", **changes: Any) -> Content:
        scores = fp.score(worlds[world], **{"t": 3, "solver": "local", "n_jobs": 1, **settings, **changes})
        return {"scores": np.asarray(scores), "bound": scores.error_bound, "reason": scores.reason}

    return Computation(run, [({"t": 4}, "t"), ({"tolerance": 0.05}, "tolerance"), ({"world": "other"}, "world")])


def discovery() -> Computation:
    def run(*, shape: tuple[int, int] = (280, 300), **changes: Any) -> Content:
        world = fp.open_room(*shape)
        options = fp.discover(world, **{"t": 3, "solver": "local", "n_jobs": 1, **changes})
        maxima = options.record["maxima"]
        parts = {name: getattr(maxima, name) for name in ("states", "heights", "prominences")}
        return {"goals": options.goals, **options.record, "maxima": None, **parts}

    return Computation(run, [({"t": 4}, "t"), ({"shape": (281, 300)}, "world")])


def eigenfunctions() -> Computation:
    pytest.importorskip("torch")

    def run(*, length: int = 8, **changes: Any) -> Content:
        settings = {"n_functions": 3, "n_steps": 250, "hidden": (8,), "n_spare": 1, "batch_size": 8, **changes}
        functions = fp.learn_eigenfunctions(fp.grid((length,)), **settings)
        parts = {name: getattr(functions, name) for name in ("omega", "rotation", "history")}
        return {**parts, "phi": functions.phi(fp.grid((length,)))}

    changes: list[tuple[dict[str, Any], str]] = [
        ({"seed": 1}, "seed"),
        ({"length": 9}, "data"),
        ({"objective": "ggdo"}, "objective"),
    ]
    return Computation(run, changes)


def restarting(restart: float) -> fp.World:
    n_states = 70_000
    line = fp.grid((n_states,))
    starts = np.zeros(n_states)
    starts[[0, n_states // 2]] = 0.5
    return fp.World.from_matrix(line.transitions, line.choice_ptr, restart=np.full(n_states, restart), starts=starts)


COMPUTATIONS: dict[str, Callable[[], Computation]] = {
    "score of a map": lambda: score(lambda: fp.open_room(280, 300), lambda: fp.open_room(300, 280)),
    "score of a graph": lambda: score(lambda: fp.grid((150_000,)), lambda: fp.grid((150_001,))),
    "rough score": lambda: score(lambda: fp.grid((150_000,)), lambda: fp.grid((150_001,)), tolerance=0.01),
    "score with restarts": lambda: score(lambda: restarting(0.1), lambda: restarting(0.2)),
    "discovery": discovery,
    "eigenfunctions": eigenfunctions,
}
NEED_TORCH = [name for name in COMPUTATIONS if name.startswith("eigenfunctions")]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in NEED_TORCH else name for name in COMPUTATIONS]
)
def test_contract(name: str, tmp_path: Path) -> None:
    computation = COMPUTATIONS[name]()
    expected = computation.run()
    begun = tmp_path / "new" / "checkpoint"
    reached = interrupt(computation, begun)
    assert begun.is_dir()

    def copy_of_begun(name: str) -> Path:
        return Path(shutil.copytree(begun, tmp_path / name))

    check_that_it_goes_on_and_ends_the_same(computation, expected, copy_of_begun("resumed"), reached)
    check_that_damaged_pieces_are_computed_again(computation, expected, copy_of_begun("damaged"))
    check_that_pieces_of_another_computation_are_not_taken(computation, expected, copy_of_begun("mixed"))
    check_that_the_folder_of_another_computation_is_refused(computation, copy_of_begun("refused"))
    check_that_the_folder_of_another_kind_of_computation_is_refused(computation, tmp_path)
    check_that_a_checkpoint_is_a_folder(computation, tmp_path)


def assert_identical(one: Content, two: Content) -> None:
    assert one.keys() == two.keys()
    for name, value in one.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, two[name], err_msg=name, strict=True)
        else:
            assert value == two[name], name


def interrupt(computation: Computation, folder: Path, **change: Any) -> int:
    """Run until the first piece is kept, and no further; return the number that progress was called with."""
    reached = []

    def progress(done: int, total: int) -> None:
        if done:
            reached.append(done)
            assert done < total
            raise Interrupted

    with pytest.raises(Interrupted):
        computation.run(checkpoint=folder, progress=progress, **change)
    return reached[0]


def check_that_it_goes_on_and_ends_the_same(
    computation: Computation, expected: Content, folder: Path, reached: int
) -> None:
    calls: list[tuple[int, int]] = []
    resumed = computation.run(checkpoint=folder, progress=lambda done, total: calls.append((done, total)))
    # It did not begin again.
    assert min(done for done, _ in calls) >= reached
    assert sum(done == reached for done, _ in calls) <= 1
    assert calls[-1][0] == calls[-1][1]
    assert_identical(resumed, expected)
    calls.clear()
    assert_identical(computation.run(checkpoint=folder, progress=lambda *call: calls.append(call)), expected)
    assert all(done == total for done, total in calls), "nothing was left to do"


def check_that_damaged_pieces_are_computed_again(computation: Computation, expected: Content, folder: Path) -> None:
    pieces = sorted(folder.glob("*.npz"))
    assert pieces
    for piece in pieces:
        piece.write_bytes(piece.read_bytes()[:-7])
    assert_identical(computation.run(checkpoint=folder), expected)


def check_that_pieces_of_another_computation_are_not_taken(
    computation: Computation, expected: Content, folder: Path
) -> None:
    other = folder.with_name("other")
    interrupt(computation, other, **computation.changes[0][0])
    for piece in folder.glob("*.npz"):
        shutil.copy(other / piece.name, piece)
    assert_identical(computation.run(checkpoint=folder), expected)


def check_that_the_folder_of_another_computation_is_refused(computation: Computation, folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    calls: list[tuple[int, int]] = []
    for change, word in computation.changes:
        with pytest.raises(WrongCheckpoint, match=rf"checkpoint must be a folder of this .* another .*\b{word}\b"):
            computation.run(checkpoint=folder, progress=lambda *call: calls.append(call), **change)
    assert not calls, "no work was done"
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def check_that_the_folder_of_another_kind_of_computation_is_refused(computation: Computation, folder: Path) -> None:
    (folder / "about.json").write_text('{"what": "something else"}')
    with pytest.raises(WrongCheckpoint, match=r"with another .*what"):
        computation.run(checkpoint=folder)


def check_that_a_checkpoint_is_a_folder(computation: Computation, folder: Path) -> None:
    (folder / "file").write_text("not a folder")
    calls: list[tuple[int, int]] = []
    with pytest.raises(OutputError, match="checkpoint must be a folder that can be written"):
        computation.run(checkpoint=folder / "file", progress=lambda *call: calls.append(call))
    assert not calls
    assert (folder / "file").read_text() == "not a folder"


def forge(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Write every piece again with other content but a right digest."""
    for path in folder.glob("*.npz"):
        facts, arrays = read_arrays(path, "farpoint-score-piece")
        write_arrays(path, "farpoint-score-piece", facts, change(arrays))


FORGERIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "not a number": lambda arrays: {name: np.full_like(array, np.nan) for name, array in arrays.items()},
    "shorter": lambda arrays: {name: array[:-1] for name, array in arrays.items()},
    "longer": lambda arrays: {name: np.tile(array, 2) for name, array in arrays.items()},
    "of another shape": lambda arrays: {name: array[:, None] for name, array in arrays.items()},
    "without scores": lambda arrays: {"other": arrays["scores"]},
    "with something more": lambda arrays: {**arrays, "other": arrays["scores"]},
}


@pytest.mark.parametrize("name", ["score of a map", "rough score"])
def test_forged_blocks_of_scores_are_computed_again(name: str, tmp_path: Path) -> None:
    computation = COMPUTATIONS[name]()
    expected = computation.run(checkpoint=tmp_path)
    right = {path: path.read_bytes() for path in tmp_path.glob("*.npz")}
    for what, change in FORGERIES.items():
        forge(tmp_path, change)
        assert_identical(computation.run(checkpoint=tmp_path), expected)
        assert {path: path.read_bytes() for path in right} == right, what


def test_swapped_and_copied_blocks_are_computed_again(tmp_path: Path) -> None:
    computation = COMPUTATIONS["score of a graph"]()
    expected = computation.run(checkpoint=tmp_path)
    first, second, *_ = sorted(tmp_path.glob("*.npz"))
    one, two = first.read_bytes(), second.read_bytes()
    for contents in ((two, one), (one, one), (two, two), (one[:-1], two), (b"", b"")):
        first.write_bytes(contents[0])
        second.write_bytes(contents[1])
        assert_identical(computation.run(checkpoint=tmp_path), expected)
        assert (first.read_bytes(), second.read_bytes()) == (one, two)
