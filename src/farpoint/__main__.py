"""``python -m farpoint``: the same as the command ``farpoint``."""

from farpoint.cli import main

if __name__ == "__main__":
    main()
