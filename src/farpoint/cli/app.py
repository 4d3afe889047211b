"""The commands. The module that does the work of a command is imported when the command is run."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

from farpoint import engines
from farpoint.cli.arguments import (
    AgentSuiteArguments,
    CompareArguments,
    DiscoverArguments,
    ExploreArguments,
    StudioArguments,
    SuiteArguments,
)
from farpoint.display import progress_bars
from farpoint.experiments.suites import SUITES

app = typer.Typer(
    name="farpoint",
    help="Find the far points of a world and turn them into skills.",
    no_args_is_help=True,
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


def _add_command(name: str, summary: str, arguments: type[Any], module: str, function: str, *first: str) -> None:
    """Add a command whose parameters are the fields of the dataclass ``arguments``.

    It calls ``function`` of ``module`` with ``first`` and an object of that dataclass.
    """

    def command(**words: Any) -> None:
        given = arguments(**words)
        # Commands have spinners and bars of their own.
        with progress_bars(False), engines.engine(getattr(given, "engine", "local"), getattr(given, "address", None)):
            getattr(importlib.import_module(module), function)(*first, given)

    _take_parameters(command, arguments)
    app.command(name, help=summary)(command)


def _take_parameters(command: Callable[..., None], arguments: type[Any]) -> None:
    """Give a function the signature that typer reads its parameters from."""
    hints = get_type_hints(arguments, include_extras=True)
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(arguments)
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = hints


_add_command(
    "discover",
    "Discover options in WORLD, show them, and write pictures and options.npz.",
    DiscoverArguments,
    "farpoint.cli.discover",
    "run",
)
_add_command(
    "compare",
    f"Compare option-discovery methods on WORLD. Without WORLD: {SUITES['compare'].help}",
    CompareArguments,
    "farpoint.cli.compare",
    "run",
)
_add_command(
    "explore",
    f"Explore WORLD, of which nothing is known, step by step. Without WORLD: {SUITES['explore'].help}",
    ExploreArguments,
    "farpoint.cli.explore",
    "run",
)
_add_command(
    "studio",
    "Open the Studio in the browser: draw a world, slide t, watch options and agents.",
    StudioArguments,
    "farpoint.cli.studio",
    "run",
)
for _name, _entry in SUITES.items():
    if _name in ("explore", "compare"):  # have more arguments than a suite
        continue
    _takes, _runs = (AgentSuiteArguments, "run_agent_suite") if _entry.agents else (SuiteArguments, "run_suite")
    _add_command(_name, _entry.help, _takes, "farpoint.cli.suite", _runs, _name)
