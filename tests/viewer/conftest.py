"""What the tests of the viewer's server share: a page that needs no build, and a server with a stand-in behind it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from perp.viewer.pages import Page
from perp.viewer.server import Access, listen, make_server

PAGE = Page(
    html="""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>perp</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="viewer.css">
</head>
<body>
<script src="viewer.js" defer></script>
</body>
</html>
""",
    script='document.title = "ran";\n',
    style="body { color: black }\n",
)


@pytest.fixture
def page_folder(tmp_path: Path) -> Path:
    """A page as `make viewer` builds it, but small."""
    folder = tmp_path / "page"
    folder.mkdir()
    for name, text in (("index.html", PAGE.html), ("viewer.js", PAGE.script), ("viewer.css", PAGE.style)):
        (folder / name).write_text(text)
    return folder


class Viewer:
    """A server that runs in a thread."""

    def __init__(self, access: Access, pages: ExitStack) -> None:
        self.access, self._pages = access, pages

    def connect(self, **changes: Any) -> ClientConnection:
        """A socket as the page opens it; it is closed after the server, at the latest."""
        port, token = self.access.port, self.access.token
        words = {"origin": f"http://127.0.0.1:{port}", "ping_interval": None, "max_size": None, **changes}
        host, path = words.pop("host", f"127.0.0.1:{port}"), words.pop("path", f"/{token}/socket")
        line = self._pages.enter_context(socket.create_connection(("127.0.0.1", port)))
        return self._pages.enter_context(connect(f"ws://{host}{path}", sock=line, **words))


@pytest.fixture(scope="session")
def run_viewer() -> Callable[..., Any]:
    """`with run_viewer(worker) as viewer:` runs a server with that target behind it."""

    @contextmanager
    def run(worker: Any, start: Any = "start", **changes: Any) -> Iterator[Viewer]:
        ready = Event()
        with ExitStack() as pages, listen(0) as listener:
            access = Access(listener.getsockname()[1])
            server = make_server(start, access, PAGE, on_ready=lambda address: ready.set(), worker=worker, **changes)
            thread = Thread(target=server.run, args=([listener],))
            thread.start()
            try:
                assert ready.wait(20)
                yield Viewer(access, pages)
            finally:
                server.should_exit = True
                thread.join(20)
            assert not thread.is_alive()

    return run


@pytest.fixture(scope="session")
def wait_for() -> Callable[..., None]:
    """`wait_for(condition)` returns as soon as the condition holds, and fails where it never does."""

    def wait(condition: Callable[[], object], seconds: float = 20.0) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not come to pass"
            time.sleep(0.01)

    return wait


@pytest.fixture(scope="session")
def is_running() -> Callable[[int], bool]:
    """Whether a process is there and not dead already."""

    def ask(pid: int) -> bool:
        try:
            os.kill(pid, 0)
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except (ProcessLookupError, FileNotFoundError):
            return False

    return ask
