"""The frictional contact problem: bounds that follow the normal impulse."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem, suggest
from perp.kernels.measures import projection
from perp.problems.box import checked_bounds
from perp.problems.contact_laws import (
    checked_friction,
    find_levers,
    find_strength,
    nearest_of_contacts,
    require_dimension,
)
from perp.problems.inputs import (
    Matrix,
    MatrixLike,
    PerRow,
    PerTangent,
    Vector,
    VectorLike,
    as_vector,
    freeze,
    require_count,
)
from perp.problems.operators.base import DIAGONAL
from perp.problems.problem import Problem, find_row_scales
from perp.vocabulary import explains_arguments

MODELS = ("box", "cone", "convex", "disc")


@explains_arguments()
@dataclass(frozen=True, eq=False, repr=False)
class ContactProblem(Problem):
    """Contacts with Coulomb friction, and optional further rows (joints, limits, motors).

    x holds impulses [N s], y = A x + b relative velocities [m/s]. Contact c owns the rows
    `dimension * c + (0, 1, 2)`: normal, tangent, tangent (`dimension=2`: normal, tangent; 4 and 6: see below). In all
    models but "convex"

        0 <= x_n  ⊥  y_n >= 0.

    `model="box"` bounds each tangent by itself, |x_t| <= friction_c x_n, with y_t opposing (PGS-SM eq. 7).
    `model="cone"` bounds the pair by a disc, |(x_p, x_q)| <= friction_c x_n, and the friction opposes the slip: the
    exact Coulomb law with maximum dissipation. (In two dimensions the two are the same.)
    `model="convex"` has the same cone K, and asks for a slack in the dual cone (Anitescu & Tasora 2010):

        x in K = {|x_t| <= friction_c x_n}  ⊥  y in K* = {friction_c |y_t| <= y_n},       x · y = 0 contact by contact.

    For symmetric positive semidefinite A these are the conditions for a minimum of 1/2 x^T A x + b^T x over K. The
    price of convexity is a gap: a contact that slides also opens, with y_n = friction_c |y_t|.
    `model="disc"` fixes the discs in advance: |x_t| <= r_c with y_t opposing, whatever the normal impulse is, so that a
    contact without one may rub, too. This is THESIS 2.4.2 with discs in place of boxes, and the friction step of
    staggering, where r_c is the coefficient times a normal impulse that is known. It is convex as well, without a gap.
    **Here `friction` is no coefficient but the radius r_c itself [N s].** (In two dimensions the disc is [-r_c, r_c].)

    `friction` is one number for all or one a contact, >= 0; or a matrix with a line for each contact (or one line for
    all) and a column for each row beside the normal. It must be one with `dimension=4`, whose fourth row is the moment
    about the normal (torsion), and `dimension=6`, with two rolling moments after it; impulses are then [N m s] and
    velocities [rad/s] there, and coefficients metres. With u_i = mu_i y_i the law of the cone is

        |(x_1/mu_1, ..., x_k/mu_k)| <= x_n,    (x_i/mu_i) = -x_n u / |u|  where u is not 0,     x_i = 0  where mu_i = 0,

    one limit for sliding, spinning and rolling together, that which dissipates most; and the other models are changed
    likewise (disc: the columns are the half-axes of a fixed ellipsoid). Residuals of such contacts are in units of the
    first coefficient (`levers`). Few methods take them: `cone_interior`, `cone_newton`, and "auto", which asks these.

    After the contacts may come `extra_rows` ordinary rows with
    bounds `lower` and `upper` (numbers, or arrays that also tell how many rows there are); by default they are
    equations (y = 0, x free), as joints are.

    `contact_compliance` says which part of the diagonal of A is a compliance of the contacts that was added to the
    rigid law: C_c [(m/s)/(N s)], one number for all or one a contact, on each of its rows. `with_compliance` adds it to
    A; this argument only remembers what A has already.
    """

    friction: Vector
    model: str
    dimension: int
    contact_compliance: Vector

    def __init__(
        self,
        A: MatrixLike,
        b: VectorLike,
        friction: PerTangent,
        model: str = "box",
        *,
        dimension: int = 3,
        extra_rows: int | None = None,
        lower: PerRow = -np.inf,
        upper: PerRow = np.inf,
        contact_compliance: PerRow = 0.0,
    ) -> None:
        super().__init__(A, b)
        if model not in MODELS:
            raise InvalidProblem(f"model {model!r} is unknown{suggest(str(model), MODELS)}")
        require_dimension(dimension)
        others = _count_extra_rows(extra_rows, lower, upper, self.n)
        coefficients = checked_friction(friction, model, self.n - others, dimension)
        contacts = len(coefficients)
        expected = dimension * contacts + others
        if expected != self.n:
            raise InvalidProblem(
                f"{contacts} contacts of {dimension} rows and {others} extra rows make {expected} rows, "
                f"but A has {self.n}: check the length of friction, dimension and extra_rows"
            )
        low, high = checked_bounds(lower, upper, others)
        compliance = _checked_compliance(contact_compliance, contacts)
        for name, value in (
            ("friction", coefficients),
            ("model", model),
            ("dimension", int(dimension)),
            ("lower", low),
            ("upper", high),
            ("contact_compliance", compliance),
        ):
            object.__setattr__(self, name, value)
        self._require_contained()

    @property
    def kind(self) -> str:
        return f"wide/{self.model}" if self.is_wide else f"contact/{self.model}"

    @property
    def is_wide(self) -> bool:
        """Whether every row beside the normal has a coefficient of its own."""
        return self.friction.ndim == 2

    @property
    def contacts(self) -> int:
        return len(self.friction)

    @property
    def law(self) -> tuple[np.uint64, np.uint64, Vector]:
        return np.uint64(self.dimension), _law_numbers()[self.model], self.friction

    @property
    def frictional(self) -> ContactProblem:
        return self

    @property
    def contact_rows(self) -> int:
        return self.dimension * self.contacts

    @property
    def has_discs(self) -> bool:
        """Whether the tangents of a contact are bounded by a disc; in two dimensions a disc is an interval."""
        return self.model in ("cone", "disc") and self.dimension > 2

    @property
    def normal_rows(self) -> NDArray[np.intp]:
        return np.arange(0, self.contact_rows, self.dimension)

    def every(self, place: int) -> slice:
        """The rows of that place in all contacts: 0 for the normals, 1 and 2 for tangents."""
        return slice(place, self.contact_rows, self.dimension)

    def tangent_limits(self, x: Vector) -> Vector:
        """What bounds the tangents of each contact at x: a given radius, or friction times the normal impulse."""
        if self.model == "disc":
            return self.friction
        normals = np.maximum(x[self.every(0)], 0.0)
        return self.friction * (normals[:, None] if self.is_wide else normals)

    def measured(self, x: Vector) -> Matrix:
        """The impulses of contacts in the units of `levers`, one line a contact; 0 for rows without one."""
        contacts = x[: self.contact_rows].reshape(self.contacts, self.dimension)
        if not self.is_wide:
            return contacts
        return np.divide(contacts, self.levers, out=np.zeros(contacts.shape), where=self.levers > 0.0)

    @cached_property
    def strength(self) -> Vector:
        """One coefficient (model disc: radius) a contact: all there is, or the one that the others are measured by."""
        return find_strength(self.friction)

    @cached_property
    def levers(self) -> Matrix:
        """What each row of a contact is measured by (`perp.problems.contact_laws`), one line a contact."""
        return find_levers(self.friction, self.dimension)

    def normal_speeds(self, x: Vector) -> Vector:
        """A_nn x_n of each contact [m/s], the speed that its normal impulse makes; x_n where A_nn is not known."""
        normals = x[self.every(0)]
        return normals if self.diagonal is None else self.diagonal[self.every(0)] * normals

    def bounds(self, x: Vector) -> tuple[Vector, Vector]:
        """Bounds at x. Those of a tangent in a cone or disc are the disc's, with no regard to the other tangents."""
        lower, upper = np.zeros(self.n), np.full(self.n, np.inf)
        limit = self.tangent_limits(x)
        for tangent in range(1, self.dimension):
            own = limit[:, tangent - 1] if self.is_wide else limit
            np.negative(own, out=lower[self.every(tangent)])
            upper[self.every(tangent)] = own
        lower[self.contact_rows :] = self.lower
        upper[self.contact_rows :] = self.upper
        return lower, upper

    def project(self, x: Vector) -> Vector:
        """Normals to x_n >= 0, then tangents to the bounds (or the disc) that those normals allow; others to theirs.

        Convex contacts go to the nearest point of their cone, normal and tangents together. Distances of wide contacts
        are those in the units of `levers`.
        """
        projected = np.array(x, dtype=np.float64)
        if self.is_wide or self.model == "convex":
            projected[: self.contact_rows] = nearest_of_contacts(self, projected)
            projected[self.contact_rows :] = np.clip(projected[self.contact_rows :], self.lower, self.upper)
        else:
            projection.project_contacts(*self.law, self.lower, self.upper, projected)
        return projected

    def with_rows(self, A: MatrixLike, b: VectorLike, lower: PerRow, upper: PerRow) -> ContactProblem:
        return ContactProblem(A, b, self.friction, self.model, **self._others() | {"lower": lower, "upper": upper})

    def with_model(
        self, model: str, *, friction: PerTangent | None = None, radii: PerTangent | None = None
    ) -> ContactProblem:
        """The same contacts and other rows under another model; A and b are shared.

        The model `disc` needs its `radii` [N s], for example `problem.tangent_limits(x)` of some impulses x; from it to
        another model needs coefficients: `friction`, which may also be given to change those that are there.
        """
        strength: Any
        if model == "disc":
            if friction is not None:
                raise TypeError("with_model('disc') takes radii [N s], not friction")
            strength = self.friction if radii is None and self.model == "disc" else radii
        elif radii is not None:
            raise TypeError(f"with_model({model!r}) takes no radii; only 'disc' does")
        else:
            strength = self.friction if friction is None and self.model != "disc" else friction
        if strength is None:
            missing = "radii=... [N s]" if model == "disc" else "friction=..., as the discs have radii, no coefficients"
            raise InvalidProblem(f"from model {self.model!r} to {model!r} needs {missing}")
        if self.is_wide and self.is_compliant:  # which is measured by the coefficients
            rigid = self.with_compliance(0.0)
            changed = ContactProblem(rigid.A, self.b, strength, model, **rigid._others())
            return changed.with_compliance(self.contact_compliance)
        if np.ndim(strength) == 0 and not self.is_wide:
            strength = np.full(self.contacts, strength)
        return ContactProblem(self.A, self.b, strength, model, **self._others())

    @property
    def is_compliant(self) -> bool:
        """Whether some contact has a compliance that was added to the rigid law."""
        return bool(self.contact_compliance.any())

    def with_compliance(self, compliance: PerRow) -> ContactProblem:
        """The same law of friction for contacts that give way: y = (A + C) x + b, the other rows as they are.

        `compliance` [(m/s)/(N s)] is C_c >= 0, one number for all contacts or one a contact (`perp.contact_compliance`
        finds them from a share of the inertia or of the load). It stands on all rows of the contact, so that the law
        has no preferred direction. It takes the place of a `contact_compliance` that is there already; 0 gives the
        rigid law back (up to rounding of the diagonal where A is a matrix). Compliances that rows have for other
        reasons (`perp.ContactRows`, `FactoredOperator`) stay: in this sense they belong to the rigid law.
        """
        new, old = _checked_compliance(compliance, self.contacts), self.contact_compliance
        if np.array_equal(new, old):
            return self
        A = self.A.with_added_diagonal(-self._on_rows(old)) if self.is_compliant else self.A
        if new.any():
            A = A.with_added_diagonal(self._on_rows(new))
        others = self._others() | {"contact_compliance": new}
        return ContactProblem(A, self.b, self.friction, self.model, **others)

    def _on_rows(self, one_a_contact: Vector) -> Vector:
        """The compliance of each contact on all of its rows, in their units; 0 where nothing moves, and on others."""
        rows, levers = np.zeros(self.n), self.levers
        of_contacts = rows[: self.contact_rows].reshape(levers.shape)
        np.divide(one_a_contact[:, None], levers**2, out=of_contacts, where=levers > 0.0)
        return rows

    def _require_contained(self) -> None:
        """What is said to be a part of C must not be more than all of it."""
        if self.A.factored is None or not self.is_compliant:
            return
        whole = self.A.factored.compliance
        more = np.flatnonzero(self._on_rows(self.contact_compliance) > whole)
        if more.size:
            c = int(more[0]) // self.dimension
            raise InvalidProblem(
                f"contact_compliance[{c}] is {self.contact_compliance[c]}, but A has {whole[more[0]]}: "
                "with_compliance adds it to A"
            )

    def _others(self) -> dict[str, Any]:
        """What the constructor takes beside A, b, friction and model."""
        names = ("dimension", "lower", "upper", "contact_compliance")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def contact_blocks(self) -> NDArray[np.float64]:
        """The diagonal blocks of A that belong to the contacts, as a stack; found once."""
        return freeze(self.A.diagonal_blocks(self.dimension, self.contacts))

    @cached_property
    def has_pairs_of_bodies(self) -> bool:
        """Whether A is made of pairs of bodies, and the rows of each contact act on one pair; found once."""
        paired = None if self.A.factored is None else self.A.factored.paired
        return paired is not None and paired.has_common_bodies(self.dimension, self.contacts)

    @cached_property
    def diagonal(self) -> Vector | None:
        """The numbers A_ii, or None; of pairs of bodies read off `contact_blocks`, which whoever sweeps needs, too."""
        if self.has_pairs_of_bodies and self.contact_rows == self.n:
            d = self.dimension
            return freeze(self.contact_blocks.reshape(-1, d * d)[:, :: d + 1].flatten())
        return self.A.frozen_diagonal() if DIAGONAL in self.A.ability_set else None

    @cached_property
    def row_scales(self) -> Vector:
        """One factor a contact, found from its normal row: scaling the rows of a contact apart would bend its slip."""
        if not self.has_extreme_rows:
            return freeze(np.ones(self.n))
        scales = find_row_scales(self.A, self.diagonal)
        for tangent in range(1, self.dimension):
            scales[self.every(tangent)] = scales[self.every(0)]
        return freeze(scales)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(ContactProblem, **self._others()), (self.A, self.b, self.friction, self.model)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        softness = {"contact_compliance": self.contact_compliance} if self.is_compliant else {}
        return softness | {
            "kind": np.array("contact"),
            "model": np.array(self.model),
            "dimension": np.array(self.dimension, dtype=np.int64),
            "friction": self.friction,
            "lower": self.lower,
            "upper": self.upper,
        }

    def __repr__(self) -> str:
        others = self.n - self.contact_rows
        softest = f", compliance up to {self.contact_compliance.max():.3g}" if self.is_compliant else ""
        space = f"{self.dimension}D" if self.dimension <= 3 else f"{self.dimension} rows each"
        return (
            f"<ContactProblem with {self.contacts} contacts ({self.model} friction, {space})"
            f"{softest}{f', {others} other rows' if others else ''}, {self.A.form} A>"
        )


@cache
def _law_numbers() -> dict[str, np.uint64]:
    """The kernels' number for what bounds the impulse of a contact; in two dimensions a disc is an interval to them."""
    return {
        "box": projection.BOXES,
        "cone": projection.DISCS,
        "convex": projection.CONES,
        "disc": projection.FIXED_DISCS,
    }


def _count_extra_rows(extra_rows: int | None, lower: Any, upper: Any, n: int) -> int:
    """As told, or as many as there are bounds, or none."""
    if extra_rows is not None:
        require_count(extra_rows, "extra_rows")
        count = int(extra_rows)
    else:
        count = max(len(bound) if np.ndim(bound) == 1 else 0 for bound in (lower, upper))
        if count == 0 and not all(np.ndim(bound) == 1 or np.isinf(bound) for bound in (lower, upper)):
            raise InvalidProblem("lower and upper bound the rows after the contacts: say how many with extra_rows=...")
    if count > n:
        raise InvalidProblem(f"extra_rows is {count}, but A has only {n} rows")
    return count


def _checked_compliance(compliance: Any, contacts: int) -> Vector:
    if type(compliance) is float and compliance == 0.0:  # what most people have
        return freeze(np.zeros(contacts))
    numbers = np.full(contacts, compliance) if np.ndim(compliance) == 0 else compliance
    checked = as_vector(numbers, "contact_compliance", contacts)
    negative = np.flatnonzero(checked < 0)
    if negative.size:
        c = int(negative[0])
        raise InvalidProblem(f"contact_compliance[{c}] is {checked[c]}; it must not be negative")
    return checked
