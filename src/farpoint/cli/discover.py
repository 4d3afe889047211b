"""``farpoint discover``: a table, the map with its goals, and the pictures."""

from __future__ import annotations

import shutil
import time
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from farpoint.cli.arguments import DiscoverArguments
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


def run(arguments: DiscoverArguments) -> None:
    """Discover options, print them, and write pictures and options.npz."""
    console = CommandConsole()
    formats = [check_word("picture format", word.strip(), FORMATS) for word in arguments.formats.split(",")]
    world = read_world(arguments.world, arguments.wind, arguments.largest_component, arguments.seed)
    blocks = _blocks_folder(arguments, world)
    skipped: dict[str, str] = {}
    n_pictures = 0
    with results_folder(arguments.out) if arguments.out else nullcontext() as folder:
        options, seconds = _discover(world, arguments, blocks)
        if folder is not None:
            with console.status("drawing …"):
                options.save(folder / "options.npz")
                skipped = draw_options(options, folder, formats, arguments.tolerance)
                n_pictures = len(list(folder.iterdir())) - 1
    # Not before the results are in place: until then an interrupted run continues from the blocks.
    if blocks is not None:
        shutil.rmtree(blocks, ignore_errors=True)
    _print_facts(console, _facts(options, seconds))
    print_choice(console, options)
    print_map(console, options)
    print_harm(console, options, None, arguments.seed)
    if arguments.out:
        console.print(Text(f"options.npz and {n_pictures} pictures in {arguments.out}/"), soft_wrap=True)
        for name, reason in skipped.items():
            console.print(Text(f"no picture of the {name}: {reason}"))


def _discover(world: World, arguments: DiscoverArguments, blocks: Path | None) -> tuple[OptionSet, float]:
    """Return the options and the seconds that they took."""
    with progress_bar() as progress:
        task = progress.add_task("discovering options", total=None)
        began = time.perf_counter()
        options = discover_options(
            world,
            arguments.method,
            t=arguments.t,
            n_options=_number(arguments.n_options),
            seed=arguments.seed,
            solver=arguments.solver,
            form=arguments.form,
            min_prominence=arguments.min_prominence,
            tolerance=arguments.tolerance,
            checkpoint=blocks,
            progress=lambda done, total: progress.update(task, completed=done, total=total),
        )
        return options, time.perf_counter() - began


def _number(word: str | None) -> int | str | None:
    """Return the number of options that a word says: a whole number, or auto."""
    if word is None or word == "auto":
        return word
    try:
        return int(word)
    except ValueError:
        raise InvalidInput(f"--n-options must be a whole number or auto; got {word!r}.") from None


def _blocks_folder(arguments: DiscoverArguments, world: World) -> Path | None:
    """Return the folder that keeps the finished blocks of a large score, or None if there are none to keep."""
    t_is_chosen = arguments.t is None and arguments.n_options is not None
    in_blocks = arguments.solver == "local" or (arguments.solver == "auto" and world.symmetric)
    if arguments.out is None or arguments.method != "diffusion" or t_is_chosen or not in_blocks:
        return None
    if world.n_states < KEPT_STATES:
        return None
    exact = "" if arguments.tolerance is None else f"-{arguments.tolerance:g}"
    return arguments.out / f".blocks-t{4 if arguments.t is None else arguments.t:g}{exact}-{world.fingerprint[:8]}"


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
