"""Whatever a world has, it has it after it was saved, sent to another process, or copied with a change."""

from __future__ import annotations

import copy
import pickle
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import event, given, settings

import farpoint as fp
from tests.helpers.strategies import worlds
from tests.helpers.worlds import assert_same_world


@given(world=worlds())
@settings(max_examples=100, deadline=None)
def test_worlds_stay_whole(world: fp.World) -> None:
    event(type(world.source).__name__)
    with tempfile.TemporaryDirectory() as folder:
        world.save(Path(folder) / "world")
        copies = [fp.World.load(Path(folder) / "world")]
    copies += [pickle.loads(pickle.dumps(world)), copy.copy(world), copy.deepcopy(world)]
    changed = replace(world, name="other", start=None)
    assert changed.source is world.source
    for again in (*copies, replace(changed, name=world.name, start=world.start)):
        assert_same_world(again, world)
        if world.labels is not None and world.observations is None:
            for state, label in enumerate(world.labels):
                assert again.find_state(label) == world.find_state(label)
                assert again.find_state(label) in (state, None)
