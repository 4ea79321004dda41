"""The server behind the page: three files, and a socket with a simulation behind it; and the browser for the page."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, Any

from starlette.routing import Route, WebSocketRoute

from perp.viewer.connection import ENDED, LARGEST, PATIENCE, Connection
from perp.viewer.messages import Start
from perp.viewer.pages import Page, require_packages
from perp.viewer.worker_process import Target, simulate

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket
    from uvicorn import Server

MOST_CONNECTIONS = 4
"""At a time: each has a process of its own."""

_TRY_LATER = 1013
_ORDERLY_END = 5
"""Seconds for farewells."""


class Connections:
    """The sockets that are open."""

    def __init__(self) -> None:
        self._open: set[Connection] = set()
        self._is_over = False
        self._all_gone = asyncio.Event()

    async def serve(self, websocket: WebSocket, start: Start, target: Target, patience: float) -> None:
        """Serve one socket to its end, or tell it why not."""
        await websocket.accept()
        if self._is_over:
            return await websocket.close(*ENDED)
        if len(self._open) >= MOST_CONNECTIONS:
            reason = f"{MOST_CONNECTIONS} pages show this already: close one, and load this page again."
            return await websocket.close(_TRY_LATER, reason)
        connection = Connection(websocket, start, target, patience)
        self._open.add(connection)
        self._all_gone.clear()
        try:
            await connection.run()
        finally:
            self._open.discard(connection)
            if not self._open:
                self._all_gone.set()

    async def end(self, seconds: float) -> None:
        """Close all sockets, and let no more in."""
        self._is_over = True
        for connection in self._open:
            connection.leave()
        if self._open:
            await asyncio.wait_for(self._all_gone.wait(), seconds)


def make_app(
    start: Start,
    access: Access,
    page: Page,
    *,
    connections: Connections | None = None,
    worker: Target = simulate,
    patience: float = PATIENCE,
) -> Starlette:
    """The application: what is not asked for in the right way is not there."""
    from starlette.applications import Starlette
    from starlette.responses import Response

    sockets = connections or Connections()
    nothing = Response(status_code=404)

    def may_enter(asked: Request | WebSocket) -> bool:
        return access.allows_host(asked.headers.getlist("host")) and access.knows(asked.path_params["token"])

    def file(text: str, kind: str, more: Mapping[str, str]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            return Response(text, headers={**_HEADERS, **more}, media_type=kind) if may_enter(request) else nothing

        return answer

    async def talk(websocket: WebSocket) -> None:
        if not may_enter(websocket) or not access.allows_origin(websocket.headers.getlist("origin")):
            return await websocket.close()
        await sockets.serve(websocket, start, worker, patience)

    async def find_nothing(request: Request, error: Exception) -> Response:
        return nothing

    app = Starlette(
        routes=[
            Route("/{token}/", file(page.html, "text/html", {"Content-Security-Policy": _policy(access)})),
            Route("/{token}/viewer.js", file(page.script, "text/javascript", {})),
            Route("/{token}/viewer.css", file(page.style, "text/css", {})),
            WebSocketRoute("/{token}/socket", talk),
        ],
        exception_handlers={404: find_nothing, 405: find_nothing},
    )
    app.router.redirect_slashes = False
    return app


_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def _policy(access: Access) -> str:
    """What the page may do: nothing but run its own script, and speak to this server."""
    sockets = " ".join(f"ws://{host}" for host in access.hosts)
    return (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        f"connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def listen(port: int) -> socket.socket:
    """A socket that listens on this machine, at a free port where `port` is 0; OSError where that is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # the port of a server that has just ended
        listener.bind((HOST, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def make_server(
    start: Start,
    access: Access,
    page: Page,
    *,
    on_ready: Callable[[str], object],
    worker: Target = simulate,
    patience: float = PATIENCE,
) -> Server:
    """A server that tells its address to `on_ready` as soon as it answers; `run(sockets=[listen(...)])` runs it."""
    require_packages()
    import uvicorn

    connections = Connections()

    class ViewerServer(uvicorn.Server):
        """Ends as intended by SIGINT and SIGTERM, which uvicorn would raise once more after the end."""

        def handle_exit(self, sig: int, frame: Any) -> None:
            self.should_exit = True

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready(access.address)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # a page that does not answer is no news now
            with suppress(TimeoutError):
                await connections.end(_ORDERLY_END)
            await super().shutdown(sockets)

    app = make_app(start, access, page, connections=connections, worker=worker, patience=patience)
    return ViewerServer(
        uvicorn.Config(
            app,
            http="h11",
            ws="websockets-sansio",  # the other one is deprecated by websockets itself
            loop="asyncio",
            lifespan="off",
            ws_max_size=LARGEST,
            ws_ping_interval=20.0,
            ws_ping_timeout=20.0,
            ws_per_message_deflate=False,  # nothing to gain on one machine
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
    )


def serve(
    start: Start,
    page: Page,
    listener: socket.socket,
    *,
    on_ready: Callable[[str], object],
    worker: Target = simulate,
    patience: float = PATIENCE,
) -> None:
    """Serve at what `listen` returned until SIGINT or SIGTERM; `on_ready` hears the address."""
    access = Access(listener.getsockname()[1])
    make_server(start, access, page, on_ready=on_ready, worker=worker, patience=patience).run([listener])


def open_browser(address: str) -> None:
    """Open the page and return at once, however long the browser takes to start."""
    if has_screen():
        Thread(target=webbrowser.open, args=(address,), name="perp-view-browser", daemon=True).start()


def has_screen() -> bool:
    """Whether a browser would have a window: otherwise one for the terminal would be started, and take it over."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


# Who may speak to the viewer: whoever knows its address, from a page that the viewer itself served.
#
# The server listens on this machine only, but every page in every browser here can send requests to it, and a name that
# a stranger owns can be made to mean 127.0.0.1 (DNS rebinding). So an address has a random token; the host that a
# request names must be this machine; and a WebSocket, which browsers open to anybody, must come from a page of ours.

HOST = "127.0.0.1"
"""The server listens here, and nowhere else."""

_NAMES = (HOST, "localhost")
_HTTP = 80
"""The port that browsers leave out."""


@dataclass(frozen=True)
class Access:
    """The token and the port of one server."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)

    @property
    def address(self) -> str:
        """Of the page."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser may call this server: name and port."""
        bare = _NAMES if self.port == _HTTP else ()
        return (*(f"{name}:{self.port}" for name in _NAMES), *bare)

    def knows(self, token: str) -> bool:
        """Whether this is the token; takes as long for any that is not."""
        return secrets.compare_digest(token.encode(errors="surrogatepass"), self.token.encode())

    def allows_host(self, sent: Sequence[str]) -> bool:
        """Whether a request's Host headers, of which there must be one, name this server."""
        return len(sent) == 1 and sent[0].lower() in self.hosts

    def allows_origin(self, sent: Sequence[str]) -> bool:
        """Whether a socket's Origin headers, of which there must be one, name a page of this server."""
        return len(sent) == 1 and sent[0].lower() in {f"http://{host}" for host in self.hosts}
