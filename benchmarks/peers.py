"""Other people's solvers, one small adapter each. None is needed: what cannot be imported is left out, and said so.

An adapter is prepared with a problem and a tolerance, and returns the run that is timed: set-up, analysis and solve, on
arrays that are in the peer's own format already. For Drake it is `Solve` alone, with the program built beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse

import perp
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

FAR = 1e20
"""What ProxQP and DAQP take for infinite."""

Run = Callable[[], Vector]


@dataclass(frozen=True)
class Question:
    """What a peer is asked: a problem, where to start from (if it can), and how long it may take (if it listens)."""

    problem: Problem
    start: Vector | None = None
    seconds: float = 60.0


@dataclass(frozen=True)
class Peer:
    name: str
    package: str
    """What `pip install` wants to hear."""
    module: str
    adapter: Callable[[Any, Question, float], Run]
    tolerances: tuple[float, ...] = (1e-6, 1e-8, 1e-10, 1e-12, 1e-13, 1e-14)
    """From cheap to dear."""
    needs_symmetry: bool = True

    @property
    def is_installed(self) -> bool:
        return find_spec(self.module.partition(".")[0]) is not None

    def prepare(self, question: Question, tolerance: float) -> Run:
        return self.adapter(import_module(self.module), question, tolerance)


def split_by_presence(peers: Iterable[Peer]) -> tuple[list[Peer], list[str]]:
    """Those that can be imported, and the packages that would bring the others."""
    listed = list(peers)
    missing = {peer.package for peer in listed if not peer.is_installed}
    return [peer for peer in listed if peer.is_installed], sorted(missing)


# --- a convex QP in two statements -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    """min 1/2 z^T P z + c^T z  subject to  E z = 0,  lower <= z <= upper.  The last entries of z are x.

    `guess` has z and the multipliers of both kinds of constraint, in the sign of P z + c + E^T e + w = 0.
    """

    P: sparse.csc_matrix
    c: Vector
    E: sparse.csc_matrix
    lower: Vector
    upper: Vector
    first: int
    """Where x begins in z."""
    guess: tuple[Vector, Vector, Vector] | None = None

    @property
    def bounded(self) -> sparse.csc_matrix:
        """The rows of the identity that pick x out of z."""
        n = self.c.size
        return sparse.csc_matrix(sparse.eye_array(n, format="csr")[self.first :])


def state_assembled(question: Question) -> Statement:
    """z = x, with A itself."""
    problem = question.problem
    lower, upper = problem.bounds(np.zeros(problem.n))
    P, E = sparse.csc_matrix(problem.A.to_sparse()), sparse.csc_matrix((0, problem.n))
    guess = None
    if question.start is not None:
        guess = question.start, np.zeros(0), _bound_multipliers(problem, question.start)
    return Statement(P, problem.b, E, lower, upper, 0, guess)


def state_in_body_space(question: Question) -> Statement:
    """z = (v, x):  min 1/2 v^T M v + 1/2 x^T C x + b^T x  subject to  M v = J^T x. A is never formed."""
    problem = question.problem
    A = problem.A
    assert isinstance(A, perp.FactoredOperator)
    M, J = A.mass.to_sparse(), A.J
    dofs = A.mass.dofs
    lower, upper = problem.bounds(np.zeros(problem.n))
    anywhere = np.full(dofs, np.inf)
    guess = None
    if question.start is not None:
        v = A.velocity(question.start)
        bounds = np.concatenate([np.zeros(dofs), _bound_multipliers(problem, question.start)])
        guess = np.concatenate([v, question.start]), -v, bounds
    return Statement(
        sparse.csc_matrix(sparse.block_diag([M, sparse.diags_array(A.compliance)])),
        np.concatenate([np.zeros(dofs), problem.b]),
        sparse.csc_matrix(sparse.hstack([M, -J.T])),
        np.concatenate([-anywhere, lower]),
        np.concatenate([anywhere, upper]),
        dofs,
        guess,
    )


def _bound_multipliers(problem: Problem, x: Vector) -> Vector:
    lower, upper = problem.bounds(x)
    inside = (x > lower) & (x < upper)
    return np.where(inside, 0.0, -problem.slack(x))


# --- QP solvers on sparse matrices -----------------------------------------------------------------------------------

State = Callable[[Question], Statement]


def _piqp_sparse(piqp: Any, question: Question, tolerance: float, state: State) -> Run:
    qp = state(question)
    e = np.zeros(qp.E.shape[0])

    def run() -> Vector:
        solver = piqp.SparseSolver()
        _set_piqp(solver.settings, tolerance)
        solver.setup(qp.P, qp.c, qp.E, e, None, None, None, qp.lower, qp.upper)
        solver.solve()
        return np.array(solver.result.x[qp.first :])

    return run


def _set_piqp(settings: Any, tolerance: float) -> None:
    settings.eps_abs, settings.eps_rel = tolerance, 0.0
    settings.check_duality_gap = False
    settings.max_iter = 60  # it takes 20 to 30; more only where it cannot get any better


def _clarabel(clarabel: Any, question: Question, tolerance: float, state: State) -> Run:
    qp = state(question)
    below, above = np.flatnonzero(np.isfinite(qp.lower)), np.flatnonzero(np.isfinite(qp.upper))
    rows = sparse.eye_array(qp.c.size, format="csr")
    constraints = sparse.csc_matrix(sparse.vstack([qp.E, -rows[below], rows[above]]))
    right = np.concatenate([np.zeros(qp.E.shape[0]), -qp.lower[below], qp.upper[above]])
    cones = [clarabel.NonnegativeConeT(below.size + above.size)]
    if qp.E.shape[0]:
        cones.insert(0, clarabel.ZeroConeT(qp.E.shape[0]))
    P = sparse.csc_matrix(sparse.triu(qp.P))
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads, settings.time_limit = False, 1, question.seconds
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = tolerance

    def run() -> Vector:
        solution = clarabel.DefaultSolver(P, qp.c, constraints, right, cones, settings).solve()
        return np.array(solution.x[qp.first :])

    return run


def _osqp(osqp: Any, question: Question, tolerance: float, state: State) -> Run:
    qp = state(question)
    still = np.zeros(qp.E.shape[0])
    constraints = sparse.csc_matrix(sparse.vstack([qp.E, qp.bounded]))
    lower = np.concatenate([still, qp.lower[qp.first :]])
    upper = np.concatenate([still, qp.upper[qp.first :]])
    P = sparse.csc_matrix(sparse.triu(qp.P))
    options = {"eps_abs": tolerance, "eps_rel": 0.0, "max_iter": 1_000_000, "time_limit": question.seconds}

    def run() -> Vector:
        solver = osqp.OSQP()
        solver.setup(P=P, q=qp.c, A=constraints, l=lower, u=upper, verbose=False, **options)
        if qp.guess is not None:
            z, e, w = qp.guess
            solver.warm_start(x=z, y=np.concatenate([e, w[qp.first :]]))
        return np.array(solver.solve().x[qp.first :])

    return run


def _set_proxqp(settings: Any, tolerance: float) -> None:
    settings.eps_abs, settings.eps_rel = tolerance, 0.0
    settings.max_iter = settings.max_iter_in = 100  # it has no limit of time, and can take minutes where it stalls


def _proxqp_sparse(proxsuite: Any, question: Question, tolerance: float, state: State) -> Run:
    qp = state(question)
    n, equations, e = qp.c.size, qp.E.shape[0], np.zeros(qp.E.shape[0])
    bounded = qp.bounded
    lower, upper = (np.clip(bound[qp.first :], -FAR, FAR) for bound in (qp.lower, qp.upper))

    def run() -> Vector:
        solver = proxsuite.proxqp.sparse.QP(n, equations, lower.size)
        _set_proxqp(solver.settings, tolerance)
        solver.init(qp.P, qp.c, qp.E if equations else None, e if equations else None, bounded, lower, upper)
        if qp.guess is None:
            solver.solve()
        else:
            solver.settings.initial_guess = proxsuite.proxqp.InitialGuess.WARM_START
            z, y, w = qp.guess
            solver.solve(z, y, w[qp.first :])
        return np.array(solver.results.x[qp.first :])

    return run


# --- QP solvers on dense matrices ------------------------------------------------------------------------------------


def _piqp_dense(piqp: Any, question: Question, tolerance: float) -> Run:
    problem = question.problem
    A, (lower, upper) = np.asfortranarray(problem.A.to_dense()), problem.bounds(np.zeros(problem.n))

    def run() -> Vector:
        solver = piqp.DenseSolver()
        _set_piqp(solver.settings, tolerance)
        solver.setup(A, problem.b, None, None, None, None, None, lower, upper)
        solver.solve()
        return np.array(solver.result.x)

    return run


def _proxqp_dense(proxsuite: Any, question: Question, tolerance: float) -> Run:
    problem = question.problem
    A = problem.A.to_dense()
    lower, upper = (np.clip(bound, -FAR, FAR) for bound in problem.bounds(np.zeros(problem.n)))

    def run() -> Vector:
        solver = proxsuite.proxqp.dense.QP(problem.n, 0, 0, box_constraints=True)
        _set_proxqp(solver.settings, tolerance)
        solver.init(A, problem.b, None, None, None, None, None, lower, upper)
        solver.solve()
        return np.array(solver.results.x)

    return run


def _daqp(daqp: Any, question: Question, tolerance: float, *, general: bool = False) -> Run:
    problem = question.problem
    A = np.ascontiguousarray(problem.A.to_dense())
    lower, upper = (np.clip(bound, -FAR, FAR) for bound in problem.bounds(np.zeros(problem.n)))
    nothing, sense = np.zeros((0, problem.n)), np.zeros(problem.n, dtype=np.int32)
    options = {"primal_tol": tolerance, "dual_tol": tolerance, "iter_limit": 100_000}
    if general:
        options["is_avi"] = True

    def run() -> Vector:
        return np.array(daqp.solve(A, np.array(problem.b), nothing, upper, lower, sense, **options)[0])

    return run


# --- Lemke's method --------------------------------------------------------------------------------------------------


def _quantecon(quantecon: Any, question: Question, tolerance: float) -> Run:
    A, b = question.problem.A.to_dense(), question.problem.b
    return lambda: np.array(quantecon.lcp_lemke(A, b).z)


def _drake(solvers: Any, question: Question, tolerance: float, solver: str) -> Run:
    problem = question.problem
    program = solvers.MathematicalProgram()
    z = program.NewContinuousVariables(problem.n, "z")
    program.AddLinearComplementarityConstraint(np.asfortranarray(problem.A.to_dense()), problem.b, z)

    def run() -> Vector:
        lemke = getattr(solvers, solver)()  # a new one: it remembers the last basis, and tries that first
        return np.array(lemke.Solve(program, None, None).GetSolution(z))

    return run


ONCE = (0.0,)
"""For peers that stop where they are exact."""

DENSE_PEERS = (
    Peer("QuantEcon lcp_lemke", "quantecon", "quantecon.optimize", _quantecon, ONCE, needs_symmetry=False),
    Peer(
        "Drake UnrevisedLemke (Solve alone)",
        "drake",
        "pydrake.solvers",
        partial(_drake, solver="UnrevisedLemkeSolver"),
        ONCE,
        needs_symmetry=False,
    ),
    Peer("PIQP dense", "piqp", "piqp", _piqp_dense),
    Peer("ProxQP dense", "proxsuite", "proxsuite", _proxqp_dense),
    Peer("Clarabel", "clarabel", "clarabel", partial(_clarabel, state=state_assembled)),
    Peer("OSQP", "osqp", "osqp", partial(_osqp, state=state_assembled)),
    Peer("DAQP", "daqp", "daqp", _daqp),
    Peer("DAQP as AVI", "daqp", "daqp", partial(_daqp, general=True), needs_symmetry=False),
)

CONTACT_PEERS = (
    Peer("PIQP, body space", "piqp", "piqp", partial(_piqp_sparse, state=state_in_body_space)),
    Peer("PIQP, A assembled", "piqp", "piqp", partial(_piqp_sparse, state=state_assembled)),
    Peer("Clarabel, body space", "clarabel", "clarabel", partial(_clarabel, state=state_in_body_space)),
    Peer("ProxQP, body space", "proxsuite", "proxsuite", partial(_proxqp_sparse, state=state_in_body_space)),
    Peer("OSQP, body space", "osqp", "osqp", partial(_osqp, state=state_in_body_space)),
)
"""With A assembled all are slower (7 times at 1,000 rows); it stays with PIQP, to show what the statement does."""
