"""The one list of scenes: `@scene(...)` beside a builder puts it here; tests, lab, benchmarks and commands read it.

A builder's signature is its documentation, as in the gallery of problems: options come from its parameters, what they
mean from `Annotated[type, About(...)]`, the description from the first line of its docstring.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ParamSpec

from perp.errors import suggest
from perp.gallery.options import SEED, Option, read_options
from perp.worlds.world import World

P = ParamSpec("P")


@dataclass(frozen=True)
class SceneKind:
    """A scene in the catalogue, and how it is run where the caller says nothing."""

    name: str
    group: str
    """The family: the file that the builder stands in."""
    source: str
    """Document and figure, section or table."""
    description: str
    options: Mapping[str, Option]
    seeded: bool
    dt: float
    """[s]"""
    method: str
    iterations: int | None
    """At most so many a step; None: the method's own limit."""
    small: Mapping[str, Any]
    """Options that make it small enough for a test."""
    build: Callable[..., Scene]

    def iteration_limit(self, method: str, asked: int | None) -> int | None:
        """Of a run with that method: what was asked for; where nothing was, and the method is the scene's, its own."""
        return self.iterations if asked is None and method == self.method else asked

    def facts(self) -> dict[str, Any]:
        """Everything about it in plain words and numbers, except its options."""
        return {
            "name": self.name,
            "group": self.group,
            "source": self.source,
            "description": self.description,
            "dt": self.dt,
            "method": self.method,
            "max_iterations": self.iterations,
            "seeded": self.seeded,
        }


@dataclass(frozen=True, eq=False)
class Scene:
    """A world that was built by name, with what reproduces it."""

    world: World
    kind: SceneKind
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def dt(self) -> float:
        return self.kind.dt

    def __repr__(self) -> str:
        options = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"<Scene {self.name}: seed={self.seed}{options}>"


_CATALOGUE: dict[str, SceneKind] = {}


def scene(
    source: str, *, dt: float, method: str, iterations: int | None = None, small: Mapping[str, Any] | None = None
) -> Callable[[Callable[P, World]], Callable[P, Scene]]:
    """Register a builder of a world under its own name. The registered function checks its arguments."""

    def register(build: Callable[P, World]) -> Callable[P, Scene]:
        signature = inspect.signature(build)
        options = read_options(build, "scene")
        is_seeded = "seed" in signature.parameters

        @functools.wraps(build)
        def make_scene(*args: P.args, **kwargs: P.kwargs) -> Scene:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for option in (*options.values(), *([SEED] if is_seeded else [])):
                option.check(bound.arguments[option.name])
            world = build(*bound.args, **bound.kwargs)
            chosen = {name: bound.arguments[name] for name in options}
            return Scene(world, kind, bound.arguments.get("seed", 0), chosen)

        kind = SceneKind(
            name=build.__name__,
            group=build.__module__.rpartition(".")[2],
            source=source,
            description=(inspect.getdoc(build) or "").partition("\n")[0].rstrip("."),
            options=options,
            seeded=is_seeded,
            dt=dt,
            method=method,
            iterations=iterations,
            small=dict(small or {}),
            build=make_scene,
        )
        _CATALOGUE[kind.name] = kind
        return make_scene

    return register


def kinds() -> dict[str, SceneKind]:
    """Every scene that `make` can make, by name, in the order of the sources."""
    return dict(sorted(_CATALOGUE.items(), key=lambda entry: entry[1].source))


def make(name: str, *, seed: int = 0, **options: Any) -> Scene:
    """Make a scene by name; the same arguments make the same world. Scenes without random numbers ignore `seed`."""
    if name not in _CATALOGUE:
        raise ValueError(f"scene {name!r} is unknown{suggest(str(name), _CATALOGUE)}")
    kind = _CATALOGUE[name]
    for word in options:
        if word not in kind.options:
            known = suggest(word, kind.options) if kind.options else "; it has none"
            raise TypeError(f"{name} has no option {word!r}{known}")
    SEED.check(seed)
    if kind.seeded:
        options["seed"] = seed
    return kind.build(**options)
