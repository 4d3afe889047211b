"""Labels of states with array observations: bytes to a program, numbers to a person."""

from __future__ import annotations

import base64
import copy
import json
import pickle
from collections.abc import Hashable
from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidFile
from farpoint.files import read_arrays, write_arrays
from farpoint.worlds.array_keys import ArrayKey
from farpoint.worlds.keys import plain_key
from tests.helpers.array_env import ArrayEnv


def room(*, picture: bool = False) -> fp.World:
    return fp.World.from_env(ArrayEnv(picture=picture))


def labels_of(world: fp.World) -> tuple[Hashable, ...]:
    assert world.labels is not None
    return world.labels


def test_labels_are_shown_as_numbers_wherever_a_person_reads_them() -> None:
    world = room()
    assert repr(labels_of(world)[:2]) == "([0, 0], [1, 0])"
    assert "[2, 3]" in str(world.to_frame())
    goals = fp.find_goals(world, fp.score(world))
    assert "[0, 0]" in str(goals.to_frame())
    options = fp.discover(world, t=4)
    assert "[0, 0]" in str(options.to_frame())
    corner = world.find_state(np.array([2, 3]).tobytes())
    option = fp.OptionSet(world, np.array([corner]))[0]
    assert repr(option) == f"Option(to state {corner} ([2, 3]), starts in 12 states)"
    assert fp.report.draw_policy(option).axes[0].get_title().endswith("an option, goal: [2, 3]")
    shown = {text.get_text() for text in world.draw(labels=True).axes[0].texts}
    assert shown == {f"[{row}, {column}]" for row in range(3) for column in range(4)}
    found = fp.explore(ArrayEnv(), 200)
    assert "[0, 0]" in str(found.to_frame())


def test_arrays_inside_other_observations_are_shown_too() -> None:
    assert repr(plain_key({"at": np.array([0, 3]), "door": "open"})) == "(('at', [0, 3]), ('door', 'open'))"


def test_the_same_bytes_are_the_same_label() -> None:
    array = np.array([1, 2])
    key = ArrayKey.of(array)
    assert key == array.tobytes()
    assert hash(key) == hash(array.tobytes())
    world = room()
    state = world.find_state(array.tobytes())
    assert state is not None
    assert world.find_state(key) == state
    np.testing.assert_array_equal(labels_of(world)[state].array, array)  # type: ignore[attr-defined]


def test_long_arrays_are_short_and_differ() -> None:
    pictures = [np.zeros((10, 10), dtype=np.uint8) for _ in range(20)]
    for place, picture in enumerate(pictures):
        picture.flat[20 + place] = 1
    texts = {str(ArrayKey.of(picture)) for picture in pictures}
    assert len(texts) == 20
    assert all(text.startswith("[0, 0, 0, …, 0, 0, 0] 10×10 #") and len(text) < 40 for text in texts)
    assert str(ArrayKey.of(np.zeros(0, dtype=int))) == "[]"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda key: pickle.loads(pickle.dumps(key))])
def test_copies_are_the_same(copied: object) -> None:
    key = ArrayKey.of(np.array([[True, False]]))
    assert callable(copied)
    again = copied(key)
    assert (again, repr(again), type(again)) == (key, "[[True, False]]", ArrayKey)


def test_files_keep_the_numbers(tmp_path: Path) -> None:
    world = room(picture=True)
    world.save(tmp_path / "world.npz")
    loaded = fp.World.load(tmp_path / "world.npz")
    assert loaded.labels == world.labels
    assert repr(loaded.labels) == repr(world.labels)
    assert "[[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]" in repr(loaded.labels)


@pytest.mark.parametrize(
    ("dtype", "shape"), [("<i8", [3]), ("<i8", [1]), ("<f8", [2]), ("O", [2]), ("nothing", [2]), ("<i8", "2"), (2, [2])]
)
def test_a_file_whose_label_is_not_the_array_that_it_says_is_refused(
    dtype: object, shape: object, tmp_path: Path
) -> None:
    path = tmp_path / "world.npz"
    fp.grid((1, 2)).save(path)
    facts, arrays = read_arrays(path, "farpoint-world")
    label = ["array", [base64.b64encode(bytes(16)).decode(), dtype, shape]]
    labels = np.frombuffer(json.dumps([label, 1]).encode(), dtype=np.uint8)
    facts["parts"] = sorted([*facts["parts"], "labels"])
    write_arrays(path, "farpoint-world", facts, arrays | {"labels": labels})
    with pytest.raises(InvalidFile, match="it is damaged"):
        fp.World.load(path)
