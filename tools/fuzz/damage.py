"""Damaged files of every kind: refused, or read exactly as they were written."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import farpoint as fp
from tests.contract.test_files import FORMATS, Format
from tools.fuzz.cases import OK, SILENT, Case, Outcome

Damage = Callable[[bytes, np.random.Generator], bytes]


def _map() -> Format:
    def read(path: Path) -> dict[str, Any]:
        # Every text of floor and walls is a map, so that there is nothing to compare.
        fp.World.from_map(path.read_text(errors="replace"), largest_component=True)
        return {}

    def write(path: Path) -> None:
        path.write_text("S..#\n.#..\n...G\n")

    return Format(write, read)


@cache
def formats() -> dict[str, Format]:
    """Return every kind of file: those of the contract test, and text maps."""
    return {name: build() for name, build in FORMATS.items()} | {"map": _map()}


def _flip(data: bytes, rng: np.random.Generator) -> bytes:
    array = np.frombuffer(data, dtype=np.uint8).copy()
    array[rng.integers(array.size)] ^= np.uint8(1 << rng.integers(8))
    return array.tobytes()


def _cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: rng.integers(len(data))]


def _zeros(data: bytes, rng: np.random.Generator) -> bytes:
    begin, length = int(rng.integers(len(data))), int(rng.integers(1, 200))
    return data[:begin] + bytes(len(data[begin : begin + length])) + data[begin + length :]


def _swap(data: bytes, rng: np.random.Generator) -> bytes:
    array = np.frombuffer(data, dtype=np.uint8).copy()
    one, two = rng.integers(array.size, size=2)
    array[[one, two]] = array[[two, one]]
    return array.tobytes()


def _noise(data: bytes, rng: np.random.Generator) -> bytes:
    begin = int(rng.integers(len(data)))
    return data[:begin] + rng.bytes(int(rng.integers(1, 64))) + data[begin:]


def _twice(data: bytes, rng: np.random.Generator) -> bytes:
    return data + data[rng.integers(len(data)) :]


def _bomb(data: bytes, rng: np.random.Generator) -> bytes:
    """A small file whose arrays are of many gigabytes, by their header or when unpacked."""
    header = {"descr": "<f8", "fortran_order": False, "shape": (int(rng.choice([2**33, 2**24])),)}
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, header)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"goals{number or ''}.npy", content.getvalue() + bytes(2**22))
    return packed.getvalue()


def _other(data: bytes, rng: np.random.Generator) -> bytes:
    texts = (b"", b"\x00" * 100, b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"{}", b"PAR1PAR1", b"\x80\x04.", b"\xff" * 300)
    return texts[rng.integers(len(texts))]


DAMAGES: dict[str, Damage] = {
    "flip": _flip,
    "cut": _cut,
    "zeros": _zeros,
    "swap": _swap,
    "noise": _noise,
    "twice": _twice,
    "bomb": _bomb,
    "other": _other,
}


def draw_file(rng: np.random.Generator) -> Case:
    """Return a random damage of a random kind of file."""
    kind, damage = str(rng.choice([*formats()])), str(rng.choice([*DAMAGES]))
    seed = int(rng.integers(2**31))
    return Case("file", (kind, damage, seed), f"damaged({kind!r}, {damage!r}, {seed})")


def judge_file(case: Case) -> Outcome:
    """Write a file, damage it, and read it."""
    kind, damage, seed = case.words
    expected = _undamaged(kind)
    path = Path("content.npz")
    formats()[kind].write(path)
    path.write_bytes(DAMAGES[damage](path.read_bytes(), np.random.default_rng(seed)))
    if not _same(formats()[kind].read(path), expected):
        return Outcome(SILENT, "was read as something else")
    return Outcome(OK)


@cache
def _undamaged(kind: str) -> dict[str, Any]:
    path = Path("folder") / "content.npz"
    formats()[kind].write(path)
    return formats()[kind].read(path)


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(_same(one[name], two[name]) for name in one)
    return bool(np.array_equal(one, two)) and np.asarray(one).dtype == np.asarray(two).dtype
