"""What every world is: a state that a step moves on, with the impulses (or pressures) that a solver finds.

Physics knows no solver. A step is handed one, `solve(problem, x0)`, and takes `.x` of what it returns; so each scene is
also a generator of real problems, and any method can be tried on any step:

    world.step(1 / 60, lambda problem, x0: perp.solve(problem, "block_gauss_seidel", x0=x0))

The report of a step has its problem, the answer, and where the time went; of bodies also the contacts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from perp.problems.inputs import Vector, require_real_dtype
from perp.problems.problem import Problem
from perp.problems.residuals import Residuals, verify
from perp.recording.frame import Frame, LiquidFrame, LiquidGrid, Shape
from perp.worlds.contacts import Contacts

SOLVE_HINT = (
    "solve must be a callable solve(problem, x0) that returns an object with x, "
    'for example lambda problem, x0: perp.solve(problem, "pgs", x0=x0)'
)

OVERFLOWING = 1e100
"""Numbers of a state beyond this one make products that are infinite, or nearly so."""


class Solution(Protocol):
    """What a step needs of a solver's answer. `perp.Result` has it; residual, iterations, ... are reported if there."""

    @property
    def x(self) -> Vector: ...


Solve = Callable[[Any, Vector | None], Solution]
"""`solve(problem, x0)`: x0 is None where there is nothing to start from."""


class World(ABC):
    """Time, steps taken, and a state. A step that would make the state infinite raises `StateNotFinite` and leaves the
    world as it was."""

    time: float
    """[s]"""
    steps: int

    @abstractmethod
    def step(self, dt: float, solve: Solve) -> StepReport:
        """Move the state on by dt [s]."""

    @abstractmethod
    def frame(self, report: StepReport | None = None) -> Frame | LiquidFrame:
        """The state now, with the contacts (or the pressure) of the step that led to it."""

    @abstractmethod
    def shapes(self) -> tuple[Shape, ...]:
        """What the bodies look like; a liquid has none."""

    def grid(self) -> LiquidGrid | None:
        """The cells that a liquid moves in, and the solid around it; None for bodies."""
        return None

    @abstractmethod
    def energy(self) -> float:
        """Kinetic and potential energy [J]."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of every bit of the state: two runs that agree in it are the same run."""


def require_callable(solve: Any) -> None:
    """Refuse what is no solver."""
    if not callable(solve):
        raise TypeError(f"solve is {solve!r}; {SOLVE_HINT}")


def read_answer(solution: Any) -> Vector:
    """A copy of the solver's x; its length is checked where it meets the problem, its values by the step."""
    if not hasattr(solution, "x"):
        raise TypeError(
            f"solve returned {'None' if solution is None else f'a {type(solution).__name__}'}; {SOLVE_HINT}"
        )
    given = np.asarray(solution.x)
    require_real_dtype(given.dtype, "x of the solution")
    return np.array(given, dtype=np.float64)


@dataclass(frozen=True)
class StepSeconds:
    """Wall time of the parts of a step [s]."""

    collide: float
    """Finding contacts; in a liquid, what is known on the grid from the particles."""
    assemble: float
    """Making the problem and its starting point."""
    solve: float
    """In the solver that the step was handed, all of it."""
    move: float
    """From impulses or pressures to velocities to positions."""

    @property
    def total(self) -> float:
        return self.collide + self.assemble + self.solve + self.move


@dataclass(frozen=True, eq=False, repr=False)
class StepReport:
    """One step of a world."""

    step: int
    """The number of the step: 1 is the first."""
    time: float
    """At the end of it [s]."""
    problem: Problem
    x0: Vector | None
    """The start that the solver was given."""
    x: Vector
    """What the solver found: impulses [N s], or the pressures of a liquid (`perp.worlds.fluid.pressure`)."""
    solution: Any
    """What `solve` returned."""
    seconds: StepSeconds

    def __repr__(self) -> str:
        found = f"{self.things}{self.problem.n:,} rows, {self.iterations:,} iterations"
        summary = f"step {self.step:,}, t = {self.time:.6g} s, {found}, {1e3 * self.seconds.total:.3g} ms"
        return f"<{type(self).__name__}: {summary}>"

    @property
    def things(self) -> str:
        """What the step dealt with, for `repr`."""
        return ""

    def measures(self) -> dict[str, float]:
        """What steps of this kind of world measure beside what all do, by name."""
        return {}

    @cached_property
    def residuals(self) -> Residuals:
        """Every measure of how well x solves the problem, recomputed; made when asked for."""
        return verify(self.problem, self.x)

    @property
    def iterations(self) -> int:
        return int(getattr(self.solution, "iterations", 0))


@dataclass(frozen=True, eq=False, repr=False)
class ContactReport(StepReport):
    """One step of a world of bodies."""

    contacts: Contacts
    """As they were at the beginning of the step."""

    @property
    def things(self) -> str:
        return f"{len(self.contacts):,} contacts, "

    def measures(self) -> dict[str, float]:
        return {"contacts": float(len(self.contacts)), "penetration": self.contacts.penetration}
