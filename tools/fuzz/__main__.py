"""``python -m tools.fuzz``: the long run, which prints a table and writes the failures to a file."""

from __future__ import annotations

import argparse
import sys
from itertools import chain
from pathlib import Path

from tools.fuzz.campaign import campaign, cases, describe, table
from tools.fuzz.cases import FAILURES


def main() -> int:
    """Run the cases that the command line asks for; 1 where one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    for kind, count in (("calls", 20_000), ("commands", 2_000), ("files", 5_000)):
        parser.add_argument(f"--{kind}", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case, to repeat one")
    parser.add_argument("--failures", type=Path, default=Path("out/fuzz.txt"), help="where the failures are written")
    asked = parser.parse_args()
    counts = {"call": asked.calls, "command": asked.commands, "file": asked.files}
    tallies = campaign(
        chain.from_iterable(
            cases(kind, asked.seed, range(asked.first, asked.first + count)) for kind, count in counts.items()
        ),
        lambda line: print(line, file=sys.stderr, flush=True),
    )
    asked.failures.parent.mkdir(parents=True, exist_ok=True)
    lines = [describe(*failure) for tally in tallies.values() for failure in tally.failed]
    asked.failures.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(table(tallies))
    return int(any(tally.counts[end] for tally in tallies.values() for end in FAILURES))


if __name__ == "__main__":
    sys.exit(main())
