"""What one step did: the problem, its answer, and where the time went; of bodies also the contacts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residuals import Residuals, verify
from perp.worlds.contacts import Contacts


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
    """Where the solver was told to start."""
    x: Vector
    """What the solver found: impulses [N s], or the pressures of a liquid (`perp.worlds.fluid.pressure`)."""
    solution: Any
    """What `solve` returned."""
    seconds: StepSeconds

    def __repr__(self) -> str:
        found = f"{self.things}{self.problem.n:,} rows, {self.iterations:,} iterations"
        told = f"step {self.step:,}, t = {self.time:.6g} s, {found}, {1e3 * self.seconds.total:.3g} ms"
        return f"<{type(self).__name__}: {told}>"

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
