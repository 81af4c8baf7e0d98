"""A real browser that opens the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Page, expect, sync_playwright

_LONG_MS: Final = 120_000
expect.set_options(timeout=_LONG_MS)  # a limit for hangs, not a measurement


@contextmanager
def opened(url: str) -> Iterator[Page]:
    """The page at this URL; at the end it must not have had any errors."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        faults: list[str] = []
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.set_default_timeout(_LONG_MS)
        page.goto(url)
        yield page
        browser.close()
    assert faults == []
