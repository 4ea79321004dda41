"""Puts the page of the viewer into the wheel: builds it with npm where that is there and the page is not, or is old."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = ("package-lock.json", "index.html", "build.mjs", "src/**/*.*")
"""In the folder `viewer`; the Makefile looks at the same ones."""


class ViewerPage(BuildHookInterface):
    """A wheel without the page is whole but for `perp view`, which then says how to get it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        viewer = Path(self.root, "viewer")
        page = Path(self.root, "src", "perp", "viewer", "page", "viewer.js")
        if self.target_name != "wheel" or version == "editable" or is_fresh(page, viewer):
            return
        told = (
            "has a page for 'perp view' that is older than its sources"
            if page.is_file()
            else "has no page for 'perp view'"
        )
        npm = shutil.which("npm")
        if npm is None:
            self.app.display_warning(f"npm is not here: the wheel {told}")
            return
        try:
            for words in (["ci", "--no-audit", "--no-fund", "--loglevel=error"], ["run", "--silent", "build"]):
                subprocess.run([npm, *words], cwd=viewer, check=True)
        except subprocess.CalledProcessError as error:
            self.app.display_warning(f"the page for 'perp view' could not be built, and the wheel {told}: {error}")


def is_fresh(page: Path, viewer: Path) -> bool:
    """Whether the page is there, and none of its sources is younger."""
    if not page.is_file():
        return False
    built = page.stat().st_mtime
    return all(source.stat().st_mtime <= built for pattern in SOURCES for source in viewer.glob(pattern))
