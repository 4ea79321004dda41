"""The contacts without friction: normals and the rows after the contacts alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.models.restatement import (
    RestatedBoxLCP,
    RestatedLCP,
    Restatement,
    make_restated,
    require_contacts,
)


def frictionless(problem: ContactProblem) -> RestatedLCP | RestatedBoxLCP:
    """0 <= x_n  ⊥  y_n >= 0 and the rows after the contacts, with all tangents left out: x_t = 0, y_t anything.

    A third of the rows, in the form that A has (a factored A stays factored). For symmetric positive semidefinite A a
    convex problem; its normal impulses are what THESIS 2.4.2 takes the bounds of friction from (`fixed_box`).
    """
    contacts = require_contacts(problem)
    origin = Frictionless(contacts)
    rows, count = origin.rows, contacts.contacts
    lower = np.concatenate([np.zeros(count), contacts.lower])
    upper = np.concatenate([np.full(count, np.inf), contacts.upper])
    return make_restated(contacts.A.restrict(rows), contacts.b[rows], lower, upper, origin)


@dataclass(frozen=True, eq=False)
class Frictionless(Restatement):
    """The unknowns are the normal impulses, then those of the other rows."""

    @property
    def title(self) -> str:
        return "frictionless problem"

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows of the contact problem that are left."""
        return np.concatenate([self.contacts.normal_rows, np.arange(self.contacts.contact_rows, self.contacts.n)])

    def impulses(self, x: Vector) -> Vector:
        impulses = np.zeros(self.contacts.n)
        impulses[self.rows] = x
        return impulses

    def unknowns(self, impulses: Vector) -> Vector:
        x = impulses[self.rows]
        count = self.contacts.contacts
        x[:count] = np.maximum(x[:count], 0.0)
        x[count:] = np.clip(x[count:], self.contacts.lower, self.contacts.upper)
        return x
