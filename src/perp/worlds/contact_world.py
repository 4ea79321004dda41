"""Worlds of rigid bodies that touch: the step that discs, free bodies and articulated ones share.

    find contacts -> make the problem -> warm start -> solve -> velocities -> positions

(semi-implicit Euler, THESIS eq. 2.5-2.7, 2.14 and 2.27).
"""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from time import perf_counter
from typing import Self

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem, StateNotFinite, suggest
from perp.linalg.contact_compliance import UNITS, contact_compliance
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, require_number
from perp.recording.frame import ContactFrame, Frame
from perp.worlds.contacts import RULES, Contacts, carry_impulses, not_worse_than_cold
from perp.worlds.world import (
    OVERFLOWING,
    ContactReport,
    Solve,
    StepReport,
    StepSeconds,
    World,
    read_answer,
    require_callable,
)

LAWS = ("box", "cone", "convex")


class ContactWorld(World):
    """A world makes its contacts, its problem and its motion; this class has the step and the memory of impulses.

    **Compliance.** `contact_compliance` (a number >= 0) and `compliance_units` ("by_inertia", "by_load" or "si", see
    `perp.contact_compliance`) soften all rows of every contact of every step: the problem of a step is
    `make_problem(...).with_compliance(...)`. A contact at rest that carries the impulse x sinks in by h C x / Gamma,
    where Gamma is the share of an overlap that a step takes back, and a contact held by friction creeps at C |x_t|
    (docs/contact.md, Compliance). Both may be changed between steps.

    Copies (`copy.copy` and `copy.deepcopy` alike) and pickles go on as the original would, and share nothing with it.
    """

    steps: int
    time: float

    def __init__(
        self,
        *,
        model: str = "box",
        warm_start: bool = True,
        contact_compliance: float = 0.0,
        compliance_units: str = "by_inertia",
    ) -> None:
        if model not in LAWS:
            raise InvalidProblem(f"model {model!r} is no friction law of a world{suggest(str(model), LAWS)}")
        self.time, self.steps = 0.0, 0
        self.model = model
        self.warm_start = warm_start
        self.contact_compliance = contact_compliance
        self.compliance_units = compliance_units
        self._warm_rule = "energy"
        self._last: tuple[Contacts, Vector] | None = None

    @property
    def warm_rule(self) -> str:
        """When the impulses of the last step are a start: "energy" or "always"
        (`perp.worlds.contacts.not_worse_than_cold`)."""
        return self._warm_rule

    @warm_rule.setter
    def warm_rule(self, rule: str) -> None:
        if rule not in RULES:
            raise ValueError(f"warm_rule is {rule!r}{suggest(str(rule), RULES)}")
        self._warm_rule = rule

    @property
    def contact_compliance(self) -> float:
        """The number that `compliance_units` gives a meaning; 0: contacts are as the world makes them."""
        return self._contact_compliance

    @contact_compliance.setter
    def contact_compliance(self, value: float) -> None:
        require_number(value, "contact_compliance")
        self._contact_compliance = float(value)

    @property
    def compliance_units(self) -> str:
        """What the number is a share of: "by_inertia", "by_load", or "si" for (m/s)/(N s)."""
        return self._compliance_units

    @compliance_units.setter
    def compliance_units(self, units: str) -> None:
        if units not in UNITS:
            raise ValueError(f"compliance_units is {units!r}{suggest(str(units), UNITS)}")
        self._compliance_units = units

    def __repr__(self) -> str:
        count = len(self.bodies()[0])
        bodies = f"{count:,} {'body' if count == 1 else 'bodies'}"
        return f"<{type(self).__name__}: {bodies}, {self.model} friction, t = {self.time:.6g} s, {self.steps:,} steps>"

    def step(self, dt: float, solve: Solve) -> ContactReport:
        """Move the state on by dt [s] with impulses from `solve(problem, x0)`."""
        require_number(dt, "dt", positive=True)
        require_callable(solve)
        begun = perf_counter()
        contacts = self.find_contacts(dt)
        found = perf_counter()
        problem = self._problem(contacts, dt)
        x0 = self._recall(contacts, problem)
        assembled = perf_counter()
        solution = solve(problem, None if x0 is None else x0.copy())  # a solver may work in place
        x = read_answer(solution)
        solved = perf_counter()
        if not (np.isfinite(x).all() and self.move(problem, x, dt)):
            raise StateNotFinite(self.steps + 1, self.time)
        self.steps += 1
        self.time += dt
        self._last = (contacts, x)
        moved = perf_counter()
        seconds = StepSeconds(found - begun, assembled - found, solved - assembled, moved - solved)
        return ContactReport(self.steps, self.time, problem, x0, x, solution, seconds, contacts)

    def __copy__(self) -> Self:
        return deepcopy(self)

    def forget_impulses(self) -> None:
        """Start the next step cold: after bodies were moved by hand."""
        self._last = None

    @abstractmethod
    def find_contacts(self, dt: float) -> Contacts:
        """Every contact that a step of dt must know of."""

    @abstractmethod
    def make_problem(self, contacts: Contacts, dt: float) -> ContactProblem:
        """The problem whose unknowns are the impulses of the step: contacts first, in their order."""

    @abstractmethod
    def match_contacts(self, old: Contacts, new: Contacts) -> NDArray[np.int64]:
        """For each new contact the number of the old one that it continues, or -1."""

    @abstractmethod
    def move(self, problem: ContactProblem, x: Vector, dt: float) -> bool:
        """New velocities and positions; False, and nothing changed, where they would not be finite."""

    @abstractmethod
    def bodies(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Position, orientation, velocity and spin of every body, as a `Frame` has them; copies."""

    def frame(self, report: StepReport | None = None) -> Frame:
        """The state now, with the contacts of the step that led to it.

        `statistics` are left to the caller: `dataclasses.replace(frame, statistics={"residual": ...})`.
        """
        position, orientation, velocity, spin = self.bodies()
        if report is None:
            contacts = ContactFrame.none(position.shape[1])
        else:
            if not isinstance(report, ContactReport):
                raise TypeError(f"report is a {type(report).__name__}; the report of a step of this world is needed")
            found = report.contacts
            impulse = found.impulses(report.x)
            contacts = ContactFrame(found.bodies, found.point, found.frame[:, 0], found.gap, impulse)
        return Frame(self.steps, self.time, position, orientation, velocity, spin, contacts)

    def _problem(self, contacts: Contacts, dt: float) -> ContactProblem:
        try:
            problem = self.make_problem(contacts, dt)
            if self.contact_compliance == 0.0:
                return problem
            return problem.with_compliance(contact_compliance(problem, self.contact_compliance, self.compliance_units))
        except InvalidProblem as error:  # velocities so large that products with them are infinite
            if self._is_sound():
                raise
            raise StateNotFinite(self.steps + 1, self.time) from error

    def _is_sound(self) -> bool:
        """Whether every number of the state is finite, and so are products of them."""
        with np.errstate(all="ignore"):
            return all(bool((np.abs(part) < OVERFLOWING).all()) for part in self.bodies())

    def _recall(self, contacts: Contacts, problem: ContactProblem) -> Vector | None:
        if not self.warm_start or self._last is None:
            return None
        old, x = self._last
        match = self.match_contacts(old, contacts)
        start = carry_impulses(old, x, contacts, match, problem.n)
        return not_worse_than_cold(problem, start, self.warm_rule)
