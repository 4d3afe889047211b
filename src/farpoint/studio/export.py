"""What is taken away from the page: the lines of Python that compute it again, and the options as a file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from farpoint.options import OptionSet
from farpoint.studio.worlds import Stage

_IMPORT = "import farpoint as fp"


def python_lines(
    stage: Stage, t: int, keywords: dict[str, Any], min_prominence: float, panels: list[tuple[str, int | None]]
) -> str:
    """Return a program that makes the world, its score and goals, and the options of every panel.

    >>> from farpoint.studio.worlds import make_stage
    >>> print(python_lines(make_stage({"kind": "named", "name": "ring"}), 13, {}, 0.0, [("diffusion", None)]))
    import farpoint as fp
    <BLANKLINE>
    world = fp.ring()
    scores = fp.score(world, t=13)
    goals = fp.find_goals(world, scores)
    print(len(goals), "goals:", goals.states.tolist())
    <BLANKLINE>
    options = fp.discover(world, "diffusion", t=13)
    print(options)
    <BLANKLINE>
    """
    # Exact solvers give the same numbers, so only an approximation is asked for by name.
    kept = {name: keywords[name] for name in ("solver", "tolerance") if "tolerance" in keywords}
    more = "".join(f", {name}={value!r}" for name, value in kept.items())
    prominence = f", min_prominence={min_prominence!r}" if min_prominence > 0 else ""
    code = stage.code()
    imports, _, made = code.rpartition("\n\n") if code.startswith(("import ", "from ")) else ("", "", code)
    lines = [f"{imports}\n\n{_IMPORT}" if imports else _IMPORT, "", made]
    lines += [f"scores = fp.score(world, t={t}{more})", f"goals = fp.find_goals(world, scores{prominence})"]
    lines += ['print(len(goals), "goals:", goals.states.tolist())', ""]

    def discovered(method: str, n_options: int | None) -> str:
        count = "" if n_options is None else f", n_options={n_options}"
        return f'fp.discover(world, "{method}", t={t}{count}{prominence}{more})'

    different = list(dict.fromkeys(panels))
    if len(different) == 1:
        lines += [f"options = {discovered(*different[0])}", "print(options)"]
    elif different:
        lines += ["options = {", *(f'    "{one[0]}": {discovered(*one)},' for one in different), "}"]
        lines += ["for found in options.values():", "    print(found)"]
    return "\n".join(lines) + "\n"


def saved_options(options: OptionSet) -> bytes:
    """Return the file that `OptionSet.save` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "options.npz"
        options.save(path)
        return path.read_bytes()
