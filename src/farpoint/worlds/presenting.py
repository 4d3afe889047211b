"""What a world shows of itself, and its file."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from farpoint.display import Drawn, Framed
from farpoint.errors import InvalidFile, InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farpoint.worlds.world import World


class Presented(Drawn, Framed):
    """The picture, the table of states and the file of a `World`."""

    def columns(self) -> dict[str, Any]:
        """Return one row per state: its number, label, place, number of choices, and what it is to an episode.

        Examples
        --------
        >>> import farpoint as fp
        >>> list(fp.maze().columns())
        ['state', 'row', 'column', 'n_choices', 'start', 'target', 'restart']
        """
        world = cast("World", self)
        states = np.arange(world.n_states)
        return {
            **state_columns(world, states),
            "n_choices": np.diff(world.choice_ptr),
            "start": states == world.start if world.starts is None else np.asarray(world.starts > 0),
            "target": np.isin(states, [] if world.targets is None else world.targets),
            "restart": np.zeros(states.size) if world.restart is None else np.asarray(world.restart),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the world to one ``.npz`` file, without pickle; read it with `World.load`.

        A name without an ending has ``.npz`` added, here and in `load`: ``save("w")`` writes ``w.npz``.
        With it the options of a log or of samples can be used elsewhere: their own file is refused on any other world.

        Raises
        ------
        InvalidInput
            If a label is not a number, a text, bytes, or a tuple of these.

        Examples
        --------
        >>> import tempfile, farpoint as fp
        >>> world = fp.World.from_log(["a", "b", "c", "b"], ["b", "c", "b", "a"])
        >>> options = fp.discover(world, n_options=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     world.save(f"{folder}/world.npz")
        ...     options.save(f"{folder}/options.npz")
        ...     fp.OptionSet.load(f"{folder}/options.npz", fp.World.load(f"{folder}/world.npz"))
        OptionSet(1 diffusion option on log, t=4)
        """
        from farpoint.worlds.saving import save_world

        save_world(cast("World", self), path)

    @staticmethod
    def load(path: str | PathLike[str]) -> World:
        """Return the world that `save` wrote; a name without an ending has ``.npz`` added, unless there is such a file.

        Raises
        ------
        InvalidFile
            If the file is missing, damaged, or not a file of a world.

        Examples
        --------
        >>> import tempfile, farpoint as fp
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fp.maze().save(f"{folder}/maze.npz")
        ...     fp.World.load(f"{folder}/maze.npz")
        World('maze', 148 states, 440 choices, deterministic)
        """
        from farpoint.worlds.saving import read_saved
        from farpoint.worlds.world import World

        try:
            return World(**read_saved(path))
        except InvalidInput as error:
            raise InvalidFile(f"{path} must hold a world; got one that is none ({error}).") from error


def state_columns(world: World, states: NDArray[np.int64]) -> dict[str, Any]:
    """Return the columns that tell some states of a world apart: number, label, place and observation.

    >>> import farpoint as fp
    >>> state_columns(fp.maze(), np.array([0, 1]))
    {'state': array([0, 1]), 'row': array([1, 1], dtype=int32), 'column': array([1, 2], dtype=int32)}
    """
    columns: dict[str, Any] = {"state": states}
    if world.labels is not None:
        # One cell each, also where a label is a tuple.
        columns["label"] = np.fromiter((world.labels[state] for state in states), dtype=object, count=states.size)
    if world.positions is not None:
        names = (
            ["row", "column"] if world.positions.shape[1] == 2 else [f"x{k}" for k in range(world.positions.shape[1])]
        )
        columns |= {name: world.positions[states, place] for place, name in enumerate(names)}
    if world.observations is not None:
        for place in range(world.observations.shape[1]):
            columns[f"observation{place}"] = world.observations[states, place]
    return columns
