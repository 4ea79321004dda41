"""What cannot be done, as a line for the page that says what to do instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from perp.errors import one_line


class Refusal(Exception):
    """A request that cannot be met; the message is the line to show. Nothing has changed."""


@contextmanager
def refusing(*kinds: type[Exception], advice: str = "", about: str = "") -> Iterator[None]:
    """Turn exceptions of these kinds, which are the user's to mend, into a `Refusal`: `about: text: advice`."""
    try:
        yield
    except kinds as error:
        raise Refusal(": ".join(part for part in (about, one_line(error), advice) if part)) from error
