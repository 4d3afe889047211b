"""``python -m research.exploration``: run the suite."""

from research.exploration.suite import SUITE
from research.suites import main

if __name__ == "__main__":
    main(SUITE)
