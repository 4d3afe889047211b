"""The parameters of a score are checked in one place."""

from __future__ import annotations

from dataclasses import fields
from inspect import signature
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion import ScoreRequest
from farpoint.errors import InvalidInput, UnknownName


@pytest.mark.parametrize("t", [0, -1, float("nan"), float("inf"), "four", None, True])
def test_bad_t(t: object) -> None:
    with pytest.raises(InvalidInput, match="t must be a finite number above 0"):
        fp.score(fp.ring(), t)  # type: ignore[arg-type]


def test_unknown_words() -> None:
    with pytest.raises(UnknownName, match=r"solver must be one of auto, spectral, .* Did you mean local"):
        fp.score(fp.ring(), solver="locall")
    with pytest.raises(UnknownName, match="form must be one of auto, polar, walk"):
        fp.score(fp.ring(), form="poler")


def test_what_goes_with_which_solver() -> None:
    world = fp.ring()
    with pytest.raises(InvalidInput, match="tolerance must go with solver='local'; got solver='spectral'"):
        fp.score(world, 4, "spectral", tolerance=1e-3)
    with pytest.raises(InvalidInput, match="tolerance must be a number from 1e-10 to 1; got 0"):
        fp.score(world, 4, tolerance=0.0)
    with pytest.raises(InvalidInput, match="n_probes must go with solver='probes'"):
        fp.score(world, 4, "local", n_probes=10)
    with pytest.raises(InvalidInput, match="checkpoint must go with t"):
        fp.discover(world, n_options=4, checkpoint="here")


def test_the_request_has_the_parameters_of_score() -> None:
    names = {field.name for field in fields(ScoreRequest)}
    assert names == set(signature(fp.score).parameters) - {"world"}
    for field in fields(ScoreRequest):
        assert field.default == signature(fp.score).parameters[field.name].default


def test_keywords_that_score_does_not_have() -> None:
    with pytest.raises(UnknownName, match=r"keyword must be one of t, solver, .* got 'tolerence'\. Did you mean toler"):
        ScoreRequest.of(tolerence=0.1)
    with pytest.raises(UnknownName, match="keyword must be one of"):
        fp.discover(fp.ring(), tolerence=0.1)


def test_numbers_of_any_kind() -> None:
    request = ScoreRequest.of(t=np.int64(3), tolerance=np.float32(0.5), seed=np.int64(1), n_jobs=np.int8(2))
    assert (request.t, request.tolerance, request.seed, request.n_jobs) == (3.0, 0.5, 1, 2)
    numbers: Any = (np.float32(4), np.float32(0.25))
    assert fp.score(fp.ring(), numbers[0], tolerance=numbers[1]).error_bound is not None


@pytest.mark.parametrize(
    ("settings", "solver"),
    [
        ({"tolerance": 0.1}, "local"),
        ({"n_probes": 10}, "probes"),
        ({"n_components": 3}, "truncated"),
        ({"checkpoint": "here"}, "auto"),
    ],
)
def test_a_parameter_of_one_solver_chooses_it(settings: dict[str, object], solver: str) -> None:
    assert ScoreRequest.of(**settings).solver == solver


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_jobs": 0}, "n_jobs must be a whole number other than 0"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"n_probes": 1}, "n_probes must be at least 2"),
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"tolerance": True}, "tolerance must be a number from 1e-10 to 1; got True"),
        ({"tolerance": "small"}, "tolerance must be a number from 1e-10 to 1; got 'small'"),
        ({"tolerance": 1.0}, "tolerance must be a number from 1e-10 to 1; got 1.0"),
        ({"t": 2e9}, r"t must be at most 1e\+09"),
    ],
)
def test_bad_parameters(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ScoreRequest.of(**settings)
