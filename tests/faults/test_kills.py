"""Commands that are killed and started again end as if they had never been killed; ``make faults`` does it 50 times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.kills import COMMANDS, kill_and_resume


@pytest.mark.slow
@pytest.mark.parametrize("name", ["score", "mapped"])
def test_a_killed_command_goes_on_and_ends_the_same(name: str, tmp_path: Path) -> None:
    *_, tally = kill_and_resume(COMMANDS[name], tmp_path, n_kills=2, kills_per_run=2, seed=1)
    assert tally.kills == 2
    assert tally.different == 0
