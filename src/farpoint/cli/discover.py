"""``farpoint discover``: a table, the map with its goals, and the pictures."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from farpoint.cli.output import results_folder
from farpoint.cli.worlds import read_world
from farpoint.diffusion import score
from farpoint.errors import check_word
from farpoint.options import OptionSet
from farpoint.options import discover as discover_options

_PICTURE_FORMATS = ("png", "pdf", "svg")
_TALLEST_MAP = 60
# Beyond this many states a picture of the whole world has less than a pixel a state.
_PICTURE_STATES = 1_000_000
# The route that is drawn is the longest of this many options.
_ROUTES_TRIED = 32
# Scores at several t, drawn side by side, are affordable up to here.
_OVER_T_STATES = 20_000


@dataclass(frozen=True)
class DiscoverOptions:
    """What the command line asked for."""

    world: str
    t: float | None
    n_options: int | None
    method: str
    solver: str
    form: str
    min_prominence: float
    wind: float
    seed: int
    largest_component: bool
    out: Path | None
    formats: str


def run(asked: DiscoverOptions) -> None:
    """Carry out the command."""
    console = Console()
    formats = [check_word("picture format", word.strip(), _PICTURE_FORMATS) for word in asked.formats.split(",")]
    domain = read_world(asked.world, asked.wind, asked.largest_component)
    with results_folder(asked.out) if asked.out else nullcontext() as folder:
        with console.status("discovering options …"):
            began = time.perf_counter()
            options = discover_options(
                domain,
                asked.method,
                t=asked.t,
                n_options=asked.n_options,
                seed=asked.seed,
                solver=asked.solver,
                form=asked.form,
                min_prominence=asked.min_prominence,
            )
            seconds = time.perf_counter() - began
        console.print(_table(options, seconds))
        _print_map(console, options)
        if folder is not None:
            with console.status("drawing …"):
                options.save(folder / "options.npz")
                n_pictures = _draw(options, folder, formats)
    if asked.out:
        console.print(f"options.npz and {n_pictures} pictures in {asked.out}/", highlight=False)


def _table(options: OptionSet, seconds: float) -> Table:
    table = Table(box=None, padding=(0, 2), header_style="bold")
    for name in ("world", "states", "method", "t", "solver", "options", "time"):
        table.add_column(name, justify="left" if name in ("world", "method", "solver") else "right")
    record = options.record
    solver = record.get("solver", "–")
    if record.get("form") == "polar":
        solver += ", polar"
    t = f"{record['t']:g}" if "t" in record else "–"
    states = f"{options.domain.n_states:,}"
    table.add_row(options.domain.name, states, options.method, t, solver, str(len(options)), f"{seconds:.3f} s")
    return table


def _print_map(console: Console, options: OptionSet) -> None:
    text = options.to_text()
    lines = text.splitlines()
    if len(lines[0]) > console.width or len(lines) > _TALLEST_MAP:
        console.print(f"(the map, {len(lines)} × {len(lines[0])}, is larger than this terminal)", highlight=False)
        return
    coloured = Text()
    styles = {"#": "bright_black", "*": "bold red", ".": "dim"}
    for symbol in text + "\n":
        coloured.append("█" if symbol == "#" else "·" if symbol == "." else symbol, style=styles.get(symbol, ""))
    console.print(coloured)


def _draw(options: OptionSet, folder: Path, formats: list[str]) -> int:
    from farpoint.report import (
        draw_policy,
        draw_route,
        draw_score,
        draw_score_over_t,
        draw_stationary,
        save_figure,
    )

    domain = options.domain
    if domain.n_states > _PICTURE_STATES:
        return 0
    t = options.record.get("t", 4)
    scores = score(domain, t, form=options.record.get("form", "auto"))
    title = f"{domain.name}: $f_{{{t:g}}}(s)$ and {len(options)} {options.method} goals"
    figures = {
        "score": draw_score(domain, scores, options.goals, title=title, label=f"$f_{{{t:g}}}(s)$"),
        "stationary": draw_stationary(domain),
        "policy": draw_policy(options[0]),
    }
    start = domain.start if domain.start is not None else 0
    reachable = [option for option in options[:_ROUTES_TRIED] if option.initiation[start]]
    if reachable:
        figures["route"] = draw_route(max(reachable, key=lambda option: option.expected_steps[start]), start)
    if domain.n_states <= _OVER_T_STATES:
        figures["score_over_t"] = draw_score_over_t(domain)
    for name, figure in figures.items():
        for ending in formats:
            save_figure(figure, folder / f"{name}.{ending}")
    return len(figures) * len(formats)
