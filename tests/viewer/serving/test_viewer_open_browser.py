"""A browser is opened where there is a screen for it, and keeps nobody waiting."""

from __future__ import annotations

from threading import Event

import pytest

from perp.viewer.serving import browser


@pytest.fixture
def no_screen(monkeypatch):
    monkeypatch.setattr(browser.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_screen_no_browser_takes_over_the_terminal(no_screen, monkeypatch):
    monkeypatch.setattr(browser.webbrowser, "open", lambda address: pytest.fail("it was opened"))
    browser.open_browser("http://127.0.0.1:1/")
    assert not browser.has_screen()


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"])
def test_a_slow_browser_keeps_nobody_waiting(no_screen, monkeypatch, name):
    monkeypatch.setenv(name, "something")
    begun, may_end = Event(), Event()
    opened = []

    def open_slowly(address):
        begun.set()
        may_end.wait(20)
        opened.append(address)

    monkeypatch.setattr(browser.webbrowser, "open", open_slowly)
    browser.open_browser("http://127.0.0.1:1/")
    assert begun.wait(20)
    assert opened == []
    may_end.set()
