"""Which worlds, which methods and what is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from farpoint.paper.store import Results as AnyResults
from farpoint.worlds import World, named_world, random_maze

METHODS = (
    "farpoint", "diffusion", "average", "eigen", "cover", "betweenness", "bottleneck", "louvain", "successor", "visits",
    "random", "none",
)  # fmt: skip
# What is measured, the less the better, and in which families of worlds.
MEASURES = {
    "steps": "mean steps between states",
    "decisions": "mean decisions of a planner between states",
    "cover": "cover time",
    "learning": "steps per episode while learning",
    "target": "steps until a target is first reached",
    "seconds": "seconds to discover",
}
FAMILIES = {
    "paper": "the paper's worlds",
    "mazes": "random mazes",
    "graphs": "graphs",
    "environments": "environments",
}
N_OPTIONS = 10
N_MAZES = 20
MAZE_SIDE = 12


def _graphs() -> dict[str, Callable[[], Any]]:
    import networkx as nx

    return {
        "karate club": nx.karate_club_graph,
        "Les Misérables": nx.les_miserables_graph,
        "barbell": lambda: nx.barbell_graph(20, 15),
        "lollipop": lambda: nx.lollipop_graph(20, 30),
        "balanced tree": lambda: nx.balanced_tree(3, 4),
        "torus": lambda: nx.grid_2d_graph(10, 10, periodic=True),
        "hypercube": lambda: nx.hypercube_graph(6),
        "small world": lambda: nx.connected_watts_strogatz_graph(100, 4, 0.1, seed=1),
        "scale-free": lambda: nx.barabasi_albert_graph(100, 2, seed=1),
        "caveman": lambda: nx.connected_caveman_graph(8, 10),
    }


GRAPHS = (
    "karate club", "Les Misérables", "barbell", "lollipop", "balanced tree", "torus", "hypercube", "small world",
    "scale-free", "caveman",
)  # fmt: skip
ENVIRONMENTS = {
    "FrozenLake 8x8": ("FrozenLake8x8-v1", {"is_slippery": False}),
    "FrozenLake 8x8, slippery": ("FrozenLake8x8-v1", {"is_slippery": True}),
    "CliffWalking": ("CliffWalking-v1", {}),
    "Taxi": ("Taxi-v4", {}),
}


@dataclass(frozen=True)
class Scale:
    """How much work."""

    n_mazes: int = N_MAZES
    n_graphs: int = len(GRAPHS)
    n_environments: int = len(ENVIRONMENTS)
    n_runs: int = 10
    n_episodes: int = 100
    n_cover_runs: int = 30


FULL = Scale()
QUICK = Scale(n_mazes=2, n_graphs=2, n_environments=1, n_runs=2, n_episodes=30, n_cover_runs=10)

Results = AnyResults[Scale]


def worlds_of(family: str, scale: Scale) -> tuple[str, ...]:
    """Return the names of the worlds of one family.

    >>> worlds_of("mazes", QUICK)
    ('maze 0', 'maze 1')
    """
    return {
        "paper": ("four_rooms", "maze", "ring"),
        "mazes": tuple(f"maze {number}" for number in range(scale.n_mazes)),
        "graphs": GRAPHS[: scale.n_graphs],
        "environments": tuple(ENVIRONMENTS)[: scale.n_environments],
    }[family]


def make_world(family: str, name: str) -> World:
    """Return one of the worlds.

    >>> make_world("mazes", "maze 3").n_states > 50
    True
    """
    if family == "paper":
        return named_world(name)
    if family == "mazes":
        # Mazes that nothing was chosen on: docs/choices.md has seeds 1 and 7.
        return random_maze(MAZE_SIDE, MAZE_SIDE, seed=100 + int(name.split()[1]))
    if family == "graphs":
        return World.from_graph(_graphs()[name](), name=name)
    import gymnasium as gym

    env_id, settings = ENVIRONMENTS[name]
    return World.from_env(gym.make(env_id, **settings))
