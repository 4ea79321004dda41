"""Load every compiled kernel now, so that no later solve pays for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.gallery import contact_like
from perp.gallery.geometry import contact_jacobian
from perp.linalg import krylov
from perp.linalg.cholesky import DenseCholesky
from perp.linalg.free_systems import choose_system
from perp.problems.box import BoxLCP
from perp.problems.friction import ContactProblem
from perp.problems.lcp import LCP
from perp.problems.operators import (
    BodyMasses,
    DenseOperator,
    FactoredOperator,
    Operator,
    PlanarMasses,
    SparseOperator,
    StencilOperator,
)
from perp.solvers.api import solve
from perp.solvers.gradient.admm import ADMM
from perp.solvers.gradient.apgd import APGD
from perp.solvers.gradient.mprgp import MPRGP
from perp.solvers.multilevel.multigrid import Multigrid
from perp.solvers.newton.cone.cone_newton import ConeNewton
from perp.solvers.newton.fischer.fischer import Fischer
from perp.solvers.newton.interior.interior_pivoting import InteriorPivoting
from perp.solvers.newton.interior.interior_point import InteriorPoint
from perp.solvers.newton.minimum_map.minimum_map import MinimumMap
from perp.solvers.newton.policy_iteration.policy_iteration import PolicyIteration
from perp.solvers.pivoting.block_principal import BlockPrincipal
from perp.solvers.pivoting.dantzig import Dantzig
from perp.solvers.pivoting.principal import Principal
from perp.solvers.roster import suitable_methods
from perp.solvers.splitting.block_gauss_seidel import BlockGaussSeidel
from perp.solvers.splitting.gauss_seidel import PSOR
from perp.solvers.splitting.staggering import Staggering


def warm_up() -> None:
    """Solve a tiny problem with every method in every form of A.

    The first call on a machine compiles the kernels (a minute or two); later processes take them from the disk (about
    two seconds). For programs in which the first solve must be as quick as the others.
    """
    masses = BodyMasses([1.0, 1.0], [np.eye(3)] * 2)
    jacobian = np.random.default_rng(0).standard_normal((6, 2, 6))
    bodies = FactoredOperator.from_body_pairs([[0, 1]] * 6, jacobian, masses)
    forms: list[Operator] = [
        bodies,
        FactoredOperator(bodies.J, masses.to_sparse()),
        DenseOperator(bodies.to_dense()),
        SparseOperator(bodies.to_sparse()),  # full rows: runs of adjacent columns
        SparseOperator(np.eye(6)),  # no runs: plain compressed rows
    ]
    for A in forms:
        for problem in (LCP(A, -np.ones(6)), ContactProblem(A, -np.ones(6), 0.5)):
            for method in suitable_methods(problem):
                solve(problem, method, max_iterations=1).verify()
    bodies.relative_velocity(np.ones(12))
    at_a_point = contact_jacobian(np.eye(3)[None], np.zeros((1, 3)), np.ones((1, 3)))
    point = FactoredOperator.from_body_pairs([[0, 1]] * 3, at_a_point, masses)
    solve(ContactProblem(point, -np.ones(3), 0.5), BlockGaussSeidel(), max_iterations=1)
    _warm_up_planar(jacobian[:, :, :3])
    solve(ContactProblem(bodies, -np.ones(6), 0.5), BlockGaussSeidel(order="coloured"), max_iterations=1)
    _warm_up_pivoting(bodies)
    _warm_up_newton(bodies)
    _warm_up_cone_newton(forms)
    _warm_up_krylov(bodies)
    _warm_up_grids()


def _warm_up_planar(jacobian: NDArray[np.float64]) -> None:
    """Bodies in a plane have kernels of their own."""
    discs = FactoredOperator.from_body_pairs([[0, 1]] * 6, jacobian, PlanarMasses([1.0, 1.0], [1.0, 1.0]))
    contacts = [ContactProblem(discs, -np.ones(6), 0.5, model, dimension=2) for model in ("box", "convex", "disc")]
    for problem in (LCP(discs, -np.ones(6)), *contacts):
        for method in suitable_methods(problem):
            solve(problem, method, max_iterations=1).verify()
    discs.velocity(np.ones(6))
    discs.relative_velocity(np.ones(6))


def _warm_up_pivoting(bodies: FactoredOperator) -> None:
    """What pivoting needs beyond one pivot: each way to solve for free rows, the path, and Keller's rule."""
    problem = BoxLCP(bodies, -np.ones(6), -0.1, 0.1)
    solve(problem, Principal(rule="keller"))
    solve(LCP(np.eye(2), [-1.0, 1.0]))
    solve(ContactProblem(bodies, -np.ones(6), 0.5), Dantzig())
    ordered = sparse.diags_array([-1.0, 3.0, -1.0], offsets=[-1, 0, 1], shape=(8, 8))
    for space in ("dense", "sparse", "body"):
        solve(problem, BlockPrincipal(space=space))
    for space in ("sparse", "body"):
        choose_system(problem, space).keep_apart(np.array([0]))
    any_mass = FactoredOperator(bodies.J, bodies.mass.to_sparse())
    solve(BoxLCP(any_mass, -np.ones(6), -0.1, 0.1), BlockPrincipal(space="body"))
    for ordering in ("nested_dissection", "reverse_cuthill_mckee"):
        solve(LCP(ordered, -np.ones(8)), BlockPrincipal(space="sparse", ordering=ordering))
    factor = DenseCholesky(np.eye(2))
    factor.factor(np.array([0]))
    border = factor.border(np.zeros((1, 1)), np.eye(1))
    assert border is not None
    border.solve(np.ones(1), np.ones(1))
    circular = LCP([[1.0, 2.0, -3.0], [0.0, 1.0, -1.0], [3.0, 0.0, 1.0]], [1.0, 1.0, -2.0])  # block pivots cycle
    solve(circular, BlockPrincipal(), tol=0.0)


def _warm_up_newton(bodies: FactoredOperator) -> None:
    """The passes of interior points that their first steps do not take, and the inexact Newton methods."""
    problem = BoxLCP(bodies, -np.ones(6), -0.1, 0.1)
    solve(problem, InteriorPivoting(centrality=1))
    solve(problem, InteriorPoint(form="dense", centrality=1), tol=0.0)
    for linear in ("pcg", "gmres"):
        solve(problem, MinimumMap(linear=linear))
    solve(problem, Fischer(linear="gmres"))
    solve(contact_like(24).problem, Fischer(space="blocks"))


def _warm_up_cone_newton(forms: list[Operator]) -> None:
    """Its first iteration only sweeps."""
    for A in forms:
        for model in ("box", "cone", "convex", "disc"):
            solve(ContactProblem(A, -np.ones(6), 0.5, model), ConeNewton(start_sweeps=0), max_iterations=2)
    solve(ContactProblem(forms[0], -np.ones(6), [[0.5, 0.5, 0.02, 0.01, 0.01]], "cone", dimension=6)).verify()


def _warm_up_krylov(bodies: FactoredOperator) -> None:
    """Every preconditioner that has kernels, and both Krylov methods."""
    problem = ContactProblem(bodies, -np.ones(6), 0.5)
    for preconditioner in ("block_jacobi", "symmetric_gauss_seidel", "imaginary_ic0", "ict"):
        solve(problem, BlockPrincipal(linear="pcg", preconditioner=preconditioner))
    for solver in (krylov.cg, krylov.gmres):
        solver(lambda v: 2.0 * v, np.ones(2), tolerance=0.0, max_iterations=2)
    for model in ("cone", "convex"):
        for method in (APGD(), ADMM()):
            solve(ContactProblem(bodies, -np.ones(6), 0.5, model), method, max_iterations=1)
    solve(ContactProblem(bodies, -np.ones(6), 0.5, "cone"), Staggering(), max_iterations=1)


def _warm_up_grids() -> None:
    """Sweeps, incomplete factors, nested grids, policies and cycles, with couplings of either kind."""
    faces = [np.full((8, 9), -1.0), np.full((9, 8), -1.0)]
    for A in (StencilOperator((9, 9), 4.0, -1.0), StencilOperator((9, 9), 4.0, faces)):
        for problem in (LCP(A, -np.ones(81)), BoxLCP(A, -np.ones(81), 0.0, 1.0)):
            for order in ("forward", "coloured"):
                solve(problem, PSOR(order=order), max_iterations=1).verify()
            for preconditioner in ("ic0", "mic0", "multigrid"):
                solve(problem, PolicyIteration(preconditioner=preconditioner))
            solve(problem, MPRGP(preconditioner="ic0", initial="nested", expand_along="conjugate"))
            for method in (Multigrid(), Multigrid(coarse="monotone", accelerate="always")):
                solve(problem, method)
    solve(LCP(A.to_sparse(), -np.ones(81)), PolicyIteration())  # mic0 by entries
