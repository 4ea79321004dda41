"""Opens a page in the user's browser, where there is one to see."""

from __future__ import annotations

import os
import sys
import webbrowser
from threading import Thread


def open_browser(address: str) -> None:
    """Open the page and return at once, however long the browser takes to start."""
    if has_screen():
        Thread(target=webbrowser.open, args=(address,), name="perp-view-browser", daemon=True).start()


def has_screen() -> bool:
    """Whether a browser would have a window: otherwise one for the terminal would be started, and take it over."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
