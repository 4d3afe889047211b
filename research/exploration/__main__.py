"""``python -m research.exploration``: compute the tables."""

from research.runner import main

if __name__ == "__main__":
    main("research.exploration.tables")
