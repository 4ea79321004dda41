"""The built page, and what is told where something is missing."""

from __future__ import annotations

import importlib.util

import pytest

from perp.errors import MissingExtra
from perp.viewer import pages
from perp.viewer.pages import MissingPage, read_page, require_packages


def test_the_three_files_are_read(page_folder):
    page = read_page(page_folder)
    assert "<title>perp</title>" in page.html
    assert "document" in page.script
    assert "body" in page.style


@pytest.mark.parametrize("name", ["index.html", "viewer.js", "viewer.css"])
def test_a_page_that_is_not_built_says_how_to_build_it(page_folder, name):
    (page_folder / name).unlink()
    with pytest.raises(MissingPage) as caught:
        read_page(page_folder)
    told = str(caught.value)
    assert all(part in told for part in ("Node.js 20", "npm", "make viewer", "wheel"))
    assert "\n" not in told
    assert str(page_folder) not in told


def test_the_folder_is_that_of_the_build():
    assert pages.PAGE_FOLDER.parts[-3:] == ("perp", "viewer", "page")


def test_missing_packages_are_named_with_the_command_that_installs_them(monkeypatch):
    require_packages()
    find = importlib.util.find_spec
    monkeypatch.setattr(pages, "find_spec", lambda name: None if name in ("uvicorn", "websockets") else find(name))
    with pytest.raises(MissingExtra) as caught:
        require_packages()
    assert str(caught.value) == (
        "perp view needs uvicorn and websockets, which are not installed: "
        'pip install "perp[viewer]", or pip install uvicorn websockets'
    )
