"""What each contact does: stick, slide, separate, or touch without pressing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import cast

import numpy as np
from numpy.typing import NDArray

from perp.problems.friction import ContactProblem
from perp.problems.inputs import Answer, PointLike, Vector, as_vector, require_number
from perp.problems.models.change import find_impulses
from perp.problems.problem import Problem


class ContactState(IntEnum):
    """The four things that a contact can do; numbers, so that an array of them can be searched and counted."""

    STICKING = 0
    """It presses and does not slip."""
    SLIDING = 1
    """It presses and slips."""
    SEPARATING = 2
    """It does not press, and opens."""
    GRAZING = 3
    """It touches, but neither presses nor opens."""


@dataclass(frozen=True, eq=False, repr=False)
class ContactStates:
    """`state`, one `ContactState` a contact, and the velocities [m/s] that it was told by."""

    state: NDArray[np.int8]
    slip: Vector
    """|y_t| of each contact."""
    opening: Vector
    """y_n of each contact."""

    @property
    def counts(self) -> dict[str, int]:
        """How many contacts do what."""
        return {one.name.lower(): int(np.count_nonzero(self.state == one)) for one in ContactState}

    @property
    def sticking(self) -> NDArray[np.bool_]:
        return self._which(ContactState.STICKING)

    @property
    def sliding(self) -> NDArray[np.bool_]:
        return self._which(ContactState.SLIDING)

    @property
    def separating(self) -> NDArray[np.bool_]:
        return self._which(ContactState.SEPARATING)

    @property
    def grazing(self) -> NDArray[np.bool_]:
        return self._which(ContactState.GRAZING)

    def _which(self, state: ContactState) -> NDArray[np.bool_]:
        return np.equal(self.state, int(state))

    def __len__(self) -> int:
        return self.state.size

    def __getitem__(self, contact: int) -> ContactState:
        return ContactState(int(self.state[contact]))

    def __iter__(self) -> Iterator[ContactState]:
        return (ContactState(int(value)) for value in self.state)

    def __repr__(self) -> str:
        told = ", ".join(f"{count} {name}" for name, count in self.counts.items() if count)
        return f"<{len(self)} contacts{': ' if told else ''}{told}>"


def contact_states(problem: ContactProblem, x: PointLike, tol: float = 1e-6) -> ContactStates:
    """What each contact does at the impulses x: a vector, or a `Result` of these contacts under any model.

    With velocities y = A x + b, and the speed A_nn x_n that the normal impulse makes at its own contact,

        sticking     A_nn x_n > tol,   |y_t| <= tol            separating   A_nn x_n <= tol,   y_n > tol
        sliding      A_nn x_n > tol,   |y_t| > tol             grazing      A_nn x_n <= tol,   y_n <= tol

    so that `tol` is a speed [m/s] throughout, whatever the masses are. Slip is told by the motion, not by the impulse:
    a contact at the rim of its cone that does not move sticks. Fixed discs rub without pressing, which is not told.
    Rows with coefficients of their own count as |(l_1 y_1, l_2 y_2, ...)|, in the units of `problem.levers`: contacts
    that spin or roll slide, too, unless the row has no friction.
    """
    if not isinstance(problem, ContactProblem):
        raise TypeError(f"problem is {type(problem).__name__}; a perp.ContactProblem is needed")
    require_number(tol, "tol")
    source = getattr(x, "problem", None)
    given = find_impulses(source, cast(Answer, x).x, problem) if isinstance(source, Problem) else getattr(x, "x", x)
    impulses = as_vector(given, "x", problem.n)
    with np.errstate(all="ignore"):  # overflow shows in the numbers
        y = problem.levers * problem.slack(impulses)[: problem.contact_rows].reshape(problem.levers.shape)
        opening, slip = y[:, 0].copy(), np.hypot.reduce(y[:, 1:], axis=1, initial=0.0)
        presses = problem.normal_speeds(impulses) > tol
    pressing = np.where(slip > tol, ContactState.SLIDING, ContactState.STICKING)
    touching = np.where(opening > tol, ContactState.SEPARATING, ContactState.GRAZING)
    return ContactStates(np.where(presses, pressing, touching).astype(np.int8), slip, opening)
