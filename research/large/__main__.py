"""``python -m research.large``: run the suite."""

from research.large import SUITE
from research.suites import main

if __name__ == "__main__":
    main(SUITE)
