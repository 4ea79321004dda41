"""How commands end: bad usage and bad files are one line on stderr and exit code 2, without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from perp.cli import options
from perp.errors import one_line

NOT_CONVERGED = 1

BAD_USAGE = 2

INTERRUPTED = 130

UsageError: type[typer.BadParameter] = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
"""Click's class of this name, wherever this version of typer keeps its click."""


class CommandError(Exception):
    """What the user asked for cannot be done; the message is the one line to show."""


@contextmanager
def refusing(*kinds: type[Exception]) -> Iterator[None]:
    """Turn exceptions of these kinds, which are the user's to mend, into a `CommandError`."""
    try:
        yield
    except kinds as error:
        raise CommandError(one_line(error)) from error


class Commands(TyperGroup):
    """Exit codes: 0 done, 1 the solve ended without converging, 2 bad usage or a bad file, 130 interrupted."""

    def main(self, args: Sequence[str] | None = None, *others: Any, **named: Any) -> NoReturn:
        words = list(sys.argv[1:] if args is None else args) or ["--help"]
        named["standalone_mode"] = False
        try:
            code = super().main(words, *others, **named)
        except CommandError as error:
            _complain(str(error))
        except UsageError as error:
            command = error.ctx.command_path if error.ctx else "perp"
            _complain(f"{_told(error)} (see '{command} --help')")
        except typer.Abort:
            sys.exit(INTERRUPTED)
        sys.exit(code or 0)


def _told(error: Any) -> str:
    """The message of an error of usage; that of an unknown option says which one was meant, where that is known."""
    message = str(error.format_message().rstrip("."))
    if type(error).__name__ != "NoSuchOption" or error.ctx is None:
        return message
    known = [word for parameter in error.ctx.command.params for word in parameter.opts if word.startswith("--")]
    hint = options.suggest_flag(error.option_name, known)
    return f"no such option: {error.option_name}{hint}" if hint else message


def _complain(message: str) -> NoReturn:
    typer.echo(f"perp: error: {message}", err=True)
    sys.exit(BAD_USAGE)
