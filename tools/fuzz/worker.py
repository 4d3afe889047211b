"""The process in which cases run, with a limit of memory; started by `tools.fuzz.campaign`.

It reads one pickled case after another from standard input and answers each with a line of JSON.
"""

from __future__ import annotations

import faulthandler
import json
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import warnings
from pathlib import Path

from tools.fuzz.cases import HANG, LONG, Case, Outcome

MEMORY = 4 * 2**30


def serve() -> None:
    """Answer cases until there are no more."""
    from tools.fuzz.judging import judge

    answers = os.fdopen(os.dup(1), "w")
    # What the cases print goes nowhere; a crash is told on standard error.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable()
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tempfile.tempdir = folder
        print("ready", file=answers, flush=True)
        while True:
            try:
                case: Case = pickle.load(sys.stdin.buffer)
            except EOFError:
                break
            outcome: Outcome = judge(case)
            print(json.dumps([outcome.end, outcome.why]), file=answers, flush=True)
            if outcome.end in (LONG, HANG):
                # Threads of what was interrupted may still run.
                os.chdir("/")
                shutil.rmtree(folder, ignore_errors=True)
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    serve()
