"""The names that `perp` has for its users."""

from __future__ import annotations

from perp import gallery, linalg
from perp import recording as recording
from perp import scenes as scenes
from perp import simulation as simulation
from perp import worlds as worlds
from perp.linalg.classes import MatrixClasses, Verdict, check_witness, classify
from perp.linalg.contact_compliance import contact_compliance
from perp.problems.box import BoxLCP
from perp.problems.certificates import Certificate, prove_by_exhaustion, verify_certificate
from perp.problems.constraint_rows import ContactRows, JointRows, LimitRows, MotorRows, assemble_step
from perp.problems.contact_states import ContactState, ContactStates, contact_states
from perp.problems.files import load, load_solution, save
from perp.problems.friction import ContactProblem
from perp.problems.islands import Island, gather, split_islands
from perp.problems.lcp import LCP
from perp.problems.models.fixed_box import fixed_box
from perp.problems.models.restatement import frictionless
from perp.problems.models.stewart_trinkle import stewart_trinkle
from perp.problems.operators import (
    BodyMasses,
    ConvolutionOperator,
    DenseOperator,
    DiagonalMass,
    FactoredOperator,
    MatrixFreeOperator,
    Operator,
    PlanarMasses,
    SparseMass,
    SparseOperator,
    StencilOperator,
    half_space_kernel,
    periodic_half_space_kernel,
)
from perp.problems.proofs import ErrorBound, Proof, error_bounds, prove
from perp.problems.residuals import Residuals, verify
from perp.simulation import SimulationResult, simulate
from perp.solvers.api import solve
from perp.solvers.auto.explain import Explanation, explain
from perp.solvers.cone_interior.cone_interior import ConeInterior
from perp.solvers.fixed_box import solve_fixed_box
from perp.solvers.gradient.admm import ADMM
from perp.solvers.gradient.apgd import APGD
from perp.solvers.gradient.mprgp import MPRGP
from perp.solvers.gradient.pgcg import PGCG
from perp.solvers.gradient.spg import SPG
from perp.solvers.islands.islands import solve_islands
from perp.solvers.islands.results import IslandsResult
from perp.solvers.loop import Progress, SolveInterrupted
from perp.solvers.multilevel.multigrid import Multigrid
from perp.solvers.newton.cone.cone_newton import ConeNewton
from perp.solvers.newton.fischer.fischer import Fischer
from perp.solvers.newton.interior.interior_pivoting import InteriorPivoting
from perp.solvers.newton.interior.interior_point import InteriorPoint
from perp.solvers.newton.minimum_map.minimum_map import MinimumMap
from perp.solvers.newton.policy_iteration.policy_iteration import PolicyIteration
from perp.solvers.no_solution.search import find_no_solution
from perp.solvers.pivoting.all_solutions import Solutions
from perp.solvers.pivoting.all_solutions import enumerate_solutions as enumerate
from perp.solvers.pivoting.block_principal import BlockPrincipal
from perp.solvers.pivoting.dantzig import Dantzig
from perp.solvers.pivoting.enumeration import Enumeration
from perp.solvers.pivoting.lemke import Lemke
from perp.solvers.pivoting.principal import Principal
from perp.solvers.reformulation.cone_program import ConeProgram
from perp.solvers.reformulation.quadratic_program import QuadraticProgram
from perp.solvers.results import Result, Status
from perp.solvers.splitting.block_gauss_seidel import BlockGaussSeidel
from perp.solvers.splitting.gauss_seidel import PGS, PSOR, SymmetricPSOR
from perp.solvers.splitting.jacobi import Jacobi
from perp.solvers.splitting.modulus import AMAOR, AMGS, AMJ, AMSOR, MAOR, MGS, MJ, MSOR
from perp.solvers.splitting.modulus_diagnostics import modulus_diagnostics
from perp.solvers.splitting.nncg import NNCG
from perp.solvers.splitting.staggering import Staggering
from perp.solvers.splitting.subspace import PGSSM
from perp.solvers.stopping import Stopping
from perp.solvers.warm_up import warm_up
from perp.solvers.wrappers import best_so_far, warm_started_by
from perp.version import __version__

__all__ = [
    "LCP",
    "BoxLCP",
    "ContactProblem",
    "stewart_trinkle",
    "frictionless",
    "fixed_box",
    "solve_fixed_box",
    "split_islands",
    "solve_islands",
    "gather",
    "Island",
    "IslandsResult",
    "contact_compliance",
    "contact_states",
    "ContactStates",
    "ContactState",
    "ContactRows",
    "JointRows",
    "LimitRows",
    "MotorRows",
    "assemble_step",
    "solve",
    "explain",
    "Explanation",
    "verify",
    "prove",
    "Proof",
    "error_bounds",
    "ErrorBound",
    "verify_certificate",
    "Certificate",
    "find_no_solution",
    "prove_by_exhaustion",
    "classify",
    "MatrixClasses",
    "Verdict",
    "check_witness",
    "save",
    "load",
    "load_solution",
    "gallery",
    "linalg",
    "enumerate",
    "Solutions",
    "Result",
    "Residuals",
    "Status",
    "Stopping",
    "Progress",
    "SolveInterrupted",
    "Enumeration",
    "Lemke",
    "Dantzig",
    "Principal",
    "BlockPrincipal",
    "Jacobi",
    "PGS",
    "PSOR",
    "SymmetricPSOR",
    "MJ",
    "MGS",
    "MSOR",
    "MAOR",
    "AMJ",
    "AMGS",
    "AMSOR",
    "AMAOR",
    "modulus_diagnostics",
    "BlockGaussSeidel",
    "NNCG",
    "PGSSM",
    "Staggering",
    "MinimumMap",
    "PolicyIteration",
    "Multigrid",
    "Fischer",
    "InteriorPoint",
    "InteriorPivoting",
    "ConeNewton",
    "ConeInterior",
    "PGCG",
    "MPRGP",
    "APGD",
    "SPG",
    "ADMM",
    "QuadraticProgram",
    "ConeProgram",
    "simulate",
    "SimulationResult",
    "best_so_far",
    "warm_started_by",
    "warm_up",
    "Operator",
    "DenseOperator",
    "SparseOperator",
    "FactoredOperator",
    "StencilOperator",
    "ConvolutionOperator",
    "half_space_kernel",
    "periodic_half_space_kernel",
    "MatrixFreeOperator",
    "BodyMasses",
    "PlanarMasses",
    "DiagonalMass",
    "SparseMass",
    "__version__",
]
