"""The checks, and what their errors say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from farpoint import errors
from farpoint.errors import InvalidInput, UnknownName


@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float64(3.0)])
def test_whole_numbers_of_any_kind(value: object) -> None:
    number = errors.check_integer("n", value, 1, 5)
    assert number == 3
    assert type(number) is int


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2.5, r"n must be a whole number; got 2\.5"),
        (True, "n must be a whole number; got True"),
        ("3", "n must be a whole number; got '3'"),
        (float("nan"), "n must be a whole number; got nan"),
        (0, "n must be at least 1; got 0"),
        (6, "n must be at most 5; got 6"),
    ],
)
def test_what_is_no_whole_number(value: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        errors.check_integer("n", value, 1, 5)


def test_a_number_without_a_limit_has_64_bits() -> None:
    assert errors.check_integer("seed", -(2**63)) == -(2**63)
    with pytest.raises(InvalidInput, match=f"seed must be at least -9223372036854775808; got -{2**70}"):
        errors.check_integer("seed", -(2**70))


# Folders as in containers: limits of the group or of one around it, in either version of Linux' control groups.
@pytest.mark.parametrize(
    ("group", "limits", "expected"),
    [
        ("0::/", {"memory.max": "1000"}, 1000),
        ("0::/a/b", {"a/b/memory.max": "3000", "a/memory.max": "2000", "memory.max": "max"}, 2000),
        ("4:cpu,memory:/c", {"memory/c/memory.limit_in_bytes": "500"}, 500),
        # As a container sees it: its group has the name that it has outside.
        ("4:memory:/docker/7", {"memory/memory.limit_in_bytes": "700"}, 700),
        ("4:memory:/\n0::/", {"memory/memory.limit_in_bytes": str(2**63 - 4096)}, None),
        ("3:cpu:/", {"memory.max": "10"}, None),
        ("0::/", {}, None),
    ],
)
def test_memory_is_what_the_container_leaves(
    group: str, limits: dict[str, str], expected: int | None, tmp_path: Path
) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(group + "\n")
    for name, limit in limits.items():
        file = tmp_path / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(limit + "\n")
    # A folder without groups: the memory of the machine.
    machine = errors.available_memory(tmp_path / "nothing")
    assert machine > 2**20
    assert errors.available_memory(tmp_path) == (machine if expected is None else expected)


def test_a_container_is_asked_before_memory_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "available_memory", lambda: 10**6)
    with pytest.raises(InvalidInput, match=r"size of the world must fit into the memory of this machine \(0.001 GB\)"):
        fp.open_room(2_000, 2_000)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), True, "half", None])
def test_what_is_no_fraction(value: object) -> None:
    with pytest.raises(InvalidInput, match="p must be a number from 0 to 1; got"):
        errors.check_fraction("p", value)


@pytest.mark.parametrize("value", [0, -1.0, float("inf"), float("nan"), True, "much"])
def test_what_is_not_positive(value: object) -> None:
    with pytest.raises(InvalidInput, match="radius must be a finite number above 0; got"):
        errors.check_positive("radius", value)


def test_words_are_named_and_the_nearest_is_offered() -> None:
    with pytest.raises(UnknownName, match=r"solver must be one of local, spectral; got 'locl'\. Did you mean local\?"):
        errors.check_word("solver", "locl", ["local", "spectral"])
    with pytest.raises(UnknownName, match=r"got 3\.$"):
        errors.check_word("solver", 3, ["local", "spectral"])


def test_every_error_is_one_of_the_family() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) > 8
    assert all(issubclass(kind, errors.FarpointError) for kind in kinds)
    assert issubclass(errors.InvalidInput, ValueError)
    assert issubclass(errors.MissingExtra, ImportError)
