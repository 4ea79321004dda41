"""Options of methods in words, as a command line has them and a recording keeps them, and the values that they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from perp.solvers.method import Method

SWITCH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def read_words(method: type[Method], words: Mapping[str, str]) -> dict[str, Any]:
    """`{"relaxation": "1.2"}` as `{"relaxation": 1.2}`; ValueError where a word is not of its option's kind.

    Words for options that the method does not have stay words: `make_method` refuses them by name.
    """
    hints, known = get_type_hints(method), {each.name for each in fields(method)}
    return {name: read_word(name, text, hints[name]) if name in known else text for name, text in words.items()}


def read_word(name: str, text: str, hint: Any) -> Any:
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
    raise ValueError(f"{name}: {text!r} is not of the kind {_say(hint)}")


def _say(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
