"""Tensors in a file: safetensors with a table of facts in its header, a version and a digest. No pickle."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from farpoint.errors import InvalidFile, InvalidInput, OutputError

VERSION = 1
_HEADER = "farpoint"
_TRAINING = "training.safetensors"
_UNREADABLE = (OSError, SafetensorError, KeyError, ValueError, TypeError, AttributeError, RuntimeError)


def write_tensors(
    path: str | PathLike[str], form: str, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> None:
    """Write tensors and facts to ``path``; an existing file is replaced only when the new one is complete."""
    target = Path(path)
    content = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    header = {"format": form, "version": VERSION, "facts": dict(facts)}
    header["digest"] = _digest(header, content)
    part = target.parent / f".{target.name}.{secrets.token_hex(4)}"
    try:
        save_file(content, part, metadata={_HEADER: json.dumps(header)})
        os.replace(part, target)
    except (OSError, SafetensorError) as error:
        raise OutputError(f"{target} must be a file that can be written; got {error}.") from error
    finally:
        with suppress(OSError):
            part.unlink()


def read_tensors(path: str | PathLike[str], form: str, what: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the facts and tensors of a file of this form; fail if it is missing, foreign, newer or damaged."""
    source = Path(path)
    if not source.is_file():
        raise InvalidFile(f"{source} must be a file of {what}; got no file of that name.")
    try:
        with safe_open(source, framework="pt") as file:
            header = json.loads((file.metadata() or {}).get(_HEADER, "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        found, version, digest = header.get("format"), header.get("version"), header.pop("digest", None)
    except _UNREADABLE as error:
        raise InvalidFile(f"{source} must be a whole file of {what}; it is damaged or foreign.") from error
    if found != form:
        raise InvalidFile(f"{source} must be a file of {what}; got another kind of file.")
    if version != VERSION:
        raise InvalidFile(f"{source} must be of version {VERSION}; got version {version}. Update Farpoint to read it.")
    if digest != _digest(header, tensors) or not isinstance(header.get("facts"), dict):
        raise InvalidFile(f"{source} must hold {what} whole; it is damaged (its contents were changed).")
    return header["facts"], tensors


def _digest(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name}{tensor.dtype}{tuple(tensor.shape)}".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()


class TrainingFolder:
    """The folder in which one training keeps its state; without a folder, a place that keeps nothing."""

    def __init__(self, folder: str | PathLike[str] | None, form: str, settings: Mapping[str, Any]) -> None:
        self._form, self._settings = form, json.loads(json.dumps(settings))
        self._path = None if folder is None else Path(folder) / _TRAINING
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"checkpoint must be a folder that can be written; got {folder} ({error}).") from error

    def load(self) -> dict[str, Tensor] | None:
        """Return the state that was kept last, or None; fail if it is that of another training."""
        if self._path is None or not self._path.exists():
            return None
        settings, state = read_tensors(self._path, self._form, "an unfinished training")
        if settings != self._settings:
            different = sorted(
                name for name in {*settings, *self._settings} if settings.get(name) != self._settings.get(name)
            )
            raise InvalidInput(
                f"checkpoint must be a folder of this training; got {self._path.parent} with other "
                f"{', '.join(different)}. Give each training a folder of its own."
            )
        return state

    def save(self, state: Mapping[str, Tensor]) -> None:
        """Keep the state of a training, between two steps."""
        if self._path is not None:
            write_tensors(self._path, self._form, self._settings, state)


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the state of an optimizer as named tensors."""
    return {
        f"optimizer.{number}.{name}": torch.as_tensor(value)
        for number, entries in optimizer.state_dict()["state"].items()
        for name, value in entries.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give an optimizer the state that `optimizer_tensors` returned."""
    content = optimizer.state_dict()
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        if key.startswith("optimizer."):
            _, number, name = key.split(".")
            state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({**content, "state": state})
