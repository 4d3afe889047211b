"""Environments of modules that lie where the command is run."""

from __future__ import annotations

import os
import sys
from typing import Any

from farpoint.envs.making import make_env


def make_named_env(name: str) -> Any:
    """Return the environment of a name; of ``MODULE:ENV-ID``, the module may lie in the current folder.

    The command is a script, so that Python looks for modules beside the script and not where it is run, as it does
    for ``python -m farpoint``.

    >>> make_named_env("FrozenLake-v1").action_space.n
    np.int64(4)
    """
    # Only for a name that asks for a module: otherwise files that happen to lie there could be imported by their names.
    if ":" in name and not sys.flags.safe_path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    return make_env(name)
