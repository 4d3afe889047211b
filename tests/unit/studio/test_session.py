"""One tab without a server: what it answers, what it drops, what is left when it is closed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import FarpointError
from farpoint.studio import session as session_module
from farpoint.studio.agents import RandomAgent
from farpoint.studio.protocol import MOST_FILE_BYTES, pack_frame, unpack_frame
from farpoint.studio.session import Session
from farpoint.studio.workers import Work, curve

RING = {"kind": "named", "name": "ring"}


class Tab:
    """A page without a browser: sends frames, and keeps what comes back."""

    def __init__(self) -> None:
        self.work = Work()
        self.session = Session(self.work, self._take)
        self.answers: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._came = asyncio.Event()
        self._number = 0

    async def _take(self, frame: bytes) -> None:
        self.answers.append(unpack_frame(frame))
        self._came.set()

    async def send(self, header: dict[str, Any], **arrays: Any) -> int:
        self._number += 1
        await self.session.handle(pack_frame({"id": self._number, **header}, **arrays))
        return self._number

    async def answer(self, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The last answer to a question."""
        while True:
            for header, arrays in self.answers:
                if header["id"] == number and "part" not in header:
                    return header, arrays
            self._came.clear()
            await asyncio.wait_for(self._came.wait(), 300)

    async def ask(self, header: dict[str, Any], **arrays: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return await self.answer(await self.send(header, **arrays))

    async def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(6_000):
            if condition():
                return
            await asyncio.sleep(0.02)
        raise AssertionError("it did not happen within 120 s")


@asynccontextmanager
async def opened(source: dict[str, Any] | None = None) -> AsyncIterator[Tab]:
    tab = Tab()
    try:
        if source is not None:
            answer, _ = await tab.ask({"do": "open", "source": source, "version": 1})
            assert "error" not in answer, answer
        yield tab
    finally:
        tab.session.close()
        tab.work.close()


def talk(conversation: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(conversation())  # type: ignore[arg-type]


def test_score_is_that_of_the_library() -> None:
    async def conversation() -> None:
        async with opened(RING) as tab:
            header, arrays = await tab.ask({"do": "score", "t": 13, "prominences": True})
            scores = fp.score(fp.ring(), 13)
            goals = fp.find_goals(fp.ring(), scores)
            np.testing.assert_allclose(arrays["values"], scores, rtol=1e-6)
            assert arrays["goals"].tolist() == goals.states.tolist()
            assert header["exact"] is True
            assert header["version"] == 1

    talk(conversation)


def test_channels_are_forgotten_when_they_are_answered() -> None:
    async def conversation() -> None:
        async with opened(RING) as tab:
            for number in range(30):
                answer, _ = await tab.ask({"do": "score", "t": number + 1, "channel": f"mine{number}"})
                assert "error" not in answer
            await tab.until(lambda: tab.session.n_channels == 0)

    talk(conversation)


def test_questions_at_a_time_are_bounded() -> None:
    async def conversation() -> None:
        async with opened({"kind": "random_maze", "rows": 40, "cols": 40}) as tab:
            asked = [await tab.send({"do": "score", "t": 4, "channel": str(number)}) for number in range(80)]
            problems = [(await tab.answer(number))[0].get("error", "") for number in asked]
            assert problems[:64] == [""] * 64
            assert all("at most 64" in problem for problem in problems[64:])

    talk(conversation)


def test_superseded_question_has_no_answer_and_its_process_ends() -> None:
    async def conversation() -> None:
        async with opened({"kind": "random_maze", "rows": 80, "cols": 80}) as tab:
            first = await tab.send({"do": "table", "t": 4, "panels": [{"method": "diffusion"}]})
            await tab.until(lambda: tab.work.processes.n_running == 1)
            answer, _ = await tab.ask({"do": "table", "t": 4, "panels": []})
            assert "panels must be 1 to" in answer["error"]
            await tab.until(lambda: tab.work.processes.n_running == 0)
            assert all(header["id"] != first or "part" in header for header, _ in tab.answers)
            await tab.until(lambda: tab.session.n_channels == 0)

    talk(conversation)


def test_answers_name_the_world_that_they_are_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """A score that is still being computed when another world is opened is one of the world before."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def conversation() -> None:
        async with opened(RING) as tab:

            async def slow(*args: Any, **more: Any) -> Any:
                begun.set()
                await go_on.wait()
                return args[0](*args[1:])

            monkeypatch.setattr(tab.work.processes, "run", slow)
            asked = await tab.send({"do": "table", "t": 4, "panels": [{"method": "none"}]})
            await begun.wait()
            answer, _ = await tab.ask({"do": "open", "source": {"kind": "named", "name": "maze"}, "version": 2})
            assert answer["version"] == 2
            go_on.set()
            answer, _ = await tab.answer(asked)
            assert answer["version"] == 1

    talk(conversation)


def test_opening_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    async def conversation() -> None:
        async with opened(RING) as tab:
            # Less than a process takes to start.
            monkeypatch.setattr(session_module, "OPENING_SECONDS", 1e-3)
            content = np.frombuffer(b"a b\nb c\n", dtype=np.uint8)
            source = {"kind": "file", "name": "a.edges"}
            answer, _ = await tab.ask({"do": "open", "source": source, "version": 2}, content=content)
            assert "must be done within" in answer["error"]
            await tab.until(lambda: tab.work.processes.n_running == 0)
            # The world before is still there.
            _, arrays = await tab.ask({"do": "score", "t": 4})
            assert arrays["values"].size == 192

    talk(conversation)


def test_opening_can_be_called_off() -> None:
    async def conversation() -> None:
        async with opened(RING) as tab:
            await tab.send({"do": "open", "source": {"kind": "env", "id": "Taxi-v4"}, "version": 2})
            waiting = await tab.send({"do": "score", "t": 4})
            await tab.send({"do": "cancel", "channel": "world"})
            # What waited for it is answered with the world before.
            header, arrays = await tab.answer(waiting)
            assert (header["version"], arrays["values"].size) == (1, 192)
            await tab.until(lambda: tab.work.processes.n_running == 0)

    talk(conversation)


def test_opening_an_environment_tells_how_many_states_were_found() -> None:
    async def conversation() -> None:
        async with opened() as tab:
            answer, _ = await tab.ask({"do": "open", "source": {"kind": "env", "id": "Taxi-v4"}, "version": 1})
            told = [header["states"] for header, _ in tab.answers if "part" in header]
            assert told
            assert told == sorted(told)
            assert 0 < told[-1] <= answer["n_states"] == fp.World.from_env(gym.make("Taxi-v4")).n_states

    talk(conversation)


def test_bands_are_those_of_twenty_runs() -> None:
    async def conversation() -> None:
        async with opened({"kind": "named", "name": "four_rooms"}) as tab:
            world = fp.four_rooms()
            options = fp.discover(world, t=4)
            question = {"do": "band", "t": 4, "method": "diffusion", "steps": 1_000}
            _, random = await tab.ask({**question, "mode": "random"})
            counts = []
            for seed in range(20):
                agent = RandomAgent(world, options, None, seed)
                counts.append(len({agent.first, *agent.walk(1_000)[0].tolist()}))
            at_the_end = [random[name][-1] for name in ("low", "middle", "high")]
            assert at_the_end == np.quantile(counts, [0.25, 0.5, 0.75]).tolist()
            assert random["x"][-1] == 1_000
            assert random["low"][0] == 1
            _, learned = await tab.ask({**question, "mode": "learn", "target": 9, "episodes": 50})
            expected = fp.learn(world, options, targets=[9], n_runs=20, n_episodes=50, max_steps=104,
                                algorithm="intra-option", option_probability=options.option_probability)  # fmt: skip
            np.testing.assert_allclose(learned["middle"], np.median(expected.curves[:, 0], axis=0))
            _, explored = await tab.ask({**question, "mode": "scratch"})
            runs = [fp.explore(world, 1_000, max_episode_steps=100, seed=seed).n_states for seed in range(20)]
            assert explored["middle"][-1] == np.median(runs)

    talk(conversation)


def test_picture_of_a_state_is_the_environments_own() -> None:
    async def conversation() -> None:
        pytest.importorskip("minigrid")
        async with opened({"kind": "env", "id": "MiniGrid-DoorKey-5x5-v0"}) as tab:
            assert tab.session.state is not None
            labels = tab.session.state.stage.world.labels
            assert labels is not None
            env = gym.make("MiniGrid-DoorKey-5x5-v0", render_mode="rgb_array")
            env.reset(seed=0)
            # Turned, walked and with the key in hand: what the environment itself shows there.
            taken = False
            for action in (1, 3, 2, 1, 3, 2, 0, 3):
                env.step(action)
                taken = taken or env.unwrapped.carrying is not None  # type: ignore[attr-defined]
                number = labels.index(fp.envs.simulator_state(env, None))
                header, arrays = await tab.ask({"do": "picture", "state": number})
                assert "error" not in header, header
                shape = (header["rows"], header["cols"], 3)
                np.testing.assert_array_equal(arrays["pixels"].reshape(shape), env.render())
            env.close()
            answer, _ = await tab.ask({"do": "open", "source": RING, "version": 2})
            answer, _ = await tab.ask({"do": "picture", "state": 0})
            assert "must be an environment" in answer["error"]

    talk(conversation)


def test_way_to_any_state() -> None:
    async def conversation() -> None:
        async with opened(RING) as tab:
            header, arrays = await tab.ask({"do": "goal", "t": 4, "state": 3, "goal": 90})
            assert (header["state"], header["goal"]) == (3, 90)
            assert arrays["states"].tolist() == fp.OptionSet(fp.ring(), np.array([90]))[0].route(3).tolist()

    talk(conversation)


def test_edits_make_the_world_that_the_next_question_is_about() -> None:
    async def conversation() -> None:
        async with opened({"kind": "named", "name": "four_rooms"}) as tab:
            for number, cell in enumerate((9 * 13 + 9, 9 * 13 + 10)):
                places, codes = np.array([cell], dtype=np.int32), np.zeros(1, dtype=np.uint8)
                await tab.send({"do": "edit", "version": 2 + number}, places=places, codes=codes)
            header, arrays = await tab.ask({"do": "score", "t": 4})
            assert (header["version"], arrays["values"].size) == (3, 102)

    talk(conversation)


@pytest.mark.parametrize(
    ("header", "arrays", "words"),
    [
        ({"do": "open", "source": 3}, {}, "must come with a source"),
        ({"do": "open", "source": {"kind": "teleport"}}, {}, "world must be one of"),
        ({"do": "open", "source": {"kind": "file"}}, {"content": np.zeros(MOST_FILE_BYTES + 1, np.uint8)}, "8 MiB"),
        ({"do": "open", "source": {"kind": "env", "id": "os:system"}}, {}, "name of one in Gymnasium"),
        ({"do": "edit"}, {}, "edits must name cells"),
        ({"do": "fly"}, {}, "message must be one of"),
        ({"do": "score", "t": 1001}, {}, "t must be at most 1000"),
        ({"do": "explore", "t": 5000, "panels": [{"method": "diffusion"}]}, {}, "t must be at most 1000"),
    ],
)
def test_every_problem_is_an_answer_to_its_question(header: dict[str, Any], arrays: dict[str, Any], words: str) -> None:
    async def conversation() -> None:
        async with opened(RING) as tab:
            answer, _ = await tab.ask(header, **arrays)
            assert words in answer["error"]

    talk(conversation)


def test_what_is_no_frame_is_answered() -> None:
    async def conversation() -> None:
        async with opened() as tab:
            await tab.session.handle(b"no frame")
            assert "message must be" in tab.answers[0][0]["error"]

    talk(conversation)


def test_work_that_takes_too_long_is_killed() -> None:
    async def conversation() -> None:
        work = Work()
        with pytest.raises(FarpointError, match=r"within 0\.5 s"):
            await work.processes.run(_sleeps, seconds=0.5)
        for _ in range(1_000):
            if work.processes.n_running == 0:
                return
            await asyncio.sleep(0.02)
        raise AssertionError("its process goes on")

    talk(conversation)


def _sleeps() -> None:
    time.sleep(600)


def test_all_that_a_process_told_is_dealt_with_before_its_result() -> None:
    told = []

    async def slowly(row: Any) -> None:
        await asyncio.sleep(0.2)
        told.append(row[0])

    async def counts() -> list[int]:
        await Work().processes.run(curve, fp.ring(), [2, 4], 100.0, progress=slowly)
        return list(told)

    assert asyncio.run(counts()) == [2, 4]
