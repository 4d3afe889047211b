"""Records: what is computed later is computed once, however it is read."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import farpoint as fp
from farpoint.options.record import Later, Record


@pytest.mark.parametrize(
    "read",
    [
        lambda record: record["a"],
        lambda record: record.get("a"),
        lambda record: dict(record)["a"],
        lambda record: {**record}["a"],
        lambda record: dict(record.items())["a"],
        lambda record: next(iter(record.values())),
        lambda record: (record | {"b": 1})["a"],
        lambda record: record.copy()["a"],
        lambda record: pickle.loads(pickle.dumps(record))["a"],
        lambda record: copy.deepcopy(record)["a"],
    ],
)
def test_a_later_value_is_computed_once(read: object) -> None:
    computed: list[int] = []

    def compute() -> int:
        computed.append(1)
        return 5

    record = Record(a=Later(compute))
    assert read(record) == 5  # type: ignore[operator]
    assert record["a"] == 5
    assert computed == [1]
    assert record == {"a": 5}
    assert repr(record) == "{'a': 5}"
    assert record.get("c", 2) == 2


def test_prominences_are_computed_when_they_are_read() -> None:
    world = fp.maze()
    options = fp.discover(world, t=4)
    goals = fp.find_goals(world, fp.score(world, 4))
    np.testing.assert_array_equal(options.record["prominences"], goals.prominences)
    np.testing.assert_array_equal(options[3:7].record["prominences"], goals.prominences[3:7])
