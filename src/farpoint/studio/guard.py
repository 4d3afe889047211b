"""Who may talk to the server: those who hold the token, from this server's own pages."""

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

LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Everything comes from this server and nothing stands inside the page: text that became HTML could run nothing.
POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    # Asked for again each time, so that files of two versions are never mixed; unchanged ones are not sent again.
    (b"cache-control", b"no-cache"),
]


def is_loopback(host: str) -> bool:
    """Return whether a name stands for this machine alone.

    >>> is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host in LOOPBACK


def split_host(netloc: str) -> tuple[str, int] | None:
    """Return name and port of a Host header; None if it is malformed.

    >>> split_host("localhost:8765"), split_host("[::1]"), split_host("[")
    (('localhost', 8765), ('::1', 80), None)
    """
    try:
        parts = urlsplit(f"//{netloc}")
        return (parts.hostname or "").lower(), 80 if parts.port is None else parts.port
    except ValueError:
        return None


def cookie_name(port: int) -> str:
    """Return the name of the cookie: cookies do not tell ports apart, and a machine may run several servers.

    >>> cookie_name(8765)
    'farpoint_token_8765'
    """
    return f"farpoint_token_{port}"


class Guard:
    """An ASGI application in front of another: refuses foreign pages, and visitors without the token.

    Another user of this machine could otherwise drive the server, and a page of another site could open a socket to it
    through its visitor's browser. On loopback the name by which the server is called must be a name of this machine: a
    foreign name that resolves to it would make a foreign page look like our own.
    """

    def __init__(self, app: Application, token: str, loopback: bool) -> None:
        self._app, self._token, self._loopback = app, token, loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope.get("headers", ())}
        host = split_host(headers.get(b"host", ""))
        if host is None:
            await _refuse(scope, receive, send, 400, "The Host header is malformed.")
            return
        if problem := self._problem(headers, host[0]):
            await _refuse(scope, receive, send, 403, problem)
            return
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        name = cookie_name(host[1])
        if not self._knows(given) and not self._knows(_cookie(headers, name)):
            await _refuse(scope, receive, send, 401, "Open the address that the server printed: it has the token.")
            return
        extra = list(_HEADERS)
        if self._knows(given):
            extra.append((b"set-cookie", f"{name}={self._token}; HttpOnly; SameSite=Strict; Path=/".encode("latin-1")))

        async def answer(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *extra]}
            await send(message)

        await self._app(scope, receive, answer)

    def _knows(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._token.encode())

    def _problem(self, headers: dict[bytes, str], name: str) -> str:
        if self._loopback and name not in LOOPBACK:
            return "This server answers to this machine only."
        origin = headers.get(b"origin")
        if origin is not None and origin.partition("://")[2].lower() != headers[b"host"].lower():
            return "Pages of other sites are refused."
        if headers.get(b"sec-fetch-site") == "cross-site" and headers.get(b"sec-fetch-mode") != "navigate":
            return "Pages of other sites are refused."
        return ""


def _cookie(headers: dict[bytes, str], name: str) -> str:
    try:
        found = SimpleCookie(headers.get(b"cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        # Closed before it was accepted: the browser sees a handshake that failed.
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": text})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})
