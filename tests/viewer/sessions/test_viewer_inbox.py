"""Commands wait for a long solve, but not without end, and the end of the pipe is seen through them."""

from __future__ import annotations

from multiprocessing import Pipe
from threading import Event, Thread

import pytest

from perp.viewer.messages import Seek
from perp.viewer.sessions import inbox as inbox_module
from perp.viewer.sessions.inbox import Inbox, PipeEnded

MANY = 20_000
"""Commands that no pipe holds."""


@pytest.fixture
def gone(monkeypatch) -> Event:
    """Set in the place of the end of the process."""
    ended = Event()
    monkeypatch.setattr(inbox_module, "GRACE", 0.02)
    monkeypatch.setattr(inbox_module.os, "_exit", lambda code: ended.set())
    return ended


def test_who_floods_has_to_wait_and_nothing_is_lost(monkeypatch, gone):
    monkeypatch.setattr(inbox_module, "WAITING", 3)
    ours, theirs = Pipe()
    inbox = Inbox(theirs)

    def flood():
        for place in range(MANY):
            ours.send(Seek(place))
        ours.close()

    sender = Thread(target=flood)
    sender.start()
    sender.join(0.2)
    assert sender.is_alive()
    assert [inbox.next(20.0) for _ in range(MANY)] == [Seek(place) for place in range(MANY)]
    with pytest.raises(PipeEnded):
        inbox.next(20.0)
    sender.join()
    assert gone.wait(20)
    theirs.close()


def test_the_end_of_the_pipe_is_the_end_of_the_process_though_nobody_takes_the_commands(monkeypatch, gone):
    monkeypatch.setattr(inbox_module, "WAITING", 3)
    ours, theirs = Pipe()
    Inbox(theirs)
    for place in range(3):
        ours.send(Seek(place))
    ours.close()
    assert gone.wait(20)
    theirs.close()


def test_no_command_in_time_is_none(gone):
    ours, theirs = Pipe()
    assert Inbox(theirs).next(0.0) is None
    ours.close()
    assert gone.wait(20)
    theirs.close()
