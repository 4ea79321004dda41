"""However the server ends, nothing is left over. (`test_cli_view` presses Ctrl-C.)"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from process_groups import living, wait_until_gone
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

SERVING = """
import sys
import stand_in_workers
from conftest import PAGE
from perp.viewer.server import listen, serve
with listen(0) as listener:
    serve("start", PAGE, listener, on_ready=lambda address: print(address, flush=True), worker=stand_in_workers.echo)
print("after", flush=True)
"""


@pytest.mark.parametrize(
    ("sent", "code", "out", "reason"),
    [
        (signal.SIGTERM, 0, "after\n", "perp view was ended."),
        (signal.SIGKILL, -signal.SIGKILL, "", None),
    ],
)
def test_a_signal_ends_server_sockets_and_processes(sent, code, out, reason):
    with subprocess.Popen(
        [sys.executable, "-c", SERVING],
        cwd=Path(__file__).parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as server:
        address = server.stdout.readline().strip()
        socket, origin = f"{address.replace('http', 'ws', 1)}socket", address.rsplit("/", 2)[0]
        with connect(socket, origin=origin) as idle, connect(socket, origin=origin) as busy:
            for page in (idle, busy):
                assert json.loads(page.recv(60))["type"] == "welcome"
                page.recv(60)
            if sent != signal.SIGKILL:
                busy.send('{"type": "pause"}')  # in a solve, as it were, that takes ten minutes
            assert len(living(server.pid)) >= 3
            os.kill(server.pid, sent)
            for page in (idle, busy):
                with pytest.raises(ConnectionClosed):
                    page.recv(60)
                assert reason is None or (page.close_code, page.close_reason) == (1001, reason)
        told = server.communicate(timeout=60)
    assert (server.returncode, *told) == (code, out, "")
    wait_until_gone(server.pid)
