"""Forms of the page: which methods and scenes there are, what their options mean, and the values that the page gives.

A method's options are the fields of its dataclass, a scene's are the parameters of its builder. JSON knows one kind of
number and no tuples; so what comes from the page is turned into the type that the option has, or refused in one line
that names it.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from perp.errors import suggest
from perp.gallery import Option
from perp.scenes import SceneKind, kinds
from perp.solvers.method import Method
from perp.solvers.options import About, option_docs
from perp.solvers.roster import BY_NAME, METHODS, make_method
from perp.viewer.messages import OptionValue

AUTO: Literal["auto"] = "auto"

AUTO_DOC = """Chooses for itself: it learns what is cheap to learn of the problem and asks one method after the other.

They are asked until the answer is certain or proved not to exist. Its tolerance is that of the scaled residual, of
which the units of the problem are no part. It has no options: those belong to methods that are named."""

LARGEST: dict[type, float] = {int: 2.0**53, float: sys.float_info.max}
"""Beyond the first the page's numbers have gaps wider than one."""

NEEDED = {bool: "True or False", int: "a whole number", float: "a number", str: "a word", tuple: "a list of numbers"}


def method_forms() -> list[dict[str, Any]]:
    """A form for each method, "auto" first: `MethodForm` of `messages.ts`."""
    auto = {
        "name": AUTO,
        "family": AUTO,
        "summary": _first_paragraph(AUTO_DOC),
        "doc": AUTO_DOC,
        "accepts": sorted({kind for method in METHODS for kind in method.accepts}),
        "requires": "nothing: what A is decides which methods are asked",
        "reference": "perp.explain(problem) says which methods are asked, and why",
        "options": [],
    }
    return [auto, *(_method_form(method) for method in METHODS)]


def scene_forms() -> list[dict[str, Any]]:
    """A form for each scene, in the order of the catalogue: `SceneForm` of `messages.ts`."""
    return [_scene_form(kind) for kind in kinds().values()]


def make_solver(name: str, options: Mapping[str, OptionValue]) -> Method | Literal["auto"]:
    """The method of that name with these options; ValueError or TypeError says in a line what is wrong with them."""
    if name == AUTO:
        if options:
            raise TypeError(f"'auto' chooses for itself and has no option {next(iter(options))!r}: name a method")
        return AUTO
    if name not in BY_NAME:
        raise ValueError(f"method {name!r} is unknown{suggest(str(name), [AUTO, *BY_NAME])}")
    types = _option_types(BY_NAME[name])
    return make_method(name, {key: _convert(key, value, types.get(key)) for key, value in options.items()})


def read_scene_options(scene: str, options: Mapping[str, OptionValue]) -> dict[str, Any]:
    """The options as the builder of that scene takes them; ValueError or TypeError says in a line what is wrong."""
    known = kinds()
    if scene not in known:
        raise ValueError(f"scene {scene!r} is unknown{suggest(str(scene), known)}")
    read: dict[str, Any] = {}
    for name, value in options.items():
        if name not in known[scene].options:
            hint = suggest(name, known[scene].options) if known[scene].options else "; it has none"
            raise TypeError(f"{scene} has no option {name!r}{hint}")
        option = known[scene].options[name]
        types = (option.type, NoneType) if option.optional else (option.type,)
        read[name] = _convert(name, value, types)
        option.check(read[name])
    return read


def _method_form(method: type[Method]) -> dict[str, Any]:
    doc = inspect.getdoc(method) or ""
    types, told = _option_types(method), option_docs(method)
    return {
        "name": method.name,
        "family": method.family,
        "summary": _first_paragraph(doc),
        "doc": doc,
        "accepts": sorted(method.accepts),
        "requires": method.requires,
        "reference": method.reference,
        "options": [
            _option_form(each.name, types[each.name], each.default, told.get(each.name, About("")))
            for each in fields(method)
        ],
    }


def _option_form(name: str, types: Sequence[Any], default: Any, about: About) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "choice" if about.words else _kind(types),
        "default": default,
        "choices": list(about.words),
        "optional": NoneType in types,
        "doc": about.sentence,
        "at_least": _finite(max(about.at_least, about.above)),
        "at_most": _finite(min(about.at_most, about.below)),
    }


def _scene_form(kind: SceneKind) -> dict[str, Any]:
    return kind.facts() | {"options": [_scene_option_form(option) for option in kind.options.values()]}


def _scene_option_form(option: Option) -> dict[str, Any]:
    return {
        "name": option.name,
        "kind": "choice" if option.choices else _kind((option.type,)),
        "default": option.default,
        "choices": list(option.choices),
        "optional": option.optional,
        "doc": option.doc,
        "at_least": _finite(option.at_least),
        "at_most": _finite(option.at_most),
    }


def _option_types(method: type[Method]) -> dict[str, tuple[Any, ...]]:
    """The types that each option may have, of those that the page can name: `str | Recipe` takes the word."""
    hints = get_type_hints(method)
    types: dict[str, tuple[Any, ...]] = {}
    for each in fields(method):
        hint = hints[each.name]
        parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        plain = [get_origin(part) or part for part in parts]
        types[each.name] = tuple(part for part in plain if part in NEEDED or part is NoneType)
    return types


def _kind(types: Sequence[Any]) -> str:
    words = {bool: "switch", int: "integer", float: "number", tuple: "numbers", str: "text"}
    return next(words[each] for each in types if each is not NoneType)


def _convert(name: str, value: OptionValue, types: Sequence[Any] | None) -> Any:
    """The value as one of the types; as it is where nothing is known of the option, for others to refuse."""
    if types is None or (value is None and NoneType in types):
        return value
    for each in types:
        found = _as_type(value, each)
        if found is not None:
            return found
    needed = " or ".join(NEEDED.get(each, "None") for each in types)
    raise TypeError(f"{name} is {value!r}; {needed} is needed")


def _as_type(value: Any, wanted: type) -> Any:
    """The value as that type, None where it is of another kind."""
    if wanted in (bool, str):
        return value if isinstance(value, wanted) else None
    if wanted is tuple:
        numbers = [_as_type(part, float) for part in value] if isinstance(value, list | tuple) else [None]
        return None if None in numbers else tuple(numbers)
    if wanted not in LARGEST or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not abs(value) <= LARGEST[wanted] or (wanted is int and value != int(value)):  # NaN is not, either
        return None
    return wanted(value)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _first_paragraph(doc: str) -> str:
    return " ".join(doc.partition("\n\n")[0].split())
