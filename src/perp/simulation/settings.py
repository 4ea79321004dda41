"""What is run, and with what: as asked for, and where nothing was said the scene's own; and the solver made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from perp.problems.inputs import require_count, require_number
from perp.scenes.catalogue import Scene, make
from perp.solvers.api import solve
from perp.solvers.islands.islands import solve_islands
from perp.solvers.method import Method
from perp.solvers.results import Result
from perp.solvers.roster import make_method
from perp.solvers.stopping import Stopping
from perp.worlds.world import Solve, World

AnyMethod = str | Method | Solve
"""A method, by name or as an object, or any `solve(problem, x0)`."""


@dataclass(frozen=True, eq=False)
class RunSettings:
    """Made, and checked, by `read_settings`."""

    world: World
    scene: Scene | None
    """That the world is of; None for a world that was given as it is."""
    dt: float
    """[s]"""
    method: AnyMethod
    tol: float | None
    max_iterations: int | None
    max_seconds: float | None
    """Of each solve, as in `perp.solve`."""
    islands: bool
    workers: int
    warm_start: bool | None
    """None: as the world has it."""
    has_own_limit: bool
    """Whether `max_iterations` is what the scene asks for."""

    @property
    def method_name(self) -> str:
        method = self.method
        if isinstance(method, str):
            return method
        return method.label if isinstance(method, Method) else getattr(method, "__name__", type(method).__name__)

    def make_solve(self) -> Solve:
        method = self.method
        if not isinstance(method, str | Method):
            return method
        limits = (self.tol, self.max_iterations, self.max_seconds)
        return make_solve(method, *limits, islands=self.islands, workers=self.workers)

    def tell(self, method_options: Mapping[str, str] | None = None) -> dict[str, Any]:
        """What makes the run again, beside the options of the scene, its seed, the method and dt, as plain data.

        `method_options` are the words that a command line had for the options of the method. A function has none that
        could be told.
        """
        world, method = self.world, self.method
        facts = {
            "model": getattr(world, "model", None),
            "warm_start": getattr(world, "warm_start", None) if self.warm_start is None else self.warm_start,
            "contact_compliance": getattr(world, "contact_compliance", None),
            "compliance_units": getattr(world, "compliance_units", None),
            "islands": self.islands,
            "tol": self.tol,
            "max_iterations": self.max_iterations,
        }
        if self.max_seconds is not None:
            facts["max_seconds"] = self.max_seconds
        if method_options is None and isinstance(method, str | Method):
            options = changed_options(method) if isinstance(method, Method) else {}
            method_options = {name: _word(value) for name, value in options.items()}
        return facts if method_options is None else facts | {"method_options": dict(method_options)}

    @contextmanager
    def starting(self) -> Iterator[None]:
        """The world with warm or cold starts, as asked for, while this lasts."""
        world: Any = self.world
        if self.warm_start is None:
            yield
            return
        before, world.warm_start = world.warm_start, self.warm_start
        try:
            yield
        finally:
            world.warm_start = before


def read_settings(
    world: World | Scene | str,
    *,
    dt: float | None = None,
    method: AnyMethod | None = None,
    tol: float | None = None,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    islands: bool = False,
    workers: int = 1,
    warm_start: bool | None = None,
) -> RunSettings:
    """The arguments are those of `simulate`; ValueError or TypeError where they make no sense."""
    scene = world if isinstance(world, Scene) else make(world) if isinstance(world, str) else None
    moved = world if scene is None else scene.world
    if not isinstance(moved, World):
        raise TypeError(f"world is {world!r}; a world, a scene of perp.scenes.make or the name of a scene is needed")
    if dt is None:
        if scene is None:
            raise ValueError("dt is missing: only a scene has a length of step of its own; dt=1 / 60 is one of 1/60 s")
        dt = scene.dt
    require_number(dt, "dt", positive=True)
    require_count(workers, "workers", least=1)
    if method is None:
        method = "auto" if scene is None else scene.kind.method
    if isinstance(method, type) or not (isinstance(method, str | Method) or callable(method)):
        method = make_method(method, {})  # of a class of methods; others are refused
    limit = max_iterations
    if isinstance(method, str | Method):
        if scene is not None:
            limit = scene.kind.iteration_limit(method if isinstance(method, str) else method.name, max_iterations)
        make_solve(method, tol, limit, max_seconds, islands=islands, workers=workers)
    else:
        _refuse_limits(tol=tol, max_iterations=max_iterations, max_seconds=max_seconds, islands=islands or None)
    if warm_start is not None and not hasattr(moved, "warm_start"):
        raise ValueError(f"warm_start is {warm_start}, but {type(moved).__name__} keeps nothing of the step before")
    return RunSettings(
        world=moved,
        scene=scene,
        dt=float(dt),
        method=method,
        tol=tol,
        max_iterations=limit,
        max_seconds=max_seconds,
        islands=islands,
        workers=workers,
        warm_start=warm_start,
        has_own_limit=limit is not None and max_iterations is None,
    )


def _refuse_limits(**limits: object) -> None:
    """What a function that solves decides for itself."""
    for name, value in limits.items():
        if value is not None:
            raise ValueError(f"{name} is {value}, which is for methods: a function that solves has limits of its own")


def _word(value: Any) -> str:
    """As the command line has it (`perp.solvers.options`)."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def make_solve(
    method: str | Method,
    tol: float | None = None,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    *,
    islands: bool = False,
    workers: int = 1,
) -> Solve:
    """`solve(problem, x0)` by this method; ValueError or TypeError where that makes no sense."""
    stop = Stopping().with_changes(tol=tol, max_iterations=max_iterations, max_seconds=max_seconds)
    chosen = method if method == "auto" else make_method(method, {})
    run: Callable[..., Result] = partial(solve_islands, workers=workers) if islands else solve
    return lambda problem, x0: run(problem, chosen, x0=x0, stop=stop)


def changed_options(method: Method) -> dict[str, Any]:
    """Those that differ from the defaults."""
    values = {each.name: (getattr(method, each.name), _default(each)) for each in fields(method)}
    return {name: value for name, (value, default) in values.items() if not np.array_equal(value, default)}


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()
