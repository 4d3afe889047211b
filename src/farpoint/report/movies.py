"""Frames as a GIF, a film or a page that plays them."""

from __future__ import annotations

import base64
import io
import shutil
import subprocess
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, MissingExtra, OutputError, check_path, check_positive, check_word
from farpoint.files import whole_file, write_text

if TYPE_CHECKING:
    from PIL.Image import Image

MOVIE_FORMATS = ("gif", "mp4", "html")
_PLAYER = """<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{title}</title></head>
<body style='font:15px system-ui;text-align:center;margin:1rem'><img id='picture' alt='{title}' style='max-width:100%'>
<p><button id='play'>pause</button> <input id='place' type='range' min='0' max='{last}' value='0' style='width:60%'></p>
<script>
const frames = [{frames}];
const picture = document.getElementById('picture'), place = document.getElementById('place');
const button = document.getElementById('play');
let playing = true;
function show() {{ picture.src = 'data:image/png;base64,' + frames[place.value]; }}
button.onclick = () => {{ playing = !playing; button.textContent = playing ? 'pause' : 'play'; }};
place.oninput = show;
setInterval(() => {{ if (playing) {{ place.value = (+place.value + 1) % frames.length; show(); }} }}, {pause});
show();
</script></body></html>
"""


class Animation:
    """Pictures shown one after another: played by a notebook where it ends a cell, and written with `save`.

    Parameters
    ----------
    frames : sequence of arrays, shape (height, width, 3), whole numbers from 0 to 255
    fps : float
        Frames per second.
    title : str

    Examples
    --------
    >>> import numpy as np
    >>> Animation([np.zeros((20, 30, 3), dtype=np.uint8)] * 5, fps=5)
    Animation(5 frames of 30 × 20, 1.0 s)
    """

    def __init__(self, frames: Sequence[NDArray[np.uint8]], fps: float = 10.0, title: str = "animation") -> None:
        self.fps, self.title = check_positive("fps", fps), str(title)
        self._frames = [_palette(frame) for frame in _check_frames(frames)]

    def __len__(self) -> int:
        return len(self._frames)

    def __repr__(self) -> str:
        width, height = self._frames[0].size
        return f"Animation({len(self)} frames of {width} × {height}, {len(self) / self.fps:.1f} s)"

    def _repr_html_(self) -> str:
        content = base64.b64encode(self._gif()).decode()
        return f"<img alt='an animation of {len(self)} frames' src='data:image/gif;base64,{content}'>"

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the animation as GIF, MP4 or HTML, by the ending of ``path``, and return the path.

        Raises
        ------
        UnknownName
            If the ending is another one.
        MissingExtra
            For MP4, if neither ffmpeg nor the package imageio-ffmpeg is installed.

        Examples
        --------
        >>> import tempfile, farpoint as fp
        >>> world = fp.maze()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fp.report.animate(world, fp.discover(world)[0].route(world.start)).save(f"{folder}/agent.gif").name
        'agent.gif'
        """
        target = check_path("path", path)
        ending = check_word("animation format", target.suffix.lstrip(".").lower(), MOVIE_FORMATS)
        if ending == "html":
            write_text(target, self._page())
        elif ending == "gif":
            with whole_file(target) as temporary:
                temporary.write_bytes(self._gif())
        else:
            ffmpeg = _ffmpeg()
            with whole_file(target) as temporary:
                self._film(ffmpeg, temporary)
        return target

    def _gif(self) -> bytes:
        buffer = io.BytesIO()
        first, *rest = self._frames
        # Two hundredths of a second are the shortest that viewers keep to.
        pause = max(20, round(1000 / self.fps))
        first.save(buffer, format="GIF", save_all=True, append_images=rest, duration=pause, loop=0, optimize=False)
        return buffer.getvalue()

    def _page(self) -> str:
        encoded = []
        for frame in self._frames:
            buffer = io.BytesIO()
            frame.save(buffer, format="PNG")
            encoded.append(f"'{base64.b64encode(buffer.getvalue()).decode()}'")
        title = self.title.replace("<", "&lt;").replace("'", "’")
        pause = round(1000 / self.fps)
        return _PLAYER.format(title=title, last=len(self) - 1, frames=",".join(encoded), pause=pause)

    def _film(self, ffmpeg: str, path: Path) -> None:
        width, height = self._frames[0].size
        size = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{self.fps:g}"]
        # Players want an even number of lines and columns, and colors at half the resolution.
        even = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
        command = [ffmpeg, "-y", "-loglevel", "error", *size, "-i", "-", *even, "-f", "mp4", str(path)]
        pixels = b"".join(np.asarray(frame.convert("RGB")).tobytes() for frame in self._frames)
        done = subprocess.run(command, input=pixels, capture_output=True, check=False)
        if done.returncode:
            reason = done.stderr.decode(errors="replace").strip()
            raise OutputError(f"{path.suffix} must be a film that ffmpeg can write; it cannot ({reason}).")


def _ffmpeg() -> str:
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise MissingExtra(
            "ffmpeg must be installed for MP4; it is not. Run: pip install 'farpoint[video]', or save a .gif or .html."
        ) from error
    return str(imageio_ffmpeg.get_ffmpeg_exe())


def _check_frames(frames: Any) -> list[NDArray[np.uint8]]:
    try:
        arrays = [np.asarray(frame) for frame in frames]
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"frames must be a sequence of pictures; got {type(frames).__name__}.") from error
    if not arrays:
        raise InvalidInput("frames must have at least one picture; got none.")
    for array in arrays:
        if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8 or array.shape != arrays[0].shape:
            raise InvalidInput(
                f"frames must be arrays of one shape (height, width, 3) of whole numbers from 0 to 255; got shape "
                f"{array.shape} of {array.dtype}."
            )
    if not arrays[0].size:
        raise InvalidInput(f"frames must have at least one pixel; got shape {arrays[0].shape}.")
    return arrays


def _palette(frame: NDArray[np.uint8]) -> Image:
    """Return a frame in 256 colors, a third of its size, which is all that a GIF has."""
    from PIL import Image

    picture: Image.Image = Image.fromarray(np.ascontiguousarray(frame)).quantize(256, dither=Image.Dither.NONE)
    return picture
