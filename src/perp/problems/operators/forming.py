"""Who forms a matrix that its owner keeps without forming it says so: in the log, and in the notes of a result.

A stencil of two million cells costs two vectors; its rows, once formed, cost twenty. Methods that need rows get them,
but nobody should have to guess which methods these are.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

logger: logging.Logger = logging.getLogger("perp")

_listening: ContextVar[tuple[list[str], ...]] = ContextVar("perp_listening_for_forming", default=())


@contextmanager
def listen_for_forming(notes: list[str]) -> Iterator[None]:
    """`notes` gets a sentence for whatever is formed inside the block, which may be nested; threads do not mix."""
    token = _listening.set((*_listening.get(), notes))
    try:
        yield
    finally:
        _listening.reset(token)


def tell_forming(sentence: str) -> None:
    """Tell the log and everyone who listens; what the notes have already is not repeated."""
    logger.info(sentence)
    for notes in _listening.get():
        if sentence not in notes:
            notes.append(sentence)
