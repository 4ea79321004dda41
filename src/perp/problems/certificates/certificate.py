"""What a proof of "no solution" is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.problems.inputs import Vector

KINDS = ("infeasible", "inconsistent", "friction", "exhausted", "ray")
"""What a certificate can be; `Certificate.kind` says more."""

PROVABLE = ("lcp", "box")
"""The kinds of problems whose bounds do not depend on x: a vector that a method leaves may be a proof as it is."""

MOST_ROWS_NAMED = 12

MEANINGS = {
    "infeasible": "no solution: no x within its bounds has an admissible slack",
    "inconsistent": "no solution: the equations among the rows contradict each other",
    "friction": "no solution: no impulse within its cone or bounds has an admissible slack",
    "exhausted": "no solution: every index set was refuted",
    "ray": "that the method ended on a ray, which by itself does not mean that there is no solution",
}


@dataclass(frozen=True, eq=False)
class Certificate:
    """The verdict on what is to prove that a problem has no solution (`perp.verify_certificate`).

    `kind` is one of

    * "infeasible": u separates the x within their bounds from admissible slacks (Farkas);
    * "inconsistent": the same with equations alone, whatever the bounds: the rows in `rows` contradict each other;
    * "friction": the same for contacts;
    * "exhausted": all index sets of the rows in `rows` were refuted; u is zero;
    * "ray": u is the direction of a ray of Lemke's method. That proves how the method ended, and no more.
    """

    u: Vector
    """The vector, scaled to max |u_i| = 1 and with entries of the wrong sign at rounding level set to zero."""
    margin: float
    """b^T u plus the most that A^T u can add: negative if u is a proof, +inf if it is none for want of a sign."""
    valid: bool
    """Whether it holds; for a vector, whether the margin is negative by more than rounding errors."""
    reason: str
    """What the verdict rests on, in a sentence."""
    kind: str = "infeasible"
    rows: tuple[int, ...] = ()
    """The rows that it speaks of."""
    reach: float = np.inf
    """Sum of |x_i| up to which it is a proof for A as it stands, to the last bit. Infinite, unless entries of A^T u
    that are meant to be zero have rounding errors; a solution beyond would then not contradict u."""
    cover: Vector | None = None
    """For a ray: the covering vector of Lemke's method, and in `lift` how fast z0 grows along the ray."""
    lift: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether it proves its claim for the numbers of the problem as they stand, whatever the size of x."""
        return self.valid and self.reach == np.inf

    @property
    def proves(self) -> str:
        """What follows where it is valid."""
        return MEANINGS[self.kind] if self.valid else "nothing"

    @property
    def excludes_solutions(self) -> bool:
        """Whether it shows that there is no solution."""
        return self.valid and self.kind != "ray"


def list_rows(rows: tuple[int, ...]) -> str:
    """ "row 3", "rows 3, 7 and 12", "rows 0, 1, 2, ... and 40 (17 rows)"."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    if len(rows) > MOST_ROWS_NAMED:
        return f"rows {', '.join(map(str, rows[:3]))}, ... and {rows[-1]} ({len(rows)} rows)"
    return f"rows {', '.join(map(str, rows[:-1]))} and {rows[-1]}"
