"""Where the commands print."""

from __future__ import annotations

from rich.console import Console


class CommandConsole(Console):
    """A console whose reader may leave early (``| head -1``): the command then ends quietly, as `main` decides."""

    def on_broken_pipe(self) -> None:
        """Pass the error on; rich itself would end with exit code 1."""
        raise BrokenPipeError
