"""Worlds with several states in one cell: MiniGrid, one panel per thing carried and per state of the doors."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.worlds import World

# As MiniGrid numbers them; it need not be installed to draw a world that was saved.
_COLORS = ("red", "green", "blue", "purple", "yellow", "grey")
_OBJECTS = ("unseen", "empty", "wall", "floor", "door", "key", "ball", "box", "goal", "lava", "agent")
_DOOR_STATES = ("open", "closed", "locked")
_DOOR = _OBJECTS.index("door")
# A label of a MiniGrid state: walls, x, y, direction, what is carried, every object.
_PARTS = 6
MOST_PANELS = 12


class Panel(NamedTuple):
    """Some states of a world that are drawn together, and in which direction the agent looks in each (0: right)."""

    title: str
    states: NDArray[np.int64]
    directions: NDArray[np.int64] | None


def panels_of(world: World) -> list[Panel]:
    """Return the panels of a world: all its states in one, or by what is carried and which doors are open in MiniGrid.

    Panels are in the order in which an agent would first see them; at most twelve, those with most states.

    Examples
    --------
    >>> import farpoint as fp
    >>> [panel.title for panel in panels_of(fp.maze())]
    ['']
    """
    labels = world.labels
    if labels is None or not all(_is_minigrid(label) for label in labels):
        return [Panel("", np.arange(world.n_states), None)]
    groups: dict[Hashable, list[int]] = {}
    for state, label in enumerate(labels):
        parts: Any = label
        doors = tuple((place, code) for place, code in parts[5] if code[0] == _DOOR)
        groups.setdefault((parts[4], doors), []).append(state)
    largest = sorted(groups, key=lambda key: -len(groups[key]))[:MOST_PANELS]
    directions = np.array([label[3] for label in labels])  # type: ignore[index]
    panels = []
    for key, states in groups.items():
        if key in largest:
            chosen = np.array(states)
            panels.append(Panel(_title(key), chosen, directions[chosen]))
    return panels


def _is_minigrid(label: Any) -> bool:
    if not isinstance(label, tuple) or len(label) != _PARTS or not isinstance(label[5], tuple):
        return False
    return isinstance(label[0], str) and label[3] in range(4) and (label[4] is None or len(label[4]) == 3)


def _title(key: Any) -> str:
    carrying, doors = key
    words = ["carries nothing" if carrying is None else f"carries the {_color(carrying)} {_OBJECTS[carrying[0]]}"]
    words += [f"{_color(code)} door {_DOOR_STATES[code[2]]}" for _, code in doors[:3]]
    if len(doors) > 3:
        n_open = sum(code[2] == 0 for _, code in doors)
        words[1:] = [f"{n_open} of {len(doors)} doors open"]
    return "\n".join([words[0], ", ".join(words[1:])]).strip()


def _color(code: tuple[int, int, int]) -> str:
    return _COLORS[code[1]]
