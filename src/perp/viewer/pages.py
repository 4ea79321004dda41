"""The built page of the viewer, and a run as one HTML file that needs nothing else: it opens from disk, offline."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from perp.errors import MissingExtra
from perp.problems.files.guard import replacing

PAGE_FOLDER = Path(__file__).parent / "page"
"""Where `make viewer` puts the page, and wheels have it."""

PACKAGES = ("starlette", "uvicorn", "websockets")
"""The extra 'viewer'."""


class MissingPage(FileNotFoundError):
    """The page was not built; the message says how to build it."""


class MissingPackages(MissingExtra):
    """Packages of the extra 'viewer' are not installed."""

    def __init__(self, packages: Sequence[str]) -> None:
        verb = "is" if len(packages) == 1 else "are"
        ImportError.__init__(
            self,
            f"perp view needs {' and '.join(packages)}, which {verb} not installed: "
            f'pip install "perp[viewer]", or pip install {" ".join(packages)}',
        )


@dataclass(frozen=True)
class Page:
    """The three files of the page."""

    html: str
    script: str
    style: str


def read_page(folder: Path | None = None) -> Page:
    """The page as it was built; `MissingPage` where it was not. `folder` stands for the one in the package."""
    folder = PAGE_FOLDER if folder is None else folder
    try:
        texts = [(folder / name).read_text("utf-8") for name in ("index.html", "viewer.js", "viewer.css")]
    except FileNotFoundError as error:
        raise MissingPage(
            "the page of 'perp view' is not built: install Node.js 20 or newer with npm, then run 'make viewer' (or "
            "'pip install .' once more) in a clone of the repository; a wheel that was built where npm is has the page"
        ) from error
    return Page(*texts)


def require_packages() -> None:
    """Raise `MissingPackages` where the server's packages are not installed."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise MissingPackages(missing)


# A run as one file: page, script, style and all frames.

LARGE = 100_000_000
"""Bytes above which browsers take their time to open a page."""

_STYLE_LINK = re.compile(r'<link\b[^>]*\bhref="viewer\.css"[^>]*>')
_SCRIPT_LINK = re.compile(r'<script\b[^>]*\bsrc="viewer\.js"[^>]*>\s*</script>')
_TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)
_HEAD = re.compile(r"<head\b[^>]*>")


class ShownRun(Protocol):
    """What an exported page holds: the words of `viewer/src/messages.ts`, frames of `layout`, and Python."""

    @property
    def welcome(self) -> dict[str, Any]: ...
    @property
    def scene(self) -> dict[str, Any]: ...
    @property
    def state(self) -> dict[str, Any]: ...
    @property
    def frames(self) -> list[bytes]: ...
    @property
    def code(self) -> str: ...


def export_page(path: Path, run: ShownRun, title: str, page: Page | None = None) -> int:
    """Write the file, whole or not at all; returns its bytes. OSError where there is no folder for it."""
    data = make_page(run, title, read_page() if page is None else page).encode()
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(data)
    except OSError as error:  # a full disk names no file, and a folder that is closed only the temporary one
        raise OSError(error.errno, error.strerror, str(path)) from error
    return len(data)


def make_page(run: ShownRun, title: str, page: Page) -> str:
    """The page with everything inline, and forbidden to ask anybody for anything."""
    script, style = _inline_script(page.script), _inline_style(page.style)
    policy = (
        f"default-src 'none'; script-src '{_fingerprint(script)}'; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    recording = f'<script id="perp-recording" type="application/json">{_recording(run)}</script>'
    html = page.html
    for place, text in (
        (_HEAD, f'<head>\n<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'),
        (_TITLE, f"<title>{escape(title)}</title>"),
        (_STYLE_LINK, f"<style>{style}</style>"),
        (_SCRIPT_LINK, ""),
    ):
        html = _put(html, place, text)
    return _put(html, re.compile("</body>"), f"{recording}\n<script>{script}</script>\n</body>")


def _put(html: str, place: re.Pattern[str], text: str) -> str:
    made, count = place.subn(lambda found: text, html)
    if count != 1:
        raise ValueError(f"the built page has {place.pattern!r} {count} times; build it anew with 'make viewer'")
    return made


def _recording(run: ShownRun) -> str:
    frames = base64.b64encode(gzip.compress(b"".join(run.frames), mtime=0)).decode("ascii")
    whole = {"welcome": run.welcome, "scene": run.scene, "state": run.state, "code": run.code, "frames": frames}
    return json.dumps(whole, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _inline_script(script: str) -> str:
    """The same script, without the signs that would end it, or begin a comment, inside HTML.

    They can only stand in its strings, patterns and comments, where the escapes mean the same: esbuild sets a space
    where operators would form them. Line ends are those that a browser makes of them before it takes the fingerprint.
    """
    script = script.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub("</(?=script)", r"<\\/", script, flags=re.IGNORECASE).replace("<!--", r"\x3c!--")


def _inline_style(style: str) -> str:
    return re.sub("</(?=style)", r"<\\/", style, flags=re.IGNORECASE)


def _fingerprint(script: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}"
