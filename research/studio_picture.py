"""The picture of the Studio that opens the README: ``python -m research.studio_picture docs/images/studio.png``."""

from __future__ import annotations

import base64
import sys
import time
from pathlib import Path

from tests.helpers.browser import Page, open_browser, running_server

_SHOWN = "#world=maze&t=4&methods=diffusion,eigen"


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/studio.png")
    with open_browser() as browser, running_server() as server:
        page = Page(browser, server.address)
        page.forget()
        page.open(_SHOWN, width=1360, height=700)
        page.run("farpointStudio.setTheme(false); farpointStudio.showTour(false)")
        page.wait("farpointStudio.counts.length >= 28 && farpointStudio.panels.every((panel) => !panel.waiting)", 60)
        # The goal in the last row.
        page.run("const [panel] = farpointStudio.panels; farpointStudio.pick(panel, panel.options.indexOf(147))")
        page.wait("farpointStudio.panels[0].route && farpointStudio.panels[0].arrows", 60)
        page.wait("document.querySelectorAll('.table tbody tr[data-method]').length === 3", 120)
        page.run("document.activeElement.blur()")
        time.sleep(0.5)
        picture = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    path.write_bytes(base64.b64decode(picture))
    print(path)


if __name__ == "__main__":
    main()
