"""``python -m research.comparison``: run the suite."""

from research.comparison import SUITE
from research.suites import main

if __name__ == "__main__":
    main(SUITE)
