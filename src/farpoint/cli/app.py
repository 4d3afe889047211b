"""What the commands are called and what they take; the work is in the modules beside this one, imported when needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from farpoint import engines

app = typer.Typer(
    name="farpoint",
    help="Find the far points of a world and turn them into skills.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from farpoint import __version__

        typer.echo(f"farpoint {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Find the far points of a world and turn them into skills."""


WorldWord = Annotated[
    str,
    typer.Argument(
        help="four_rooms, maze, ring, open_room, random_maze (the last two also with a size, random_maze:100x200); "
        "gym:ENV-ID; a map file; or - for standard input."
    ),
]

Engine = Annotated[str, typer.Option("--engine", help="Where the work runs: local, dask or ray.")]
Address = Annotated[
    str | None,
    typer.Option("--address", help="Of a running Dask scheduler or Ray cluster.  [default: one on this machine]"),
]


@app.command()
def discover(
    world: WorldWord,
    t: Annotated[
        float | None, typer.Option("--t", help="Diffusion time; larger gives fewer options.  [default: 4]")
    ] = None,
    n_options: Annotated[int | None, typer.Option(help="Ask for this many; t is then chosen, unless given.")] = None,
    method: Annotated[str, typer.Option(help="diffusion, eigen, cover, random or none.")] = "diffusion",
    solver: Annotated[str, typer.Option(help="auto, spectral, local, truncated or probes.")] = "auto",
    form: Annotated[str, typer.Option(help="auto, polar, walk or symmetrized; for worlds with wind.")] = "auto",
    tolerance: Annotated[
        float | None, typer.Option(help="Relative error a score may have; makes large t cheap.  [default: exact]")
    ] = None,
    min_prominence: Annotated[float, typer.Option(help="Leave out goals less prominent than this.")] = 0.0,
    wind: Annotated[float, typer.Option(help="Probability of being blown down.")] = 0.0,
    seed: Annotated[int, typer.Option(help="For the methods that draw.")] = 0,
    largest_component: Annotated[
        bool,
        typer.Option("--largest-component", help="Keep the largest part of a map that falls into several."),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the pictures and options.npz.")] = None,
    formats: Annotated[str, typer.Option(help="Picture formats, comma-separated: png, pdf, svg.")] = "png",
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Discover options in WORLD, show them, and write pictures and options.npz."""
    from farpoint.cli.discover import DiscoverOptions, run

    with engines.engine(engine, address):
        run(
            DiscoverOptions(
                world=world,
                t=t,
                n_options=n_options,
                method=method,
                solver=solver,
                form=form,
                min_prominence=min_prominence,
                wind=wind,
                seed=seed,
                largest_component=largest_component,
                tolerance=tolerance,
                out=out,
                formats=formats,
            )
        )


@app.command()
def paper(
    only: Annotated[str | None, typer.Option(help="Only these sections, comma-separated: fig1, table1, …")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Far fewer runs, for a first look.")] = False,
    jobs: Annotated[int, typer.Option(help="Workers; -1 is one for each core. The numbers do not depend on it.")] = -1,
    out: Annotated[Path, typer.Option(help="Folder for the page, its numbers (CSV) and results (npz).")] = Path("out"),
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Reproduce the paper: every table and figure on one page. Continues where it was stopped."""
    from farpoint.cli.paper import run

    with engines.engine(engine, address):
        run(only, quick, jobs, out)


@app.command()
def compare(
    world: WorldWord,
    methods: Annotated[str, typer.Option(help="Comma-separated.")] = "diffusion,eigen,cover,random,none",
    t: Annotated[float | None, typer.Option("--t", help="Diffusion time.  [default: 4]")] = None,
    n_options: Annotated[int | None, typer.Option(help="As many of each method.")] = None,
    wind: Annotated[float, typer.Option(help="Probability of being blown down.")] = 0.0,
    runs: Annotated[int, typer.Option(help="Learning runs for each goal.")] = 30,
    episodes: Annotated[int, typer.Option(help="Episodes a run.")] = 400,
    max_steps: Annotated[int, typer.Option(help="Steps an episode.")] = 100,
    seed: Annotated[int, typer.Option(help="For everything that is drawn.")] = 0,
    largest_component: Annotated[
        bool, typer.Option("--largest-component", help="Keep the largest part of a map that falls into several.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the figure and the table (CSV).")] = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Compare option-discovery methods on WORLD: steps between states, cover time, learning."""
    from farpoint.cli.compare import CompareOptions, run

    with engines.engine(engine, address):
        run(
            CompareOptions(
                world=world,
                methods=methods,
                t=t,
                n_options=n_options,
                wind=wind,
                runs=runs,
                episodes=episodes,
                max_steps=max_steps,
                seed=seed,
                largest_component=largest_component,
                out=out,
            )
        )


@app.command()
def envs(
    only: Annotated[str | None, typer.Option(help="Only these, comma-separated: fourrooms, taxi, …")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Far fewer runs, for a first look.")] = False,
    jobs: Annotated[int, typer.Option(help="Workers; -1 is one for each core.")] = -1,
    out: Annotated[Path, typer.Option(help="Folder for the page, figure, CSV and results.")] = Path("out"),
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Measure whether options help in Gymnasium environments. Continues where it was stopped."""
    from farpoint.cli.envs import run

    with engines.engine(engine, address):
        run(only, quick, jobs, out)


@app.command()
def large(
    only: Annotated[
        str | None, typer.Option(help="Only these, comma-separated: extension, eigenfunctions, coverage, pointmaze.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Far less work, for a first look.")] = False,
    jobs: Annotated[int, typer.Option(help="Workers; -1 is one for each core.")] = -1,
    out: Annotated[Path, typer.Option(help="Folder for the page, CSV and results.")] = Path("out"),
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Scores, goals and options from samples of large and continuous worlds. Continues where it was stopped."""
    from farpoint.cli.large import run

    with engines.engine(engine, address):
        run(only, quick, jobs, out)


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Small worlds only, for a first look.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the figure, the tables (Markdown) and the CSV.")] = Path("out"),
) -> None:
    """Measure time and memory of the score against other programs, as ratios within one run."""
    from farpoint.cli.bench import run

    run(quick, out)
