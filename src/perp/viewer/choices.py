"""What the page can choose, methods and scenes with their options, and what was chosen.

A method's options are the fields of its dataclass, a scene's are the parameters of its builder. JSON knows one kind of
number and no tuples; so what comes from the page is turned into the type that the option has, or refused in one line
that names it.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from perp.errors import one_line, suggest
from perp.gallery import Option
from perp.scenes import Scene, SceneKind, kinds, make
from perp.simulation.settings import changed_options, make_solve
from perp.solvers.method import Method
from perp.solvers.options import About, option_docs
from perp.solvers.roster import BY_NAME, METHODS, make_method
from perp.solvers.stopping import DEFAULT_STOPPING
from perp.viewer.messages import Build, Message, OptionValue, Start
from perp.worlds.contact_world import LAWS
from perp.worlds.world import Solve


class Refusal(Exception):
    """A request that cannot be met; the message is the line to show. Nothing has changed."""


@contextmanager
def refusing(*kinds: type[Exception], advice: str = "", about: str = "") -> Iterator[None]:
    """Turn exceptions of these kinds, which are the user's to mend, into a `Refusal`: `about: text: advice`."""
    try:
        yield
    except kinds as error:
        raise Refusal(": ".join(part for part in (about, one_line(error), advice) if part)) from error


# Forms of the page: which methods and scenes there are, what their options mean, and the values that the page gives.

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
    types, docs = _option_types(method), option_docs(method)
    return {
        "name": method.name,
        "family": method.family,
        "summary": _first_paragraph(doc),
        "doc": doc,
        "accepts": sorted(method.accepts),
        "requires": method.requires,
        "reference": method.reference,
        "options": [
            _option_form(each.name, types[each.name], each.default, docs.get(each.name, About("")))
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


# A method with its options, tolerance and limit: what a lane works with.


@dataclass(frozen=True)
class MethodChoice:
    """What solves the problem of a step."""

    name: str
    options: Mapping[str, Any]
    """Those that differ from the defaults."""
    tol: float | None
    max_iterations: int | None
    """None: the default, of both."""
    class_name: str | None
    """In `perp`; "auto" has none."""
    solve: Solve = field(compare=False)
    islands: bool = False
    """Whether unconnected heaps are solved apart."""

    @property
    def asked_tol(self) -> float:
        return DEFAULT_STOPPING.tol if self.tol is None else self.tol

    def tell(self) -> Message:
        """A `Lane` of `messages.ts`."""
        return {
            "method": self.name,
            "options": dict(self.options),
            "tol": self.tol,
            "max_iterations": self.max_iterations,
        }


def choose_method(
    name: str,
    options: Mapping[str, OptionValue],
    tol: float | None = None,
    max_iterations: int | None = None,
    *,
    islands: bool = False,
) -> MethodChoice:
    """The method of that name; a `Refusal` says what is wrong with what was asked for."""
    with refusing(ValueError, TypeError, ImportError, about=name):
        solver = make_solver(name, options)
        solve = make_solve(solver, tol, max_iterations, islands=islands)
    if not isinstance(solver, Method):
        return MethodChoice(name, {}, tol, max_iterations, None, solve, islands)
    return MethodChoice(name, changed_options(solver), tol, max_iterations, type(solver).__name__, solve, islands)


def scene_method(kind: SceneKind) -> MethodChoice:
    """What the scene is run with by default."""
    return choose_method(kind.method, {}, None, kind.iterations)


# What makes a scene, again and again the same one.


@dataclass(frozen=True)
class Recipe:
    """A scene by name, with what was chosen; None: the scene's own."""

    scene: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    model: str | None = None
    """The law of friction, for scenes that have no option of that name."""
    warm_start: bool | None = None
    dt: float | None = None
    """[s]"""
    compliance: tuple[float, str] | None = None
    """`contact_compliance` and `compliance_units` of the world."""

    def build(self) -> Scene:
        with (
            refusing(ValueError, TypeError, ImportError, about=self.scene),
            refusing(MemoryError, about=self.scene, advice="there is not enough memory: choose a smaller one"),
        ):
            made = make(self.scene, seed=self.seed, **self.options)
        world: Any = made.world
        if self.model is not None:
            if not hasattr(world, "model"):
                raise Refusal(f"{self.scene} has no contacts, and so no law of friction: leave the model out")
            world.model = self.model
        if self.warm_start is not None:
            world.warm_start = self.warm_start
        if self.compliance is not None:
            if not hasattr(world, "contact_compliance"):
                raise Refusal(f"{self.scene} has no contacts that could give way: leave the compliance out")
            with refusing(ValueError, TypeError):
                world.contact_compliance, world.compliance_units = self.compliance
        return made

    @property
    def step_seconds(self) -> float:
        """The length of a step [s]."""
        return kinds()[self.scene].dt if self.dt is None else self.dt


def first_recipe(start: Start) -> Recipe:
    """The scene that a connection begins with."""
    if start.model is not None and start.model not in LAWS:
        raise Refusal(f"model {start.model!r} is unknown{suggest(start.model, LAWS)}")
    if start.dt is not None and not 0.0 < start.dt < float("inf"):
        raise Refusal(f"dt is {start.dt}; a positive number is needed")
    options, model = _read(start.scene, start.options), start.model
    if model is not None and "model" in kinds()[start.scene].options:
        options, model = options | {"model": model}, None
    return Recipe(start.scene, options, start.seed, model, dt=start.dt, compliance=start.compliance)


def next_recipe(build: Build, before: Recipe | None) -> Recipe:
    """The scene that the page asks for; law of friction, compliance and length of steps stay where it is the same."""
    options = _read(build.scene, build.options)
    if before is None or before.scene != build.scene:
        return Recipe(build.scene, options, build.seed)
    return replace(before, options=options, seed=build.seed)


def _read(scene: str, options: Mapping[str, Any]) -> dict[str, Any]:
    with refusing(ValueError, TypeError):
        return read_scene_options(scene, options)
