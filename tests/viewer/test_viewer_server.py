"""The server gives the page to whoever knows its address, and to nobody else."""

from __future__ import annotations

import http.client
import json
import socket
from threading import Event

import pytest
import stand_in_workers
from websockets.exceptions import ConnectionClosed, InvalidStatus

from perp.viewer import server as server_module
from perp.viewer.server import Access, listen


@pytest.fixture(scope="module")
def viewer(run_viewer):
    with run_viewer(stand_in_workers.echo) as viewer:
        yield viewer


def ask(viewer, path, *, verb="GET", host=None):
    line = http.client.HTTPConnection("127.0.0.1", viewer.access.port)
    line.request(verb, path.replace("TOKEN", viewer.access.token), headers={} if host is None else {"Host": host})
    answer = line.getresponse()
    body = answer.read()
    line.close()
    return answer.status, body, {name.lower(): value for name, value in answer.getheaders()}


def test_the_page_and_its_two_files_are_there(viewer):
    for path, kind, part in (
        ("/TOKEN/", "text/html", b"<title>perp</title>"),
        ("/TOKEN/viewer.js", "text/javascript", b"document.title"),
        ("/TOKEN/viewer.css", "text/css", b"body {"),
    ):
        status, body, headers = ask(viewer, path)
        assert status == 200
        assert part in body
        assert headers["content-type"].startswith(kind)
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers
    policy = ask(viewer, "/TOKEN/")[2]["content-security-policy"]
    assert "default-src 'none'; script-src 'self';" in policy
    assert f"connect-src 'self' ws://127.0.0.1:{viewer.access.port} ws://localhost:{viewer.access.port};" in policy
    assert "frame-ancestors 'none'" in policy
    assert ask(viewer, "/TOKEN/", host=f"localhost:{viewer.access.port}")[0] == 200


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", {}),
        ("/favicon.ico", {}),
        ("/TOKEN", {}),
        ("/TOKEN/index.html", {}),
        ("/TOKEN/socket", {}),
        ("/TOKEN/../TOKEN/", {}),
        ("/TOKEN/%2e%2e/server.py", {}),
        ("/wrong/", {}),
        ("/wrong/viewer.js", {}),
        ("/%C3%A9/", {}),
        ("/TOKEN/", {"host": "evil.example"}),
        ("/TOKEN/", {"host": "evil.example:1"}),
        ("/TOKEN/", {"host": "127.0.0.1"}),
        ("/TOKEN/", {"verb": "POST"}),
        ("/TOKEN/", {"verb": "OPTIONS"}),
    ],
)
def test_everything_else_is_nothing_without_words(viewer, path, words):
    status, body, headers = ask(viewer, path, **words)
    assert (status, body) == (404, b"")
    assert "location" not in headers


@pytest.mark.parametrize(
    "changes",
    [
        {"origin": None},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:1"},
        {"path": "/wrong/socket"},
        {"path": "/socket"},
        {"host": "evil.example"},
    ],
)
def test_a_socket_from_elsewhere_is_refused_before_it_is_one(viewer, changes):
    with pytest.raises(InvalidStatus) as caught:
        viewer.connect(**changes)
    assert caught.value.response.status_code == 403
    assert_lives(viewer)


def test_a_hundred_megabytes_close_the_socket_and_the_server_lives(viewer):
    page = viewer.connect()
    page.recv()
    size, mask = 100_000_000, bytes(4)
    with pytest.raises(OSError, match=r"pipe|reset|closed|descriptor"):
        page.socket.sendall(b"\x81\xff" + size.to_bytes(8, "big") + mask + bytes(size))
    assert_lives(viewer)


def assert_lives(viewer):
    page = viewer.connect()
    assert json.loads(page.recv())["type"] == "welcome"
    page.close()


def test_there_are_only_so_many_pages_at_a_time(run_viewer, monkeypatch, wait_for):
    monkeypatch.setattr(server_module, "MOST_CONNECTIONS", 2)
    with run_viewer(stand_in_workers.echo) as viewer:
        first, _, third = viewer.connect(), viewer.connect(), viewer.connect()
        with pytest.raises(ConnectionClosed):
            third.recv()
        assert third.close_code == 1013
        assert "close one" in third.close_reason
        first.recv()
        first.close()

        def enters():
            try:
                return viewer.connect().recv()
            except ConnectionClosed:
                return None

        wait_for(enters)


def test_a_port_that_is_taken_is_an_error_of_the_system():
    with listen(0) as taken, pytest.raises(OSError, match="in use"):
        listen(taken.getsockname()[1])


def test_the_server_listens_on_this_machine_only():
    with listen(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        assert listener.family is socket.AF_INET


@pytest.fixture
def no_screen(monkeypatch):
    monkeypatch.setattr(server_module.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_screen_no_browser_takes_over_the_terminal(no_screen, monkeypatch):
    monkeypatch.setattr(server_module.webbrowser, "open", lambda address: pytest.fail("it was opened"))
    server_module.open_browser("http://127.0.0.1:1/")
    assert not server_module.has_screen()


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"])
def test_a_slow_browser_keeps_nobody_waiting(no_screen, monkeypatch, name):
    monkeypatch.setenv(name, "something")
    begun, may_end = Event(), Event()
    opened = []

    def open_slowly(address):
        begun.set()
        may_end.wait(20)
        opened.append(address)

    monkeypatch.setattr(server_module.webbrowser, "open", open_slowly)
    server_module.open_browser("http://127.0.0.1:1/")
    assert begun.wait(20)
    assert opened == []
    may_end.set()


ACCESS = Access(8123, "0123abcd")


def test_every_server_has_its_own_long_token():
    tokens = {Access(1).token for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) >= 32 and token.isalnum() for token in tokens)


def test_the_token_is_not_shown_by_chance():
    assert "0123abcd" not in repr(ACCESS)
    assert ACCESS.address == "http://127.0.0.1:8123/0123abcd/"


@pytest.mark.parametrize("token", ["", "0123abc", "0123abcde", "0123ABCD", "0123abcé", "\udce9"])
def test_only_the_token_is_known(token):
    assert not ACCESS.knows(token)
    assert ACCESS.knows("0123abcd")


@pytest.mark.parametrize("host", ["127.0.0.1:8123", "localhost:8123", "LOCALHOST:8123"])
def test_this_machine_is_a_host(host):
    assert ACCESS.allows_host([host])
    assert ACCESS.allows_origin([f"http://{host}"])


@pytest.mark.parametrize(
    "told",
    [
        [],
        [""],
        ["127.0.0.1"],
        ["127.0.0.1:8124"],
        ["evil.example:8123"],
        ["127.0.0.1.evil.example:8123"],
        ["localhost:8123", "localhost:8123"],
        ["[::1]:8123"],
    ],
)
def test_another_host_is_refused(told):
    assert not ACCESS.allows_host(told)
    assert not ACCESS.allows_origin([f"http://{host}" for host in told])


@pytest.mark.parametrize(
    "origin", ["null", "https://127.0.0.1:8123", "http://127.0.0.1:8123/", "127.0.0.1:8123", "file://"]
)
def test_another_origin_is_refused(origin):
    assert not ACCESS.allows_origin([origin])


def test_browsers_leave_the_port_80_out():
    assert Access(80).allows_host(["localhost"])
    assert Access(80).allows_origin(["http://127.0.0.1"])
