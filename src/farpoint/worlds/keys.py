"""The key of a state: what identifies it among the states of a Gymnasium environment."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from numbers import Real
from typing import Any

import numpy as np

from farpoint.errors import InvalidInput
from farpoint.worlds.array_keys import ArrayKey

StateKey = Callable[[Any, Any], Hashable]


def state_key(env: Any, observation: Any) -> Hashable:
    """Return what identifies the state that an environment is in, from its observation or from the environment itself.

    MiniGrid: the walls, where the agent stands and looks, what it carries, and every object. Elsewhere: a whole number
    or a text as it is, an array of whole numbers as its bytes (an `ArrayKey`, which shows them as numbers), a tuple or
    dict of these item by item.

    MiniGrid's own ``hash()`` is not used: it prints the agent's position, which is a pair of Python integers at first
    and of NumPy integers after a step, so that one state has two hashes.

    Raises
    ------
    InvalidInput
        A continuous observation, or one of a kind that cannot identify a state.
    """
    base = getattr(env, "unwrapped", None)
    if base is None:
        raise InvalidInput(f"env must be a Gymnasium environment; got {env!r}. Make one with gymnasium.make.")
    if hasattr(base, "grid") and hasattr(base, "agent_pos") and hasattr(base, "agent_dir"):
        return minigrid_key(base)
    if hasattr(base, "P") and hasattr(base, "s"):
        # The table's own number, whatever wrappers make of the observation.
        return int(base.s)
    return plain_key(observation)


def plain_key(observation: Any) -> Hashable:
    """Return an observation as a key: numbers, texts, arrays of whole numbers, and tuples and dicts of these.

    >>> import numpy as np
    >>> plain_key({"place": (np.int64(3), 4), "door": "open"})
    (('door', 'open'), ('place', (3, 4)))
    >>> plain_key(np.array([3, 4])), plain_key(np.array([3, 4])) == np.array([3, 4]).tobytes()
    ([3, 4], True)
    """
    if isinstance(observation, (int, np.integer, np.bool_)):
        return int(observation)
    if isinstance(observation, (str, bytes, frozenset)):
        return observation
    if isinstance(observation, tuple):
        return tuple(plain_key(item) for item in observation)
    if isinstance(observation, dict):
        return tuple((name, plain_key(observation[name])) for name in sorted(observation))
    if isinstance(observation, np.ndarray):
        if not np.issubdtype(observation.dtype, np.integer) and observation.dtype != bool:
            raise InvalidInput(
                f"observation must be of whole numbers to identify a state; got an array of {observation.dtype}. "
                "Pass state=, a function of (env, observation) that gives a hashable key."
            )
        return ArrayKey.of(observation)
    raise InvalidInput(
        f"observation must be a whole number, a text, an array, or a tuple or dict of these; got "
        f"{type(observation).__name__}. Pass state=, a function of (env, observation) that gives a hashable key."
    )


def minigrid_key(base: Any) -> Hashable:
    """Return the key of a MiniGrid state."""
    grid = base.grid
    # Walls never move: their digest is kept on the grid, so that a step does not pay for it.
    walls = getattr(grid, "_farpoint_walls", None)
    if walls is None:
        cells = bytes(cell is not None and cell.type == "wall" for cell in grid.grid)
        walls = hashlib.blake2b(cells, digest_size=8).hexdigest()
        grid._farpoint_walls = walls
    things = tuple(
        (place, cell.encode()) for place, cell in enumerate(grid.grid) if cell is not None and cell.type != "wall"
    )
    x, y = base.agent_pos
    carrying = base.carrying.encode() if base.carrying is not None else None
    return walls, int(x), int(y), int(base.agent_dir), carrying, things


def check_key(key: Any) -> Hashable:
    """Return the key if it can be looked up."""
    try:
        hash(key)
    except TypeError as error:
        raise InvalidInput(
            f"state must give a hashable key; got {type(key).__name__}. Give a number, a text, bytes or a tuple."
        ) from error
    return key  # type: ignore[no-any-return]


def numbered_state(key: Hashable, n_states: int) -> int | None:
    """Return the state that a number stands for, or None if there is none.

    >>> numbered_state(3, 5), numbered_state(5, 5), numbered_state("3", 5)
    (3, None, None)
    """
    if not isinstance(key, (Real, np.bool_)) or not 0 <= key < n_states:
        return None
    return int(key) if int(key) == key else None


def position_of(env: Any, key: Hashable) -> tuple[int, int] | None:
    """Return the row and column of the state that an environment is in, where the environment has such."""
    base = env.unwrapped
    if hasattr(base, "agent_pos") and hasattr(base, "grid"):
        x, y = base.agent_pos
        return int(y), int(x)
    return table_position(base, key)


def table_position(base: Any, key: Hashable) -> tuple[int, int] | None:
    """Return the row and column of a numbered state of a toy-text environment, or of a world that is stepped."""
    if not isinstance(key, int):
        return None
    if hasattr(base, "position_of_state"):
        position: tuple[int, int] | None = base.position_of_state(key)
        return position
    if hasattr(base, "nrow") and hasattr(base, "ncol"):
        return key // int(base.ncol), key % int(base.ncol)
    if hasattr(base, "shape") and len(base.shape) == 2:
        return key // int(base.shape[1]), key % int(base.shape[1])
    if hasattr(base, "decode"):
        row, column, *_ = base.decode(key)
        return int(row), int(column)
    return None
