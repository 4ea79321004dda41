"""The rules of "auto": which methods are asked, in which order, and why. The first rule that applies decides.

Each rule names the family of problems in `docs/choosing/best.csv` that its choice was measured on; `python -m
benchmarks choosing` measures them anew. A chain is gone along until an answer is certain; every step starts where the
best one before it has ended. Methods that refuse a problem are passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from perp.solvers.auto.features import Features
from perp.solvers.gradient.admm import ADMM
from perp.solvers.gradient.apgd import APGD
from perp.solvers.gradient.pgcg import PGCG
from perp.solvers.gradient.spg import SPG
from perp.solvers.method import Method
from perp.solvers.multilevel.multigrid import Multigrid
from perp.solvers.newton.cone_newton import ConeNewton
from perp.solvers.newton.fischer import Fischer
from perp.solvers.newton.interior_pivoting import InteriorPivoting
from perp.solvers.newton.interior_point import InteriorPoint
from perp.solvers.newton.minimum_map import MinimumMap
from perp.solvers.newton.policy_iteration import PolicyIteration
from perp.solvers.pivoting.block_principal import BlockPrincipal
from perp.solvers.pivoting.dantzig import Dantzig
from perp.solvers.pivoting.enumeration import Enumeration
from perp.solvers.pivoting.lemke import Lemke
from perp.solvers.pivoting.principal import Principal
from perp.solvers.splitting.block_gauss_seidel import BlockGaussSeidel
from perp.solvers.splitting.gauss_seidel import PGS, PSOR
from perp.solvers.splitting.jacobi import Jacobi
from perp.solvers.splitting.nncg import NNCG
from perp.solvers.splitting.staggering import Staggering

LEMKE_ROWS = 400
"""Lemke's tableau costs n^2 a pivot and takes a multiple of n pivots; beyond so many rows others are asked before."""

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
    most_rows: int | None = None
    """Larger problems pass it over: it would take too long."""


@dataclass(frozen=True)
class Rule:
    """Who is asked when."""

    name: str
    applies: Callable[[Features], bool]
    chain: tuple[Step, ...]
    why: str
    measured: str
    """The families of problems that it was measured on, as `docs/choosing/best.csv` calls them."""


LAST_RESORTS = (
    Step(Lemke(), from_best=False, most_rows=LEMKE_ROWS),
    Step(Principal(rule="keller"), from_best=False, most_rows=LEMKE_ROWS),
    Step(MinimumMap(), iterations=300),
    Step(Enumeration(), from_best=False, most_rows=ENUMERATION_ROWS),
)
"""For ordinary rows, whatever A is: each has solved some problem here that no other did."""

RULES: tuple[Rule, ...] = (
    Rule(
        "grid",
        lambda it: it.is_grid and not it.has_contacts,
        (Step(Multigrid()), Step(PolicyIteration()), Step(PSOR(), iterations=20_000)),
        "A is a stencil without positive couplings: the cycles of multigrid do not grow in number with the grid",
        "stencil",
    ),
    Rule(
        "product with a diagonal",
        lambda it: not it.is_formed and not it.has_contacts and it.knows_diagonal,
        (
            Step(PGCG(), iterations=3000),
            Step(APGD(), iterations=10_000),
            Step(Jacobi(), iterations=10_000),
            Step(Fischer(linear="gmres"), iterations=500),
        ),
        "A is a product and its diagonal is known: projected conjugate gradients ask for nothing else",
        "matrix-free with diagonal",
    ),
    Rule(
        "product",
        lambda it: not it.is_formed and not it.has_contacts,
        (Step(APGD(), iterations=10_000), Step(SPG(), iterations=10_000)),
        "A is a product and nothing else",
        "matrix-free",
    ),
    Rule(
        "convex contacts",
        lambda it: it.kind in ("contact/convex", "contact/disc"),
        (
            Step(APGD(), iterations=300),
            Step(ConeNewton(), iterations=500),
            Step(ADMM(), iterations=5000),
            Step(BlockGaussSeidel(), iterations=20_000),
            Step(SPG(), iterations=10_000),
        ),
        "the contacts are a convex program: gradients with momentum, then Newton's method",
        "convex contacts",
    ),
    Rule(
        "contacts",
        lambda it: it.has_contacts,
        (
            Step(NNCG(), iterations=300),
            Step(ConeNewton(), iterations=500),
            Step(BlockGaussSeidel(), iterations=5000),
            Step(Dantzig(), most_rows=LEMKE_ROWS),
            Step(ADMM(), iterations=5000),
            Step(Staggering(), iterations=500),
            Step(PGS(), iterations=20_000),
        ),
        "friction follows the normal impulse: sweeps with conjugate directions settle easy contacts, Newton's method "
        "the others",
        "box contacts, cone contacts",
    ),
    Rule(
        "diffusion",
        lambda it: it.is_monotone and not it.is_full,
        (Step(PolicyIteration()), Step(BlockPrincipal()), Step(InteriorPivoting()), Step(Fischer()), *LAST_RESORTS),
        "A is sparse and symmetric without positive couplings: policy iteration rises to the solution monotonously",
        "sparse M-matrix",
    ),
    Rule(
        "warm start",
        lambda it: it.is_warm and it.has_positive_diagonal,
        (Step(BlockPrincipal()), Step(InteriorPivoting(), from_best=False), Step(Fischer()), *LAST_RESORTS),
        "a point to start from is given: block pivots begin with its index sets",
        "warm start",
    ),
    Rule(
        "bodies",
        lambda it: it.form == "factored" and it.has_positive_diagonal,
        (Step(InteriorPivoting()), Step(BlockPrincipal()), Step(Fischer()), Step(PSOR(), iterations=50_000)),
        "A is J M^-1 J^T: contacts are redundant as a rule, and an interior point does not mind",
        "boxed contacts",
    ),
    Rule(
        "symmetric",
        lambda it: it.is_symmetric and it.has_positive_diagonal,
        (
            Step(BlockPrincipal(), iterations=200),
            Step(InteriorPivoting(), from_best=False),
            Step(Fischer(), iterations=500),
            Step(PSOR(), iterations=20_000),
            *LAST_RESORTS,
        ),
        "A is symmetric with a positive diagonal: block pivots are exact after a handful of factors",
        "dense SPD, sparse SPD, PSD",
    ),
    Rule(
        "positive diagonal",
        lambda it: it.has_positive_diagonal,
        (
            Step(BlockPrincipal(), iterations=200),
            Step(Lemke(), from_best=False, most_rows=LEMKE_ROWS),
            Step(Fischer(), iterations=500),
            Step(InteriorPoint(), from_best=False),
            *LAST_RESORTS[1:],
        ),
        "A is not symmetric and has a positive diagonal, as P-matrices do: block pivots, then Lemke's path",
        "dense PD not symmetric, P",
    ),
    Rule(
        "any small",
        lambda it: it.n <= LEMKE_ROWS,
        (
            Step(Lemke(), from_best=False),
            Step(Fischer(), iterations=500),
            Step(InteriorPoint(), from_best=False),
            *LAST_RESORTS[1:],
        ),
        "the diagonal has zeros or negative entries: Lemke's method asks nothing of A",
        "zero diagonal, Stewart-Trinkle, mixed",
    ),
    Rule(
        "any",
        lambda it: True,
        (
            Step(Fischer(), iterations=500),
            Step(InteriorPoint(), from_best=False),
            Step(InteriorPivoting(), from_best=False),
            Step(MinimumMap(), iterations=300),
            Step(Lemke(), from_best=False, most_rows=4 * LEMKE_ROWS),
        ),
        "the diagonal has zeros or negative entries, and there are many rows: Newton's method on sparse factors",
        "zero diagonal, Stewart-Trinkle, mixed",
    ),
)


def find_rule(features: Features) -> Rule:
    """The first rule that applies; the last one always does."""
    return next(rule for rule in RULES if rule.applies(features))
