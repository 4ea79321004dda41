"""`--option name=value`: words from a command line, turned into the values that they mean."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from perp.cli.errors import CommandError


def split_assignments(words: Sequence[str]) -> dict[str, str]:
    """`["relaxation=1.2"]` as `{"relaxation": "1.2"}`."""
    pairs: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or not name:
            raise CommandError(f"--option {word!r}: name=value is needed")
        if name in pairs:
            raise CommandError(f"--option {name} is given twice")
        pairs[name] = value.strip()
    return pairs


def read_value(name: str, text: str, hint: Any) -> Any:
    """The value of type `hint` that `text` means.

    A number, several with commas between them, a word, yes or no, `none`, or one of a few choices. A word is what is
    nothing else.
    """
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if NoneType in kinds and text.lower() == "none":
        return None
    for kind in sorted(kinds, key=lambda kind: kind is str):
        if get_origin(kind) is Literal:
            for choice in get_args(kind):
                if str(choice) == text:
                    return choice
        elif kind is bool:
            if text.lower() in SWITCH:
                return SWITCH[text.lower()]
        elif kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
        elif kind == tuple[float, ...]:
            try:
                return tuple(float(part) for part in text.split(","))
            except ValueError:
                continue
        elif kind is str:
            return text
    raise CommandError(f"--option {name}: {text!r} is not of the kind {_say(hint)}")


SWITCH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _say(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
