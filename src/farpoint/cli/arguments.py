"""The arguments of each command, written once: names, types, defaults and help texts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Option

from farpoint.errors import InvalidInput, check_path

_WORLD_HELP = (
    "four_rooms, maze, ring, open_room, random_maze (the last two also with a size, random_maze:100x200); gym:ENV-ID "
    "or gym:MODULE:ENV-ID; a map file (text, .npy or PNG); or - for standard input."
)
_METHODS_HELP = (
    "diffusion, farpoint, eigen, cover, betweenness, bottleneck, louvain, successor, visits, random or none."
)
_LARGEST_HELP = "Keep the largest component of a map that is not connected."
_ADDRESS_HELP = "Of a running Dask scheduler or Ray cluster.  [default: one on this machine]"


def read_folder(word: str) -> Path:
    """Return the folder that a word names; an empty one names none, and would be taken for the current folder."""
    try:
        return check_path("it", word)
    except InvalidInput as error:
        raise BadParameter(str(error)) from error


WorldWord = Annotated[str, Argument(help=_WORLD_HELP)]
Wind = Annotated[float, Option(help="Probability of being blown down.")]
OptionProbability = Annotated[
    float | None, Option(help="How often a random decision is an option.  [default: by the options; the paper has 0.5]")
]
LargestComponent = Annotated[bool, Option("--largest-component", help=_LARGEST_HELP)]
Engine = Annotated[str, Option(help="Where the work runs: local, dask or ray.")]
Address = Annotated[str | None, Option(help=_ADDRESS_HELP)]


@dataclass(frozen=True)
class DiscoverArguments:
    """The arguments of ``farpoint discover``."""

    world: WorldWord
    t: Annotated[float | None, Option(help="Diffusion time; larger gives fewer options.  [default: 4]")] = None
    n_options: Annotated[
        str | None, Option(help="Number of options, or auto; t is then chosen, unless given.", metavar="INTEGER")
    ] = None
    method: Annotated[str, Option(help=_METHODS_HELP)] = "diffusion"
    solver: Annotated[str, Option(help="auto, spectral, local, truncated or probes.")] = "auto"
    form: Annotated[str, Option(help="auto, polar, walk or symmetrized; for worlds with wind.")] = "auto"
    tolerance: Annotated[
        float | None, Option(help="Relative error that a score may have; makes large t fast.  [default: exact]")
    ] = None
    min_prominence: Annotated[float, Option(help="Leave out goals less prominent than this.")] = 0.0
    wind: Wind = 0.0
    seed: Annotated[int, Option(help="For the methods that draw at random.")] = 0
    largest_component: LargestComponent = False
    out: Annotated[
        Path | None, Option(help="Folder for the pictures and options.npz.", parser=read_folder, metavar="FOLDER")
    ] = None
    formats: Annotated[str, Option(help="Picture formats, comma-separated: png, pdf, svg.")] = "png"
    engine: Engine = "local"
    address: Address = None


@dataclass(frozen=True)
class CompareArguments:
    """The arguments of ``farpoint compare``."""

    world: Annotated[str | None, Argument(help=f"{_WORLD_HELP} Without WORLD: all methods on many worlds.")] = None
    methods: Annotated[str, Option(help=f"Comma-separated: {_METHODS_HELP}")] = (
        "diffusion,farpoint,eigen,cover,random,none"
    )
    t: Annotated[float | None, Option(help="Diffusion time.  [default: 4]")] = None
    n_options: Annotated[int | None, Option(help="The same number for each method.")] = None
    option_probability: OptionProbability = None
    wind: Wind = 0.0
    n_runs: Annotated[int, Option(help="Learning runs per target.")] = 30
    n_episodes: Annotated[int, Option(help="Episodes per run.")] = 400
    max_steps: Annotated[
        int | None, Option(help="Steps per episode.  [default: 5 times the way to the farthest target, at least 100]")
    ] = None
    seed: Annotated[int, Option(help="For everything that is drawn at random.")] = 0
    largest_component: LargestComponent = False
    only: Annotated[str | None, Option(help="Of the suite: only these sections, comma-separated.")] = None
    quick: Annotated[bool, Option("--quick", help="Of the suite: far less work, for a first look.")] = False
    jobs: Annotated[int, Option(help="Of the suite: workers; -1 is one per core.")] = -1
    out: Annotated[
        Path | None,
        Option(
            help="Folder for the figure and the table (CSV); of the suite, for its page.  [default: out]",
            parser=read_folder,
            metavar="FOLDER",
        ),
    ] = None
    engine: Engine = "local"
    address: Address = None


@dataclass(frozen=True)
class ExploreArguments:
    """The arguments of ``farpoint explore``."""

    world: Annotated[
        str | None,
        Argument(help=f"{_WORLD_HELP} An environment (gym:ENV-ID) is only stepped. Without WORLD: the whole suite."),
    ] = None
    n_steps: Annotated[int, Option(help="Steps in all, over all episodes.")] = 20_000
    method: Annotated[str, Option(help="diffusion, novelty, eigen, cover, betweenness, random or none.")] = "diffusion"
    n_options: Annotated[int, Option(help="Number of options.")] = 5
    option_probability: Annotated[float, Option(help="Probability that a decision is an option.")] = 0.05
    max_episode_steps: Annotated[int | None, Option(help="Of a world: when an episode begins anew.")] = None
    layout: Annotated[int | None, Option(help="Seed of every reset of an environment.  [default: a new one]")] = None
    seed: Annotated[int, Option(help="The same seed gives the same log.")] = 0
    checkpoint: Annotated[
        Path | None, Option(help="Folder to go on from if interrupted.", parser=read_folder, metavar="FOLDER")
    ] = None
    only: Annotated[str | None, Option(help="Of the suite: only these sections, comma-separated.")] = None
    quick: Annotated[bool, Option("--quick", help="Of the suite: far less work, for a first look.")] = False
    jobs: Annotated[int, Option(help="Of the suite: workers; -1 is one per core.")] = -1
    out: Annotated[
        Path | None,
        Option(
            help="Folder for the picture, the options and the table; of the suite, for its page.  [default: out]",
            parser=read_folder,
            metavar="FOLDER",
        ),
    ] = None
    engine: Engine = "local"
    address: Address = None


@dataclass(frozen=True)
class StudioArguments:
    """The arguments of ``farpoint studio``."""

    world: Annotated[str | None, Argument(help="A world to begin with, as in discover.  [default: the last one]")] = (
        None
    )
    host: Annotated[str, Option(help="Address to listen on; others than this machine's own need the token.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Option(help="Port to listen on; 0 is any free one.")] = 8765
    token: Annotated[str | None, Option(help="Who knows it may open the page.  [default: a new one, where needed]")] = (
        None
    )
    open: Annotated[bool, Option("--open/--no-open", help="Open the page in the browser.")] = True


@dataclass(frozen=True)
class SuiteArguments:
    """The arguments of every command that runs a suite of experiments."""

    only: Annotated[
        str | None, Option(help="Only these sections, comma-separated; a wrong name shows those that exist.")
    ] = None
    quick: Annotated[bool, Option("--quick", help="Far less work, for a first look.")] = False
    jobs: Annotated[int, Option(help="Workers; -1 is one per core. The numbers do not depend on it.")] = -1
    out: Annotated[
        Path,
        Option(
            help="Folder for the page, its figures and tables, and the results.", parser=read_folder, metavar="FOLDER"
        ),
    ] = Path("out")
    engine: Engine = "local"
    address: Address = None


@dataclass(frozen=True)
class AgentSuiteArguments(SuiteArguments):
    """The arguments of a suite in which agents act at random, by a probability that can be chosen."""

    option_probability: OptionProbability = None
