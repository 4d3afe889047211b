"""Keep the tables of ``farpoint paper`` beside the others: ``python -m research.paper``, about a minute.

The command alone computes them; this runs it and copies its CSVs to ``research/results/``.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from pathlib import Path

from farpoint.cli.paper import run
from research.runner import RESULTS, loaded_modules, module_digest, record_of


def main() -> None:
    """Run the paper and copy its tables."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        run(out=Path(folder))
        for path in sorted(Path(folder).glob("*.csv")):
            shutil.copy(path, RESULTS / path.name)
    modules = {name: str(module_digest(name)) for name in loaded_modules()}
    record = record_of(time.perf_counter() - began, modules)
    (RESULTS / "paper.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
