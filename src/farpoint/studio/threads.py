"""Work in threads that end with the server: those of Python's own pools are waited for when it stops."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Return what a function returns, run in a thread of its own.

    >>> asyncio.run(in_thread(max, 2, 3))
    3
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(set_it: Callable[[Any], None], value: Any) -> None:
        if not future.done():
            set_it(value)

    def work() -> None:
        try:
            result = function(*args)
        except BaseException as error:
            outcome: tuple[Any, Any] = (future.set_exception, error)
        else:
            outcome = (future.set_result, result)
        with contextlib.suppress(RuntimeError):  # the server has stopped meanwhile
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=work, daemon=True).start()
    return await future
