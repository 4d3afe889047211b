"""Observations that are equal by value are one state, whatever type they come in."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.worlds.state_index import ArrayKey, StateIndex, state_key
from tests.helpers.array_env import ArrayEnv

SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=6)
ARRAYS = SHAPES.flatmap(lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(-120, 120)))


def as_tuples(value: Any) -> Any:
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


def forms(array: np.ndarray[Any, Any]) -> list[Any]:
    """The same numbers as every type that they may come in."""
    types: list[Any] = [np.int8, np.int16, np.int32, np.float32, np.float64, object, ">i4"]
    types += [np.uint8, np.uint64] if array.min() >= 0 else []
    types += [bool] if np.isin(array, (0, 1)).all() else []
    same: list[Any] = [array.astype(kind) for kind in types]
    same += [np.asfortranarray(array), array.tolist(), as_tuples(array.tolist()), array.astype(float).tolist()]
    return [*same, array[..., None], [np.asarray(row) for row in array]]


@given(ARRAYS)
def test_the_same_numbers_are_the_same_state_whatever_their_type(array: np.ndarray[Any, Any]) -> None:
    index = StateIndex.exact(["a", array, "b"])
    for form in forms(array):
        assert state_key(form) == state_key(array)
        assert hash(state_key(form)) == hash(state_key(array))
        assert index.find(form) == 1
        assert index.add(form) == 1


@given(ARRAYS, ARRAYS)
def test_other_numbers_or_shapes_are_other_states(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> None:
    def squeezed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        while array.ndim and array.shape[-1] == 1:
            array = array[..., 0]
        return array

    same = squeezed(one).shape == squeezed(other).shape and bool((squeezed(one) == squeezed(other)).all())
    assert (state_key(one) == state_key(other)) == same


KEYS = st.recursive(
    st.integers() | st.text(max_size=3) | st.binary(max_size=3) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=40,
)


@given(KEYS)
def test_a_key_is_its_own_key(value: Any) -> None:
    key = state_key(value)
    hash(key)
    assert state_key(key) == key
    assert StateIndex.exact([value]).find(key) == 0


@pytest.mark.parametrize("text", [np.array(["a"]), np.array([["a"]]), np.array([b"a"]), np.array([{"a": 1}])])
def test_an_array_of_one_text_or_object_is_found_again(text: Any) -> None:
    index = StateIndex.exact()
    assert [index.add(text), index.add(text), index.find(text)] == [0, 0, 0]
    assert StateIndex.exact(["b", text]).find(text) == 1


@given(st.dictionaries(st.text(max_size=3), ARRAYS, min_size=1, max_size=3))
def test_the_order_of_a_dict_does_not_matter(observation: dict[str, Any]) -> None:
    turned = {name: observation[name].astype(np.float64) for name in reversed(observation)}
    assert state_key(turned) == state_key(observation)


@given(st.integers(-(2**80), 2**80))
def test_numbers_of_any_size(number: int) -> None:
    assert state_key(number) == state_key([number]) == state_key(np.array(number)) == number
    assert state_key([number] * 20) == state_key((number,) * 20) == state_key(np.array([number] * 20, dtype=object))


@pytest.mark.parametrize("large", [2**32, 2**53 + 1, 2**60 + 1, 2**63 - 1])
def test_long_arrays_of_large_and_negative_numbers_do_not_become_floats(large: int) -> None:
    here, there = (np.array([-1, *[number] * 20]) for number in (large, large - 1))
    assert state_key(here) != state_key(there)
    assert state_key(here.tolist()) == state_key(here)
    assert state_key(here).array.tolist() == here.tolist()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "fraction",
    [0.5, float("nan"), float("inf"), np.float32(0.5), np.array([1.0, 0.5]), [1, np.nan], {"at": np.full(40, 0.5)}],
)
def test_fractions_and_nan_are_refused_and_what_to_do_is_said(fraction: Any) -> None:
    for look_up in (state_key, StateIndex.exact([1]).find, StateIndex.exact().add, lambda one: StateIndex.exact([one])):
        with pytest.raises(InvalidInput, match=r"whole numbers to identify a state exactly; got .*World\.from_samples"):
            look_up(fraction)


def test_nodes_of_a_graph_may_have_fractions_but_not_be_nan() -> None:
    nodes = StateIndex.exact([(0.5, 1.0), "a"], fractions=True)
    assert [nodes.find(node) for node in ((0.5, 1), np.array([0.5, 1.0]), (0.5, 2), "a")] == [0, 0, -1, 1]
    with pytest.raises(InvalidInput, match="got nan"):
        nodes.find(np.nan)


def test_what_cannot_be_hashed_or_is_masked_is_refused() -> None:
    with pytest.raises(InvalidInput, match="state must have a hashable key; got set"):
        state_key({1})
    with pytest.raises(InvalidInput, match="must not be a masked array"):
        state_key(np.ma.masked_array([1, 2]))


def test_labels_are_different_by_value() -> None:
    with pytest.raises(InvalidInput, match="labels must be 2 different names; got 1"):
        StateIndex.exact([(1, 2), np.array([1.0, 2.0])])


def test_batches_as_gymnasium_makes_them() -> None:
    index = StateIndex.exact()
    rows = np.array([[0, 1], [2, 3], [0, 1]])
    assert index.add_all(rows).tolist() == [0, 1, 0]
    assert index.add_all(rows.astype(np.float32)).tolist() == [0, 1, 0]
    assert index.find_all([(2, 3), [9, 9]]).tolist() == [1, -1]
    assert index.find_all((rows[:, 0], rows[:, 1])).tolist() == [0, 1, 0], "a Tuple space"
    named = StateIndex.exact()
    assert named.add_all({"at": rows, "key": np.array([0, 1, 0])}).tolist() == [0, 1, 0], "a Dict space"
    assert named.find({"key": 1, "at": (2, 3)}) == 1
    numbers = StateIndex.exact(range(5))
    assert numbers.find_all(np.array([4, 0, 7, 4])).tolist() == [4, 0, -1, 4]
    assert (numbers.add(9), numbers.find(9), len(numbers)) == (5, 5, 6)
    with pytest.raises(InvalidInput, match="observations must be a list"):
        numbers.find_all(3)


@given(hnp.arrays(np.int64, st.integers(1, 30), elements=st.integers(-5, 5)))
def test_many_at_once_are_numbered_as_one_by_one(values: np.ndarray[Any, Any]) -> None:
    one_by_one, at_once = StateIndex.exact(), StateIndex.exact()
    assert at_once.add_all(values).tolist() == [one_by_one.add(value) for value in values]
    assert at_once.labels == one_by_one.labels
    assert at_once.find_all(values).tolist() == one_by_one.find_all(values.tolist()).tolist()


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 40), st.just(2)), elements=st.floats(-5, 5)))
def test_no_two_points_are_near_and_every_observation_is_near_one(points: np.ndarray[Any, Any]) -> None:
    index = StateIndex.for_space(gym.spaces.Box(-5.0, 5.0, (2,)), scale=[1.0, 2.0])
    states = index.add_all(points)
    assert index.scale is not None
    kept = np.asarray(index.labels) / index.scale
    away = np.linalg.norm(kept[:, None] - kept[None], axis=2)
    assert (away[~np.eye(len(kept), dtype=bool)] > 1.0).all()
    assert (np.linalg.norm(points / index.scale - kept[states], axis=1) <= 1.0).all()
    again = StateIndex.from_state(index.state())
    np.testing.assert_array_equal(again.find_all(points), index.find_all(points))
    assert [again.find(point) for point in points] == index.find_all(points).tolist()


def test_nearest_points_beyond_a_reach_are_no_states() -> None:
    index = StateIndex.nearest([[0.0], [1.0], [5.0]], within=1.5)
    assert [index.find([x]) for x in (0.2, 3.0, 4.0)] == [0, -1, 2]
    assert index.find_all([[0.2], [3.0], [4.0]]).tolist() == [0, -1, 2]
    # More points than are compared one by one.
    many = StateIndex.nearest(np.arange(2_000.0)[:, None])
    assert many.find([1234.4]) == 1234
    assert many.add([7.9]) == 8
    for wrong in ([np.nan], [1.0, 2.0], "a"):
        with pytest.raises(InvalidInput, match="observation must be"):
            index.find(wrong)
    with pytest.raises(InvalidInput, match="scale must be one number above 0"):
        StateIndex.nearest([[0.0]], scale=0.0)
    with pytest.raises(InvalidInput, match="points must have one row per state"):
        StateIndex.nearest([0.0])


def test_an_index_without_points_and_no_observations() -> None:
    empty = StateIndex.for_space(gym.spaces.Box(-1.0, 1.0, (2,)), scale=0.1)
    assert empty.find([0.0, 0.0]) == -1
    assert empty.find_all([[0.0, 0.0], [1.0, 1.0]]).tolist() == [-1, -1]
    assert StateIndex.nearest([[0.0, 1.0]]).find_all(np.empty((0, 2))).tolist() == []


def test_every_space_has_its_index() -> None:
    spaces = gym.spaces
    for space in (spaces.Discrete(3), spaces.MultiDiscrete([2, 2]), spaces.Box(0, 255, (4, 4), np.uint8)):
        assert StateIndex.for_space(space).scale is None
    inner = spaces.Dict({"at": spaces.Tuple([spaces.Box(-1.0, 1.0, (2,))]), "key": spaces.Discrete(2)})
    with pytest.raises(InvalidInput, match=r"FlattenObservation\(env\), or pass state="):
        StateIndex.for_space(inner)
    # Until a scale is known, everything is one state.
    assert StateIndex.for_space(spaces.Box(-1.0, 1.0, (2,))).add_all([[0.0, 0.0], [1.0, 1.0]]).tolist() == [0, 0]


def test_ends_are_never_found() -> None:
    index = StateIndex.exact([3, ("end", 3), ("end", 4)])
    # The last is a label like any other: no state 4 is passed through.
    assert [index.find(label) for label in (3, ("end", 3), ("end", 4))] == [0, -1, 2]


@pytest.mark.parametrize("labels", [range(4), [0, "a", (1, 2), np.arange(20), b"b", frozenset({1})], [(0.5, 2), 1]])
def test_an_index_comes_back_from_its_arrays(labels: Any) -> None:
    index = StateIndex.exact(labels, fractions=True)
    again = StateIndex.from_state(index.state())
    assert [again.find(label) for label in index.labels] == [*range(len(index))]
    assert again.add("new") == len(index)


def test_long_arrays_are_short_to_read_and_differ() -> None:
    pictures = [np.zeros((10, 10), dtype=np.uint8) for _ in range(20)]
    for place, picture in enumerate(pictures):
        picture.flat[20 + place] = 1
    texts = {str(state_key(picture)) for picture in pictures}
    assert len(texts) == 20
    assert all(text.startswith("[0, 0, 0, …, 0, 0, 0] 10×10 #") and len(text) < 40 for text in texts)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda key: pickle.loads(pickle.dumps(key))])
def test_copies_are_the_same(copied: Any) -> None:
    key = state_key(np.eye(6, dtype=bool))
    assert isinstance(key, ArrayKey)
    again = copied(key)
    assert (again, repr(again), type(again)) == (key, repr(key), ArrayKey)
    np.testing.assert_array_equal(again.array, np.eye(6))
    assert key != key.content


class TypesVary(ArrayEnv):
    """A room whose observations are int64 after a reset and int32 after a step."""

    def step(self, action: int) -> Any:
        observation, *rest = super().step(action)
        return (observation.astype(np.int32), *rest)


def test_one_place_is_one_state_whatever_type_its_observation_has() -> None:
    assert fp.World.from_env(TypesVary()).n_states == 12
    log = fp.record_log(TypesVary(), 2_000)
    assert fp.World.from_log(log).n_states == 12
    world = fp.World.from_env(TypesVary())
    assert world.find_state(np.array([2, 3], dtype=np.int64)) == world.find_state([2.0, 3.0]) is not None
