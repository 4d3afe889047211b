"""``farpoint bench``: time and memory of the score against its peers, as ratios within one run."""

from __future__ import annotations

import csv
import importlib.util
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from farpoint.cli.output import results_folder
from farpoint.cli.paper import progress_bar
from farpoint.errors import MissingExtra
from farpoint.experiments.bench import FULL, QUICK, Cell, Measured, Plan, goal_counts, goals_that_agree, run_series

_NEEDED = ("pygsp", "simpleoptions", "psutil", "tqdm", "networkx")


def run(quick: bool, out: Path) -> None:
    """Carry out the command."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtra(
            f"{', '.join(missing)} must be installed to compare with. Run: pip install 'farpoint[bench]'"
        )
    plan = QUICK if quick else FULL
    measured: list[Measured] = []
    with results_folder(out) as folder:
        with progress_bar() as progress:
            task = progress.add_task("beginning", total=None)

            def show(name: str, done: int, total: int) -> None:
                progress.update(task, description=name, completed=done, total=total)

            measured.extend(run_series(plan, show))
            progress.update(task, description="comparing goals")
            facts = _facts(measured, plan)
        from farpoint.report import save_figure
        from farpoint.report.bench_figure import bench_tables, draw_bench

        text = "\n".join([_machine(), "", bench_tables(measured, plan), "", *(f"- {fact}" for fact in facts), ""])
        (folder / "bench.md").write_text(text, encoding="utf-8")
        save_figure(draw_bench(measured, plan), folder / "bench.png")
        _write_csv(measured, folder / "bench.csv")
    console = Console()
    console.print(Markdown(text))
    console.print(Text(f"bench.md, bench.png and bench.csv in {out}/"))


def _machine() -> str:
    return (
        f"One run on {os.cpu_count()} cores ({platform.machine()}, Python {platform.python_version()}). Times depend "
        "on the machine; compare the ratios. A dash: too large or too long for that program."
    )


def _facts(measured: Sequence[Measured], plan: Plan) -> list[str]:
    """Return what the numbers say, each as one line; a comparison of which one side was not reached is left out."""
    from farpoint.report.bench_figure import growth

    found = {one.cell: one for one in measured}
    n_exact, agree = goals_that_agree(plan.times_side, plan.times[-1])
    least = 0 if plan is QUICK else 50_000
    facts = [
        f"Time grows like n^{growth(measured, least):.2f} from {'the smallest' if plan is QUICK else '10⁵ states'} on.",
        f"t = {plan.times[-1]} to 0.1 %: {100 * agree:.2f} % of {n_exact:,} goals agree with the exact ones.",
    ]
    largest = max((cell.side for cell in found if cell.peer == "powers" and cell.t == 4), default=0)
    goals = found.get(Cell("farpoint", plan.goals_side, 4, goals=True))
    if goals is not None:
        facts.append(
            f"Score and goals of {goals.n_states:,} states: {goals.seconds:.1f} s, at most "
            f"{goals.peak_bytes / 2**30:.2f} GiB for the whole process, the making of the world included."
        )

    def compare(one: Cell, other: Cell, text: str) -> None:
        if one in found and other in found:
            ratio = found[one].seconds / found[other].seconds
            facts.append(text.format(ratio=ratio, states=found[other].n_states))

    compare(
        Cell("powers", largest, 4),
        Cell("farpoint", largest, 4),
        "{ratio:.1f} × faster than scipy's W⁴ at {states:,} states, the largest that both reach.",
    )
    compare(
        Cell("farpoint", 1000, 13),
        Cell("farpoint", 1000, 4),
        "t = 13 takes {ratio:.1f} × the time of t = 4 at {states:,} states.",
    )
    compare(
        Cell("thousandth", plan.times_side, 100),
        Cell("farpoint", plan.times_side, 13),
        "t = 100 to 0.1 % takes {ratio:.1f} × the time of t = 13 at {states:,} states.",
    )
    compare(
        Cell("simpleoptions", -45, 4),
        Cell("farpoint", -45, 4),
        "{ratio:,.0f} × faster than simpleoptions computes its score at {states:,} states (45 × 45 room).",
    )
    if plan is FULL:
        facts += [f"{name}: {mine} goals; simpleoptions finds {theirs}." for name, mine, theirs in goal_counts()]
    return facts


def _write_csv(measured: Sequence[Measured], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["peer", "states", "t", "goals too", "seconds", "extra bytes", "peak bytes"])
        for one in measured:
            cell = one.cell
            writer.writerow(
                [
                    cell.peer,
                    one.n_states,
                    cell.t,
                    cell.goals,
                    f"{one.seconds:.6f}",
                    int(one.extra_bytes),
                    one.peak_bytes,
                ]
            )
