"""``python -m research.bench``: run the suite."""

from research.bench import SUITE
from research.suites import main

if __name__ == "__main__":
    main(SUITE)
