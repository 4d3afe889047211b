"""What is passed: Python expressions, so that every failing call can be printed as a line that runs.

`w` stands for the world of the call. `PLAUSIBLE` gives, for the name of a parameter, expressions that a reader of the
docstring might write; a name that is not there gets what its annotation suggests. Of the `ABSURD` values, those that
might be passed by mistake (`mistakes`) must be refused with an error of Farpoint. All others, and `EXOTIC` ones, are of
types that no reader of the docstring would pass: foreign exceptions are counted for them, and allowed.
"""

from __future__ import annotations

import inspect
import math
import re
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import networkx as nx
import numpy as np
import scipy.sparse as sp

import farpoint as fp
from farpoint.diffusion import Walk
from farpoint.options import OptionList
from tests.helpers.counter import Counter
from tests.helpers.envs import make
from tests.helpers.options import goal_policy
from tests.helpers.worlds import WORLDS

SMALL_WORLDS = ("open_room", "tree", "karate", "windy", "one_way", "frozen_lake", "log", "kernel_samples", "restarting")


@cache
def found(name: str) -> fp.OptionSet:
    """Return options of one of the worlds."""
    return fp.discover(WORLDS[name](), t=2)


@cache
def scored(name: str) -> Any:
    """Return the scores of one of the worlds."""
    return fp.score(WORLDS[name](), t=2)


def lake() -> Any:
    """Return a small environment."""
    return make("FrozenLake-v1", is_slippery=False)


def wrapped() -> fp.OptionsWrapper:
    """Return a small environment with options, begun."""
    env = fp.OptionsWrapper(lake(), fp.discover(WORLDS["frozen_lake"](), n_options=2))
    env.reset(seed=0)
    return env


def lakes() -> Any:
    """Return two copies of a small environment."""
    return gym.vector.SyncVectorEnv([lake] * 2)


def vector() -> fp.OptionsVectorEnv:
    """Return copies of a small environment with options, begun."""
    envs = fp.OptionsVectorEnv(lakes(), fp.discover(WORLDS["frozen_lake"](), n_options=2))
    envs.reset(seed=0)
    return envs


def discovering() -> fp.DiscoveringVectorEnv:
    """Return copies of a small environment in which options are found, begun."""
    envs = fp.DiscoveringVectorEnv(lakes(), 2)
    envs.reset(seed=0)
    return envs


def plane() -> fp.ContinuousMaze:
    """Return a small continuous environment, begun."""
    env = fp.ContinuousMaze("...\n.#.\n...", max_steps=50)
    env.reset(seed=0)
    return env


def bad_csr(index: int) -> Any:
    """Return a matrix with an index that lies outside it."""
    return sp.csr_array((np.ones(2), np.array([index, 0]), np.array([0, 1, 2])), shape=(2, 2))


@cache
def functions() -> Any:
    """Return learned eigenfunctions."""
    return fp.learn_eigenfunctions(fp.grid((6,)), n_functions=2, n_steps=5, hidden=(4,), n_spare=1)


@cache
def figure() -> Any:
    """Return a picture."""
    return fp.report.draw_stationary(WORLDS["open_room"](), fp.stationary(WORLDS["open_room"]()))


NAMES: dict[str, Any] = {
    **{
        item.__name__: item
        for item in (
            found,
            scored,
            lake,
            wrapped,
            lakes,
            vector,
            discovering,
            plane,
            bad_csr,
            goal_policy,
            functions,
            figure,
        )
    },
    **{item.__name__: item for item in (Decimal, Fraction, Path, Counter, Walk, OptionList)},
    "WORLDS": WORLDS,
    "fp": fp,
    "gym": gym,
    "inf": math.inf,
    "nan": math.nan,
    "np": np,
    "nx": nx,
    "sp": sp,
}

# Counts of work: a huge one may take as long as it likes, if it can be interrupted.
WORK = ("n_steps", "n_runs", "n_episodes", "max_steps", "n_trials", "n_times", "n_probes", "chunk_steps")

PLAUSIBLE: dict[str, tuple[str, ...]] = {
    "action": ("0", "1", "np.int64(2)"),
    "actions": ("[0, 1]", "np.zeros(3, dtype=np.int64)", "'directions'"),
    "address": ("None",),
    "algorithm": ("'paper'", "'smdp'", "'intra-option'"),
    "batch_size": ("8",),
    "checkpoint": ("None", "'kept'", "Path('kept')"),
    "chunk_steps": ("100",),
    "control": ("None", "'steps'", "'segments'"),
    "counting": ("'published'", "'moves'"),
    "decomposition": ("None", "fp.spectrum(w)"),
    "device": ("'cpu'",),
    "displacements": ("np.eye(2)", "[[1, 0], [0, 1], [-1, 0]]"),
    "env": ("lake()", "wrapped()", "plane()", "Counter()", "lakes()"),
    "envs": ("lakes()",),
    "folder": ("'parts'", "Path('parts')"),
    "form": ("'auto'", "'polar'", "'walk'", "'symmetrized'"),
    "formats": ("'png'",),
    "functions": ("fp.spectrum(w).phi[:, :3]", "np.ones((w.n_states, 2))"),
    "goal_of": ("None", "lambda x: x"),
    "goal": ("np.zeros(2)", "[2.5, 2.5]", "np.ones((3, 2))"),
    "goals": ("[0, 1]", "np.array([0])", "[]", "[[0.5, 0.5], [2.5, 2.5]]"),
    "graph": ("w.adjacency", "nx.path_graph(4)", "[[0, 1], [1, 0]]", "sp.lil_array(np.ones((3, 3)))"),
    "hidden": ("(4,)", "[4, 4]"),
    "initiation": ("None", "[0, 1]"),
    "keep": ("[True, False]", "np.ones(2, dtype=bool)"),
    "label": ("0", "'a'"),
    "labels": ("None", "range(w.n_states)", "'ab'"),
    "layout": ("None", "np.zeros((w.n_states, 2))", "0"),
    "longest": ("10.0",),
    "marks": ("{0: '*'}", "None"),
    "method": ("'diffusion'", "'eigen'", "'cover'", "'random'", "'none'", "'nystrom'", "'farthest'"),
    "min_prominence": ("0.0", "1e-3"),
    "moves": ("w.adjacency",),
    "n_components": ("None", "2", "5"),
    "n_cols": ("3", "7"),
    "n_envs": ("2",),
    "n_episodes": ("2",),
    "n_functions": ("2",),
    "n_goals": ("1",),
    "n_jobs": ("1", "2", "-1"),
    "n_landmarks": ("2", "5"),
    "n_neighbors": ("3",),
    "n_options": ("None", "2", "3"),
    "n_probes": ("None", "4"),
    "n_rows": ("3", "7"),
    "n_runs": ("1", "2"),
    "n_spare": ("1",),
    "n_states": ("None", "5"),
    "n_steps": ("20", "5"),
    "n_targets": ("None", "2"),
    "n_times": ("3",),
    "n_trials": ("2",),
    "name": ("'local'", "'ring'", "'world'"),
    "near": ("0.9",),
    "neighbors": ("'both'", "'kernel'"),
    "next_observations": ("None", "np.arange(20.0).reshape(10, 2)"),
    "next_states": ("None", "[1, 2, 1, 0]"),
    "norm": ("'plain'",),
    "numbers": ("range(1)", "range(0, 2)"),
    "objective": ("'allo'",),
    "observation": ("0", "3", "np.zeros(2)", "'a'"),
    "next_observation": ("0", "3", "np.zeros(2)"),
    "observations": ("np.arange(20.0).reshape(10, 2)", "np.zeros((1, 2))", "w"),
    "observed": ("0",),
    "option": ("found(W)[0]",),
    "option_probability": ("0.5", "0", "1"),
    "options": ("found(W)", "None", "found(W)[:2]", "[found(W)[0]]"),
    "order": ("np.arange(w.n_states)[::-1]",),
    "path": ("'x.npz'", "Path('y.npz')", "'x.png'", "'text.txt'", "'numbers.npy'", "'folder'"),
    "pi": ("np.full(w.n_states, 1 / w.n_states)",),
    "places": ("[[0.5, 0.5]]", "np.zeros((3, 2))"),
    "policy": ("'MlpPolicy'",),
    "positions": ("None", "np.zeros((w.n_states, 2))", "np.arange(2 * w.n_states).reshape(-1, 2)"),
    "potential": ("np.zeros(w.n_states)", "np.arange(w.n_states, dtype=float)"),
    "progress": ("None", "lambda *given: None"),
    "radius": ("0.5",),
    "record": ("{}", "{'t': 4}"),
    "representatives": ("'farthest'",),
    "restart": ("None", "0.1"),
    "route": ("[0, 1]", "[0]"),
    "sample": ("[0, 1, 2]", "np.arange(5)"),
    "scores": ("scored(W)", "np.ones(w.n_states)", "{4: scored(W)}", "'parts/scores'"),
    "seed": ("0", "7", "np.int64(3)"),
    "seeds": ("None", "[0, 1]"),
    "shape": ("(3, 4)", "[2, 2, 2]", "5"),
    "solver": ("'auto'", "'spectral'", "'local'", "'truncated'", "'probes'"),
    "start": ("None", "0", "1"),
    "state": ("0", "1", "None"),
    "states": ("[0, 1, 2, 1]", "np.array([0, 1])", "['a', 'b', 'a', 'b']"),
    "t": ("1", "4", "2.5", "13", "np.float32(3)"),
    "target": ("None", "[2.5, 2.5]"),
    "targets": ("None", "[1]", "[w.n_states - 1]", "np.array([1, 2])"),
    "tau": ("None", "2"),
    "text": ("'S..G'", "'###\\n#.#\\n###'", "'..\\n..'"),
    "tolerance": ("1e-3", "1e-9"),
    "transitions": ("w.transitions", "np.eye(2)"),
    "choice_ptr": ("w.choice_ptr", "[0, 1, 2]"),
    "unavailable": ("'refuse'",),
    "values": ("[1.0, 2.0, 3.0]", "np.arange(10.0)", "[4.0]"),
    "wall": ("0.25", "0"),
    "what": ("'goals'",),
    "wind": ("0.0", "0.3"),
    "world": ("w", "w", "w", "w", "'ring'", "fp.grid((4,))"),
}

# What the words of an annotation suggest, for names that are not in `PLAUSIBLE`; the first that fits.
BY_ANNOTATION: dict[str, tuple[str, ...]] = {
    "World": ("w",),
    "OptionSet": ("found(W)",),
    "Option": ("found(W)[0]",),
    "Env": ("lake()",),
    "Path": ("'x.npz'",),
    "Callable": ("lambda *given: None",),
    "Generator": ("np.random.default_rng(0)", "None"),
    "bool": ("True", "False"),
    "int": ("1", "2", "0"),
    "float": ("0.5", "1.0", "0.0"),
    "str": ("'name'", "''"),
    "ArrayLike": ("np.ones(w.n_states)", "[0, 1]", "np.zeros((2, 2))"),
    "NDArray": ("np.ones(w.n_states)", "np.array([0, 1])", "np.zeros((2, 2))"),
    "Sequence": ("[0, 1]",),
    "Mapping": ("{}",),
    "dict": ("{}",),
    "Any": ("0", "np.zeros(2)"),
}

NUMBERS = ("nan", "inf", "-inf", "-1", "0", "10**12", "-10**12", "2**31", "2**63", "2**64", "1e308", "5e-324", "1.5")
TEXTS = ("''", "'text'", "'\\x00'", "'x' * 100_000", "'a\\nb'", "'missing/x.npz'", "'folder'", "'loop'", "'é∞'")
ARRAYS = (
    "[]",
    "[[]]",
    "[[1, 2], [3]]",
    "[nan, 1.0]",
    "[None]",
    "['a']",
    "np.zeros((3, 0))",
    "np.full(w.n_states, nan)",
    "np.full(w.n_states, inf)",
    "np.full(w.n_states, -1)",
    "np.full(w.n_states, 1e308)",
    "np.ones(w.n_states, dtype=complex)",
    "np.ma.masked_array(np.ones(w.n_states), np.arange(w.n_states) == 0)",
    "np.ones(w.n_states, dtype=bool)",
    "np.ones(w.n_states, dtype='f2')",
    "np.ones(w.n_states, dtype='>f8')",
    "np.ones(w.n_states).astype(object)",
    "np.ones(w.n_states + 1)",
    "np.ones((w.n_states, w.n_states))",
    "np.ones(2 * w.n_states)[::2]",
    "np.array(['a', 'b'])",
    "np.array(3)",
    "np.array([2**40, -1])",
    "np.broadcast_to(1.0, (10**6, 10**6))",
    "np.broadcast_to(np.int64(1), (10**12,))",
    "range(10**12)",
)
SPARSE = (
    *(f"sp.{name}_array(np.eye(3))" for name in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")),
    *(f"sp.csr_array(np.eye(3, dtype={dtype!r}))" for dtype in ("?", "i1", "u8", "f4", "f8", "g", "c16")),
    "sp.csr_matrix(np.eye(3))",
    "sp.coo_array(np.ones(3))",
    "sp.csr_array((0, 0))",
    "sp.csr_array(np.full((2, 2), nan))",
    "sp.csr_array(-np.eye(2))",
    "sp.csr_array((10**6, 10**6))",
    "bad_csr(900_000_000)",
    "bad_csr(-1)",
)
SCALARS = ("None", "True", "1j", "'four_rooms'", "w.n_states", "[]", "np.array(3)")
OTHERS = ("None", "True", "1j", "'four_rooms'", "w", "w.n_states", "found(W)", "nx.path_graph(3)", "nx.Graph()")
ABSURD = (*NUMBERS, *TEXTS, *ARRAYS, *SPARSE, *OTHERS)
EXOTIC = (
    "object()",
    "object",
    "b'bytes'",
    "b''",
    "bytearray(4)",
    "{}",
    "{1: 2}",
    "{'a': nan}",
    "{1, 2}",
    "iter([1])",
    "(x for x in ())",
    "lambda *given: None",
    "lambda: 1 / 0",
    "int",
    "fp",
    "...",
    "slice(None)",
    "Decimal('NaN')",
    "Fraction(1, 3)",
    "np.datetime64('2020-01-01')",
    "np.zeros(2, dtype='V4')",
    "np.zeros(1, dtype=[('a', 'f8')])",
    "np.random.default_rng(0)",
    "gym.spaces.Discrete(3)",
    "lake()",
    "Exception('x')",
)


def mistakes(parameter: inspect.Parameter) -> tuple[str, ...]:
    """Return the absurd values that a reader of the docstring might pass by mistake."""
    words = set(re.findall(r"\w+", str(parameter.annotation))) - {"None", "np", "os"}
    if words <= {"int", "float", "bool", "str", "Path", "PathLike"}:
        return (*NUMBERS, *TEXTS, *SCALARS)
    if words & {"Callable", "Progress", "StateKey", "GoalOf", "Generator", "Spectrum", "Known"}:
        return (*NUMBERS, *TEXTS, *SCALARS)
    return ABSURD
