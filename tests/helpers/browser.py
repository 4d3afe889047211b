"""The Studio as a person uses it: a server in a process of its own, and a page in a headless Chromium."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

INSTALL = "apt-get install -y chromium chromium-driver"


def find_programs() -> tuple[str, str] | None:
    """Return the paths of Chromium and of its driver, if both are installed."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Server:
    """``farpoint studio`` in a process of its own, on a free port of this machine if none is named."""

    def __init__(self, *words: str) -> None:
        port = () if "--port" in words else ("--port", "0")
        command = [sys.executable, "-m", "farpoint.studio", *words, *port, "--no-open"]
        pipe, out = subprocess.PIPE, subprocess.STDOUT
        self.process = subprocess.Popen(command, stdout=pipe, stderr=out, text=True, env=os.environ)

    @cached_property
    def address(self) -> str:
        """What it prints as soon as it listens."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + self.process.stdout.read()
        return found[0]

    @property
    def host(self) -> str:
        """The address of this machine, whatever name the server was given, and the port."""
        return f"127.0.0.1:{urlsplit(self.address).port}"

    @property
    def token(self) -> str:
        """What opens the page."""
        return parse_qs(urlsplit(self.address).query)["token"][0]

    @property
    def socket(self) -> str:
        """Where a tab connects."""
        return f"ws://{self.host}/studio/socket?{urlsplit(self.address).query}"

    def health(self) -> dict[str, int]:
        """Return how many tabs and processes the server has."""
        address = f"http://{self.host}/studio/health?{urlsplit(self.address).query}"
        with urllib.request.urlopen(address, timeout=60) as answer:
            found: dict[str, int] = json.load(answer)
        return found

    def wait_until_warm(self) -> Server:
        """Return when everything is compiled: on the first start after an installation that takes a minute."""
        end = time.monotonic() + 300
        while not self.health()["warm"]:
            assert time.monotonic() < end, "the server is not warm after 300 s"
            time.sleep(0.1)
        return self

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@contextmanager
def running_server(*words: str) -> Iterator[Server]:
    """Start a server, wait until everything in it is compiled, and end it."""
    server = Server(*words)
    try:
        yield server.wait_until_warm()
    finally:
        server.stop()


@contextmanager
def open_browser(*, logs: bool = True) -> Iterator[Any]:
    """Start a headless Chromium; skip the test, with how to install it, where there is none.

    Without ``logs`` the page is as fast as a person's: otherwise every array that comes down is written into them.
    """
    programs = find_programs()
    if programs is None:
        missing = f"Chromium and its driver are not installed. Run: {INSTALL}"
        # Where it must be there, as in CI, a missing one is an error.
        (pytest.fail if os.environ.get("FARPOINT_BROWSER") == "required" else pytest.skip)(missing)
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(word)
    if logs:
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(programs[1]))
    try:
        yield browser
    finally:
        browser.quit()


class Page:
    """One tab with the Studio in it."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser, self.address = browser, address

    def open(self, fragment: str = "", *, width: int = 1440, height: int = 900, phone: bool = False) -> Page:
        """Open the page and wait until its first score is shown."""
        ratio = 2 if phone else 1
        size = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": phone}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.browser.get("about:blank")
        self.browser.get(self.address + fragment)
        self.wait("window.farpointStudio?.scored && farpointStudio.ui.status.textContent === ''", 120)
        return self

    def forget(self) -> None:
        """Empty the browser's storage, as on a first visit."""
        self.browser.get("about:blank")
        origin = {"origin": f"http://{self.address.split('/')[2]}", "storageTypes": "local_storage"}
        self.browser.execute_cdp_cmd("Storage.clearDataForOrigin", origin)

    def js(self, code: str, *args: Any) -> Any:
        """Return what an expression is in the page."""
        return self.browser.execute_script(f"return {code}", *args)

    def run(self, code: str, *args: Any) -> None:
        """Run statements in the page."""
        self.browser.execute_script(code, *args)

    def wait(self, condition: str, seconds: float = 30) -> None:
        """Wait until an expression is true in the page."""
        end = time.monotonic() + seconds
        while not self.js(f"Boolean({condition})"):
            assert time.monotonic() < end, f"{condition} is not true after {seconds} s: {self.state()}"
            time.sleep(0.02)

    def state(self) -> Any:
        """Return what the page says, for the message of a test that fails."""
        return self.js("document.querySelector('.fp')?.innerText.slice(0, 600)")

    @property
    def goals(self) -> list[int]:
        """The goals that are drawn in the first panel."""
        found: list[int] = self.js("Array.from(farpointStudio.panels[0].shownGoals)")
        return found

    def settled(self) -> None:
        """Wait until the score of the newest edit is shown, and not one from neighboring t."""
        self.wait(
            "(({version, applied, scored, t}) => version === applied && scored?.version === applied && scored.t === t "
            "&& !scored.preview)(farpointStudio)"
        )

    def click_cell(self, row: int, col: int, panel: int = 0, to: tuple[int, int] | None = None) -> None:
        """Press the pointer on a cell, drag to another one if given, and release it."""
        from selenium.webdriver.common.action_chains import ActionChains

        canvas = self.browser.find_elements("css selector", ".panel canvas")[panel]
        self.run("arguments[0].scrollIntoView({block: 'center'})", canvas)
        actions = ActionChains(self.browser, duration=20)
        x, y = self._offset(canvas, panel, row, col)
        actions.move_to_element_with_offset(canvas, x, y).click_and_hold()
        if to is not None:
            actions.move_to_element_with_offset(canvas, *self._offset(canvas, panel, *to))
        actions.release().perform()

    def _offset(self, canvas: Any, panel: int, row: int, col: int) -> tuple[int, int]:
        code = (
            f"const b = farpointStudio.panels[{panel}].board; const [x, y] = b.cellPoint({row} * b.world.cols + {col});"
        )
        x, y = self.browser.execute_script(code + "return [x - b.width / 2, y - b.height / 2]")
        return round(x), round(y)

    def press(self, *keys: str) -> None:
        """Press keys on whatever has the focus."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def press_with_control(self, key: str) -> None:
        """Press a key while Ctrl is held."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        ActionChains(self.browser).key_down(Keys.CONTROL).send_keys(key).key_up(Keys.CONTROL).perform()

    def button(self, label: str) -> Any:
        """Return the button that shows or is labeled with a text."""
        path = f"//*[contains(@class, 'fp')]//button[normalize-space()='{label}' or @aria-label='{label}']"
        return self.browser.find_element("xpath", path)

    def errors(self) -> list[str]:
        """Return what went wrong in the page since the last call."""
        return [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]

    def requests(self) -> set[str]:
        """Return the hosts that the page asked since the last call, sockets included."""
        hosts = set()
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
            elif message["method"] == "Network.webSocketCreated":
                url = message["params"]["url"]
            else:
                continue
            if url.startswith(("http", "ws")):
                hosts.add(url.split("/")[2])
        return hosts
