"""Who may talk to the server: this machine's own pages, and elsewhere those who hold the token."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "farpoint_token"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    """Return whether a name stands for this machine alone.

    >>> is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host in LOOPBACK


class Guard:
    """An ASGI application in front of another: refuses foreign pages, and visitors without the token where one is set.

    A page of another site could otherwise open a socket to this server through its visitor's browser. On loopback the
    name by which the server is called must be a name of this machine too: a foreign name that resolves to it would make
    a foreign page look like our own.
    """

    def __init__(self, app: Application, token: str | None, loopback: bool) -> None:
        self._app, self._token, self._loopback = app, token, loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope.get("headers", ())}
        if problem := self._problem(headers):
            await _refuse(scope, receive, send, 403, problem)
            return
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if self._token is not None and not self._knows(given) and not self._knows(_cookie(headers)):
            await _refuse(scope, receive, send, 401, "Open the address that the server printed: it has the token.")
            return
        keep = self._token is not None and self._knows(given)

        async def answer(message: Any) -> None:
            if message["type"] == "http.response.start":
                extra = [
                    (b"x-content-type-options", b"nosniff"),
                    (b"x-frame-options", b"DENY"),
                    (b"referrer-policy", b"no-referrer"),
                ]
                if keep:
                    cookie = f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/"
                    extra.append((b"set-cookie", cookie.encode("latin-1")))
                message = {**message, "headers": [*message.get("headers", ()), *extra]}
            await send(message)

        await self._app(scope, receive, answer)

    def _knows(self, token: str) -> bool:
        return self._token is not None and hmac.compare_digest(token.encode(), self._token.encode())

    def _problem(self, headers: dict[bytes, str]) -> str:
        host = headers.get(b"host", "")
        if self._loopback and (urlsplit(f"//{host}").hostname or "") not in LOOPBACK:
            return "This server answers to this machine only."
        origin = headers.get(b"origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return "Pages of other sites are refused."
        if headers.get(b"sec-fetch-site") == "cross-site" and headers.get(b"sec-fetch-mode") != "navigate":
            return "Pages of other sites are refused."
        return ""


def _cookie(headers: dict[bytes, str]) -> str:
    try:
        found = SimpleCookie(headers.get(b"cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        # Closed before it was accepted: the browser sees a handshake that failed.
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": text})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})
