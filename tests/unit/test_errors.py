"""The checks, and what their errors say."""

from __future__ import annotations

import numpy as np
import pytest

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
