"""The package `farpoint.deep`: torch is imported only when it is used, and its absence is explained."""

from __future__ import annotations

import subprocess
import sys

import pytest

from farpoint import deep


def output(code: str) -> list[str]:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def test_importing_it_does_not_import_torch() -> None:
    code = """
import sys, farpoint.deep
print([name for name in ("torch", "stable_baselines3", "scipy") if name in sys.modules])
print(farpoint.deep.learn_eigenfunctions.__name__, "torch" in sys.modules, "stable_baselines3" in sys.modules)
"""
    assert output(code) == ["[]", "learn_eigenfunctions True False"]


def test_public_names() -> None:
    assert deep.__all__ == [
        "DurationCallback",
        "DurationReplayBuffer",
        "DurationRolloutBuffer",
        "Eigenfunctions",
        "MaskableDurationRolloutBuffer",
        "cosine_similarities",
        "learn_eigenfunctions",
        "set_option_probability",
    ]
    assert set(deep.__all__) <= set(dir(deep))
    assert all(callable(getattr(deep, name)) for name in deep.__all__)
    with pytest.raises(AttributeError, match="no attribute 'learn_flying'"):
        deep.learn_flying  # noqa: B018


@pytest.mark.parametrize("missing", ["torch", "stable_baselines3", "sb3_contrib"])
def test_without_its_packages_the_error_says_what_to_install(missing: str) -> None:
    code = f"""
import sys
sys.modules[{missing!r}] = None
import farpoint as fp
fp.OptionsWrapper(fp.ContinuousMaze("..."), []), fp.GoalPolicy
world = fp.ring()
print(fp.deep.cosine_similarities(fp.spectrum(world).phi[:, :3], world).round(6).tolist())
for name in ("Eigenfunctions", "learn_eigenfunctions", "DurationReplayBuffer"):
    try:
        getattr(fp.deep, name)
    except fp.errors.MissingExtra as error:
        print(error)
"""
    names = ["DurationReplayBuffer"]
    if missing == "torch":
        names = ["Eigenfunctions", "learn_eigenfunctions", *names]
    package = missing.replace("_", "-")
    says = [f"{package} must be installed for {name}. Run: pip install 'farpoint[deep]'" for name in names]
    assert output(code) == ["[1.0, 1.0, 1.0]", *says]
