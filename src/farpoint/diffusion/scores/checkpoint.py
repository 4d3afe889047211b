"""Finished blocks of a large score in a folder, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, OutputError
from farpoint.worlds import World

_ABOUT = "score.json"
_UNREADABLE = (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error)


class Checkpoint:
    """A folder with one file a finished block; without a folder, a place that keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @classmethod
    def open(
        cls,
        folder: str | Path | None,
        world: World,
        t: int,
        tolerance: float | None,
        blocks: list[tuple[int, int]],
    ) -> Checkpoint:
        """Return the checkpoint of one score; fail if the folder holds that of another."""
        if folder is None:
            return cls(None)
        path = Path(folder)
        about = {
            "world": world.fingerprint,
            "t": t,
            "tolerance": tolerance,
            "blocks": [list(block) for block in blocks],
        }
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not (path / _ABOUT).exists():
                begun = path / f"{_ABOUT}.unfinished"
                begun.write_text(json.dumps(about))
                os.replace(begun, path / _ABOUT)
            there = json.loads((path / _ABOUT).read_text())
        except (OSError, ValueError) as error:
            raise OutputError(f"checkpoint must be a folder that can be written; got {path} ({error}).") from error
        if there != about:
            raise InvalidInput(
                f"checkpoint must be a folder of this score; got {path} with another world, t or tolerance. "
                "Give each score a folder of its own."
            )
        return cls(path)

    def _path(self, number: int) -> Path:
        assert self._folder is not None
        return self._folder / f"block-{number:06d}.npz"

    def __contains__(self, number: int) -> bool:
        if self._folder is None or not self._path(number).exists():
            return False
        try:
            self.load(number)
        except _UNREADABLE:
            return False
        return True

    def load(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return a finished block."""
        with np.load(self._path(number), allow_pickle=False) as file:
            return file["scores"], file["bounds"] if "bounds" in file.files else None

    def save(self, number: int, scores: NDArray[np.float64], bounds: NDArray[np.float64] | None) -> bool:
        """Keep a finished block; return whether there is a place to keep it."""
        if self._folder is None:
            return False
        target = self._path(number)
        unfinished = target.with_suffix(".unfinished")
        try:
            with unfinished.open("wb") as file:
                content: dict[str, Any] = {"scores": scores} if bounds is None else {"scores": scores, "bounds": bounds}
                np.savez(file, **content)
            os.replace(unfinished, target)
        except OSError as error:
            raise OutputError(f"{target} must be a file that can be written; got {error.strerror}.") from error
        return True
