"""Puts the page of the viewer into the wheel: builds it with npm where that is there and the page is not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ViewerPage(BuildHookInterface):
    """A wheel without the page is whole but for `perp view`, which then says how to get it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        script = root / "src" / "perp" / "viewer" / "page" / "viewer.js"
        if self.target_name != "wheel" or version == "editable" or script.is_file():
            return
        npm = shutil.which("npm")
        if npm is None:
            self.app.display_warning("npm is not here: the wheel has no page for 'perp view'")
            return
        try:
            for words in (["ci", "--no-audit", "--no-fund", "--loglevel=error"], ["run", "--silent", "build"]):
                subprocess.run([npm, *words], cwd=root / "viewer", check=True)
        except subprocess.CalledProcessError as error:
            self.app.display_warning(f"the page for 'perp view' could not be built: {error}")
