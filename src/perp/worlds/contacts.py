"""The contacts that a world found, and how the next step finds them again and starts from their impulses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem, suggest
from perp.kernels.contacts import point_contacts
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, require_count, require_number


@dataclass(frozen=True, eq=False, repr=False)
class Contacts:
    """m contacts in d = 2 or 3 dimensions, each between body a and body b, either of which may be the world."""

    bodies: NDArray[np.int64]
    """m x 2, numbers of a and b; -1 is the world."""
    point: NDArray[np.float64]
    """m x d [m], in the world."""
    frame: NDArray[np.float64]
    """m x d x d: rows are unit vectors, the normal from a to b first, then the tangents."""
    gap: Vector
    """m [m]; negative where the bodies overlap."""
    friction: Vector
    """m coefficients."""
    restitution: Vector
    """m, in 0..1."""

    def __len__(self) -> int:
        return self.gap.size

    def __repr__(self) -> str:
        depth = f"deepest overlap {self.penetration:.3g} m"
        return f"<{type(self).__name__}: {len(self):,} in {self.dimension} dimensions, {depth}>"

    @property
    def dimension(self) -> int:
        return int(self.point.shape[1])

    @property
    def penetration(self) -> float:
        """The deepest overlap [m]; 0 where there is none."""
        return float(max(0.0, -self.gap.min(initial=0.0)))

    def impulses(self, x: Vector) -> NDArray[np.float64]:
        """m x d impulses on body b [N s] as vectors of the world, from those in the contacts' own frames.

        `impulses(x) / dt` are the mean forces of a step [N] on the bodies `bodies[:, 1]`; on `bodies[:, 0]` act the
        same with the other sign.
        """
        d = self.dimension
        world: NDArray[np.float64] = np.einsum("mk,mkj->mj", x[: d * len(self)].reshape(-1, d), self.frame)
        return world

    def force_on(self, body: int, x: Vector, dt: float) -> Vector:
        """The sum of the contact forces on a body (-1: the world) in a step of dt [s] with impulses x: d numbers [N].

        `report.contacts.force_on(0, report.x, dt)`; a body at rest gets m g upwards from what it stands on.
        """
        require_count(body, "body", least=-1)
        require_number(dt, "dt", positive=True)
        if np.shape(x)[:1] < (self.dimension * len(self),):
            rows = self.dimension * len(self)
            raise InvalidProblem(f"x has shape {np.shape(x)}; {len(self)} contacts have {rows} impulses")
        impulses = self.impulses(np.asarray(x))
        second, first = self.bodies[:, 1] == body, self.bodies[:, 0] == body
        total: Vector = (impulses[second].sum(axis=0) - impulses[first].sum(axis=0)) / dt
        return total


@dataclass(frozen=True, eq=False, repr=False)
class ShapeContacts(Contacts):
    """`pair` is one number for the two shapes; `local` the point in a frame that moves with one of them (m x 3 [m])."""

    pair: NDArray[np.uint64]
    local: NDArray[np.float64]

    @cached_property
    def by_pair(self) -> NDArray[np.uint32]:
        """The contacts by rising pair."""
        return np.argsort(self.pair, kind="stable").astype(np.uint32)


def match_contacts(old: ShapeContacts, new: ShapeContacts) -> NDArray[np.int64]:
    """For each new contact the nearest old one between the same shapes, each old one once; -1 where there is none."""
    match = np.empty(len(new), dtype=np.int64)
    is_taken = np.zeros(len(old), dtype=np.bool_)
    olds = (old.by_pair, old.pair, old.local.reshape(-1))
    news = (new.by_pair, new.pair, new.local.reshape(-1))
    point_contacts.match_points(*olds, *news, is_taken, match)
    return match


# Where a solver starts: the impulses of the last step, carried over to the contacts that are still there.


def carry_impulses(old: Contacts, x: Vector, new: Contacts, match: NDArray[np.int64], rows: int) -> Vector:
    """Impulses x of the old contacts on the new ones; `match` names the old one of each new one, or is -1.

    The normal impulse is carried as a number, as normals turn with the bodies. Friction is carried as a vector of the
    world, because the tangents of a contact may change in every step. What comes after the contacts in x
    (joints, limits, motors) keeps its order from step to step and is copied.
    """
    d = new.dimension
    start = np.zeros(rows)
    frames = (np.ascontiguousarray(contacts.frame).reshape(-1) for contacts in (old, new))
    point_contacts.carry(np.uint64(d), match, np.array(x), *frames, start)
    others = x[d * len(old) :]
    if others.size == rows - d * len(new):
        start[d * len(new) :] = others
    return start


RULES = ("energy", "always")


def not_worse_than_cold(problem: ContactProblem, start: Vector, rule: str = "energy") -> Vector | None:
    """The start, brought within its bounds; or None, for a cold start, where zero is the better one.

    `rule="energy"` asks whether 1/2 x^T A x + b^T x < 0, its value at zero: whether the impulses take energy out of the
    step (NOTES eq. 21). The residual would be the more obvious measure, and is a bad one: it is a maximum, so that one
    contact that has lost its load throws away the impulses of all others. With ten sweeps a step it refused 356 of 400
    starts of `pool1`, against 61, and discs overlapped by up to 19 cm in place of 4.5. Taking every start
    (`rule="always"`) puts energy into the 30 discs of `stacking`.
    """
    if rule not in RULES:
        raise ValueError(f"the rule is {rule!r}{suggest(str(rule), RULES)}")
    warm = problem.project(start)
    if rule == "always":
        return warm
    if not warm.any():
        return None
    with np.errstate(all="ignore"):
        y = problem.A.slack(warm, problem.b, np.empty(problem.n))
        is_better = float(np.sum(warm * (y + problem.b))) < 0.0
    return warm if is_better else None
