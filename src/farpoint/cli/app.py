"""The commands: their arguments, defaults and help texts.

The module that does the work of a command is imported when the command is run, so that ``farpoint --help`` is fast.
"""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, BadParameter, Option

from farpoint.errors import InvalidInput, check_path

app = typer.Typer(
    name="farpoint",
    help="Find the far points of a world and turn them into skills.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_WORLD_HELP = (
    "four_rooms, maze, ring, open_room, random_maze (the last two also with a size, random_maze:100x200); gym:ENV-ID "
    "or gym:MODULE:ENV-ID; a map file (text, .npy or PNG); or - for standard input."
)
_METHODS_HELP = (
    "diffusion, farpoint, average, eigen, cover, betweenness, bottleneck, louvain, successor, visits, random or none."
)


def read_folder(word: str) -> Path:
    """Return the folder that a word names; an empty one names none, and would be taken for the current folder."""
    try:
        return check_path("it", word)
    except InvalidInput as error:
        raise BadParameter(str(error)) from error


WorldWord = Annotated[str, Argument(help=_WORLD_HELP)]
Wind = Annotated[float, Option(help="Probability of being blown down.")]
LargestComponent = Annotated[
    bool, Option("--largest-component", help="Keep the largest component of a map that is not connected.")
]
Engine = Annotated[str, Option(help="Where the work runs: local, dask or ray.")]
Address = Annotated[
    str | None, Option(help="Address of a running Dask scheduler or Ray cluster.  [default: one on this machine]")
]


def _folder(help: str) -> Any:
    return Option(help=help, parser=read_folder, metavar="FOLDER")


def _run(module: str, arguments: dict[str, Any]) -> None:
    """Call ``run`` of a module of this package with the arguments of a command."""
    engine, address = arguments.pop("engine", "local"), arguments.pop("address", None)
    with nullcontext() if (engine, address) == ("local", None) else _cluster(engine, address):
        importlib.import_module(f"farpoint.cli.{module}").run(**arguments)


def _cluster(engine: str, address: str | None) -> AbstractContextManager[None]:
    from farpoint.cli.clusters import on_cluster

    return on_cluster(engine, address)


def _show_version(wanted: bool) -> None:
    if wanted:
        from farpoint import __version__

        typer.echo(f"farpoint {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Find the far points of a world and turn them into skills."""


@app.command()
def discover(
    world: WorldWord,
    t: Annotated[float | None, Option(help="Diffusion time; larger gives fewer options.  [default: 4]")] = None,
    n_options: Annotated[int | None, Option(help="Number of options; t is then chosen, unless given.")] = None,
    method: Annotated[str, Option(help=_METHODS_HELP)] = "diffusion",
    solver: Annotated[str, Option(help="auto, spectral, local, truncated or probes.")] = "auto",
    form: Annotated[str, Option(help="auto, polar, walk or symmetrized; for worlds with wind.")] = "auto",
    tolerance: Annotated[
        float | None, Option(help="Relative error that a score may have; makes large t fast.  [default: exact]")
    ] = None,
    min_prominence: Annotated[float, Option(help="Leave out goals less prominent than this.")] = 0.0,
    wind: Wind = 0.0,
    seed: Annotated[int, Option(help="For the methods that draw at random.")] = 0,
    largest_component: LargestComponent = False,
    out: Annotated[Path | None, _folder("Folder for the pictures and options.npz.")] = None,
    formats: Annotated[str, Option(help="Picture formats, comma-separated: png, pdf, svg.")] = "png",
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Discover options in WORLD, show them, and write pictures and options.npz."""
    _run("discover", locals())


@app.command()
def compare(
    world: WorldWord,
    methods: Annotated[
        str, Option(help=f"Comma-separated: {_METHODS_HELP}")
    ] = "diffusion,farpoint,eigen,cover,random,none",
    t: Annotated[float | None, Option(help="Diffusion time.  [default: 4]")] = None,
    n_options: Annotated[int | None, Option(help="The same number for each method.")] = None,
    option_probability: Annotated[
        float | None,
        Option(help="How often a random decision is an option.  [default: by the options; the paper has 0.5]"),
    ] = None,
    wind: Wind = 0.0,
    n_runs: Annotated[int, Option(help="Learning runs per target.")] = 30,
    n_episodes: Annotated[
        int | None, Option(help="Episodes per run, in a world without episodes of its own.  [default: 400]")
    ] = None,
    max_steps: Annotated[
        int | None,
        Option(
            help="Steps per episode, in a world without episodes of its own.  [default: 5 times the way to the "
            "farthest target, at least 100]"
        ),
    ] = None,
    seed: Annotated[int, Option(help="For everything that is drawn at random.")] = 0,
    largest_component: LargestComponent = False,
    out: Annotated[Path | None, _folder("Folder for the figure and the table (CSV).")] = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Compare option-discovery methods on WORLD."""
    _run("compare", locals())


@app.command()
def explore(
    world: Annotated[str, Argument(help=f"{_WORLD_HELP} An environment (gym:ENV-ID) is only stepped.")],
    n_steps: Annotated[int, Option(help="Steps in all, over all episodes.")] = 20_000,
    method: Annotated[str, Option(help="diffusion, novelty, eigen, cover, betweenness, random or none.")] = "diffusion",
    n_options: Annotated[int, Option(help="Number of options.")] = 5,
    option_probability: Annotated[
        float | None, Option(help="Probability that a decision is an option.  [default: 0.05]")
    ] = None,
    max_episode_steps: Annotated[int | None, Option(help="Episode length, for worlds without episodes.")] = None,
    layout: Annotated[int | None, Option(help="Seed of every reset of an environment.  [default: a new one]")] = None,
    seed: Annotated[int, Option(help="The same seed gives the same log.")] = 0,
    checkpoint: Annotated[Path | None, _folder("Folder to resume from after an interruption.")] = None,
    out: Annotated[Path | None, _folder("Folder for the picture, the options and the table.")] = None,
) -> None:
    """Explore WORLD by interaction only, step by step."""
    _run("explore", locals())


@app.command()
def studio(
    world: Annotated[str | None, Argument(help="A world to begin with, as in discover.  [default: the last one]")] = (
        None
    ),
    host: Annotated[str, Option(help="Address to listen on; without it only this machine can connect.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, Option(help="Port to listen on; 0 is any free one.")] = 8765,
    token: Annotated[str | None, Option(help="Token required to open the page.  [default: a new one]")] = (None),
    open: Annotated[bool, Option("--open/--no-open", help="Open the page in the browser.")] = True,
) -> None:
    """Open the Studio in the browser: draw a world, slide t, watch options and agents."""
    from farpoint.cli.common import source_of_word
    from farpoint.studio.server import serve

    serve(None if world is None else source_of_word(world), host=host, port=port, token=token, show=open)


@app.command()
def paper(
    only: Annotated[
        str | None, Option(help="Only these sections, comma-separated; a wrong name shows those that exist.")
    ] = None,
    quick: Annotated[bool, Option("--quick", help="Far less work, for a first look.")] = False,
    jobs: Annotated[int, Option(help="Workers; -1 is one per core. The numbers do not depend on it.")] = -1,
    out: Annotated[Path, _folder("Folder for the page, its figures and tables, and the results.")] = Path("out"),
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Reproduce the paper: every table and figure on one page. Continues where it was stopped."""
    _run("paper", locals())
