"""What every set of options offers, on options of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from farpoint.options import OptionList
from tests.helpers.counter import UpTo


def test_answers_of_a_set_are_those_of_its_options() -> None:
    options = OptionList([UpTo(3), UpTo(5)])
    for place in range(8):
        observation = [float(place)]
        assert options.can_start(observation).tolist() == [place < 3, place < 5]
        assert options.ended(observation).tolist() == [place >= 3, place >= 5]
        assert [options.act(number, observation) for number in range(2)] == [
            1 if place < goal else None for goal in (3, 5)
        ]
        assert options.takes(observation, 1).tolist() == [place < 3, place < 5]
        assert options.takes(observation, 0).tolist() == [False, False]
        assert [options.reached(number, observation) for number in range(2)] == [place >= 3, place >= 5]
    assert options.can_start([0.0]).dtype == bool


def test_without_a_world_everything_is_expected_and_observations_are_read_as_they_are() -> None:
    options = OptionList([UpTo(3)])
    observation: Any = np.array([1.0])
    assert options.observe(None, observation) is observation
    assert options.expects(observation, 1, np.array([-7.0]))


def test_a_slice_is_a_list_of_options() -> None:
    options = OptionList([UpTo(goal) for goal in range(5)])
    assert [option.goal for option in options[1:4]] == [1, 2, 3]  # type: ignore[attr-defined]
    assert isinstance(options[::-1], OptionList)
    assert options[-1].goal == 4  # type: ignore[attr-defined]
    assert len(options[7:]) == 0
    assert OptionList([]).can_start([0.0]).tolist() == []
    with pytest.raises(IndexError):
        options[5]
