"""`Scores`: an array to numpy, with a record that no other array has."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion import Scores
from farpoint.errors import InvalidInput


def made() -> Scores:
    return fp.score(fp.ring(), 4)


def test_record_says_how_the_scores_were_computed() -> None:
    scores = made()
    assert (scores.t, scores.solver, scores.form) == (4.0, "local", "walk")
    assert scores.world is not None
    assert (len(scores), scores.shape, scores.dtype) == (192, (192,), np.float64)
    assert repr(scores) == "Scores(192 states, t=4, solver='local', form='walk')"
    assert isinstance(scores[0], float)
    assert isinstance(scores.max(), float)
    assert list(scores) == scores.tolist()
    extended = fp.extend(fp.ring(), range(0, 192, 4))
    assert extended.details.keys() == {"sample", "tau", "rank", "error_estimate"}
    assert list(extended.columns()) == ["state", "row", "column", "score"]


SAME: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda scores: pickle.loads(pickle.dumps(scores)),
    "replace": replace,
    "pickled twice": lambda scores: pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(scores)))),
}


@pytest.mark.parametrize("name", SAME)
def test_copies_have_the_record_and_nobody_can_change_them(name: str) -> None:
    bound, error = np.full(192, 0.5), np.full(192, 0.25)
    scores = replace(made(), error_bound=bound, standard_error=error, details={"sample": np.arange(3)})
    same = SAME[name](scores)
    assert type(same) is Scores
    assert (same.t, same.solver, same.form, same.reason) == (scores.t, scores.solver, scores.form, scores.reason)
    assert (same.world is None) == ("pickle" in name)
    np.testing.assert_array_equal(same, scores)
    np.testing.assert_array_equal(same.error_bound, bound)
    np.testing.assert_array_equal(same.standard_error, error)
    np.testing.assert_array_equal(same.details["sample"], [0, 1, 2])
    for array in (same.values, same.error_bound, same.standard_error, same.details["sample"]):
        assert array is not None
        assert not array.flags.writeable


IN_PLACE: dict[str, Callable[[Any], Any]] = {
    "sort": lambda a: a.sort(),
    "sort of a view": lambda a: a.view().sort(),
    "partition": lambda a: a.partition(3),
    "fill": lambda a: a.fill(0.0),
    "put": lambda a: a.put(0, 1.0),
    "item": lambda a: a.__setitem__(0, 1.0),
    "item of a view": lambda a: a[:].__setitem__(0, 1.0),
    "item of asarray": lambda a: np.asarray(a).__setitem__(0, 1.0),
    "operator": lambda a: a.__iadd__(1.0),
    "out": lambda a: np.add(a, 1.0, out=a),
    "copyto": lambda a: np.copyto(a, 1.0),
    "field": lambda a: setattr(a, "t", 5.0),
    "shape": lambda a: setattr(a, "shape", (16, 12)),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_nothing_changes_the_numbers_under_their_record(name: str) -> None:
    scores = made()
    before = np.array(scores)
    with pytest.raises((ValueError, TypeError, AttributeError, FrozenInstanceError)):
        IN_PLACE[name](scores)
    np.testing.assert_array_equal(scores, before)
    assert scores.shape == (192,)


MADE: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda a: a.reshape(16, 12),
    "reshape to the same": lambda a: a.reshape(-1),
    "T": lambda a: a.T,
    "transpose": lambda a: a.transpose(),
    "astype": lambda a: a.astype(np.float32),
    "astype to the same": lambda a: a.astype(np.float64),
    "ravel": lambda a: a.ravel(),
    "flatten": lambda a: a.flatten(),
    "squeeze": lambda a: a.squeeze(),
    "argsort": lambda a: a.argsort(),
    "argpartition": lambda a: a.argpartition(3),
    "take": lambda a: a.take([3, 1]),
    "compress": lambda a: a.compress([True, False, True]),
    "repeat": lambda a: a.repeat(2),
    "clip": lambda a: a.clip(0.0, 0.1),
    "round": lambda a: a.round(3),
    "cumsum": lambda a: a.cumsum(),
    "cumprod": lambda a: a.cumprod(),
    "conj": lambda a: a.conj(),
    "byteswap": lambda a: a.byteswap(),
    "swapaxes": lambda a: a.swapaxes(0, 0),
    "slice": lambda a: a[10:20],
    "all": lambda a: a[:],
    "mask": lambda a: a[a > 0.1],
    "new axis": lambda a: a[:, None],
    "ellipsis": lambda a: a[...],
    "sum with an axis": lambda a: a[None].sum(axis=0),
    "negative": lambda a: -a,
    "comparison": lambda a: a > 0.1,
    "sort": np.sort,
    "concatenate": lambda a: np.concatenate([a, a]),
    "where": lambda a: np.where(a > 0.1, a, 0.0),
    "asarray": np.asarray,
    "out of a ufunc": lambda a: np.add(a, 1.0),
    "cumulative ufunc": np.maximum.accumulate,
    "partition": lambda a: np.partition(a, 3),
    "zeros_like": np.zeros_like,
    "copy of numpy": np.copy,
    "stack": lambda a: np.stack([a, a]),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_scores_is_a_plain_array_with_the_same_numbers(name: str) -> None:
    scores = made()
    result = MADE[name](scores)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, MADE[name](scores.values))


@pytest.mark.parametrize("name", ["sum", "min", "mean", "std", "argmax"])
def test_reductions_are_plain_numbers(name: str) -> None:
    scores = made()
    reduced = getattr(scores, name)()
    assert not isinstance(reduced, np.ndarray)
    assert reduced == getattr(scores.values, name)()
    assert reduced == getattr(np, name)(scores)


def test_operators_take_scores_on_both_sides() -> None:
    scores = made()
    values = scores.values
    np.testing.assert_array_equal(2.0 - scores, 2.0 - values)
    np.testing.assert_array_equal(values * scores, values**2)
    np.testing.assert_array_equal(scores @ scores, values @ values)
    assert (scores == scores).all()
    assert (scores <= values + 1e-9).all()
    assert np.add(scores, 1.0, where=scores > 0.1, out=np.zeros(192)).sum() == (values[values > 0.1] + 1.0).sum()
    assert values[0] in scores


def test_arrays_of_the_caller_stay_theirs_to_write() -> None:
    values = np.ones(3)
    Scores(values, 4.0, "local", "walk")
    values[0] = 2.0
    copied = made().copy()
    copied.sort()
    assert type(copied) is np.ndarray


def test_names_that_arrays_do_not_have_are_not_found() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        made().nothing_of_the_kind  # noqa: B018
    # Copying and unpickling ask an object that has no values yet.
    assert not hasattr(object.__new__(Scores), "values")


def test_values_are_numbers() -> None:
    with pytest.raises(InvalidInput, match="values must be one number per state"):
        Scores(["a"], 4.0, "local", "walk")  # type: ignore[arg-type]
