"""``python -m farpoint.studio``: the same as ``farpoint studio``."""

from __future__ import annotations

import sys

from farpoint.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "studio")
    main()
