"""The same bytes for any number of BLAS threads, and a number of threads that is what it was afterwards."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import farpoint as fp
from farpoint.blas import one_blas_thread
from tests.helpers.graphs import with_episodes, without_map

MAZE = fp.random_maze(45, 45, seed=2)
Result = Callable[[], object]


def threads_of_blas() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_threads_are_limited_inside_and_restored_outside() -> None:
    with threadpool_limits(2):
        with one_blas_thread():
            assert threads_of_blas() == {1}
            with one_blas_thread():
                assert threads_of_blas() == {1}
            assert threads_of_blas() == {1}
        assert threads_of_blas() == {2}


def test_blocks_that_overlap_in_time_restore_the_threads() -> None:
    begun, ended = Barrier(2), Barrier(2)

    def first() -> None:
        with one_blas_thread():
            begun.wait()
        ended.wait()

    def second() -> None:
        with one_blas_thread():
            begun.wait()
            ended.wait()

    with threadpool_limits(2):
        threads = [Thread(target=first), Thread(target=second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert threads_of_blas() == {2}


def test_an_error_inside_restores_the_threads() -> None:
    with threadpool_limits(2):
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            _ = 1 / 0
        assert threads_of_blas() == {2}


CASES: dict[str, Result] = {
    "spectral": lambda: fp.score(MAZE, 40, "spectral"),
    "truncated": lambda: fp.score(MAZE, 40, "truncated", n_components=40),
    "probes": lambda: fp.score(without_map(MAZE), 200, "probes", n_probes=16),
    "symmetrized": lambda: fp.score(with_episodes(MAZE), 300, "truncated", form="symmetrized", n_components=20),
    "restarts": lambda: fp.score(with_episodes(MAZE), 12, "local"),
    "extend": lambda: fp.extend(MAZE, fp.diffusion.choose_landmarks(MAZE, 300), t=8),
    "prominences": lambda: fp.find_goals(MAZE, fp.score(MAZE, 200, "probes", n_probes=16)).prominences,
    "eigen": lambda: fp.discover(MAZE, "eigen", n_options=6).goals,
    "eigen climbs": lambda: np.concatenate([option.potential for option in fp.discover(MAZE, "eigen", n_options=6)]),
    "cover": lambda: fp.discover(MAZE, "cover", n_options=4).goals,
    "steps": lambda: fp.steps_between_states(MAZE, fp.discover(MAZE, t=4, n_options=8), n_targets=8).means,
    "map": lambda: fp.diffusion.diffusion_map(MAZE, 4, 20),
    "distance": lambda: fp.diffusion.diffusion_distance(MAZE, 3, 9),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_bytes_on_one_and_on_two_threads(case: str) -> None:
    results = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            results.append(np.asarray(CASES[case]()).tobytes())
    assert results[0] == results[1]
