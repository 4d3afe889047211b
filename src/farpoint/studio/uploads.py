"""Files that a visitor drops on the page: bounded in bytes and cells before anything reads them."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from farpoint.errors import FarpointError, InvalidFile, InvalidInput
from farpoint.studio.sources import graph_stage, import_networkx, map_stage
from farpoint.studio.stage import MOST_CELLS, Canvas, Stage
from farpoint.worlds.map_files import UNREADABLE, picture_floor

MOST_BYTES = 8 * 2**20
MOST_NODES = 20_000
MOST_LINKS = 200_000
_PNG = b"\x89PNG\r\n\x1a\n"
_MAP_CHARACTERS = set("#. SG\r\n\ufeff")


def read_upload(name: str, content: bytes, wind: float = 0.0) -> Stage:
    r"""Return the stage of a file: a text map, a PNG whose dark pixels are walls, GraphML, or a list of edges.

    >>> read_upload("room.txt", b"S..").world.n_states
    3
    >>> read_upload("path.edges", b"a b\nb c\n").world.labels
    ('a', 'b', 'c')
    """
    if len(content) > MOST_BYTES:
        raise InvalidInput(f"file must have at most {MOST_BYTES // 2**20} MiB; got {len(content) / 2**20:.1f}.")
    title = re.sub(r"[^\w .-]", "", Path(name).stem)[:60] or "upload"
    if content.startswith(_PNG):
        return map_stage(_canvas_of_png(content), wind, title)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{name} must be a text map, PNG, GraphML or edge list; it is none of these.") from error
    if name.lower().endswith((".graphml", ".xml")) or text.lstrip().startswith("<"):
        return _graph(title, name, text, "read_graphml", _graphml)
    looks_like_edges = bool(re.search(r"^\s*[^\s#]+[ \t,]+[^\s#]+", text, re.MULTILINE)) and "#" * 3 not in text
    if name.lower().endswith((".edges", ".edgelist", ".csv")) or (looks_like_edges and set(text) - _MAP_CHARACTERS):
        return _graph(title, name, text, "read_edgelist", _edge_list)
    return map_stage(Canvas.of_text(text), wind, title)


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


def _graph(title: str, name: str, text: str, function: str, parse: Any) -> Stage:
    try:
        graph = parse(text)
    except FarpointError:
        raise
    except Exception as error:  # parsers of other packages raise anything
        raise InvalidFile(f"{name} must be a graph that networkx reads; it cannot be read ({error}).") from error
    if not 2 <= graph.number_of_nodes() <= MOST_NODES or graph.number_of_edges() > MOST_LINKS:
        raise InvalidInput(
            f"graph must have 2 to {MOST_NODES:,} nodes and at most {MOST_LINKS:,} edges; got "
            f"{graph.number_of_nodes():,} and {graph.number_of_edges():,}."
        )
    code = f"import networkx as nx\n\nworld = fp.World.from_graph(nx.{function}({Path(name).name!r}))"
    return graph_stage(graph, title, code)


def _graphml(text: str) -> Any:
    if text.count("<node") > MOST_NODES or text.count("<edge") > MOST_LINKS:
        raise InvalidInput(f"graph must have at most {MOST_NODES:,} nodes and {MOST_LINKS:,} edges; got more.")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InvalidInput("GraphML must not declare entities; got a file that does.")
    return import_networkx().parse_graphml(text)


def _edge_list(text: str) -> Any:
    lines = [line.replace(",", " ") for line in text.splitlines()]
    if len(lines) > MOST_LINKS:
        raise InvalidInput(f"list of edges must have at most {MOST_LINKS:,} lines; got {len(lines):,}.")
    filled = [line.split() for line in lines if line.split("#")[0].strip()]
    networkx = import_networkx()
    if filled and all(len(words) >= 3 for words in filled):
        return networkx.parse_edgelist(lines, data=(("weight", float),))
    return networkx.parse_edgelist(lines, data=False)
