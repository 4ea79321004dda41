"""Who may speak to the viewer: whoever knows its address, from a page that the viewer itself served.

The server listens on this machine only, but every page in every browser here can send requests to it, and a name that
a stranger owns can be made to mean 127.0.0.1 (DNS rebinding). So an address has a random token; the host that a request
names must be this machine; and a WebSocket, which browsers open to anybody, must come from a page of ours.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

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

    def allows_host(self, told: Sequence[str]) -> bool:
        """Whether a request's Host headers, of which there must be one, name this server."""
        return len(told) == 1 and told[0].lower() in self.hosts

    def allows_origin(self, told: Sequence[str]) -> bool:
        """Whether a socket's Origin headers, of which there must be one, name a page of this server."""
        return len(told) == 1 and told[0].lower() in {f"http://{host}" for host in self.hosts}
