"""Copy as Python: the lines that compute again what the page shows."""

from __future__ import annotations

from typing import Any

from farpoint.studio.stage import Stage

_IMPORT = "import farpoint as fp"


def python_lines(
    stage: Stage, t: int, keywords: dict[str, Any], min_prominence: float, panels: list[tuple[str, int | None]]
) -> str:
    """Return a program that makes the world, its score and goals, and the options of every panel.

    >>> from farpoint.studio.sources import make_stage
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
    imports, _, made = stage.code().rpartition("\n\nworld")
    made = f"world{made}" if imports else stage.code()
    lines = [_IMPORT if not imports else f"{imports}\n\n{_IMPORT}", "", made]
    lines += [f"scores = fp.score(world, t={t}{more})", f"goals = fp.find_goals(world, scores{prominence})"]
    lines += ['print(len(goals), "goals:", goals.states.tolist())']
    for method, n_options in panels:
        count = "" if n_options is None else f", n_options={n_options}"
        lines += ["", f'options = fp.discover(world, "{method}", t={t}{count}{prominence}{more})', "print(options)"]
    return "\n".join(lines) + "\n"
