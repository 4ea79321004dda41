"""The one list of methods. Adding a method is one file and one line here: tests, command line and tables read this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from perp.errors import suggest
from perp.problems.problem import Problem
from perp.solvers.cone_interior.cone_interior import ConeInterior
from perp.solvers.gradient.admm import ADMM
from perp.solvers.gradient.apgd import APGD
from perp.solvers.gradient.mprgp import MPRGP
from perp.solvers.gradient.pgcg import PGCG
from perp.solvers.gradient.spg import SPG
from perp.solvers.method import Method, misfit
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
from perp.solvers.reformulation.cone_program import ConeProgram
from perp.solvers.reformulation.quadratic_program import QuadraticProgram
from perp.solvers.splitting.block_gauss_seidel import BlockGaussSeidel
from perp.solvers.splitting.gauss_seidel import PGS, PSOR, SymmetricPSOR
from perp.solvers.splitting.jacobi import Jacobi
from perp.solvers.splitting.modulus import AMAOR, AMGS, AMJ, AMSOR, MAOR, MGS, MJ, MSOR
from perp.solvers.splitting.nncg import NNCG
from perp.solvers.splitting.staggering import Staggering
from perp.solvers.splitting.subspace import PGSSM

METHODS: tuple[type[Method], ...] = (
    Enumeration,
    Lemke,
    Dantzig,
    Principal,
    BlockPrincipal,
    Jacobi,
    PGS,
    PSOR,
    SymmetricPSOR,
    MJ,
    MGS,
    MSOR,
    MAOR,
    AMJ,
    AMGS,
    AMSOR,
    AMAOR,
    BlockGaussSeidel,
    NNCG,
    PGSSM,
    Staggering,
    MinimumMap,
    PolicyIteration,
    Fischer,
    InteriorPoint,
    InteriorPivoting,
    ConeNewton,
    ConeInterior,
    PGCG,
    MPRGP,
    APGD,
    SPG,
    ADMM,
    Multigrid,
    QuadraticProgram,
    ConeProgram,
)

BY_NAME: dict[str, type[Method]] = {method.name: method for method in METHODS}


def make_method(method: str | Method | type[Method], options: dict[str, Any], arguments: Sequence[str] = ()) -> Method:
    """The method of that name (or class) with those options; unknown words are answered with the nearest known ones.

    `arguments` are words that the caller understands by himself: they, too, may have been meant.
    """
    if isinstance(method, Method):
        if options:
            raise TypeError(f"options {sorted(options)} go into the method itself: {type(method).__name__}(...)")
        return method
    if isinstance(method, type) and issubclass(method, Method):
        return _construct(method, options, arguments)
    if not isinstance(method, str):
        raise TypeError(
            f"method is {method!r}; a name or a method object such as perp.PSOR() is needed "
            '(a step of a world takes lambda problem, x0: perp.solve(problem, "psor", x0=x0))'
        )
    if method not in BY_NAME:
        raise ValueError(f"method {method!r} is unknown{suggest(method, [*BY_NAME, 'auto'])}")
    return _construct(BY_NAME[method], options, arguments)


def suitable_methods(problem: Problem) -> list[Method]:
    """Every method, with its default options, that accepts this problem."""
    return [method for method in default_methods() if misfit(method, problem) is None]


def default_methods() -> list[Method]:
    return [method() for method in METHODS]


def _construct(method: type[Method], options: dict[str, Any], arguments: Sequence[str]) -> Method:
    known = [field.name for field in fields(method)]
    for name in options:
        if name not in known:
            raise TypeError(f"{method.name} has no option {name!r}{suggest(name, [*known, *arguments])}")
    return method(**options)
