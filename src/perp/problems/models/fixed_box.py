"""Friction between bounds that are fixed in advance (THESIS 2.4.2): a boxed LCP, convex where A is symmetric PSD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from perp.errors import InvalidProblem
from perp.problems.friction import ContactProblem
from perp.problems.inputs import PerRow, PointLike, Vector, as_vector
from perp.problems.models.change import find_impulses
from perp.problems.models.restatement import RestatedBoxLCP, Restatement, require_contacts
from perp.problems.problem import Problem


def fixed_box(
    problem: ContactProblem, normal_impulses: PointLike | None = None, *, limits: PerRow | None = None
) -> RestatedBoxLCP:
    """0 <= x_n  ⊥  y_n >= 0, and |x_t| <= limit for each tangent, with y_t opposing: the bounds follow nothing.

    Where the limits come from:

    - `normal_impulses`, one a contact [N s]: limit = friction times it. A `Result` will do, too, of this contact
      problem under any law, so that THESIS 2.4.2 reads

          normals = perp.solve(perp.frictionless(problem))
          result = perp.solve(perp.fixed_box(problem, normals), x0=normals)

      which is what `perp.solve_fixed_box` does. With the impulses of the last time step it is a lagged friction.
    - `limits` [N s] themselves, a number or one a contact.
    - neither: only for contacts of the model `disc`, whose radii are the limits.

    A contact that turns out to separate still rubs with its limit, and one that is pressed harder than was foreseen
    slides too early: compare the answer with the law, `perp.verify(problem, result.x)`.
    """
    contacts = require_contacts(problem, "fixed_box")
    found = _find_limits(contacts, normal_impulses, limits)
    sides = np.repeat(found[:, None], contacts.dimension, axis=1)
    lower, upper = -sides, sides
    lower[:, 0], upper[:, 0] = 0.0, np.inf
    return RestatedBoxLCP(
        contacts.A,
        contacts.b,
        np.concatenate([lower.reshape(-1), contacts.lower]),
        np.concatenate([upper.reshape(-1), contacts.upper]),
        FixedBox(contacts, found),
    )


@dataclass(frozen=True, eq=False)
class FixedBox(Restatement):
    """The unknowns are the impulses."""

    limits: Vector

    @property
    def title(self) -> str:
        return "fixed box problem"

    def impulses(self, x: Vector) -> Vector:
        return x

    def unknowns(self, impulses: Vector) -> Vector:
        contacts = self.contacts
        x = np.array(impulses)
        parts = x[: contacts.contact_rows].reshape(contacts.contacts, contacts.dimension)
        parts[:, 0] = np.maximum(parts[:, 0], 0.0)
        parts[:, 1:] = np.clip(parts[:, 1:], -self.limits[:, None], self.limits[:, None])
        x[contacts.contact_rows :] = np.clip(x[contacts.contact_rows :], contacts.lower, contacts.upper)
        return x


def _find_limits(contacts: ContactProblem, normal_impulses: Any, limits: Any) -> Vector:
    if normal_impulses is not None and limits is not None:
        raise TypeError("fixed_box takes normal_impulses or limits, not both")
    if limits is None and contacts.model == "disc":
        if normal_impulses is not None:
            raise TypeError("the friction of fixed discs is a radius: it has no coefficient to multiply impulses with")
        return contacts.friction
    if limits is not None:
        numbers = np.full(contacts.contacts, limits) if np.ndim(limits) == 0 else limits
        return _not_negative(as_vector(numbers, "limits", contacts.contacts), "limits")
    if normal_impulses is None:
        raise TypeError(
            "fixed_box needs normal_impulses (one a contact, or a Result such as that of perp.frictionless(problem)) "
            "or limits"
        )
    if isinstance(getattr(normal_impulses, "problem", None), Problem):
        normals = find_impulses(normal_impulses.problem, normal_impulses.x, contacts)[contacts.normal_rows]
    else:
        normals = as_vector(normal_impulses, "normal_impulses", contacts.contacts)
    return contacts.friction * _not_negative(normals, "normal_impulses")


def _not_negative(numbers: Vector, name: str) -> Vector:
    negative = np.flatnonzero(numbers < 0.0)
    if negative.size:
        raise InvalidProblem(f"{name}[{negative[0]}] is {numbers[negative[0]]}; it must not be negative")
    return numbers
