"""Bad usage and bad files: one line on stderr, exit code 2, no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from perp.errors import one_line


class CommandError(Exception):
    """What the user asked for cannot be done; the message is the one line to show."""


@contextmanager
def refusing(*kinds: type[Exception]) -> Iterator[None]:
    """Turn exceptions of these kinds, which are the user's to mend, into a `CommandError`."""
    try:
        yield
    except kinds as error:
        raise CommandError(one_line(error)) from error
