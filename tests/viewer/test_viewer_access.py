"""Who may speak to the viewer."""

from __future__ import annotations

import pytest

from perp.viewer.server import Access

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
