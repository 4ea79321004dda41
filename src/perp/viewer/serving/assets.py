"""The built page of the viewer, and what to do where it, or the server's packages, are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from perp.errors import MissingExtra

PAGE_FOLDER = Path(__file__).parents[1] / "page"
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
