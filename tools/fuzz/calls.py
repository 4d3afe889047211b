"""Calls of everything public: functions, constructors and methods, read from the package itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import farpoint as fp
from tools.fuzz.cases import Case
from tools.fuzz.values import ABSURD, BY_ANNOTATION, EXOTIC, PLAUSIBLE, SMALL_WORLDS, WORK, mistakes

# An object of each class whose methods are called. A class that is not here is made by a public function that returns
# it, called with plausible arguments.
INSTANCES = {
    "Eigenfunctions": ("functions()",),
    "ContinuousMaze": ("plane()",),
    "GoalOptions": ("goal_policy().options(1)",),
    "GoalPolicy": ("goal_policy()",),
    "Log": ("fp.record_log(lake(), 30)",),
    "Option": ("found(W)[0]", "fp.discover(w, 'eigen', n_options=1)[0]"),
    "OptionList": ("OptionList([found(W)[0]])",),
    "OptionSet": ("found(W)", "fp.discover(w, 'cover', n_options=2)"),
    "DiscoveringVectorEnv": ("discovering()",),
    "OptionsVectorEnv": ("vector()",),
    "OptionsWrapper": ("wrapped()",),
    "Walk": ("Walk.of(w)",),
    "World": ("w",),
}
# For the package itself: what is public calls it with arguments that were checked.
INTERNAL = ("files",)
# Always given, because the default takes seconds.
COSTLY = (*WORK, "n_evaluations", "n_functions", "hidden", "batch_size", "n_spare", "device")


@dataclass(frozen=True)
class Target:
    """Something to call: the expression that yields it, its parameters, and whether it only holds what it is given."""

    text: str
    parameters: tuple[inspect.Parameter, ...]
    holds: bool = False


@cache
def targets() -> tuple[Target, ...]:
    """Return everything public that can be called.

    >>> {"fp.score", "fp.diffusion.extend_to", "w.from_map"} <= {target.text for target in targets()}
    True
    """
    return tuple(_each_target())


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield every public object with the expression for it: those of the package, and of its modules."""
    seen = set()
    found = {name: getattr(fp, name) for name in dir(fp) if inspect.ismodule(getattr(fp, name))}
    ours = {
        f"fp.{name}": module
        for name, module in found.items()
        if module.__name__.startswith("farpoint.") and name not in INTERNAL
    }
    for prefix, module in {"fp": fp, **ours}.items():
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if callable(value) and id(value) not in seen:
                seen.add(id(value))
                yield f"{prefix}.{name}", value


def _each_target() -> Iterator[Target]:
    for text, value in public_names():
        if not inspect.isclass(value):
            yield Target(text, _parameters(value))
            continue
        if inspect.isabstract(value) or getattr(value, "_is_protocol", False) or _of_library(value):
            continue
        if not issubclass(value, np.ndarray):
            holds = hasattr(value, "__dataclass_fields__") and not hasattr(value, "__post_init__")
            yield Target(text, _parameters(value), holds or hasattr(value, "_fields"))
        for name in dir(value):
            method = getattr(value, name)
            ours = inspect.isroutine(method) and (getattr(method, "__module__", None) or "").startswith("farpoint")
            if name.startswith("_") or not ours or (issubclass(value, np.ndarray) and hasattr(np.ndarray, name)):
                continue
            for owner in _owners(text, value, name):
                yield Target(f"{owner}.{name}", _parameters(method, skip_self=inspect.isfunction(method)), name == "of")


def _of_library(value: type) -> bool:
    """Return whether a class is one of Stable-Baselines3 with changes: what it is given is that library's to check."""
    return any(base.__module__.startswith("stable_baselines3") for base in value.__mro__)


def _owners(text: str, value: type, name: str) -> tuple[str, ...]:
    """Return expressions for what a method is called on: the class itself, or objects of it."""
    if isinstance(inspect.getattr_static(value, name), classmethod):
        return (text,)
    if value.__name__ in INSTANCES:
        return INSTANCES[value.__name__]
    for maker, function in public_names():
        if not inspect.isclass(function) and inspect.signature(function).return_annotation == value.__name__:
            needed = [item for item in _parameters(function) if item.default is item.empty or item.name in COSTLY]
            return (f"{maker}({', '.join(f'{item.name}={_plausible(item)[0]}' for item in needed)})",)
    return ()


def _parameters(function: Any, *, skip_self: bool = False) -> tuple[inspect.Parameter, ...]:
    parameters = tuple(inspect.signature(function).parameters.values())
    if skip_self and parameters and parameters[0].name == "self":
        parameters = parameters[1:]
    return parameters


def _plausible(parameter: inspect.Parameter) -> tuple[str, ...]:
    if parameter.name in PLAUSIBLE:
        return PLAUSIBLE[parameter.name]
    words = re.findall(r"\w+", str(parameter.annotation))
    return next((values for word, values in BY_ANNOTATION.items() if word in words), ("None",))


def draw_call(rng: np.random.Generator) -> Case:
    """Return a random call: most arguments plausible, some absurd."""
    target = targets()[rng.integers(len(targets()))]
    named = [item for item in target.parameters if item.kind not in (item.VAR_KEYWORD, item.VAR_POSITIONAL)]
    if any(item.name in ("scoring", "settings") for item in target.parameters):
        named += [item for item in _parameters(fp.score) if item.name not in {"world", *(have.name for have in named)}]
    wrong = set(rng.permutation(len(named))[: rng.choice([0, 1, 1, 1, 2])].tolist())
    world = SMALL_WORLDS[rng.integers(len(SMALL_WORLDS))]
    given, exotic, endless = [], False, False
    for number, parameter in enumerate(named):
        if number in wrong:
            pool = EXOTIC if rng.random() < 0.15 else ABSURD
            text = pool[rng.integers(len(pool))]
            exotic |= text not in mistakes(parameter)
            endless |= parameter.name in WORK and text in ("2**31", "10**12", "2**63", "2**64", "w.n_states")
        elif parameter.default is parameter.empty or parameter.name in COSTLY or rng.random() < 0.25:
            choice = _plausible(parameter)
            text = choice[rng.integers(len(choice))]
        else:
            continue
        given.append((parameter.name if parameter.kind is not parameter.POSITIONAL_ONLY else "", text))
    if rng.random() < 0.02:
        given.append(("no_such_argument", "1"))
    if given and rng.random() < 0.02:
        given.pop(rng.integers(len(given)))
    words = ", ".join(f"{name}={text}" if name else text for name, text in given)
    line = f"W = {world!r}; w = WORLDS[W](); {target.text}({words})"
    return Case("call", (world, target.text, given, target.holds), line, exotic, endless)
