"""The server from outside: who may talk to it, what it takes, what is left when it has ended."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.cli import main
from farpoint.studio.protocol import pack_frame, unpack_frame
from tests.helpers.browser import Server

websockets = pytest.importorskip("websockets.asyncio.client", reason="websockets is not installed")
pytest.importorskip("starlette", reason="starlette is not installed. Run: pip install 'farpoint[studio]'")

pytestmark = [pytest.mark.xdist_group("studio"), pytest.mark.slow]


@pytest.fixture(autouse=True, scope="module")
def doomed() -> Iterator[list[Server]]:
    """Servers that tests end, started now: they load while other tests run."""
    servers = [Server("--host", "0.0.0.0", "--token", "a" * 20), Server()]
    yield servers
    for server in servers:
        server.stop()


def status_of(server: Server, path: str = "/", **headers: str) -> int:
    request = urllib.request.Request(
        f"http://{server.host}{path}", headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


async def ask(socket: Any, header: dict[str, Any], **arrays: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    await socket.send(pack_frame({"id": 1, **header}, **arrays))
    while True:
        answer, found = unpack_frame(await asyncio.wait_for(socket.recv(), 60))
        if "progress" not in answer and "row" not in answer:
            return answer, found


async def begin_table(socket: Any, server: Server) -> None:
    """Ask for a table that takes minutes, and return once a process computes it."""
    # What another test's tab began may be ending only now, and must not be taken for the table.
    await until(lambda: server.health()["processes"] == 0)
    source = {"kind": "random_maze", "rows": 80, "cols": 80}
    await ask(socket, {"do": "open", "source": source, "version": 1})
    await socket.send(pack_frame({"id": 7, "do": "table", "t": 4, "panels": [{"method": "diffusion"}]}))
    await until(lambda: server.health()["processes"] == 1)


def test_foreign_pages_are_refused(server: Server) -> None:
    login = f"/?token={server.token}"
    assert status_of(server, login) == 200
    assert status_of(server, login, Origin=f"http://{server.host}") == 200
    assert status_of(server, login, Origin="http://evil.example") == 403
    # A foreign name that resolves to this machine makes a foreign page look like our own.
    assert status_of(server, login, Host="evil.example") == 403
    assert status_of(server, login, Host="[") == 400
    assert status_of(server, login, Origin="http://[") == 403


def test_sockets_of_foreign_pages_are_refused(server: Server) -> None:
    async def connect() -> None:
        async with websockets.connect(server.socket, origin="http://evil.example"):
            pass

    with pytest.raises(Exception, match="403"):
        asyncio.run(connect())


@pytest.mark.parametrize("number", [0, 1])
def test_every_address_needs_the_token(doomed: list[Server], number: int) -> None:
    """Loopback too: on a shared computer others could drive the server."""
    server = doomed[number]
    assert (server.token == "a" * 20) == (number == 0)
    for path in ("/", "/studio/health", "/studio/settings", "/web/index.js"):
        assert status_of(server, path) == 401
        assert status_of(server, path + "?token=" + "b" * 20) == 401
        assert status_of(server, f"{path}?token={server.token}") == 200
    port = server.host.partition(":")[2]
    assert status_of(server, "/", Cookie=f"farpoint_token_{port}={server.token}") == 200
    # That of another server on this machine.
    assert status_of(server, "/", Cookie=f"farpoint_token_1={server.token}") == 401

    async def connect(address: str) -> dict[str, Any]:
        async with websockets.connect(address) as socket:
            return (await ask(socket, {"do": "score", "t": 4}))[0]

    with pytest.raises(Exception, match=r"40[13]"):
        asyncio.run(connect(f"ws://{server.host}/studio/socket"))
    if number:
        return
    assert "world must be opened first" in asyncio.run(connect(server.socket))["error"]


def test_bad_messages_get_a_sentence(server: Server) -> None:
    big = np.zeros(9 * 2**20, dtype=np.uint8)
    bad: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({"do": "open", "source": {"kind": "teleport"}}, {}, "world must be one of"),
        ({"do": "open", "source": 3}, {}, "must come with a source"),
        ({"do": "open", "source": {"kind": "cells", "rows": 3, "cols": 3}}, {"cells": big[:4]}, "3 × 3 codes"),
        ({"do": "open", "source": {"kind": "random_maze", "rows": 10**5, "cols": 10**5}}, {}, "4,000,000 cells"),
        ({"do": "open", "source": {"kind": "file", "name": "a"}}, {"content": big}, "at most 8 MiB"),
        ({"do": "open", "source": {"kind": "env", "id": "os:system"}}, {}, "name of one in Gymnasium"),
        ({"do": "edit"}, {}, "edits must name cells"),
        ({"do": "fly"}, {}, "message must be one of"),
        ({"do": "score", "t": 0}, {}, "t must be at least 1"),
        ({"do": "score", "t": 5000}, {}, "t must be at most 1000"),
        ({"do": "walk", "panel": 0, "steps": 5}, {}, "agent must begin"),
        ({"do": "take", "what": "cake"}, {}, "file must be one of"),
    ]

    async def talk() -> None:
        async with websockets.connect(server.socket, max_size=None) as socket:
            await ask(socket, {"do": "open", "source": {"kind": "named", "name": "ring"}, "version": 1})
            for header, arrays, words in bad:
                answer, _ = await ask(socket, header, **arrays)
                assert words in answer["error"], answer
            await socket.send(b"no frame")
            answer, _ = unpack_frame(await socket.recv())
            assert "message must be" in answer["error"]
            # After all that the world is still there.
            answer, found = await ask(socket, {"do": "score", "t": 4})
            assert found["values"].size == 192

    asyncio.run(talk())


def test_options_to_take_away(server: Server, tmp_path: Path) -> None:
    async def talk() -> None:
        async with websockets.connect(server.socket, max_size=None) as socket:
            await ask(socket, {"do": "open", "source": {"kind": "named", "name": "ring"}, "version": 1})
            _, found = await ask(socket, {"do": "take", "what": "npz", "t": 13, "method": "diffusion"})
            (tmp_path / "options.npz").write_bytes(found["file"].tobytes())

    asyncio.run(talk())
    options = fp.OptionSet.load(tmp_path / "options.npz", fp.ring())
    assert options.goals.tolist() == fp.discover(fp.ring(), t=13).goals.tolist()


def test_first_visit_after_an_installation_waits_for_no_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With an empty cache compiling takes a minute; 4Rooms at t = 4 is there before that."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    server = Server()

    async def talk() -> tuple[dict[str, Any], dict[str, Any]]:
        async with websockets.connect(server.socket, max_size=None) as socket:
            await ask(socket, {"do": "open", "source": {"kind": "named", "name": "four_rooms"}, "version": 1})
            return await ask(socket, {"do": "score", "t": 4})

    try:
        answer, found = asyncio.run(talk())
        assert not server.health()["warm"]
    finally:
        server.stop()
    assert "preview" not in answer
    assert found["goals"].size == 20


def test_large_world_shows_a_score_from_its_neighbors_first(server: Server) -> None:
    async def talk() -> list[tuple[dict[str, Any], dict[str, Any]]]:
        async with websockets.connect(server.socket, max_size=None) as socket:
            source = {"kind": "random_maze", "rows": 100, "cols": 100, "seed": 1}
            await ask(socket, {"do": "open", "source": source, "version": 1})
            times = [80, 100, 126, 160]
            await socket.send(pack_frame({"id": 2, "do": "curve", "t": 4, "ts": times}))
            counts = [unpack_frame(await asyncio.wait_for(socket.recv(), 60))[0] for _ in times]
            assert [one["t"] for one in counts] == times
            assert "part" not in unpack_frame(await asyncio.wait_for(socket.recv(), 60))[0]
            # What is computed comes by its cost; asked again, nothing is computed, and all comes as it is asked for.
            await socket.send(pack_frame({"id": 3, "do": "curve", "t": 4, "ts": times[::-1]}))
            again = [unpack_frame(await asyncio.wait_for(socket.recv(), 60))[0] for _ in times]
            assert [one["t"] for one in again] == times[::-1]
            assert "part" not in unpack_frame(await asyncio.wait_for(socket.recv(), 60))[0]
            assert [one["n_goals"] for one in again] == [one["n_goals"] for one in counts[::-1]]
            first = await ask(socket, {"do": "score", "t": 110})
            return [first, unpack_frame(await asyncio.wait_for(socket.recv(), 60))]

    (shown, rough), (answer, exact) = asyncio.run(talk())
    assert shown["preview"] is True
    assert "preview" not in answer
    assert shown["t"] == answer["t"] == 110
    np.testing.assert_allclose(rough["values"], exact["values"], rtol=2e-3)
    world = fp.random_maze(100, 100, seed=1)
    expected = fp.find_goals(world, fp.score(world, 110, solver="local", tolerance=1e-3)).states.tolist()
    assert exact["goals"].tolist() == expected
    assert len(set(rough["goals"].tolist()) ^ set(expected)) <= 0.01 * len(expected)


def test_nothing_is_sent_before_the_score_where_no_neighboring_t_is_known(server: Server) -> None:
    async def talk() -> tuple[dict[str, Any], dict[str, Any]]:
        async with websockets.connect(server.socket, max_size=None) as socket:
            source = {"kind": "random_maze", "rows": 100, "cols": 100, "seed": 1}
            await ask(socket, {"do": "open", "source": source, "version": 1})
            return await ask(socket, {"do": "score", "t": 150})

    answer, found = asyncio.run(talk())
    assert "preview" not in answer
    world = fp.random_maze(100, 100, seed=1)
    expected = fp.find_goals(world, fp.score(world, 150, solver="local", tolerance=1e-3)).states.tolist()
    assert found["goals"].tolist() == expected


def test_superseded_work_is_ended(server: Server) -> None:
    """A table that would take minutes is dropped when another is asked for, and its process with it."""

    async def talk() -> None:
        async with websockets.connect(server.socket, max_size=None) as socket:
            await begin_table(socket, server)
            # Quick work is answered meanwhile.
            await ask(socket, {"do": "score", "t": 3})
            # The table's, which takes minutes; opening the world may have begun another, which ends by itself.
            await until(lambda: server.health()["processes"] == 1)
            await socket.send(pack_frame({"do": "cancel", "channel": "table"}))
            await until(lambda: server.health()["processes"] == 0)

    asyncio.run(talk())


def test_closed_tab_frees_its_work(server: Server) -> None:
    async def talk() -> None:
        # Of the tests before.
        await until(lambda: server.health()["tabs"] == server.health()["processes"] == 0)
        async with websockets.connect(server.socket, max_size=None) as socket:
            await begin_table(socket, server)
            await until(lambda: server.health()["tabs"] == server.health()["processes"] == 1)
        await until(lambda: server.health()["tabs"] == server.health()["processes"] == 0)

    asyncio.run(talk())


async def until(condition: Any) -> None:
    for _ in range(2400):
        if await asyncio.to_thread(condition):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it did not happen within 120 s")


@pytest.mark.parametrize(("number", "how"), [(0, signal.SIGTERM), (1, signal.SIGKILL)])
def test_server_that_stops_leaves_nothing_running(doomed: list[Server], number: int, how: signal.Signals) -> None:
    psutil = pytest.importorskip("psutil")
    server = doomed[number].wait_until_warm()

    async def talk() -> None:
        async with websockets.connect(server.socket, max_size=None) as socket:
            await begin_table(socket, server)
            children = psutil.Process(server.process.pid).children(recursive=True)
            assert children
            os.kill(server.process.pid, how)
            await until(lambda: not any(child.is_running() for child in children))

    asyncio.run(talk())
    server.process.wait(20)


def run_here(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Return the exit code of the command, run in this process: importing everything again would take seconds."""
    monkeypatch.setattr(sys, "argv", ["farpoint", "studio", *words, "--no-open"])
    # The command's own handler is not for this process.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_without_the_extra_it_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert run_here(monkeypatch) == 2
    said = capsys.readouterr().err
    assert "pip install 'farpoint[studio]'" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--port", "99999"), "port must be at most 65535"),
        (("--token", "short"), "at least 16 characters"),
        (("no_such_world",), "world must be"),
        (("--host", "203.0.113.1", "--port", "0"), "free to listen on"),
    ],
)
def test_wrong_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert run_here(monkeypatch, *words) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.splitlines()) == 1
