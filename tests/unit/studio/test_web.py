"""The files of the page, without a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import farpoint.studio

WEB = Path(farpoint.studio.__file__).parent / "web"
FILES = sorted(WEB.glob("*.js"))


def exported(file: Path) -> set[str]:
    names = re.findall(
        r"^export (?:default )?(?:async )?(?:function|class|const|let) (.+?)[\s(=]", file.read_text(), re.M
    )
    several = re.findall(r"^export const (\w+ = [^;\n]*(?:, [A-Z_]+ = [^;\n]*)+);", file.read_text(), re.M)
    return {*names, *(part.split(" =")[0] for one in several for part in one.split(", "))}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_file_is_checked_and_imports_what_there_is(file: Path) -> None:
    """TypeScript reads the types of files that ask for it; a name that is not exported is a blank page."""
    text = file.read_text()
    assert text.startswith("// @ts-check\n")
    for names, source in re.findall(r'^import \{ (.+?) \} from "\./(.+?)";', text, re.M):
        for name in names.split(", "):
            assert name in exported(WEB / source), (name, source)
    assert not re.findall(r"^import .* from \"(?!\./)", text, re.M)
