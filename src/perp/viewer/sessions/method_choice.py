"""A method with its options, tolerance and limit: what a lane works with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from perp.scenes import SceneKind
from perp.simulation.settings import changed_options, make_solve
from perp.solvers.method import Method
from perp.solvers.stopping import DEFAULT_STOPPING
from perp.viewer.messages import OptionValue
from perp.viewer.sessions.answers import Message
from perp.viewer.sessions.forms import make_solver
from perp.viewer.sessions.refusals import refusing
from perp.worlds.world import Solve


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
    """What the scene is run with where nobody says otherwise."""
    return choose_method(kind.method, {}, None, kind.iterations)
