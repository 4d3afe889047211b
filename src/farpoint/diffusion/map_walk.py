"""The walk of a world that is its map."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from scipy.sparse import csr_array

from farpoint.diffusion.walk import Walk
from farpoint.worlds.map_world import MapWorld


class MapWalk(Walk):
    """The walk on a map: `moves` are made when they are asked for, which following the walk does not.

    >>> import farpoint as fp
    >>> Walk.of(fp.open_room(1, 3)).leaving
    array([1., 2., 1.])
    """

    def __new__(cls, *values: Any, **named: Any) -> Any:
        """Return a plain walk: called so by dataclasses.replace, and a changed copy is no longer that of a map."""
        return Walk(*values, **named)

    @classmethod
    def on(cls, world: MapWorld) -> MapWalk:
        """Return the walk of a map."""
        walk: MapWalk = object.__new__(cls)
        for name, value in {"symmetric": True, "floor": world.floor, "name": world.name, "world": world}.items():
            object.__setattr__(walk, name, value)
        return walk

    def __reduce__(self) -> tuple[Any, ...]:
        return MapWalk.on, (self.world,)

    world: MapWorld

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.world.n_states

    @cached_property
    def moves(self) -> csr_array:
        """The weight of the move from each state to each other."""
        return self.world.adjacency

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all weights, the same as if they were written out."""
        return self.world.moves_digest()
