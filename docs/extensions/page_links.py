"""Links that lead out of docs/ in the files lead to the page about the same thing on the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]

LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]+)(#[^)]*)?\)")

PAGES = {
    "README.md": "/index.md",
    "CONTRIBUTING.md": "/contributing.md",
    "CHANGELOG.md": "/changelog.md",
    "examples": "/auto_examples/index.rst",
}


def rewrite(text: str, folder: Path) -> str:
    """The text of a file in that folder, with links to files outside docs/ turned into links to pages."""

    def replace(found: re.Match[str]) -> str:
        page = page_of((folder / found[1]).resolve())
        return found[0] if page is None else f"]({page}{found[2] or ''})"

    return LINK.sub(replace, text)


def page_of(file: Path) -> str | None:
    """The page that stands for a file of the repository, as MyST writes it; None where the link is right as it is."""
    if not file.is_relative_to(ROOT):
        return None
    place = file.relative_to(ROOT)
    if place.as_posix() in PAGES:
        return PAGES[place.as_posix()]
    if place.parts[0] == "examples":
        return f"/auto_examples/{place.stem}.rst"
    return f"/{place.relative_to('docs').as_posix()}" if place.parts[0] == "docs" else None


def on_source(app: Sphinx, name: str, source: list[str]) -> None:
    path = Path(app.env.doc2path(name))
    if path.suffix == ".md":
        source[0] = rewrite(source[0], path.parent)


def on_include(app: Sphinx, path: Path, parent: str, source: list[str]) -> None:
    source[0] = rewrite(source[0], (Path(app.srcdir) / path).resolve().parent)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", on_source)
    app.connect("include-read", on_include)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
