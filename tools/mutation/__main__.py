"""Mutation testing: ``python -m tools.mutation --sample 300 --seed 0``.

Samples small changes of the source, runs the tests that cover each, and prints which survived. Results are kept in
``build/mutants``: interrupted, it goes on where it stopped. ``--again`` tries the survivors again, with the tests as
they are now.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path

from tools.mutation.covering import CoverageMap
from tools.mutation.mutants import Mutant, sampled
from tools.mutation.private_copy import PrivateCopy

_REPOSITORY = Path(__file__).resolve().parents[2]
# Tests of a mutant may take so much longer than without it, and so much more for the start and the compiler.
_SLOWER, _START_SECONDS, _MOST_SECONDS = 3.0, 40.0, 120.0


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description="Mutation testing.")
    parser.add_argument("--sample", type=int, default=300, help="how many mutants (default 300)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default 0)")
    parser.add_argument("--again", action="store_true", help="try the survivors again")
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--folder", type=Path, default=_REPOSITORY / "build/mutants", help="of copy and results")
    chosen = parser.parse_args()
    copy = PrivateCopy.make(_REPOSITORY, chosen.folder)
    mutants = [mutant for mutant in sampled(copy.root, chosen.sample, chosen.seed) if chosen.only in mutant.path]
    covering = CoverageMap.of(copy, chosen.folder)
    results = _Results(chosen.folder / "results.jsonl")
    for number, mutant in enumerate(mutants, start=1):
        known = results.of(mutant)
        if known is None or (chosen.again and known == "survived"):
            tests = covering.killers(mutant)
            expected = sum(covering.seconds[name] for name in tests)
            begin = time.perf_counter()
            verdict, why = copy.verdict(mutant, tests, min(_START_SECONDS + _SLOWER * expected, _MOST_SECONDS))
            results.keep(mutant, verdict, why)
            seconds = time.perf_counter() - begin
            where = f"{mutant.path}:{mutant.line} {mutant.operator.removeprefix('core/')}"
            print(f"{number}/{len(mutants)} {verdict} {seconds:.0f} s {where} {why}", flush=True)
    _print_table(mutants, results)


class _Results:
    """Verdicts by mutant, one line of a file each; of several the last counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self._verdicts = {record["key"]: record["verdict"] for record in map(json.loads, lines)}

    def of(self, mutant: Mutant) -> str | None:
        return self._verdicts.get(mutant.key)

    def keep(self, mutant: Mutant, verdict: str, why: str) -> None:
        self._verdicts[mutant.key] = verdict
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": mutant.key, "verdict": verdict, "why": why}) + "\n")


def _print_table(mutants: list[Mutant], results: _Results) -> None:
    survivors = [mutant for mutant in mutants if results.of(mutant) == "survived"]
    for mutant in survivors:
        print(f"\nsurvived: {mutant.path}:{mutant.line} {mutant.operator}\n{mutant.diff}")
    counts: dict[str, Counter[str]] = {}
    for mutant in mutants:
        for name in (mutant.path.split("/")[2], "all"):
            counts.setdefault(name, Counter())[results.of(mutant) or "missing"] += 1
    print(f"\n{'package':12}{'mutants':>9}{'killed':>9}{'timed out':>11}{'survived':>10}{'caught':>9}")
    for name, found in counts.items():
        total, caught = found.total(), found["killed"] + found["timed out"]
        row = f"{name:12}{total:9}{found['killed']:9}{found['timed out']:11}{found['survived']:10}"
        print(f"{row}{caught / total:9.1%}")


if __name__ == "__main__":
    main()
