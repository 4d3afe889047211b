"""What every object shows of itself: pictures, tables of numbers, progress, a log of what was decided."""

from farpoint.display.drawn import Drawn
from farpoint.display.frames import Framed
from farpoint.display.progress import progress_bars

__all__ = ["Drawn", "Framed", "progress_bars"]
