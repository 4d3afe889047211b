"""``farpoint discover``: a table, the map with its goals, and the pictures."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from farpoint.cli.common import (
    CommandConsole,
    print_choice,
    print_harm,
    print_map,
    print_table,
    read_world,
)
from farpoint.diffusion import find_goals, score, spectrum, stationary
from farpoint.display import progress_bar
from farpoint.errors import FarpointError, InvalidInput, check_word
from farpoint.files import results_folder
from farpoint.options import OptionSet
from farpoint.options import discover as discover_options
from farpoint.report import (
    FORMATS,
    draw_policy,
    draw_route,
    draw_score,
    draw_score_over_t,
    draw_stationary,
    save_figure,
)
from farpoint.report.tables import Row
from farpoint.worlds import World
from farpoint.worlds.arrays import digest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# From this many states on, the finished blocks of a score are kept until the results are written.
KEPT_STATES = 1_000_000
_TIMES = (1, 4, 13, 100)
# With more states than this a picture of the whole world has less than a pixel per state.
_MOST_STATES = 1_000_000
# With more states than this, scores at several t take too long.
_MOST_STATES_OVER_T = 20_000
# Up to this many states one dense decomposition serves every t.
_DENSE_STATES = 2_000
# Scores of larger maps are computed to this relative error, which gives the same goals. On smaller ones a decomposition
# takes less than loading the compiled loops, and far less than compiling them.
_SMALL_MAP = 1_200
_TOLERANCE = 1e-6
# Draw the longest route among the first options; routes beyond this length are not drawn.
_ROUTES_TRIED = 32
_LONGEST_ROUTE = 10_000


def run(
    world: str,
    t: float | None = None,
    n_options: int | None = None,
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
    blocks = _blocks_folder(place, method, t, n_options, solver, form, tolerance, out)
    skipped: dict[str, str] = {}
    n_pictures = 0
    with results_folder(out) if out else nullcontext() as folder:
        with progress_bar("discovering options") as tell:
            began = time.perf_counter()
            options = discover_options(
                place,
                method,
                t=t,
                n_options=n_options,
                seed=seed,
                solver=solver,
                form=form,
                min_prominence=min_prominence,
                tolerance=tolerance,
                checkpoint=blocks,
                progress=tell,
            )
            seconds = time.perf_counter() - began
        if folder is not None:
            with progress_bar("drawing"):
                options.save(folder / "options.npz")
                skipped = draw_options(options, folder, endings, tolerance)
                n_pictures = len(list(folder.iterdir())) - 1
    # Not before the results are in place: until then an interrupted run continues from the blocks.
    if blocks is not None:
        shutil.rmtree(blocks, ignore_errors=True)
    print_table(console, [_facts(options, seconds)])
    print_choice(console, options)
    print_map(console, options)
    print_harm(console, options, None, seed)
    if out:
        console.print(Text(f"options.npz and {n_pictures} pictures in {out}/"), soft_wrap=True)
        for name, reason in skipped.items():
            console.print(Text(f"no picture of the {name}: {reason}"))


def _blocks_folder(
    world: World,
    method: str,
    t: float | None,
    n_options: int | None,
    solver: str,
    form: str,
    tolerance: float | None,
    out: Path | None,
) -> Path | None:
    """Return the folder that keeps the finished blocks of a large score, or None if there are none to keep.

    Its name says all that blocks depend on, so that a run with other settings finds no folder of this one.
    """
    t_is_chosen = t is None and n_options is not None
    in_blocks = solver == "local" or (solver == "auto" and world.symmetric)
    if out is None or method != "diffusion" or t_is_chosen or not in_blocks or world.n_states < KEPT_STATES:
        return None
    exact = "" if tolerance is None else f"-{tolerance:g}"
    # Blocks of a map are rows of its frame, which a fingerprint leaves out.
    frame = [] if world.floor is None else [np.array(world.floor.shape), world.floor.row_starts]
    name = digest(np.frombuffer(f"{world.fingerprint} {form}".encode(), dtype=np.uint8), *frame)
    return out / f".blocks-t{4 if t is None else t:g}{exact}-{name[:8]}"


def _facts(options: OptionSet, seconds: float) -> Row:
    record = options.record
    solver = record.get("solver", "–")
    if record.get("form") == "polar":
        solver += ", polar"
    elif record.get("form") == "symmetrized":
        solver += ", symmetrized"
    return {
        "world": options.world.name,
        "states": options.world.n_states,
        "method": options.method,
        "t": f"{record['t']:g}" if "t" in record else None,
        "solver": solver,
        "options": len(options),
        "time": f"{seconds:.3f} s",
    }


def draw_options(
    options: OptionSet, folder: Path, formats: Sequence[str], tolerance: float | None = None
) -> dict[str, str]:
    """Write pictures of the world and its options.

    Parameters
    ----------
    options : OptionSet
    folder : Path
    formats : sequence of str
    tolerance : float, optional
        Relative error that the score may have.

    Returns
    -------
    dict
        The pictures that this world does not have, each with the reason.
    """
    world = options.world
    if world.n_states > _MOST_STATES:
        return {"world": f"it has more than {_MOST_STATES:,} states."}
    t, form = options.record.get("t", 4), options.record.get("form", "auto")
    pictures: dict[str, Callable[[], Figure]] = {
        "score": lambda: draw_score(
            world,
            score(world, t, form=form, tolerance=tolerance),
            options.goals,
            title=f"{world.name}: $f_{{{t:g}}}(s)$ and {len(options)} {options.method} goals",
            label=f"$f_{{{t:g}}}(s)$",
        ),
        "stationary": lambda: draw_stationary(world, stationary(world)),
    }
    if world.n_states <= _MOST_STATES_OVER_T:
        pictures["score_over_t"] = lambda: _draw_over_t(world, form)
    if len(options):
        pictures["policy"] = lambda: draw_policy(options[0])
        pictures["route"] = lambda: draw_route(world, _longest_route(options))
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


def _draw_over_t(world: World, form: str) -> Figure:
    if world.symmetric and world.floor is not None and world.n_states > _SMALL_MAP:
        scores = {t: score(world, t, tolerance=_TOLERANCE) for t in _TIMES}
    else:
        eigen = spectrum(world) if world.symmetric and world.n_states <= _DENSE_STATES else None
        scores = {t: score(world, t, form=form, decomposition=eigen) for t in _TIMES}
    goals = {t: find_goals(world, values) for t, values in scores.items()}
    return draw_score_over_t(world, scores, goals)


def _longest_route(options: OptionSet) -> NDArray[np.int64]:
    """Return, of the first few options, the longest route from the start that is short enough to be drawn."""
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
    return options[index].route(start, seed=0)
