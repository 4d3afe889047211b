"""Whether anything answers at the address of a cluster: Dask and Ray themselves wait for minutes."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from farpoint.errors import InvalidInput

_ANSWER_SECONDS = 5.0


def check_answers(address: object, cluster: str, how_to_start: str) -> str:
    """Return the address of a cluster if something listens there; fail within seconds otherwise.

    Parameters
    ----------
    address : str
        ``host:port``, with or without a scheme (``tcp://host:8786``).
    cluster : str
        What should be there, for the error: ``"Dask scheduler"``.
    how_to_start : str

    Raises
    ------
    InvalidInput
        If the address is none, or nothing answers.

    Examples
    --------
    >>> import socket
    >>> with socket.create_server(("127.0.0.1", 0)) as server:
    ...     port = server.getsockname()[1]
    ...     check_answers(f"tcp://127.0.0.1:{port}", "Dask scheduler", "dask scheduler") == f"tcp://127.0.0.1:{port}"
    True
    """
    problem = ""
    try:
        text = str(address)
        parts = urlsplit(text if "://" in text else f"//{text}")
        if isinstance(address, str) and parts.hostname and parts.port:
            socket.create_connection((parts.hostname, parts.port), timeout=_ANSWER_SECONDS).close()
            return address
        problem = "not host:port"
    except (OSError, ValueError) as error:
        problem = str(error) or "no answer"
    raise InvalidInput(
        f"address must be that of a running {cluster}; got {address!r} ({problem}). Start one: {how_to_start}."
    )
