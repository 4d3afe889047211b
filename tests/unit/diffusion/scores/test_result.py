"""Scores are arrays: the whole has a record, everything made from it is plain."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import farpoint as fp


def test_scores_are_an_array_that_remembers_its_making_and_passes_nothing_on() -> None:
    scores = fp.score(fp.ring(), 4)
    assert isinstance(scores, np.ndarray)
    assert (scores.t, scores.solver, scores.form) == (4.0, "local", "walk")
    for derived in (scores[:3], scores * 2, np.sqrt(scores), scores - scores):
        assert type(derived) is np.ndarray
    assert isinstance(scores[0], float)
    assert isinstance(scores.max(), float)


def test_scores_keep_their_record_when_copied() -> None:
    scores = fp.score(fp.ring(), 4)
    for same in (scores.copy(), copy.deepcopy(scores), pickle.loads(pickle.dumps(scores))):
        assert (same.t, same.solver, same.reason) == (scores.t, scores.solver, scores.reason)
        np.testing.assert_array_equal(same, scores)


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
    scores = fp.score(fp.ring(), 4)
    made = MADE[name](scores)
    assert type(made) is np.ndarray
    np.testing.assert_array_equal(made, MADE[name](np.asarray(scores)))


@pytest.mark.parametrize("name", ["sum", "min", "mean", "std", "argmax"])
def test_reductions_are_plain_numbers(name: str) -> None:
    scores = fp.score(fp.ring(), 4)
    reduced = getattr(scores, name)()
    assert not isinstance(reduced, np.ndarray)
    assert reduced == getattr(np.asarray(scores), name)()
