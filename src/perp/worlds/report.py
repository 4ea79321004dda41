"""What one step did: the problem, its answer, and where the time went."""

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
    """Finding contacts."""
    assemble: float
    """Making the problem and its starting point."""
    solve: float
    """In the solver that the step was handed, all of it."""
    move: float
    """From impulses to velocities to positions."""

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
    contacts: Contacts
    """As they were at the beginning of the step."""
    x0: Vector | None
    """Where the solver was told to start."""
    x: Vector
    """The impulses [N s]."""
    solution: Any
    """What `solve` returned."""
    seconds: StepSeconds

    def __repr__(self) -> str:
        found = f"{len(self.contacts):,} contacts, {self.problem.n:,} rows, {self.iterations:,} iterations"
        return f"<StepReport: step {self.step:,}, t = {self.time:.6g} s, {found}, {1e3 * self.seconds.total:.3g} ms>"

    @cached_property
    def residuals(self) -> Residuals:
        """Every measure of how well x solves the problem, recomputed; made when asked for."""
        return verify(self.problem, self.x)

    @property
    def iterations(self) -> int:
        return int(getattr(self.solution, "iterations", 0))
