"""Every command on a page was run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAP = "###########\n#S...#....#\n#....#....#\n#.........#\n#....#....#\n#....#...G#\n###########\n"
# What begins so installs things; `make test` and tests/site/test_package.py do that.
INSTALLING = ("git clone", "python3 -m venv", ".venv/bin/pip", "source .venv/bin/activate", "rllib/bin/")
# A server runs until it is stopped; tests/studio starts it.
SERVING = ("farpoint studio", "python -m farpoint.studio")


def commands() -> Iterator[tuple[str, str]]:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if "_build" not in page.parts:
            for block in re.findall(r"```sh\n(.*?)```", page.read_text(), flags=re.DOTALL):
                for line in block.splitlines():
                    command = line.split("  #")[0].strip()
                    if command and not command.startswith(INSTALLING + SERVING):
                        yield page.relative_to(ROOT).as_posix(), command.removeprefix(".venv/bin/")


FOUND = sorted(set(commands()))


def test_pages_have_commands() -> None:
    assert len(FOUND) > 5


@pytest.mark.parametrize("command", [command for _, command in FOUND if command.startswith("make ")])
def test_targets_of_make_exist(command: str) -> None:
    target = command.split()[1]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE), command


@pytest.mark.slow
@pytest.mark.parametrize(("page", "command"), [pair for pair in FOUND if not pair[1].startswith("make ")])
def test_commands_run(page: str, command: str, tmp_path: Path) -> None:
    (tmp_path / "my_map.txt").write_text(MAP)
    program, *words = shlex.split(command)
    if program == "farpoint":
        line = [sys.executable, "-m", "farpoint", *words]
    else:
        assert program == "python", f"{page} has an unknown command: {command}"
        line = [sys.executable, "-W", "ignore", *(str(ROOT / word) if word.endswith(".py") else word for word in words)]
    run = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ})
    assert run.returncode == 0, f"{page}: {command}\n{run.stderr}"
    assert run.stdout
