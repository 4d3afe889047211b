"""The server of the Studio: the files of the page, and a socket over which each tab has a session of its own."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from farpoint.errors import InvalidInput, MissingExtra, check_integer
from farpoint.studio.protocol import LIMITS
from farpoint.studio.worlds import GRAPHS, Source, make_stage

INSTALL = "starlette, uvicorn and websockets must be installed for the Studio. Run: pip install 'farpoint[studio]'"
PORT = 8765
WEB = Path(__file__).parent / "web"
# A message holds a whole map at most, or a file that is checked again.
_MOST_MESSAGE_BYTES = 12 * 2**20
_MOST_TABS = 200
_ENVS = ("FrozenLake-v1", "CliffWalking-v1", "Taxi-v4", "MiniGrid-FourRooms-v0", "MiniGrid-DoorKey-6x6-v0")
# What stands in an address and in a cookie as it is.
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}")


@dataclass(frozen=True)
class Settings:
    """How the server is started; without ``token`` a new one is made.

    >>> len(Settings().token) >= 16                     # on a shared computer loopback is not private either
    True
    """

    world: Source | None = None
    host: str = "127.0.0.1"
    port: int = PORT
    token: str = ""
    show: bool = False

    def __post_init__(self) -> None:
        check_integer("port", self.port, 0, 65_535)
        if not isinstance(self.host, str) or not self.host:
            raise InvalidInput(f"host must be a name or address; got {self.host!r}. Use 127.0.0.1.")
        if not self.token:
            object.__setattr__(self, "token", secrets.token_urlsafe(24))
        if not _TOKEN.fullmatch(self.token):
            raise InvalidInput(
                f"token must have at least 16 characters, letters, digits, - and _ only; got {len(self.token)}. "
                "Leave it out for a random one."
            )


def serve(world: Source | None = None, *, host: str, port: int, token: str | None = None, show: bool = True) -> None:
    """Serve the Studio until it is interrupted; prints its address."""
    settings = Settings(world, host, port, token or "", show)
    if world is not None and world["kind"] not in ("env", "graph"):
        make_stage(world)  # a bad map is an error here, not in the page
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as error:
        raise MissingExtra(INSTALL) from error
    _run(settings)


def _run(settings: Settings) -> None:
    import uvicorn

    listener = _listen(settings)
    port = listener.getsockname()[1]
    name = settings.host if settings.host not in ("0.0.0.0", "::") else socket.gethostname()
    name = f"[{name}]" if ":" in name else name
    address = f"http://{name}:{port}/?token={settings.token}"
    app = make_app(settings)
    config = uvicorn.Config(
        app,
        log_level="warning",
        ws_max_size=_MOST_MESSAGE_BYTES,
        # Squeezing scores takes longer than sending them, and makes them hardly smaller.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
        lifespan="on",
    )
    print(f"Farpoint Studio: {address}  (Ctrl-C ends it)", flush=True)
    if settings.show:
        threading.Timer(1.0, webbrowser.open, (address,)).start()
    try:
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()


def _listen(settings: Settings) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        with contextlib.ExitStack() as unless_bound:
            listener = unless_bound.enter_context(socket.socket(family))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            # A browser that is quicker than this server waits instead of being refused.
            listener.listen()
            unless_bound.pop_all()
    except OSError as error:
        raise InvalidInput(
            f"host and port must be free to listen on; got {settings.host}:{settings.port} ({error.strerror}). Use "
            "--port 0 for any free port."
        ) from error
    return listener


def make_app(settings: Settings) -> Callable[..., Any]:
    """Return the ASGI application: the guard in front of the page's files and the tabs' socket."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import FileResponse, JSONResponse
    from starlette.routing import Mount, Route, WebSocketRoute
    from starlette.staticfiles import StaticFiles
    from starlette.websockets import WebSocket

    from farpoint.exploration.goals import GOALS
    from farpoint.studio.comparing import method_list
    from farpoint.studio.guard import Guard, is_loopback
    from farpoint.studio.session import Session
    from farpoint.studio.workers import Work

    work = Work()
    tabs: set[Session] = set()

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        work.begin()
        yield
        for tab in list(tabs):
            tab.close()
        work.close()

    async def tab_socket(websocket: WebSocket) -> None:
        await websocket.accept()
        if len(tabs) >= _MOST_TABS:
            await websocket.close(1013)
            return
        sending = asyncio.Lock()

        async def send(frame: bytes) -> None:
            async with sending:
                with contextlib.suppress(RuntimeError):  # the tab was closed meanwhile
                    await websocket.send_bytes(frame)

        session = Session(work, send)
        tabs.add(session)
        try:
            await _listen_to_tab(websocket, session)
        finally:
            session.close()
            tabs.discard(session)

    async def health(_: Request) -> JSONResponse:
        return JSONResponse({"tabs": len(tabs), "processes": work.processes.n_running, "warm": work.is_warm})

    page_settings = {
        "world": settings.world,
        "methods": method_list(),
        "exploring": list(GOALS),
        "envs": list(_ENVS),
        "graphs": list(GRAPHS),
        "limits": LIMITS,
    }

    async def page(_: Request) -> FileResponse:
        return FileResponse(WEB / "index.html")

    async def settings_of_page(_: Request) -> JSONResponse:
        return JSONResponse(page_settings)

    routes = [
        Route("/", page),
        Route("/studio/settings", settings_of_page),
        Route("/studio/health", health),
        WebSocketRoute("/studio/socket", tab_socket),
        Mount("/web", StaticFiles(directory=WEB)),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), settings.token, is_loopback(settings.host))


async def _listen_to_tab(websocket: Any, session: Any) -> None:
    """Pass on a tab's messages until it is closed."""
    while True:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return
        await session.handle(message.get("bytes") or b"")
