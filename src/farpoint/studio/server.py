"""The server of the Studio: NiceGUI's page, and a socket over which each tab has a session of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from farpoint.errors import FarpointError, InvalidInput, MissingExtra, check_integer
from farpoint.studio.sources import GRAPHS, Source, make_stage

INSTALL = "nicegui must be installed for the Studio. Run: pip install 'farpoint[studio]'"
PORT = 8765
# A message holds a whole map at most, or a file that is checked again.
_MOST_MESSAGE_BYTES = 12 * 2**20
_MOST_TABS = 200
_ENVS = ("FrozenLake-v1", "CliffWalking-v1", "Taxi-v4", "MiniGrid-FourRooms-v0", "MiniGrid-DoorKey-6x6-v0")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """How the server is started.

    >>> Settings(host="0.0.0.0").token is not None      # away from loopback there is always a token
    True
    """

    world: Source | None = None
    host: str = "127.0.0.1"
    port: int = PORT
    token: str | None = None
    show: bool = False

    def __post_init__(self) -> None:
        from farpoint.studio.guard import is_loopback

        check_integer("port", self.port, 0, 65_535)
        if not isinstance(self.host, str) or not self.host:
            raise InvalidInput(f"host must be a name or address; got {self.host!r}. Use 127.0.0.1.")
        if self.token is not None and len(self.token) < 16:
            raise InvalidInput(f"token must have at least 16 characters; got {len(self.token)}.")
        if self.token is None and not is_loopback(self.host):
            object.__setattr__(self, "token", secrets.token_urlsafe(24))


def serve(world: Source | None = None, *, host: str, port: int, token: str | None = None, show: bool = True) -> None:
    """Serve the Studio until it is interrupted; prints its address."""
    settings = Settings(world, host, port, token, show)
    if world is not None and world["kind"] not in ("env", "graph"):
        make_stage(world)  # a bad map is an error here, not in the page
    try:
        import nicegui  # noqa: F401
    except ImportError as error:
        raise MissingExtra(INSTALL) from error
    _run(settings)


def _run(settings: Settings) -> None:
    import uvicorn

    listener = _listen(settings)
    port = listener.getsockname()[1]
    name = settings.host if settings.host not in ("0.0.0.0", "::") else socket.gethostname()
    name = f"[{name}]" if ":" in name else name
    address = f"http://{name}:{port}/" + (f"?token={settings.token}" if settings.token else "")
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
    """Return the ASGI application: the guard in front of NiceGUI's page and the tabs' socket."""
    from fastapi import FastAPI
    from nicegui import ui
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocket

    from farpoint.exploration.goals import GOALS
    from farpoint.studio.comparing import method_list
    from farpoint.studio.guard import Guard, is_loopback
    from farpoint.studio.page import build_page
    from farpoint.studio.session import Session, Work

    work = Work()
    tabs: set[Session] = set()

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> Any:
        work.begin()
        yield
        for tab in list(tabs):
            tab.close()
        work.close()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)

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

    app.router.routes += [WebSocketRoute("/studio/socket", tab_socket), Route("/studio/health", health)]

    page_settings = {
        "world": settings.world,
        "methods": method_list(),
        "exploring": list(GOALS),
        "envs": list(_ENVS),
        "graphs": list(GRAPHS),
    }
    ui.run_with(
        app,
        root=lambda: build_page(page_settings),
        title="Farpoint Studio",
        favicon="🎯",
        dark=None,
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=5.0,
        binding_refresh_interval=None,
    )
    return Guard(app, settings.token, is_loopback(settings.host))


async def _listen_to_tab(websocket: Any, session: Any) -> None:
    """Pass on a tab's messages until it is closed."""
    while True:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return
        try:
            await session.handle(message.get("bytes") or b"")
        except FarpointError as error:
            await session.reply({}, {"error": str(error)})
