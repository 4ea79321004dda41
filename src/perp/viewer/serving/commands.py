"""What the page says, as JSON, read into a command of `messages`. A page is a stranger: anything odd is refused.

A message is an object with a `type` and exactly the keys of that type, each of its kind and within its range.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, NoReturn

from perp.viewer.layout import SERIALS
from perp.viewer.messages import (
    Acknowledge,
    Build,
    ChooseCompare,
    ChooseMethod,
    Command,
    OptionValue,
    Pause,
    Play,
    Reset,
    Save,
    Seek,
    Speed,
    Step,
    TellCode,
)

LARGEST = 64 * 1024
"""Bytes of a message."""

WRONG, TOO_LARGE = 1008, 1009
"""Why a socket is closed (RFC 6455, section 7.4.1)."""

NAME = 100
"""Characters of a name."""

TEXT = 1000
"""Characters of an option that is a text."""

OPTIONS = 64
"""Options of a method or of a scene."""

NUMBERS = 1000
"""Entries of an option that is a list of numbers."""

WHOLE = 2**63 - 1
"""The largest seed and the largest whole number among options."""


class BadMessage(ValueError):
    """The page said what no page of ours says; `code` is why its socket is closed."""

    def __init__(self, reason: str, code: int = WRONG) -> None:
        super().__init__(reason)
        self.code = code


def read_command(text: str) -> Command:
    """The command that this JSON text means; anything wrong with it raises `BadMessage`."""
    if len(text) > LARGEST or len(text.encode(errors="surrogatepass")) > LARGEST:
        raise BadMessage(f"a message is longer than {LARGEST} bytes", TOO_LARGE)
    try:
        message = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_read_object)
    except BadMessage:
        raise
    except RecursionError:
        raise BadMessage("the message is nested too deeply") from None
    except ValueError:  # numbers with thousands of digits are one, too
        raise BadMessage("the message is not JSON") from None
    if not isinstance(message, dict):
        raise BadMessage("the message is not an object")
    kind = message.pop("type", None)
    if not isinstance(kind, str) or kind not in _WORDS:
        raise BadMessage("the type of the message is unknown")
    return _WORDS[kind].read(kind, message)


Reader = Callable[[Any], Any]
"""Checks a value and turns it into what the command has; raises `BadMessage` that says what would be right."""


@dataclass(frozen=True)
class _Word:
    """A type of message: what it becomes, and what each of its keys holds."""

    command: Callable[..., Command]
    keys: Mapping[str, Reader]
    optional: frozenset[str] = frozenset()

    def read(self, kind: str, message: dict[str, Any]) -> Command:
        if not message.keys() <= self.keys.keys():
            raise BadMessage(f"{kind}: a key is unknown")
        missing = self.keys.keys() - self.optional - message.keys()
        if missing:
            raise BadMessage(f"{kind}: {min(missing)} is missing")
        values = {}
        for name, value in message.items():
            try:
                values[name] = self.keys[name](value)
            except BadMessage as error:
                raise BadMessage(f"{kind}: {name} is not {error}") from None
        return self.command(**values)


def _whole(low: int, high: int) -> Reader:
    def read(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise BadMessage(f"a whole number in {low}..{high}")
        return value

    return read


def _number(low: float, high: float, *, open_below: bool = False) -> Reader:
    def read(value: Any) -> float:
        if not _is_finite(value) or not low <= value <= high or (open_below and value == low):
            raise BadMessage(f"a number in {'(' if open_below else '['}{low:g}, {high:g}]")
        return float(value)

    return read


def _nullable(reader: Reader) -> Reader:
    return lambda value: None if value is None else reader(value)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= NAME or not value.isprintable():
        raise BadMessage(f"a name of at most {NAME} characters")
    return value


def _one_of(*choices: str) -> Reader:
    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise BadMessage(f"one of {', '.join(choices)}")
        return value

    return read


def _options(value: Any) -> dict[str, OptionValue]:
    if not isinstance(value, dict) or len(value) > OPTIONS:
        raise BadMessage(f"an object of at most {OPTIONS} options")
    return {_name(name): _option(entry) for name, entry in value.items()}


def _option(value: Any) -> OptionValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= TEXT and value.isprintable():
        return value
    if isinstance(value, list) and len(value) <= NUMBERS and all(map(_is_finite, value)):
        return tuple(float(entry) for entry in value)
    if not isinstance(value, str | list) and _is_finite(value):
        return value  # type: ignore[no-any-return]
    raise BadMessage(f"options that are finite numbers, up to {NUMBERS} of them, texts, true, false or null")


def _is_finite(value: Any) -> bool:
    if type(value) is int:
        return -WHOLE <= value <= WHOLE
    return type(value) is float and isfinite(value)


def _refuse_constant(name: str) -> NoReturn:
    raise BadMessage(f"{name} is not JSON")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise BadMessage("a key stands twice in an object")
    return made


_LANE = _whole(0, 1)
_PLACE = _whole(0, SERIALS - 1)
_FASTEST = 1000.0
"""Simulated seconds in a second."""

_WORDS: Mapping[str, _Word] = {
    "ack": _Word(Acknowledge, {"serial": _whole(0, SERIALS - 1)}),
    "play": _Word(Play, {}),
    "pause": _Word(Pause, {}),
    "step": _Word(Step, {"count": _whole(1, 1000)}, frozenset({"count"})),
    "reset": _Word(Reset, {}),
    "speed": _Word(Speed, {"factor": _nullable(_number(0.0, _FASTEST, open_below=True))}),
    "build": _Word(Build, {"scene": _name, "options": _options, "seed": _whole(0, WHOLE)}),
    "method": _Word(
        ChooseMethod,
        {
            "lane": _LANE,
            "name": _name,
            "options": _options,
            "tol": _nullable(_number(0.0, inf)),
            "max_iterations": _nullable(_whole(0, 10**9)),
        },
    ),
    "compare": _Word(ChooseCompare, {"mode": _one_of("off", "same_state", "own_ways")}),
    "seek": _Word(Seek, {"place": _PLACE}),
    "save": _Word(Save, {"format": _one_of("npz", "fclib"), "place": _PLACE, "lane": _LANE}),
    "code": _Word(TellCode, {"place": _PLACE}),
}
