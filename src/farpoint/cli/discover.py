"""``farpoint discover``: a table, the map with its goals, and the pictures."""

from __future__ import annotations

import shutil
import time
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from farpoint.cli.choices import print_choice, print_harm
from farpoint.cli.console import CommandConsole
from farpoint.cli.map_text import print_map
from farpoint.cli.pictures import draw_options
from farpoint.cli.progress import progress_bar
from farpoint.cli.worlds import read_world
from farpoint.errors import InvalidInput, check_word
from farpoint.files import results_folder
from farpoint.options import OptionSet
from farpoint.options import discover as discover_options
from farpoint.report import FORMATS
from farpoint.worlds import World

# From this many states on, the finished blocks of a score are kept until the results are written.
KEPT_STATES = 1_000_000
# On a narrower terminal the table is a list.
_NARROW = 70


def run(
    world: str,
    t: float | None = None,
    n_options: str | None = None,
    method: str = "diffusion",
    solver: str = "auto",
    form: str = "auto",
    tolerance: float | None = None,
    min_prominence: float = 0.0,
    wind: float = 0.0,
    seed: int = 0,
    largest_component: bool = False,
    out: Path | None = None,
    formats: str = "png",
) -> None:
    """Discover options, print them, and write pictures and options.npz."""
    console = CommandConsole()
    endings = [check_word("picture format", word.strip(), FORMATS) for word in formats.split(",")]
    place = read_world(world, wind, largest_component, seed)
    blocks = _blocks_folder(place, method, t, n_options, solver, tolerance, out)
    skipped: dict[str, str] = {}
    n_pictures = 0
    with results_folder(out) if out else nullcontext() as folder:
        with progress_bar() as progress:
            task = progress.add_task("discovering options", total=None)
            began = time.perf_counter()
            options = discover_options(
                place,
                method,
                t=t,
                n_options=_number(n_options),
                seed=seed,
                solver=solver,
                form=form,
                min_prominence=min_prominence,
                tolerance=tolerance,
                checkpoint=blocks,
                progress=lambda done, total: progress.update(task, completed=done, total=total),
            )
            seconds = time.perf_counter() - began
        if folder is not None:
            with console.status("drawing …"):
                options.save(folder / "options.npz")
                skipped = draw_options(options, folder, endings, tolerance)
                n_pictures = len(list(folder.iterdir())) - 1
    # Not before the results are in place: until then an interrupted run continues from the blocks.
    if blocks is not None:
        shutil.rmtree(blocks, ignore_errors=True)
    _print_facts(console, _facts(options, seconds))
    print_choice(console, options)
    print_map(console, options)
    print_harm(console, options, None, seed)
    if out:
        console.print(Text(f"options.npz and {n_pictures} pictures in {out}/"), soft_wrap=True)
        for name, reason in skipped.items():
            console.print(Text(f"no picture of the {name}: {reason}"))


def _number(word: str | None) -> int | str | None:
    """Return the number of options that a word says: a whole number, or auto."""
    if word is None or word == "auto":
        return word
    try:
        return int(word)
    except ValueError:
        raise InvalidInput(f"--n-options must be a whole number or auto; got {word!r}.") from None


def _blocks_folder(
    world: World,
    method: str,
    t: float | None,
    n_options: str | None,
    solver: str,
    tolerance: float | None,
    out: Path | None,
) -> Path | None:
    """Return the folder that keeps the finished blocks of a large score, or None if there are none to keep."""
    t_is_chosen = t is None and n_options is not None
    in_blocks = solver == "local" or (solver == "auto" and world.symmetric)
    if out is None or method != "diffusion" or t_is_chosen or not in_blocks or world.n_states < KEPT_STATES:
        return None
    exact = "" if tolerance is None else f"-{tolerance:g}"
    return out / f".blocks-t{4 if t is None else t:g}{exact}-{world.fingerprint[:8]}"


def _facts(options: OptionSet, seconds: float) -> dict[str, str]:
    record = options.record
    solver = record.get("solver", "–")
    if record.get("form") == "polar":
        solver += ", polar"
    elif record.get("form") == "symmetrized":
        solver += ", symmetrized"
    return {
        "world": options.world.name,
        "states": f"{options.world.n_states:,}",
        "method": options.method,
        "t": f"{record['t']:g}" if "t" in record else "–",
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
