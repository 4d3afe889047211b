"""Addresses at which no cluster answers are refused at once."""

from __future__ import annotations

import socket
from typing import Any

import pytest

import farpoint as fp
from farpoint.errors import InvalidInput

pytestmark = pytest.mark.slow


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize(("name", "scheme"), [("dask", "tcp://"), ("dask", ""), ("ray", ""), ("ray", "ray://")])
def test_nothing_listens(name: str, scheme: str, closed_port: int) -> None:
    address = f"{scheme}127.0.0.1:{closed_port}"
    # Dask itself waits for 10 s and Ray for 150 s, and neither says "refused".
    with pytest.raises(InvalidInput, match=r"running (Dask|Ray) .*refused"), fp.engine(name, address):
        raise AssertionError("nothing is there")


@pytest.mark.parametrize("name", ["dask", "ray"])
@pytest.mark.parametrize("address", ["", "nonsense", "tcp://host", "host:99999", 7, b"127.0.0.1:8786"])
def test_what_is_no_address(name: str, address: Any) -> None:
    with pytest.raises(InvalidInput, match="address must be that of a running"), fp.engine(name, address):
        raise AssertionError("nothing is there")
