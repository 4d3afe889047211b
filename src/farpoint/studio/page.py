"""The page: NiceGUI serves it, and one component of our own in plain JavaScript is all that is on it."""

from __future__ import annotations

from typing import Any

from nicegui import ui


class Workbench(ui.element, component="web/workbench.js", esm={"farpoint-studio": "web"}):  # type: ignore[call-arg]
    """Everything on the page; it talks to the server over a socket of its own, in frames of arrays."""

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__()
        self.props["settings"] = settings


def build_page(settings: dict[str, Any]) -> None:
    """Build the page of one tab."""
    ui.query(".nicegui-content").style("padding: 0; gap: 0; display: block")
    Workbench(settings)
