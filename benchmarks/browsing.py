"""A browser for tests and pictures of the viewer: a Chromium that is on the machine, drawing in software."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "src" / "perp" / "viewer" / "page"

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

FLAGS = (
    "--no-sandbox",  # tests may run as root, and see pages of their own only
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def missing() -> str | None:
    """Why there is nothing to browse, or nothing to browse with; None where both are there."""
    if not (PAGE / "viewer.js").is_file():
        return "the viewer's page is not built: make viewer"
    if find_executable() is None:
        return "there is no Chromium or Chrome here: make browser"
    if find_spec("playwright") is None:
        return "Playwright is not installed: pip install playwright"
    return None


def find_executable() -> str | None:
    named = os.environ.get("PERP_BROWSER")
    return named or next((found for found in map(shutil.which, NAMES) if found), None)


@contextmanager
def open_browser() -> Iterator[Any]:
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A page that is open, with everything it complained about and asked for."""

    def __init__(self, browser: Any, size: tuple[int, int] = (1280, 800), dark: bool = False) -> None:
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            accept_downloads=True,
        )
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and not _is_of_the_driver(message.text):
            self.complaints.append(message.text)

    def go(self, address: str) -> None:
        self.page.goto(address)

    def close(self) -> None:
        self.context.close()

    def told(self, name: str) -> str:
        """What the page says of itself: `data-NAME` of its root."""
        return str(self.page.evaluate("name => document.documentElement.dataset[name] ?? ''", name))

    @property
    def step(self) -> int:
        return int(self.told("step") or -1)

    def wait_for(self, condition: str, seconds: float = 60.0) -> None:
        """Until a JavaScript expression of `page`, the data of the root, is true."""
        self.page.wait_for_function(
            f"() => {{ const page = document.documentElement.dataset; return {condition}; }}", timeout=1e3 * seconds
        )

    def click(self, action: str) -> None:
        self.page.click(f"[data-action={action}]")

    def text(self, name: str) -> str:
        return str(self.page.inner_text(f"[data-testid={name}]"))


def _is_of_the_driver(text: str) -> bool:
    """Software drawing makes the driver of WebGL say that reading pixels back is slow; nobody is to mend that."""
    return "GL Driver Message" in text or "swiftshader" in text.lower()


@contextmanager
def serve(*words: str) -> Iterator[str]:
    """`perp view ... --no-browser` as a process of its own; the address that it prints."""
    command = [sys.executable, "-m", "perp", "view", *words, "--no-browser"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            found = re.search(r"http://127\.0\.0\.1:\d+/\S+", line)
            if found:
                yield found.group()
                break
        else:
            raise AssertionError(f"no address: {''.join(said)}")
    finally:
        process.terminate()
        process.communicate(timeout=20)
