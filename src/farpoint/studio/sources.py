"""Where the world of a tab comes from: a preset, a painted map, a text, an environment, a graph."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.envs.making import make_env
from farpoint.errors import InvalidInput, MissingExtra, UnknownName, check_fraction, check_integer, check_word
from farpoint.studio.stage import FLOOR, Canvas, Stage, check_size
from farpoint.worlds import CATALOGUE, World, open_room, random_maze
from farpoint.worlds.maps import read_map

Source = dict[str, Any]
# Enumerated when an environment is opened; more would keep a tab waiting for minutes.
MOST_ENV_STATES = 20_000
# Beyond this a copied map is read from a file.
_MOST_WRITTEN = 40_000
# A layout by springs takes seconds at this size.
_MOST_BY_SPRINGS = 1_500
_GRAPHS = {"karate club": "karate_club_graph", "Les Misérables": "les_miserables_graph"}
GRAPHS = tuple(_GRAPHS)
# A colon would import a module of the visitor's choice.
_ENV_NAME = re.compile(r"[A-Za-z0-9_./-]{1,100}")
_SIZED = re.compile(r"(open_room|random_maze):(\d{1,7})x(\d{1,7})")


def source_of_word(word: str) -> Source:
    """Return the source that a word on the command line names.

    >>> source_of_word("random_maze:100x200")
    {'kind': 'random_maze', 'rows': 100, 'cols': 200}
    >>> source_of_word("gym:FrozenLake-v1")
    {'kind': 'env', 'id': 'FrozenLake-v1'}
    """
    if word in ("open_room", "random_maze"):
        shape = (12, 12) if word == "open_room" else (40, 60)
        return {"kind": word, "rows": shape[0], "cols": shape[1]}
    if word in CATALOGUE:
        return {"kind": "named", "name": word}
    if sized := _SIZED.fullmatch(word):
        return {"kind": sized[1], "rows": int(sized[2]), "cols": int(sized[3])}
    if word.startswith("gym:"):
        return {"kind": "env", "id": word.removeprefix("gym:")}
    if not os.path.exists(word):
        raise UnknownName(
            f"world must be a map file, gym:ENV-ID, NAME:ROWSxCOLS or one of {', '.join(CATALOGUE)}; got {word!r}."
        )
    return {"kind": "text", "text": read_map(word), "name": Path(word).stem}


def make_stage(source: Source, cells: NDArray[Any] | None = None) -> Stage:
    """Return the stage of a source; ``cells`` are the codes of a painted map.

    >>> make_stage({"kind": "named", "name": "ring"}).world.n_states
    192
    """
    kind = check_word("world", source.get("kind"), MAKERS)
    if kind == "cells":
        if cells is None:
            raise InvalidInput("cells must come with a painted map; got none.")
        canvas = Canvas.of_bytes(source.get("rows"), source.get("cols"), cells)
        return map_stage(canvas, _wind(source), _name(source))
    return MAKERS[kind](source)


def map_stage(canvas: Canvas, wind: float, name: str, code: str = "") -> Stage:
    """Return the stage of a map that can be painted; ``code`` makes the same world where it is known."""
    world = canvas.world(wind, name)
    n_cut = int((canvas.cells >= FLOOR).sum()) - world.n_states
    # A start or target that was cut off is not in the world, so the call that makes it is not that of the preset.
    note = f"{n_cut:,} {'cell is' if n_cut == 1 else 'cells are'} cut off from the rest" if n_cut else ""

    def lines() -> str:
        if code and not n_cut:
            return code
        more = f", wind={wind:g}" if wind else ""
        more += ", largest_component=True" if n_cut else ""
        if canvas.cells.size > _MOST_WRITTEN:
            return f'world = fp.World.from_map(open("map.txt").read(){more})  # "Map as text" saves map.txt'
        return f'world = fp.World.from_map("""\\\n{canvas.text()}"""{more})'

    return Stage(world, canvas, lines, note)


def _named(source: Source) -> Stage:
    name, wind = check_word("world", source.get("name"), CATALOGUE), _wind(source)
    world = CATALOGUE[name](wind)
    return map_stage(Canvas.of_world(world), wind, name, f"world = fp.{name}({_wind_argument(wind, first=True)})")


def _open_room(source: Source) -> Stage:
    (rows, cols), wind = check_size(source.get("rows"), source.get("cols")), _wind(source)
    code = f"world = fp.open_room({rows}, {cols}{_wind_argument(wind)})"
    return map_stage(Canvas.of_world(open_room(rows, cols, wind)), wind, "open_room", code)


def _random_maze(source: Source) -> Stage:
    (rows, cols), wind = check_size(source.get("rows"), source.get("cols")), _wind(source)
    wall = check_fraction("wall", source.get("wall", 0.25))
    seed = check_integer("seed", source.get("seed", 0), 0)
    world = random_maze(rows, cols, wall, seed=seed, wind=wind)
    code = f"world = fp.random_maze({rows}, {cols}, {wall:g}, seed={seed}{_wind_argument(wind)})"
    return map_stage(Canvas.of_world(world), wind, "random_maze", code)


def _text(source: Source) -> Stage:
    text = source.get("text")
    if not isinstance(text, str):
        raise InvalidInput("map must be a text; got none.")
    return map_stage(Canvas.of_text(text), _wind(source), _name(source))


def _env(source: Source) -> Stage:
    name, seed = source.get("id"), check_integer("seed", source.get("seed", 0), 0)
    if not isinstance(name, str) or not _ENV_NAME.fullmatch(name):
        raise UnknownName(f"environment must be the name of one in Gymnasium; got {name!r}. Try FrozenLake-v1.")
    env = make_env(name)
    try:
        world = World.from_env(env, seed=seed, max_states=MOST_ENV_STATES)
    finally:
        env.close()
    imports = "import minigrid\n" if name.startswith(("MiniGrid", "BabyAI")) else ""
    code = f'import gymnasium as gym\n{imports}\nworld = fp.World.from_env(gym.make("{name}"), seed={seed})'
    return drawn_stage(world, code)


def _graph(source: Source) -> Stage:
    name = check_word("graph", source.get("name"), _GRAPHS)
    networkx = import_networkx()
    graph = getattr(networkx, _GRAPHS[name])()
    code = f"import networkx as nx\n\nworld = fp.World.from_graph(nx.{_GRAPHS[name]}())"
    return graph_stage(graph, name, code)


def import_networkx() -> Any:
    """Return networkx; fail with how to install it if it is missing."""
    try:
        import networkx
    except ImportError as error:
        raise MissingExtra("networkx must be installed for graphs. Run: pip install 'farpoint[studio]'") from error
    return networkx


def graph_stage(graph: Any, name: str, code: str) -> Stage:
    """Return the stage of a networkx graph: its largest connected part."""
    world = World.from_graph(graph, largest_component=True, name=name)
    n_cut = graph.number_of_nodes() - world.n_states
    note = f"{n_cut:,} nodes are not joined to the rest" if n_cut else ""
    return drawn_stage(world, code.replace("())", "(), largest_component=True)") if n_cut else code, note)


def drawn_stage(world: World, code: str, note: str = "") -> Stage:
    """Return the stage of a world that cannot be painted: cells where it has them, else nodes and links."""
    if world.on_grid:
        return Stage(world, None, lambda: code, note)
    pairs = world.neighbors.tocoo()
    once = pairs.row < pairs.col
    links = np.stack([pairs.row[once], pairs.col[once]], axis=1).astype(np.int32).ravel()
    if world.positions is None or world.positions.shape[1] != 2:
        from dataclasses import replace

        world = replace(world, positions=_layout(world))
    return Stage(world, None, lambda: code, note, links)


def _layout(world: World) -> NDArray[np.float64]:
    """Return a place for every state: by springs or, of many states, by the leading diffusion coordinates."""
    if world.n_states > _MOST_BY_SPRINGS and world.symmetric:
        from farpoint.diffusion import diffusion_map

        return diffusion_map(world, 4, 2)
    networkx = import_networkx()
    graph = networkx.from_scipy_sparse_array(world.neighbors)
    if world.n_states <= 80:
        places = networkx.kamada_kawai_layout(graph, weight=None)
    else:
        places = networkx.spring_layout(graph, seed=0, iterations=100, weight=None)
    return np.array([places[state] for state in range(world.n_states)])


def _wind(source: Source) -> float:
    return check_fraction("wind", source.get("wind", 0.0))


def _wind_argument(wind: float, *, first: bool = False) -> str:
    return "" if wind == 0 else f"{'' if first else ', '}wind={wind:g}"


def _name(source: Source) -> str:
    return re.sub(r"[^\w .-]", "", str(source.get("name") or "map"))[:60] or "map"


MAKERS: dict[str, Callable[[Source], Stage]] = {
    "named": _named,
    "open_room": _open_room,
    "random_maze": _random_maze,
    "text": _text,
    "env": _env,
    "graph": _graph,
    "cells": _text,
}
