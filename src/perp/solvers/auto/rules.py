"""The rules of "auto": which methods are asked, in which order, and why. The first rule that applies decides.

Each rule names the family of problems in `docs/choosing/best.csv` that its choice was measured on; `python -m
benchmarks choosing` measures them anew. A chain is gone along until an answer is certain; every step starts where the
best one before it has ended. Methods that refuse a problem are passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from perp.solvers.auto.features import Features
from perp.solvers.cone_interior.cone_interior import ConeInterior
from perp.solvers.gradient.admm import ADMM
from perp.solvers.gradient.apgd import APGD
from perp.solvers.gradient.mprgp import MPRGP
from perp.solvers.gradient.pgcg import PGCG
from perp.solvers.gradient.spg import SPG
from perp.solvers.method import Method
from perp.solvers.multilevel.multigrid import Multigrid
from perp.solvers.newton.cone.cone_newton import ConeNewton
from perp.solvers.newton.fischer.fischer import Fischer
from perp.solvers.newton.interior.interior_pivoting import InteriorPivoting
from perp.solvers.newton.interior.interior_point import InteriorPoint
from perp.solvers.newton.minimum_map.minimum_map import MinimumMap
from perp.solvers.newton.policy_iteration.policy_iteration import PolicyIteration
from perp.solvers.pivoting.block_principal import BlockPrincipal
from perp.solvers.pivoting.dantzig import Dantzig
from perp.solvers.pivoting.enumeration import Enumeration
from perp.solvers.pivoting.lemke import Lemke
from perp.solvers.pivoting.principal import Principal
from perp.solvers.splitting.block_gauss_seidel import BlockGaussSeidel
from perp.solvers.splitting.gauss_seidel import PGS, PSOR
from perp.solvers.splitting.jacobi import Jacobi
from perp.solvers.splitting.nncg import NNCG

LEMKE_ROWS = 600
"""Lemke's tableau costs n^2 a pivot and takes a multiple of n pivots; beyond so many rows others are asked before."""

FEW_ROWS = 200
"""Up to so many rows a dense method that changes one row at a time is quicker than factors computed anew."""

FEW_CELLS = 2000

FEW_CONTACT_ROWS = 300
"""About a hundred contacts: with more of them, sweeps stall on the redundant ones, and factors are worth their time."""

LCP_CONTACT_ROWS = 1500
"""Beyond so many rows of contacts Stewart and Trinkle's LCP takes seconds, and its answer is a worse start."""

NEARLY = 0.1
"""A scaled residual below which many contacts are taken for solvable: a proof that they are not is sought last."""

ALMOST = 1e-5
"""A scaled residual below which Newton's method goes on with many contacts: it ends slowly, but further paths would
lead to other solutions or none."""

ENUMERATION_ROWS = 16
"""All 2^n index sets: 65,536 are looked at in a tenth of a second."""


@dataclass(frozen=True)
class Step:
    """One method of a chain."""

    method: Method
    iterations: int | None = None
    """Its limit here; None for its own."""
    from_best: bool = True
    """Whether it starts at the best point so far; otherwise where the caller, or the cold start, is."""
    is_cold: bool = False
    """Whether it starts cold, also where the caller gave a point."""
    most_rows: int | None = None
    """Larger problems pass it over: it would take too long."""
    from_lcp: bool = False
    """Whether it starts at the answer to the contacts as an LCP of Stewart and Trinkle, which is found first."""
    from_compliance: bool = False
    """Whether it starts at the answer for contacts with a little compliance, which is found first."""
    below: float | None = None
    """It is passed over where the scaled residual of the best point is not below this."""
    is_try: bool = False
    """Whether it is given up as soon as its rate says that it will not be done within its limit. That it fails is no
    reason for doubts."""
    is_eager: bool = False
    """Whether it goes on to the last digits, which cost it less than a polish would."""


@dataclass(frozen=True)
class Rule:
    """Who is asked when."""

    name: str
    applies: Callable[[Features], bool]
    chain: tuple[Step, ...]
    why: str
    measured: str
    """The families of problems it was measured on, as `docs/choosing/best.csv` calls them, or kinds of the gallery,
    of which `docs/tribology.md` has the figures."""
    trusts: float = 0.0
    """The scaled residual below which the proof that there is no solution is sought only after the chain."""


INTERIOR = Step(InteriorPivoting(), from_best=False)
FISCHER = Step(Fischer(), iterations=300)
LEMKE = Step(Lemke(), from_best=False, most_rows=LEMKE_ROWS)

LAST_RESORTS = (
    Step(InteriorPoint(), from_best=False),
    FISCHER,
    LEMKE,
    Step(Lemke(covering="diagonal"), from_best=False, most_rows=LEMKE_ROWS),
    Step(Principal(rule="keller"), from_best=False, iterations=2000, most_rows=LEMKE_ROWS),
    Step(MinimumMap(), iterations=300),
    Step(Enumeration(), from_best=False, most_rows=ENUMERATION_ROWS),
)
"""For ordinary rows, whatever A is: each has solved some problem here that no other did."""

MANY_CONTACTS = (
    Step(NNCG(), iterations=3000),
    Step(ConeNewton(), iterations=100),
    Step(ConeNewton(), iterations=300, below=ALMOST),
    Step(ConeInterior(seed=1, attempts=3), is_cold=True),
    Step(ADMM(), iterations=1500, most_rows=3000),
    Step(ConeNewton(), iterations=300),
    Step(ConeNewton(), iterations=50, from_compliance=True),
    Step(ConeInterior(seed=4, attempts=4), is_cold=True),
    Step(ConeNewton(), iterations=300, from_lcp=True, most_rows=LCP_CONTACT_ROWS),
    Step(BlockGaussSeidel(), iterations=5000),
    Step(ADMM(), iterations=5000),
    Step(PGS(), iterations=20_000),
    Step(APGD(), iterations=10_000),
)
"""After a first path of interior points. Further paths find other answers, or none: sweeps and Newton's method are
asked before."""

RULES: tuple[Rule, ...] = (
    Rule(
        "wide contacts",
        lambda it: it.is_wide,
        (
            Step(ConeInterior()),
            Step(ConeNewton(), iterations=300),
            Step(ConeNewton(), iterations=50, from_compliance=True),
            Step(ConeInterior(space="contact"), from_best=False),
            Step(ConeNewton()),
        ),
        "contacts with torsion and rolling: interior points of cones with any number of tangents, then Newton's method",
        "wide stack 1:1 cone, wide stack 1:1000 cone",
    ),
    Rule(
        "small grid",
        lambda it: it.is_grid and not it.has_contacts and it.n <= FEW_CELLS,
        (Step(PSOR(), iterations=300), Step(Multigrid()), Step(PolicyIteration()), *LAST_RESORTS),
        "A is a small stencil without positive couplings: sweeps are done before a hierarchy of grids is built",
        "poisson stencil, cube stencil, membrane stencil",
    ),
    Rule(
        "grid",
        lambda it: it.is_grid and not it.has_contacts,
        (Step(Multigrid()), Step(PolicyIteration()), Step(PSOR(), iterations=20_000)),
        "A is a stencil without positive couplings: the cycles of multigrid do not grow in number with the grid",
        "poisson stencil, cube stencil, membrane stencil",
    ),
    Rule(
        "convolution",
        lambda it: not it.has_contacts and it.has_rough_inverse,
        (
            Step(PGCG(preconditioner="fourier"), iterations=1000),
            Step(MPRGP(preconditioner="fourier", expand_along="conjugate"), iterations=3000),
            Step(SPG(), iterations=10_000),
            Step(APGD(), iterations=10_000),
        ),
        "A knows a rough inverse of itself, as a definite convolution does: it preconditions conjugate gradients",
        "hertz, rough_surface",
    ),
    Rule(
        "product with a diagonal",
        lambda it: not it.is_formed and not it.has_contacts and it.knows_diagonal,
        (
            Step(PGCG(), iterations=3000),
            Step(MPRGP(), iterations=5000),
            Step(APGD(), iterations=10_000),
            Step(Jacobi(), iterations=10_000),
            Step(Fischer(linear="gmres"), iterations=300),
            Step(MinimumMap(linear="gmres"), iterations=300),
        ),
        "A is a product and its diagonal is known: projected conjugate gradients ask for nothing else",
        "products with diagonal",
    ),
    Rule(
        "product",
        lambda it: not it.is_formed and not it.has_contacts,
        (
            Step(MPRGP(), iterations=3000),
            Step(APGD(), iterations=10_000),
            Step(SPG(), iterations=10_000),
            Step(Fischer(linear="gmres", preconditioner="none"), iterations=300),
        ),
        "A is a product and nothing else",
        "products",
    ),
    Rule(
        "many contacts, warm",
        lambda it: it.has_contacts and it.is_warm and it.n > FEW_CONTACT_ROWS and it.is_formed,
        (
            Step(ConeInterior(attempts=0), from_best=False, is_try=True),
            Step(NNCG(), iterations=1000, is_try=True),
            Step(ConeInterior(attempts=1), iterations=120),
            *MANY_CONTACTS,
        ),
        "a point to start from is given: Newton steps on its contact states, sweeps, then interior points of the cones",
        "stack 1:1 box, stack 1:1 cone",
        trusts=NEARLY,
    ),
    Rule(
        "many contacts",
        lambda it: it.has_contacts and it.n > FEW_CONTACT_ROWS and it.is_formed,
        (
            Step(NNCG(), iterations=60, is_eager=True),
            Step(ConeInterior(attempts=1), iterations=120, from_best=False),
            *MANY_CONTACTS,
        ),
        "many contacts, which are redundant as a rule: a few sweeps, then interior points of the friction cones",
        "stack 1:1 box, stack 1:1 cone, stack 1:1000 cone, stack 1:1 convex, stack 1:1000 convex, stack 1:1 disc",
        trusts=NEARLY,
    ),
    Rule(
        "convex contacts",
        lambda it: it.kind in ("contact/convex", "contact/disc"),
        (
            Step(BlockGaussSeidel(), iterations=200, is_eager=True),
            Step(ADMM(), iterations=1500),
            Step(ConeNewton(), iterations=100),
            Step(APGD(), iterations=5000),
            Step(ConeNewton(), iterations=500),
            Step(BlockGaussSeidel(), iterations=20_000),
            Step(SPG(), iterations=10_000),
        ),
        "the contacts are a convex program: sweeps settle a few contacts, two copies of x that come to agree many",
        "one body convex, stack 1:1 convex, stack 1:1000 convex, stack 1:1 disc",
    ),
    Rule(
        "contacts in a plane",
        lambda it: it.has_contacts and it.is_planar,
        (
            Step(NNCG(), iterations=300, is_eager=True),
            Step(ConeNewton(), iterations=300, from_lcp=True),
            Step(Dantzig(), from_best=False, most_rows=LEMKE_ROWS),
            Step(ADMM(), iterations=1500),
            Step(BlockGaussSeidel(), iterations=5000),
            Step(PGS(), iterations=20_000),
        ),
        "in a plane friction is an LCP: sweeps with conjugate directions, then Lemke's path on that LCP",
        "stack 1:1 box, stack 1:1 cone",
    ),
    Rule(
        "boxed friction",
        lambda it: it.kind == "contact/box",
        (
            Step(NNCG(), iterations=300, is_eager=True),
            Step(Dantzig(), from_best=False, most_rows=LEMKE_ROWS),
            Step(ConeNewton(), iterations=50, from_lcp=True),
            Step(ConeNewton(), iterations=300),
            Step(BlockGaussSeidel(), iterations=5000),
            Step(ADMM(), iterations=3000),
            Step(PGS(), iterations=20_000),
            Step(APGD(), iterations=10_000),
        ),
        "bounds follow the normal impulse: sweeps with conjugate directions, then one contact after the other, exactly",
        "one body box, stack 1:1 box, stack 1:1000 box",
    ),
    Rule(
        "contacts",
        lambda it: it.has_contacts,
        (
            Step(NNCG(), iterations=300, is_eager=True),
            Step(ADMM(), iterations=1500, most_rows=3000),
            Step(ConeNewton(), iterations=100),
            Step(ConeNewton(), iterations=300, from_lcp=True),
            Step(BlockGaussSeidel(), iterations=5000),
            Step(ADMM(), iterations=5000),
            Step(PGS(), iterations=20_000),
            Step(APGD(), iterations=10_000),
        ),
        "the exact cone: sweeps with conjugate directions, two copies of x that come to agree, then Newton's method",
        "one body cone, stack 1:1 cone, stack 1:1000 cone",
    ),
    Rule(
        "warm start",
        lambda it: it.is_warm and it.has_positive_diagonal and it.form != "factored",
        (Step(BlockPrincipal(), iterations=60), INTERIOR, *LAST_RESORTS),
        "a point to start from is given: block pivots begin with its index sets",
        "warm dense spd, warm pile",
    ),
    Rule(
        "dominant",
        lambda it: not it.is_full and it.is_dominant and not it.is_symmetric,
        (Step(PGS(), iterations=300), Step(BlockPrincipal()), Step(PolicyIteration()), INTERIOR, *LAST_RESORTS),
        "A is sparse and its diagonal outweighs each row: sweeps converge, and most often quickly",
        "upwind csr",
    ),
    Rule(
        "few symmetric rows",
        lambda it: it.is_symmetric and it.has_positive_diagonal and it.n <= FEW_ROWS,
        (Step(Dantzig()), Step(BlockPrincipal(), iterations=200), INTERIOR, *LAST_RESORTS),
        "A is symmetric with a positive diagonal: one row after the other, each change an update of the last factor",
        "dense spd, dense spd ill, dense psd, boxed stack, pile 1:1, chain",
    ),
    Rule(
        "diffusion",
        lambda it: not it.is_full and it.is_monotone,
        (
            Step(PSOR(), iterations=120, most_rows=1000),
            Step(NNCG(), iterations=300),
            Step(PolicyIteration()),
            Step(BlockPrincipal()),
            INTERIOR,
            *LAST_RESORTS,
        ),
        "A is sparse and symmetric without positive couplings: sweeps with conjugate directions, then policy iteration",
        "poisson csr, bands csr",
    ),
    Rule(
        "bodies",
        lambda it: it.form == "factored" and it.has_positive_diagonal,
        (
            Step(InteriorPivoting()),
            Step(InteriorPoint()),
            Step(BlockPrincipal()),
            Step(Fischer()),
            Step(PSOR(), iterations=50_000),
        ),
        "A is J M^-1 J^T: contacts are redundant as a rule, and an interior point does not mind",
        "pile 1:1, pile 1:1000, boxed stack, chain",
    ),
    Rule(
        "sparse symmetric",
        lambda it: it.is_symmetric and it.has_positive_diagonal and not it.is_full,
        (Step(NNCG(), iterations=200), INTERIOR, Step(BlockPrincipal(), iterations=60), *LAST_RESORTS),
        "A is sparse and symmetric with a positive diagonal: sweeps with conjugate directions, then an interior point",
        "sparse spd, boxed stack csr",
    ),
    Rule(
        "symmetric",
        lambda it: it.is_symmetric and it.has_positive_diagonal,
        (Step(BlockPrincipal(), iterations=60), INTERIOR, Step(Dantzig(), most_rows=1000), *LAST_RESORTS),
        "A is full and symmetric with a positive diagonal: block pivots are exact after a handful of factors",
        "dense spd, dense spd ill, dense psd, dense box",
    ),
    Rule(
        "positive diagonal",
        lambda it: it.has_positive_diagonal,
        (Step(BlockPrincipal(), iterations=60), LEMKE, Step(MinimumMap(), iterations=100), INTERIOR, *LAST_RESORTS),
        "A is not symmetric and has a positive diagonal, as P-matrices do: block pivots, then Lemke's path",
        "dense pd, dense p",
    ),
    Rule(
        "any sparse",
        lambda it: it.n > FEW_ROWS and not it.is_full,
        (
            Step(InteriorPoint(), from_best=False),
            LEMKE,
            FISCHER,
            Step(BlockPrincipal(), iterations=60, most_rows=3000),
            Step(InteriorPivoting(), from_best=False, most_rows=3000),
            *LAST_RESORTS,
        ),
        "the diagonal has zeros, as in programs with constraints: interior points on sparse factors",
        "sparse qp, sparse qp free, stewart-trinkle bodies",
    ),
    Rule(
        "any",
        lambda it: True,
        (LEMKE, Step(BlockPrincipal(), iterations=60), INTERIOR, *LAST_RESORTS),
        "the diagonal has zeros or negative entries: Lemke's method asks nothing of A",
        "dense qp, dense qp free, stewart-trinkle, dense copositive",
    ),
)


def find_rule(features: Features) -> Rule:
    """The first rule that applies; the last one always does."""
    return next(rule for rule in RULES if rule.applies(features))
