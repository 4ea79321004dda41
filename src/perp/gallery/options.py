"""Options of a builder, read from its signature: `Annotated[type, About(...)]` says what a parameter means."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args, get_origin, get_type_hints

from perp.errors import suggest


@dataclass(frozen=True)
class About:
    """What a parameter means, and the range of a number."""

    text: str
    at_least: float = -math.inf
    at_most: float = math.inf


@dataclass(frozen=True)
class Option:
    """One parameter of a generator: `type` is float, int or str; `choices` is empty where any value of it will do."""

    name: str
    type: type
    default: Any
    doc: str
    choices: tuple[Any, ...] = ()
    optional: bool = False
    at_least: float = -math.inf
    at_most: float = math.inf

    def check(self, value: Any) -> None:
        """Raise TypeError for a value of the wrong type, ValueError for one out of range."""
        if value is None and self.optional:
            return
        if self.choices:
            if value not in self.choices:
                raise ValueError(f"{self.name} is {value!r}{suggest(str(value), map(str, self.choices))}")
            return
        number = Integral if self.type is int else Real
        if isinstance(value, bool) or not isinstance(value, number):
            raise TypeError(f"{self.name} is {value!r}; {'an integer' if self.type is int else 'a number'} is needed")
        given: Any = value  # an int may be too large for a float
        if abs(given) > sys.float_info.max:
            raise ValueError(f"{self.name} is {value}; it must be finite")
        if not self.at_least <= given <= self.at_most:
            raise ValueError(f"{self.name} is {value}; it must lie in {self.at_least:g}..{self.at_most:g}")

    def parse(self, text: str) -> Any:
        """The value that a command line means by `text`."""
        if self.optional and text.lower() == "none":
            return None
        if self.choices:
            return next((choice for choice in self.choices if str(choice) == text), text)
        try:
            return self.type(text)
        except ValueError:
            raise ValueError(f"{self.name} is {text!r}; {self.type.__name__} is needed") from None


SEED = Option("seed", int, 0, "seed of the random numbers", at_least=0)


def read_options(build: Callable[..., Any], what: str) -> dict[str, Option]:
    """Every parameter of a builder but its seed. `what` it builds is named where a parameter does not say its meaning:
    "scene heap: option count needs Annotated[int, About(...)]"."""
    hints = get_type_hints(build, include_extras=True)
    named = [parameter for parameter in inspect.signature(build).parameters.values() if parameter.name != "seed"]
    try:
        return {parameter.name: read_option(parameter, hints.get(parameter.name)) for parameter in named}
    except TypeError as error:
        raise TypeError(f"{what} {build.__name__}: {error}") from None


def read_option(parameter: inspect.Parameter, hint: Any) -> Option:
    """Read `Annotated[type, About(...)]`, where type is float, int, Literal[...] or one of these `| None`."""
    about = next((item for item in getattr(hint, "__metadata__", ()) if isinstance(item, About)), None)
    if about is None:
        plain_type = getattr(hint, "__origin__", hint) if hasattr(hint, "__metadata__") else hint
        told = "type" if plain_type is None else getattr(plain_type, "__name__", str(plain_type))
        raise TypeError(f"option {parameter.name} needs Annotated[{told}, About(...)]")
    parts = [hint.__origin__] if get_origin(hint.__origin__) is Literal else get_args(hint.__origin__)
    plain = [part for part in parts or [hint.__origin__] if part is not type(None)]
    choices = get_args(plain[0]) if get_origin(plain[0]) is Literal else ()
    return Option(
        name=parameter.name,
        type=type(choices[0]) if choices else plain[0],
        default=parameter.default,
        doc=about.text,
        choices=choices,
        optional=len(parts) > len(plain),
        at_least=about.at_least,
        at_most=about.at_most,
    )
