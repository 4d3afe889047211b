from __future__ import annotations

import pytest

import farpoint as fp
from farpoint.errors import InvalidInput


def test_text_needs_rows_and_columns() -> None:
    with pytest.raises(InvalidInput, match="a whole row and column per state to be a map"):
        fp.grid((2, 2, 2)).to_text()


def test_the_text_is_the_map_with_a_border_and_marks() -> None:
    world = fp.World.from_map("###\n#.#\n#..")
    assert world.to_text({0: "A", 2: "B"}) == "####\n#A##\n#.B#\n####"
    assert fp.World.from_map(world.to_text()).fingerprint == world.fingerprint
