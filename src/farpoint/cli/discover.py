"""``farpoint discover``: a table, the map with its goals, and the pictures."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from farpoint.cli.output import results_folder
from farpoint.cli.paper import progress_bar
from farpoint.cli.worlds import read_world
from farpoint.diffusion import score
from farpoint.errors import FarpointError, InvalidInput, check_word
from farpoint.options import Option, OptionSet
from farpoint.options import discover as discover_options
from farpoint.worlds import World

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PICTURE_FORMATS = ("png", "pdf", "svg")
_TALLEST_MAP = 60
# Beyond this many states a picture of the whole world has less than a pixel a state.
_PICTURE_STATES = 1_000_000
# From here on the blocks of a score are kept as they are done.
_KEPT_STATES = 1_000_000
# The route that is drawn is the longest of this many options.
_ROUTES_TRIED = 32
_LONGEST_ROUTE = 10_000
# Below this width the table is a list.
_NARROW = 70
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
    tolerance: float | None
    out: Path | None
    formats: str


def run(asked: DiscoverOptions) -> None:
    """Carry out the command."""
    console = Console()
    formats = [check_word("picture format", word.strip(), _PICTURE_FORMATS) for word in asked.formats.split(",")]
    domain = read_world(asked.world, asked.wind, asked.largest_component, asked.seed)
    with results_folder(asked.out) if asked.out else nullcontext() as folder:
        blocks = _blocks_folder(asked, domain)
        # On standard error, so that a reader of the output who leaves early does not end the work.
        with progress_bar() as progress:
            task = progress.add_task("discovering options", total=None)
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
                tolerance=asked.tolerance,
                checkpoint=blocks,
                progress=lambda done, total: progress.update(task, completed=done, total=total),
            )
            seconds = time.perf_counter() - began
        if blocks is not None:
            shutil.rmtree(blocks, ignore_errors=True)
        skipped: dict[str, str] = {}
        if folder is not None:
            with console.status("drawing …"):
                options.save(folder / "options.npz")
                skipped = _draw(options, folder, formats, asked.tolerance)
                n_pictures = len(list(folder.iterdir())) - 1
    _print_facts(console, _facts(options, seconds))
    _print_map(console, options)
    if asked.out:
        console.print(Text(f"options.npz and {n_pictures} pictures in {asked.out}/"))
        for name, why in skipped.items():
            console.print(Text(f"no picture of the {name}: {why}"))


def _blocks_folder(asked: DiscoverOptions, domain: World) -> Path | None:
    """Return where the finished blocks of a large score are kept until it is whole, so that it can be interrupted."""
    alone = asked.t is None and asked.n_options is not None
    followed = asked.solver == "local" or (asked.solver == "auto" and domain.symmetric)
    if asked.out is None or alone or asked.method != "diffusion" or domain.n_states < _KEPT_STATES or not followed:
        return None
    exact = "" if asked.tolerance is None else f"-{asked.tolerance:g}"
    return asked.out / f".blocks-t{4 if asked.t is None else asked.t:g}{exact}-{domain.fingerprint[:8]}"


def _facts(options: OptionSet, seconds: float) -> dict[str, str]:
    record = options.record
    solver = record.get("solver", "–")
    if record.get("form") == "polar":
        solver += ", polar"
    t = f"{record['t']:g}" if "t" in record else "–"
    return {
        "world": options.world.name,
        "states": f"{options.world.n_states:,}",
        "method": options.method,
        "t": t,
        "solver": solver,
        "options": str(len(options)),
        "time": f"{seconds:.3f} s",
    }


def _print_facts(console: Console, facts: dict[str, str]) -> None:
    if console.width < _NARROW:
        for name, value in facts.items():
            console.print(Text(f"{name}: {value}"))
        return
    table = Table(box=None, padding=(0, 2), header_style="bold")
    for name in facts:
        table.add_column(name, justify="left" if name in ("world", "method", "solver") else "right")
    table.add_row(*facts.values())
    console.print(table)


def _print_map(console: Console, options: OptionSet) -> None:
    if not options.world.drawable:
        return
    text = options.to_text()
    lines = text.splitlines()
    if len(lines[0]) > console.width or len(lines) > _TALLEST_MAP:
        console.print(f"(the map, {len(lines)} × {len(lines[0])}, is larger than this terminal)", highlight=False)
        return
    colored = Text()
    styles = {"#": "bright_black", "*": "bold red", ".": "dim"}
    for symbol in text + "\n":
        colored.append("█" if symbol == "#" else "·" if symbol == "." else symbol, style=styles.get(symbol, ""))
    console.print(colored)


def _draw(options: OptionSet, folder: Path, formats: list[str], tolerance: float | None) -> dict[str, str]:
    """Write the pictures; return why those that this world does not have were left out."""
    from farpoint.report import (
        draw_policy,
        draw_route,
        draw_score,
        draw_score_over_t,
        draw_stationary,
        save_figure,
    )

    domain = options.world
    if domain.n_states > _PICTURE_STATES:
        return {"world": f"it has more than {_PICTURE_STATES:,} states."}
    t = options.record.get("t", 4)
    form = options.record.get("form", "auto")
    pictures: dict[str, Callable[[], Figure]] = {
        "score": lambda: draw_score(
            domain,
            score(domain, t, form=form, tolerance=tolerance),
            options.goals,
            title=f"{domain.name}: $f_{{{t:g}}}(s)$ and {len(options)} {options.method} goals",
            label=f"$f_{{{t:g}}}(s)$",
        ),
        "stationary": lambda: draw_stationary(domain),
        "score_over_t": lambda: draw_score_over_t(domain, form=form),
    }
    if domain.n_states > _OVER_T_STATES:
        del pictures["score_over_t"]
    if len(options):
        pictures["policy"] = lambda: draw_policy(options[0])
        pictures["route"] = lambda: draw_route(*_longest_route(options))
    skipped = {}
    for name, draw in pictures.items():
        try:
            figure = draw()
        except FarpointError as error:
            skipped[name] = str(error)
            continue
        for ending in formats:
            save_figure(figure, folder / f"{name}.{ending}")
    return skipped


def _longest_route(options: OptionSet) -> tuple[Option, int]:
    """Return, of the first few options, the one with the longest way from the start, short enough to be drawn."""
    begin = options.world.start if options.world.start is not None else 0
    lengths = {}
    for index, option in enumerate(options[:_ROUTES_TRIED]):
        start = begin if option.initiation[begin] else int(option.initiation.argmax())
        steps = option.potential[start] if option.goal is not None else 1.0
        if option.initiation[start] and steps <= _LONGEST_ROUTE:
            lengths[index, start] = steps
    if not lengths:
        raise InvalidInput(f"some option must reach its end within {_LONGEST_ROUTE} steps; got none that does.")
    index, start = max(lengths, key=lambda key: lengths[key])
    return options[index], start
