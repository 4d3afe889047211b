"""The learned controller as a file and as a function."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import write_arrays
from farpoint.options.learned_controller import KIND
from tests.helpers.options import learned_controller


def test_the_action_of_the_highest_value_is_taken() -> None:
    control = learned_controller()
    assert control([3.0], [5.0]) == 1
    assert control([3.0], [2.0]) == 0
    assert pickle.loads(pickle.dumps(control))([3.0], [5.0]) == 1


def test_continuous_actions_are_copies() -> None:
    control = fp.options.LearnedController(learned_controller().network, np.array([[-1.0], [1.0]]))
    taken = control([3.0], [5.0])
    taken[:] = 7.0
    assert control([3.0], [5.0]).tolist() == [1.0]


@pytest.mark.parametrize("actions", [[0], ["up", "down"], [[[0]], [[1]]], None])
def test_actions_that_do_not_fit_are_refused(actions: Any) -> None:
    with pytest.raises(InvalidInput, match="actions must be"):
        fp.options.LearnedController(learned_controller().network, actions)


def test_a_network_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="network must be a GoalNetwork"):
        fp.options.LearnedController(None, np.array([0, 1]))  # type: ignore[arg-type]


def test_a_file_whose_actions_do_not_fit_is_damaged(tmp_path: Path) -> None:
    control = learned_controller()
    facts = {"n_layers": 1, "record": {}}
    write_arrays(tmp_path / "a.npz", KIND, facts, {"actions": np.arange(3), **control.network.arrays()})
    with pytest.raises(InvalidFile, match="it is damaged"):
        fp.options.LearnedController.load(tmp_path / "a.npz")


def test_repr() -> None:
    assert repr(learned_controller()) == "LearnedController(2 actions, 2 numbers as input)"
