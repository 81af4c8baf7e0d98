"""A real browser that opens the page."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from playwright.sync_api import Page, expect, sync_playwright

_LONG_MS: Final = 120_000
expect.set_options(timeout=_LONG_MS)  # a limit for hangs, not a measurement

Opened = Callable[[str], AbstractContextManager[Page]]
"""Opens the page at a URL, with nothing kept from the pages before; at the end it must not have had any errors."""


@contextmanager
def running_browser() -> Iterator[Opened]:
    """A browser, and how to open a page in it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])

        @contextmanager
        def opened(url: str) -> Iterator[Page]:
            with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
                page = context.new_page()
                faults: list[str] = []
                page.on("pageerror", lambda fault: faults.append(str(fault)))
                page.set_default_timeout(_LONG_MS)
                page.goto(url)
                yield page
            assert faults == []

        yield opened
        browser.close()
