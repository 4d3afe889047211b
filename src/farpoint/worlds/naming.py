"""What a state is called where people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farpoint.worlds.world import World

# Longer labels (those of MiniGrid hold every object) say less than the number of the state.
_LONGEST = 40


def state_name(world: World, state: int) -> str:
    """Return the label of a state as text, or its number where it has no label or a long one.

    >>> import farpoint as fp
    >>> state_name(fp.World.from_log(["a", "b"], ["b", "a"]), 1), state_name(fp.maze(), 1)
    ('b', '1')
    """
    if world.labels is None:
        return str(state)
    label = str(world.labels[state])
    return label if len(label) <= _LONGEST and label.isprintable() else str(state)


def numbered_name(world: World, state: int) -> str:
    """Return the number of a state, with its label where that says more than a number.

    >>> import farpoint as fp
    >>> numbered_name(fp.World.from_log(["a", "b"], ["b", "a"]), 1), numbered_name(fp.maze(), 1)
    ('1 (b)', '1')
    """
    name = state_name(world, state)
    # Whole numbers as labels would be read as the numbers of other states.
    return str(state) if name.removeprefix("-").isdecimal() else f"{state} ({name})"
