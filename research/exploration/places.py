"""The worlds and environments that are explored, by name."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from farpoint.worlds import World, four_rooms, maze, random_maze, ring
from farpoint.worlds.state_index import state_key

_NINE_ROOMS = 6


@cache
def make_place(name: str, layout: int) -> World:
    """Return the world of this name; ``layout`` is the seed of its walls or of its start, where they are drawn.

    An environment (``env:ID``) is enumerated by its observations, so that it can be simulated: the number of the state
    in toy text, the image of the whole grid in MiniGrid. The target of a world is the state that is farthest from its
    start.

    >>> make_place("hanoi", 0).n_states
    729
    """
    if name.startswith("env:"):
        name = name.removeprefix("env:")
        return World.from_env(make_env(name), state=full_image if name.startswith("MiniGrid") else None, seed=layout)
    world = _PLACES[name](layout)
    farthest = int(dijkstra(world.adjacency, unweighted=True, indices=world.start).argmax())
    return replace(world, targets=np.array([farthest]))


def make_env(name: str, view: str = "none") -> Any:
    """Return an environment; one of MiniGrid shows the "full" grid as an image, its "own" 7 × 7 view, or "none"."""
    import gymnasium

    if name.startswith("MiniGrid"):
        import minigrid  # noqa: F401 - registers its environments
    with warnings.catch_warnings():
        # Gymnasium recommends newer versions of an environment; this one was chosen.
        warnings.simplefilter("ignore")
        env = gymnasium.make(name, disable_env_checker=True)
    if not name.startswith("MiniGrid") or view == "own":
        return env
    if view == "full":
        from minigrid.wrappers import FullyObsWrapper, ImgObsWrapper

        return ImgObsWrapper(FullyObsWrapper(env))
    # Enumerating needs the image of the whole grid only.
    env.unwrapped.gen_obs = _no_observation  # type: ignore[attr-defined]
    return env


def full_image(env: Any, observation: Any) -> Hashable:
    """Return the key of what MiniGrid's FullyObsWrapper shows: an image of the whole grid with the agent in it."""
    from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX

    base = env.unwrapped
    image = base.grid.encode()
    image[tuple(base.agent_pos)] = OBJECT_TO_IDX["agent"], COLOR_TO_IDX["red"], base.agent_dir
    return state_key(image)


def _no_observation() -> dict[str, Any]:
    return {}


def _from(world: World, layout: int) -> World:
    """Return the world with a random start that depends on the layout."""
    return replace(world, start=int(np.random.default_rng(layout).integers(world.n_states)))


def _rooms(n_rooms: int, size: int) -> World:
    """Return a square of rooms with a door in the middle of each wall between two."""
    side = n_rooms * (size + 1) + 1
    cells = np.full((side, side), ".")
    cells[:: size + 1] = "#"
    cells[:, :: size + 1] = "#"
    middles = [room * (size + 1) + size // 2 + 1 for room in range(n_rooms)]
    walls = [room * (size + 1) for room in range(1, n_rooms)]
    for wall, middle in itertools.product(walls, middles):
        cells[wall, middle] = cells[middle, wall] = "."
    return World.from_map("\n".join("".join(row) for row in cells))


def noisy(world: World, noise: float) -> World:
    """Return the world in which every choice is replaced, with this probability, by a random one of its state.

    >>> from farpoint.worlds import open_room
    >>> noisy(open_room(1, 3), 0.5).transitions.toarray()[1:3]
    array([[0.75, 0.  , 0.25],
           [0.25, 0.  , 0.75]])
    """
    owners = world.choice_states
    share = 1.0 / np.diff(world.choice_ptr)[owners]
    mean = csr_array((share, (owners, np.arange(world.n_choices))), shape=(world.n_states, world.n_choices))
    mixed = csr_array((1.0 - noise) * world.transitions + noise * csr_array(mean @ world.transitions)[owners])
    table = replace(world.table, transitions=mixed)
    return World(table, start=world.start, positions=world.positions)


def _torus(rows: int, cols: int) -> World:
    row, col = np.divmod(np.arange(rows * cols), cols)
    ends = [(row + down) % rows * cols + (col + right) % cols for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    begins = np.tile(np.arange(rows * cols), 4)
    return World.from_graph(csr_array((np.ones(begins.size), (begins, np.concatenate(ends)))))


def _hanoi(n_discs: int) -> World:
    """Return the towers of Hanoi: a state is the peg of each disc, smallest first."""
    states = {pegs: number for number, pegs in enumerate(itertools.product(range(3), repeat=n_discs))}
    edges = []
    for pegs, number in states.items():
        for disc, peg in enumerate(pegs):
            # A disc moves if no smaller one lies on it, to a peg where no smaller one lies.
            for target in {0, 1, 2} - {peg} - set(pegs[:disc]):
                if peg not in pegs[:disc]:
                    edges.append((number, states[(*pegs[:disc], target, *pegs[disc + 1 :])]))
    begins, ends = np.array(edges).T
    return World.from_graph(csr_array((np.ones(begins.size), (begins, ends)), shape=(len(states), len(states))))


_PLACES: Mapping[str, Callable[[int], World]] = {
    "four_rooms": lambda layout: four_rooms(),
    "maze": lambda layout: maze(),
    "ring": lambda layout: _from(ring(), layout),
    "large_four_rooms": lambda layout: _from(_rooms(2, 11), layout),
    "nine_rooms": lambda layout: noisy(_from(_rooms(3, _NINE_ROOMS), layout), 0.15),
    "torus": lambda layout: _from(_torus(30, 30), layout),
    "hanoi": lambda layout: _from(_hanoi(6), layout),
    "maze_1000": lambda layout: _from(random_maze(37, 37, seed=layout), layout),
    "maze_5000": lambda layout: _from(random_maze(82, 82, seed=layout), layout),
    "maze_40": lambda layout: replace(random_maze(40, 40, seed=1), start=0),
}
