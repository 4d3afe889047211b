"""Imported by the process that all others are forked from: what it has loaded they need not load again."""

from __future__ import annotations

import logging
import os

# Set by the server; whoever else imports this module does not wait.
VARIABLE = "FARPOINT_STUDIO_PRELOAD"

if os.environ.get(VARIABLE):
    from farpoint.studio.jobs import warm_processes

    try:
        warm_processes()
    except Exception:
        # Then every process loads for itself; an error here would end them all.
        logging.getLogger(__name__).exception("what is compiled could not be loaded beforehand")
