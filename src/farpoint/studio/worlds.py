"""The worlds of the page: where they come from, what was uploaded, what is drawn, and the Python that makes them."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farpoint.envs import ContinuousMaze, record_samples
from farpoint.envs.making import make_env
from farpoint.errors import (
    FarpointError,
    InvalidFile,
    InvalidInput,
    MissingExtra,
    UnknownName,
    check_fraction,
    check_integer,
    check_word,
)
from farpoint.report.canvas import is_minigrid, thing_name
from farpoint.report.layout import places_of
from farpoint.studio.protocol import MOST_CELLS, MOST_FILE_BYTES
from farpoint.worlds import CATALOGUE, World, open_room, random_maze
from farpoint.worlds.environments import simulator_kind
from farpoint.worlds.graphs import places_of_points
from farpoint.worlds.logs import Log, is_log_column, read_log
from farpoint.worlds.maps import UNREADABLE, picture_floor

if TYPE_CHECKING:
    from farpoint.options import GoalPolicy

Source = dict[str, Any]
# The cells of a map, one byte each, as the page keeps them.
WALL, FLOOR, START, TARGET = range(4)
SYMBOLS = "#.SG"
_FACING = ("right", "down", "left", "up")
_TAXI_PLACES = ("red", "green", "yellow", "blue", "in the taxi")
# Of an environment's picture.
_MOST_PIXELS = 12_000_000
# Enumerated when an environment is opened; more would keep a tab waiting for minutes.
MOST_ENV_STATES = 20_000
MOST_NODES = 20_000
MOST_LINKS = 200_000
# Random steps in the continuous maze: its cells are all visited many times.
_CONTINUOUS_STEPS = 20_000
# Beyond this a copied map is read from a file.
_MOST_WRITTEN = 40_000
_GRAPHS = {"karate club": "karate_club_graph", "Les Misérables": "les_miserables_graph"}
GRAPHS = tuple(_GRAPHS)
# A colon would import a module of the visitor's choice.
_ENV_NAME = re.compile(r"[A-Za-z0-9_./-]{1,100}")
_PNG = b"\x89PNG\r\n\x1a\n"
_ZIP = b"PK\x03\x04"
# Of the arrays in an npz, which may be packed a thousand times smaller.
_MOST_LOG_BYTES = 256 * 2**20
_MAP_CHARACTERS = set("#. SG\r\n\ufeff")
_MAP_FILES = (".txt", ".map", "")
_EDGE_FILES = (".edges", ".edgelist", ".csv")
_TITLES = {("source", "target"), ("from", "to"), ("u", "v"), ("node1", "node2")}


@dataclass(frozen=True, eq=False)
class Canvas:
    """A map as the page keeps it: one code per cell.

    >>> canvas = Canvas.of_text("S.#")
    >>> canvas.cells
    array([[2, 1, 0]], dtype=uint8)
    >>> print(canvas.text())
    S.#
    """

    cells: NDArray[np.uint8]

    @classmethod
    def of_bytes(cls, n_rows: object, n_cols: object, cells: NDArray[Any]) -> Canvas:
        """Return the map of so many rows and columns, cell by cell."""
        shape = check_size(n_rows, n_cols)
        if cells.dtype != np.uint8 or cells.size != shape[0] * shape[1] or cells.max(initial=0) > TARGET:
            raise InvalidInput(f"cells must be {shape[0]} × {shape[1]} codes from 0 to {TARGET}; got {cells.size}.")
        return cls(cells.reshape(shape).copy())

    @classmethod
    def of_world(cls, world: World) -> Canvas:
        """Return the map of a world on a grid, with walls around it, as `World.to_text` draws it."""
        assert world.positions is not None
        places = world.positions - world.positions.min(axis=0) + 1
        cells = np.zeros(places.max(axis=0) + 2, dtype=np.uint8)
        cells[places[:, 0], places[:, 1]] = FLOOR
        if world.targets is not None:
            cells[tuple(places[world.targets].T)] = TARGET
        if world.start is not None:
            cells[tuple(places[world.start])] = START
        return cls(cells)

    @classmethod
    def of_text(cls, text: str) -> Canvas:
        """Return the map of a text, checked in size before it is read."""
        from farpoint.worlds.maps import parse_map

        lines = text.count("\n") + 1
        longest = max(map(len, text.splitlines()), default=0)
        if lines * max(longest, 1) > 2 * MOST_CELLS:
            raise InvalidInput(f"map must have at most {MOST_CELLS:,} cells; got {lines} lines of {longest}.")
        parsed = parse_map(text)
        check_size(*parsed.floor.shape)
        cells = parsed.floor.astype(np.uint8)
        cells[tuple(parsed.targets.T)] = TARGET
        if parsed.start is not None:
            cells[parsed.start] = START
        return cls(cells)

    def with_edits(self, places: NDArray[Any], codes: NDArray[Any]) -> Canvas:
        """Return the map after some cells were painted, the last of several paints of one cell counting."""
        if places.size != codes.size or (places.size and not 0 <= places.min() <= places.max() < self.cells.size):
            raise InvalidInput(f"edits must name cells of this map ({self.cells.size}); got others.")
        if codes.max(initial=0) > TARGET:
            raise InvalidInput(f"cells must have codes from 0 to {TARGET}; got {codes.max()}.")
        cells = self.cells.copy()
        cells.flat[places] = codes
        return Canvas(cells)

    def text(self) -> str:
        """Return the map as text."""
        symbols = np.frombuffer(SYMBOLS.encode(), dtype=np.uint8)[self.cells]
        return "\n".join(row.tobytes().decode() for row in symbols)

    def world(self, wind: float, name: str) -> World:
        """Return the world of the largest connected part of the floor."""
        from farpoint.worlds.maps import world_from_floor

        floor = self.cells != WALL
        if not floor.any():
            raise InvalidInput("map must have floor; got walls only. Paint some floor.")
        starts = np.argwhere(self.cells == START)
        return world_from_floor(
            floor,
            check_fraction("wind", wind),
            tuple(starts[0].tolist()) if len(starts) else None,
            np.argwhere(self.cells == TARGET),
            name=name,
            largest_component=True,
        )


def check_size(n_rows: object, n_cols: object) -> tuple[int, int]:
    """Return rows and columns if a map may have so many.

    >>> check_size(12, 20)
    (12, 20)
    """
    rows, cols = check_integer("rows", n_rows, 1, MOST_CELLS), check_integer("columns", n_cols, 1, MOST_CELLS)
    if rows * cols > MOST_CELLS:
        raise InvalidInput(f"map must have at most {MOST_CELLS:,} cells; got {rows} × {cols}.")
    return rows, cols


@dataclass(frozen=True, eq=False)
class Stage:
    """A world on the page.

    Attributes
    ----------
    world : World
    canvas : Canvas or None
        The map that can be painted; None for graphs and environments.
    code : function
        The lines of Python that make the world, as a text.
    note : str
        What the page says about the world.
    links : array
        Pairs of states that are joined, of a graph.
    policy : GoalPolicy or None
        Of a log: what leads from any state to any other.
    env : tuple or None
        Name and seed of the environment.
    """

    world: World
    canvas: Canvas | None
    code: Callable[[], str]
    note: str = ""
    links: NDArray[np.int32] | None = field(default=None)
    policy: GoalPolicy | None = None
    env: tuple[str, int] | None = None

    @property
    def on_map(self) -> bool:
        """Whether states are drawn as cells of a map."""
        return self.canvas is not None or self.world.on_grid

    def frame(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what the page needs to draw the world."""
        world = self.world
        header: dict[str, Any] = {
            "name": world.name,
            "n_states": world.n_states,
            "editable": self.canvas is not None,
            "start": world.start,
            "first": first_state(world),
            "note": self.note,
            "log": self.policy is not None,
            "env": self.env is not None,
        }
        arrays: dict[str, NDArray[Any]] = {
            "targets": np.asarray([] if world.targets is None else world.targets, dtype=np.int32)
        }
        if self.on_map:
            assert world.positions is not None
            if self.canvas is not None:
                rows, cols = self.canvas.cells.shape
                places = world.positions
                arrays["cells"] = self.canvas.cells.ravel()
            else:
                drawn = Canvas.of_world(world).cells
                rows, cols = drawn.shape
                places = world.positions - world.positions.min(axis=0) + 1
                arrays["cells"] = drawn.ravel()
            header |= {"drawn": "map", "rows": rows, "cols": cols}
            parts = slices_of(world, self.env) if self.canvas is None else []
            header["slices"] = [{"name": name, "values": values} for name, values, _ in parts]
            arrays |= {f"slice{number}": of_states for number, (_, _, of_states) in enumerate(parts)}
            # Where every floor cell is a state, row by row, the page can count them itself.
            if self.canvas is None or int((self.canvas.cells != WALL).sum()) > world.n_states:
                arrays["state_cell"] = (places[:, 0] * cols + places[:, 1]).astype(np.int32)
        else:
            header |= {"drawn": "graph", "labels": _labels(world)}
            assert world.positions is not None
            assert self.links is not None
            # Positions are rows and columns; the page draws x to the right.
            arrays["places"] = np.ascontiguousarray(world.positions[:, 1::-1], dtype=np.float32).ravel()
            arrays["links"] = self.links
        return header, arrays


def first_state(world: World) -> int:
    """Return the state that agents begin in: the world's start, or its likeliest first state, or state 0."""
    if world.start is not None:
        return world.start
    return 0 if world.starts is None else int(world.starts.argmax())


def slices_of(world: World, env: tuple[str, int] | None = None) -> list[tuple[str, list[str], NDArray[np.int32]]]:
    """Return in what states of one cell differ: each part's name, its values, and the value of every state.

    Of MiniGrid these are where the agent looks, what it carries and how the objects around it are; of Taxi, where
    passenger and destination are; elsewhere they are counted. None where every cell is one state.

    >>> slices_of(World.from_map("S.."))
    []
    """
    assert world.positions is not None
    _, cell, counts = np.unique(world.positions, axis=0, return_inverse=True, return_counts=True)
    if counts.max() == 1:
        return []
    labels: list[Any] = list(world.labels or ())
    if labels and all(map(is_minigrid, labels)):
        named = {
            "facing": [_FACING[label[3]] for label in labels],
            "carrying": ["nothing" if label[4] is None else thing_name(label[4]) for label in labels],
            "objects": [", ".join(thing_name(thing) for _, thing in label[5]) or "none" for label in labels],
        }
    elif env is not None and env[0].startswith("Taxi"):
        # A state of Taxi is ((row · 5 + column) · 5 + passenger) · 4 + destination.
        named = {
            "passenger": [_TAXI_PLACES[label // 4 % 5] for label in labels],
            "destination": [_TAXI_PLACES[label % 4] for label in labels],
        }
    else:
        order = np.argsort(cell.ravel(), kind="stable")
        number = np.empty(world.n_states, dtype=np.int64)
        number[order] = np.arange(world.n_states) - np.repeat(np.cumsum(counts) - counts, counts)
        named = {"state of the cell": [str(one + 1) for one in number]}
    parts = []
    for name, of_states in named.items():
        values = list(dict.fromkeys(of_states))
        if len(values) > 1:
            place = {value: index for index, value in enumerate(values)}
            parts.append((name, values, np.array([place[value] for value in of_states], dtype=np.int32)))
    return parts


def _labels(world: World) -> list[str]:
    if world.labels is None:
        return []
    return [str(label)[:40] for label in world.labels]


def make_stage(
    source: Source, cells: NDArray[Any] | None = None, progress: Callable[[int], None] | None = None
) -> Stage:
    """Return the stage of a source; ``cells`` are the codes of a painted map.

    ``progress`` is told how many states of an environment were found so far.

    >>> make_stage({"kind": "named", "name": "ring"}).world.n_states
    192
    """
    kind = check_word("world", source.get("kind"), MAKERS)
    if kind == "cells":
        if cells is None:
            raise InvalidInput("cells must come with a painted map; got none.")
        canvas = Canvas.of_bytes(source.get("rows"), source.get("cols"), cells)
        return map_stage(canvas, _wind(source), _name(source))
    if kind == "env":
        return _env(source, progress)
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


def _env(source: Source, progress: Callable[[int], None] | None = None) -> Stage:
    name, seed = source.get("id"), check_integer("seed", source.get("seed", 0), 0)
    if not isinstance(name, str) or not _ENV_NAME.fullmatch(name):
        raise UnknownName(f"environment must be the name of one in Gymnasium; got {name!r}. Try FrozenLake-v1.")
    env = make_env(name)
    try:
        world = World.from_env(env, seed=seed, max_states=MOST_ENV_STATES, progress=progress or _silent)
    finally:
        env.close()
    imports = "import minigrid\n" if name.startswith(("MiniGrid", "BabyAI")) else ""
    code = f'import gymnasium as gym\n{imports}\nworld = fp.World.from_env(gym.make("{name}"), seed={seed})'
    return replace(drawn_stage(world, code), env=(name, seed))


def env_picture(name: str, seed: int, label: Any) -> NDArray[np.uint8]:
    """Return the environment's own picture of a state: rows × columns × red, green, blue.

    Its simulator is put into the state: that of a table (FrozenLake, Taxi) or of MiniGrid.
    """
    # The end of episodes in a state that others pass through looks as that state does.
    label = label[1] if isinstance(label, tuple) and label[0] == "end" else label
    env = make_env(name, render_mode="rgb_array")
    try:
        env.reset(seed=seed)
        base: Any = env.unwrapped
        kind = simulator_kind(env)
        if kind == "minigrid":
            _put_into(base, label)
        elif kind == "table" and isinstance(label, (int, np.integer)):
            base.s = int(label)
        else:
            raise InvalidInput(f"environment must be a table or of MiniGrid to be put into a state; {name} is neither.")
        picture = base.render()
    finally:
        env.close()
    if not isinstance(picture, np.ndarray) or picture.ndim != 3 or picture.size > _MOST_PIXELS:
        raise InvalidInput(f"environment must have a picture of at most {_MOST_PIXELS:,} numbers; {name} has none.")
    return np.asarray(picture[:, :, :3], dtype=np.uint8)


def _put_into(base: Any, label: Any) -> None:
    """Put a MiniGrid environment into a state."""
    from minigrid.core.world_object import WorldObj

    _, x, y, base.agent_dir, carrying, things = label
    base.agent_pos = (x, y)
    base.carrying = None if carrying is None else WorldObj.decode(*carrying)
    cells = base.grid.grid
    for place, thing in enumerate(cells):
        if thing is not None and thing.type != "wall":
            cells[place] = None
    for place, code in things:
        cells[place] = WorldObj.decode(*code)


def _silent(n_states: int) -> None:
    """Show no bar."""


def _graph(source: Source) -> Stage:
    name = check_word("graph", source.get("name"), _GRAPHS)
    networkx = import_networkx()
    graph = getattr(networkx, _GRAPHS[name])()
    return graph_stage(graph, name, "import networkx as nx\n\n", f"nx.{_GRAPHS[name]}()")


def import_networkx() -> Any:
    """Return networkx; fail with how to install it if it is missing."""
    try:
        import networkx
    except ImportError as error:
        raise MissingExtra("networkx must be installed for graphs. Run: pip install 'farpoint[studio]'") from error
    return networkx


def graph_stage(graph: Any, name: str, code: str, call: str) -> Stage:
    """Return the stage of a networkx graph: its largest connected part. ``call``, after ``code``, makes the graph."""
    world = World.from_graph(graph, largest_component=True, name=name)
    n_cut = graph.number_of_nodes() - world.n_states
    note = f"{n_cut:,} nodes are not joined to the rest" if n_cut else ""
    cut = ", largest_component=True" if n_cut else ""
    return drawn_stage(world, f"{code}world = fp.World.from_graph({call}{cut})", note)


def drawn_stage(world: World, code: str, note: str = "") -> Stage:
    """Return the stage of a world that cannot be painted: cells where it has them, else nodes and links."""
    if world.on_grid:
        return Stage(world, None, lambda: code, note)
    pairs = world.neighbors.tocoo()
    once = pairs.row < pairs.col
    links = np.stack([pairs.row[once], pairs.col[once]], axis=1).astype(np.int32).ravel()
    if world.positions is None or world.positions.shape[1] != 2:
        world = replace(world, positions=places_of(world).astype(np.float64))
    return Stage(world, None, lambda: code, note, links)


def _continuous(source: Source) -> Stage:
    lines = (
        'env = fp.ContinuousMaze(start="random", max_steps=200)\n'
        f"log = fp.envs.record_samples(env, {_CONTINUOUS_STEPS:_}, seed=0)\n"
    )
    env = ContinuousMaze(start="random", max_steps=200)
    return _log_stage("Continuous maze", record_samples(env, _CONTINUOUS_STEPS, seed=0), lines)


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
    "continuous": _continuous,
    "cells": _text,
}


# ---- Files that a visitor drops on the page: bounded in bytes and cells before anything reads them. ------------------


def read_upload(name: str, content: bytes, wind: float = 0.0) -> Stage:
    r"""Return the stage of a file: a text map, a PNG with dark walls, GraphML, a list of edges, a log (npz, CSV).

    >>> read_upload("room.txt", b"S..").world.n_states
    3
    >>> read_upload("path.edges", b"a b\nb c\n").world.labels
    ('a', 'b', 'c')
    """
    if len(content) > MOST_FILE_BYTES:
        raise InvalidInput(f"file must have at most {MOST_FILE_BYTES // 2**20} MiB; got {len(content) / 2**20:.1f}.")
    name = Path(name).name
    title = re.sub(r"[^\w .-]", "", Path(name).stem)[:60] or "upload"
    if content.startswith(_PNG):
        return map_stage(_canvas_of_png(content), wind, title)
    if content.startswith(_ZIP):
        return _log_stage(title, *_npz_log(name, content))
    suffix = Path(name).suffix.lower()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _neither(name) from None
    if suffix in (".graphml", ".xml") or text.lstrip().startswith("<"):
        return _uploaded_graph(title, name, text, _graphml)
    if columns := _log_columns(text):
        return _log_stage(title, *_csv_log(name, text, columns))
    foreign = bool(set(text) - _MAP_CHARACTERS)
    if suffix in _EDGE_FILES or (foreign and _begins_as_edges(text)):
        return _uploaded_graph(title, name, text, _edge_list)
    if foreign and suffix not in _MAP_FILES:
        raise _neither(name)
    return map_stage(Canvas.of_text(text), wind, title)


def _neither(name: str) -> InvalidFile:
    return InvalidFile(f"file must be a text map, PNG, GraphML, edge list or log; got {name}, which is none of these.")


def _npz_log(name: str, content: bytes) -> tuple[Log, str]:
    """Return the log in the columns of an npz file, and the lines that read it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            n_bytes = sum(entry.file_size for entry in archive.infolist())
        if n_bytes > _MOST_LOG_BYTES:
            raise InvalidInput(
                f"log must have at most {_MOST_LOG_BYTES // 2**20} MiB unpacked; got {n_bytes / 2**20:.0f}."
            )
        with np.load(io.BytesIO(content)) as columns:
            log = read_log({column: columns[column] for column in columns if is_log_column(column)})
    except FarpointError:
        raise
    except Exception as error:  # a damaged file raises anything
        raise InvalidFile(f"{name} must be a log in columns of numbers; it cannot be read ({error}).") from error
    return log, f"import numpy as np\n\nlog = fp.worlds.read_log(np.load({name!r}))\n"


def _log_columns(text: str) -> dict[str, list[str]]:
    """Return the columns of a log by the names that the first line of a CSV file has for them; none of another file.

    >>> _log_columns("obs_x,obs_y,action,done")
    {'obs': ['obs_x', 'obs_y'], 'action': ['action'], 'done': ['done']}
    >>> _log_columns("source,target,weight")
    {}
    """
    titles = text.split("\n", 1)[0].strip().split(",")
    found: dict[str, list[str]] = {}
    for title in titles:
        column = title if is_log_column(title) else title.rpartition("_")[0]
        if not is_log_column(column) or not re.fullmatch(r"\w{1,60}", title):
            return {}
        found.setdefault(column, []).append(title)
    return found


def _csv_log(name: str, text: str, columns: dict[str, list[str]]) -> tuple[Log, str]:
    """Return the log in a CSV file, and the lines that read it."""
    try:
        table = np.genfromtxt(io.StringIO(text), delimiter=",", names=True)
    except ValueError as error:
        raise InvalidFile(f"{name} must have a number in every cell; it cannot be read ({error}).") from error
    arrays: dict[str, NDArray[Any]] = {}
    lines = [f'table = np.genfromtxt({name!r}, delimiter=",", names=True)', "log = fp.worlds.read_log("]
    for column, titles in columns.items():
        arrays[column] = table[titles[0]] if len(titles) == 1 else np.stack([table[one] for one in titles], axis=1)
        call = f"table[{titles[0]!r}]" if len(titles) == 1 else f"np.stack([table[one] for one in {titles}], axis=1)"
        if (arrays[column] == np.round(arrays[column])).all():
            # Numbers of states and of actions, and what is true or false.
            arrays[column], call = arrays[column].astype(int), f"{call}.astype(int)"
        lines.append(f"    {column}={call},")
    return read_log(**arrays), "import numpy as np\n\n" + "\n".join([*lines, ")"]) + "\n"


def _log_stage(title: str, log: Log, code: str) -> Stage:
    """Return the stage of a log: the cells that it visits, with a policy where it says what was done."""
    from farpoint.options import GoalPolicy

    observations = np.asarray(log.observations)
    if observations.dtype.kind != "f" or (observations == np.round(observations)).all():
        return drawn_stage(_bounded(World.from_log(log, name=title)), f"{code}world = fp.World.from_log(log)")
    if log.actions is None:
        world = World.from_samples(log, name=title)
        return _placed(world, f"{code}world = fp.World.from_samples(log)", None)
    policy = GoalPolicy.from_log(log)
    world = replace(_bounded(policy.world), name=title)
    return _placed(world, f"{code}policy = fp.GoalPolicy.from_log(log)\nworld = policy.world", policy)


def _bounded(world: World) -> World:
    if world.n_states > MOST_NODES:
        raise InvalidInput(
            f"log must visit at most {MOST_NODES:,} states; got {world.n_states:,}. Keep fewer numbers of each "
            "observation."
        )
    return world


def _placed(world: World, code: str, policy: GoalPolicy | None) -> Stage:
    """Return a stage drawn by the first two numbers of an observation."""
    points, note = world.observations, ""
    if points is not None and points.shape[1] > 2:
        world = replace(world, positions=places_of_points(points[:, :2]))
        note = "drawn by the first two numbers of an observation"
    stage = drawn_stage(world, code, note)
    return replace(stage, policy=policy)


def _canvas_of_png(content: bytes) -> Canvas:
    # Width and height stand at fixed places of the first chunk: known before a pixel is unpacked.
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    if not 0 < width * height <= MOST_CELLS:
        raise InvalidInput(f"picture must have at most {MOST_CELLS:,} pixels; got {width} × {height}.")
    # A second header, before the pixels, would count instead of the first.
    if content.find(b"IHDR", 16, content.find(b"IDAT")) >= 0:
        raise InvalidFile("picture must have one size; got a PNG with two headers.")
    try:
        return Canvas(picture_floor(io.BytesIO(content)).astype(np.uint8))
    except UNREADABLE as error:
        raise InvalidFile(f"picture must be a whole PNG; it cannot be read ({error}).") from error


def _uploaded_graph(title: str, name: str, text: str, parse: Callable[[str, str], tuple[Any, str, str]]) -> Stage:
    try:
        graph, code, call = parse(name, text)
    except FarpointError:
        raise
    except Exception as error:  # parsers of other packages raise anything
        raise InvalidFile(f"{name} must be a graph that networkx reads; it cannot be read ({error}).") from error
    if not 2 <= graph.number_of_nodes() <= MOST_NODES or graph.number_of_edges() > MOST_LINKS:
        raise InvalidInput(
            f"graph must have 2 to {MOST_NODES:,} nodes and at most {MOST_LINKS:,} edges; got "
            f"{graph.number_of_nodes():,} and {graph.number_of_edges():,}."
        )
    return graph_stage(graph, title, code, call)


def _graphml(name: str, text: str) -> tuple[Any, str, str]:
    """Return a graph, the lines that come before the call that reads it, and that call."""
    if text.count("<node") > MOST_NODES or text.count("<edge") > MOST_LINKS:
        raise InvalidInput(f"graph must have at most {MOST_NODES:,} nodes and {MOST_LINKS:,} edges; got more.")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InvalidInput("GraphML must not declare entities; got a file that does.")
    return import_networkx().parse_graphml(text), "import networkx as nx\n\n", f"nx.read_graphml({name!r})"


def _begins_as_edges(text: str) -> bool:
    """Return whether the first line that says anything has two or three words."""
    for line in text[:100_000].splitlines():
        if words := _words(line):
            return 2 <= len(words) <= 3
    return False


def _words(line: str) -> list[str]:
    """Return the words of a line of edges: nodes, and a weight or a dictionary.

    >>> _words("a, b, 2.5  # far"), _words("a b {'weight': 2, 'color': 'red'}")
    (['a', 'b', '2.5'], ['a', 'b', "{'weight': 2, 'color': 'red'}"])
    """
    nodes, brace, rest = line.partition("#")[0].partition("{")
    return nodes.replace(",", " ").split() + ([brace + rest.strip()] if brace else [])


def _edge_list(name: str, text: str) -> tuple[Any, str, str]:
    """Return a graph, the lines that come before the call that reads it, and that call."""
    n_lines = text.count("\n")
    if n_lines > MOST_LINKS:
        raise InvalidInput(f"list of edges must have at most {MOST_LINKS:,} lines; got {n_lines:,}.")
    networkx, dictionaries = import_networkx(), "{" in text
    lines = (text if dictionaries else text.replace(",", " ")).splitlines()
    filled = [words for words in map(_words, lines) if words]
    lengths = {len(words) for words in filled}
    if len(lengths) > 1 or not lengths <= {2, 3}:
        raise InvalidFile(
            f"list of edges must have two nodes in every line, or two and a weight; got lines of "
            f"{' and '.join(map(str, sorted(lengths)))} words."
        )
    weighted = lengths == {3} and not dictionaries
    begin = 0
    if filled and _is_title(filled[0], weighted):
        begin = next(number for number, line in enumerate(lines) if _words(line)) + 1
    arguments = "" if dictionaries else ', data=(("weight", float),)' if weighted else ", data=False"
    data: Any = True if dictionaries else (("weight", float),) if weighted else False
    commas = "" if dictionaries else '.replace(",", " ")'
    code = (
        "from pathlib import Path\n\nimport networkx as nx\n\n"
        f'lines = Path({name!r}).read_text(encoding="utf-8-sig"){commas}.splitlines(){f"[{begin}:]" if begin else ""}\n'
    )
    return networkx.parse_edgelist(lines[begin:], data=data), code, f"nx.parse_edgelist(lines{arguments})"


def _is_title(words: list[str], weighted: bool) -> bool:
    """Return whether a line names columns.

    >>> _is_title(["a", "b", "weight"], True), _is_title(["Source", "Target"], False), _is_title(["a", "b"], False)
    (True, True, False)
    """
    if weighted:
        try:
            float(words[2])
        except ValueError:
            return True
        return False
    return tuple(word.lower() for word in words) in _TITLES
