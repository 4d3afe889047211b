"""The learned controller of continuous actions as a file and as a function."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import write_arrays
from farpoint.options.learned_actor import KIND
from tests.helpers.options import learned_actor


def test_the_action_lies_between_the_bounds() -> None:
    control = learned_actor()
    assert control([3.0], [5.0]).tolist() == [2.0]
    assert control([3.0], [1.0]).tolist() == [-1.0]
    assert control([3.0], [3.0]).tolist() == [0.5], "halfway"
    # -1 + 3 (tanh(50 / 100) + 1) / 2
    assert control([3.0], [3.01]) == pytest.approx([-1.0 + 1.5 * (np.tanh(0.5) + 1.0)], abs=1e-5)
    assert pickle.loads(pickle.dumps(control))([3.0], [5.0]).tolist() == [2.0]


def test_an_action_is_never_beyond_a_bound() -> None:
    network = learned_actor().network
    low, high = np.array([-0.1]), np.array([0.7])
    control = fp.options.LearnedActor(network, low, high)
    assert control([0.0], [9.0]) == high
    assert control([9.0], [0.0]) == low


@pytest.mark.parametrize(
    ("bounds", "match"),
    [
        (([0.0, 1.0], [1.0]), "low must be one finite number per output of the network, 1"),
        (([0.0], [np.inf]), "high must be one finite number per output"),
        (([0.0], "up"), "high must"),
        (([1.0], [0.0]), "low must be at most high"),
    ],
)
def test_bounds_that_do_not_fit_are_refused(bounds: tuple[Any, Any], match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        fp.options.LearnedActor(learned_actor().network, *bounds)


def test_a_network_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="network must be a GoalNetwork"):
        fp.options.LearnedActor(None, np.zeros(1), np.ones(1))  # type: ignore[arg-type]


def test_a_file_whose_bounds_do_not_fit_is_damaged(tmp_path: Path) -> None:
    arrays = {"low": np.zeros(2), "high": np.ones(2), **learned_actor().network.arrays()}
    write_arrays(tmp_path / "a.npz", KIND, {"n_layers": 1, "record": {}}, arrays)
    with pytest.raises(InvalidFile, match="it is damaged"):
        fp.options.LearnedActor.load(tmp_path / "a.npz")


def test_repr() -> None:
    assert repr(learned_actor()) == "LearnedActor(actions of shape (1,), 2 numbers as input)"
