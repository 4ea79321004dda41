"""The built page, what is said where something is missing, and a run as one file that needs nothing else."""

from __future__ import annotations

import base64
import errno
import gzip
import hashlib
import importlib.util
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

from perp.errors import MissingExtra
from perp.viewer import pages
from perp.viewer.pages import MissingPage, Page, export_page, make_page, read_page, require_packages


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


FRAMES = [b"\x00\x01frame one", b"\xff\xfeframe two" * 100]
HOSTILE = "</script><script>alert(1)</script><!-- </SCRIPT é \u2028 & \\"


@pytest.fixture
def page(page_folder):
    return read_page(page_folder)


@pytest.fixture
def run():
    return SimpleNamespace(
        welcome={"type": "welcome"},
        scene={"type": "scene", "name": HOSTILE},
        state={"type": "state"},
        frames=FRAMES,
        code="import perp\n",
    )


class Reader(HTMLParser):
    """Scripts, styles, the title and every attribute of a page, as a browser sees them."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.found, self.attributes, self._open = [], [], None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self._open = (tag, dict(attributes), [])
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_data(self, data):
        if self._open is not None:
            self._open[2].append(data)

    def handle_endtag(self, tag):
        if self._open is not None and self._open[0] == tag:
            self.found.append((tag, self._open[1], "".join(self._open[2])))
        self._open = None

    def all(self, tag):
        return [(attributes, text) for name, attributes, text in self.found if name == tag]


def test_the_recording_comes_back_bit_for_bit(run, page):
    [(attributes, text), _] = Reader(make_page(run, "stack", page)).all("script")
    assert attributes == {"id": "perp-recording", "type": "application/json"}
    assert "<" not in text
    told = json.loads(text)
    assert gzip.decompress(base64.b64decode(told.pop("frames"))) == b"".join(FRAMES)
    assert told == {"welcome": run.welcome, "scene": run.scene, "state": run.state, "code": run.code}


def test_script_and_style_are_inline_and_nothing_is_outside(run, page):
    html = make_page(run, "stack", page)
    reader = Reader(html)
    assert [text for _, text in reader.all("style")] == [page.style]
    assert reader.all("script")[-1] == ({}, page.script)
    outside = [(tag, name, value) for tag, name, value in reader.attributes if name in ("src", "href")]
    assert outside == [("link", "href", "data:,")]
    assert "viewer.js" not in html
    assert html.index("perp-recording") < html.index(page.script)


def test_the_page_may_run_its_own_script_and_ask_nobody(run, page):
    html = make_page(run, "stack", page)
    policy = unescape(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[1])
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    digest = base64.b64encode(hashlib.sha256(page.script.encode()).digest()).decode()
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert (rules["default-src"], rules["connect-src"]) == ("'none'", "'none'")
    assert html.index("Content-Security-Policy") < html.index("<title>")


def test_signs_that_would_end_a_script_do_not(run, page):
    script = 'const a = "</script>", b = "<!--<script>", c = /<\\/SCRIPT/i; // </ScRiPt\r\nlet d;\r'
    made = make_page(run, HOSTILE, Page(page.html, script, 'a::after { content: "</style>" }'))
    reader = Reader(made)
    assert len(reader.all("script")) == 2
    assert reader.all("script")[-1][1] == (
        'const a = "<\\/script>", b = "\\x3c!--<script>", c = /<\\/SCRIPT/i; // <\\/ScRiPt\nlet d;\n'
    )
    assert reader.all("style")[0][1] == 'a::after { content: "<\\/style>" }'
    assert [text for _, text in reader.all("title")] == [HOSTILE]


def test_a_file_is_written_and_its_size_told(run, page, tmp_path):
    path = tmp_path / "run.html"
    path.write_text("older")
    size = export_page(path, run, "stack", page)
    assert path.stat().st_size == size
    assert path.read_bytes() == make_page(run, "stack", page).encode()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["page", "run.html"]


def test_a_file_that_cannot_be_made_leaves_the_older_one(run, page, tmp_path):
    path = tmp_path / "run.html"
    path.write_text("older")
    run.state = {"type": "state", "speed": float("nan")}
    with pytest.raises(ValueError, match="JSON"):
        export_page(path, run, "stack", page)
    assert path.read_text() == "older"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["page", "run.html"]


def test_a_folder_that_is_not_there_is_told(run, page, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        export_page(tmp_path / "missing" / "run.html", run, "stack", page)


def test_a_page_of_another_make_is_refused(run, page):
    with pytest.raises(ValueError, match="make viewer"):
        make_page(run, "stack", Page(page.html.replace("viewer.js", "other.js"), page.script, page.style))


def test_a_full_disk_is_told_with_the_name_of_the_page_and_leaves_nothing(tmp_path, run, page, monkeypatch):
    def fill(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(OSError, match="No space left") as caught:
        export_page(tmp_path / "run.html", run, "a run", page)
    assert caught.value.filename == str(tmp_path / "run.html")
    assert not list(tmp_path.glob("*.html"))
    assert not list(tmp_path.glob(".*"))
