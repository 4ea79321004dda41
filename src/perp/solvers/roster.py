"""The one list of methods. Adding a method is one file and one line here: tests, command line and tables read this."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from perp.errors import find_meant, suggest
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
from perp.solvers.options import option_docs
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
from perp.vocabulary import Argument, lead_home, suggest_argument

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

FEW = 3
"""So many methods are listed as those that have an option."""

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
    return _construct(find_method(method, "auto"), options, arguments)


def find_method(name: str, *others: str) -> type[Method]:
    """The class of that name; ValueError says which method a name from elsewhere means, or the nearest known one.

    `others` are words that the caller takes as well, in the place of a method.
    """
    if name not in BY_NAME:
        synonyms = {method.name: method.synonyms for method in METHODS}
        raise ValueError(f"method {name!r} is unknown{suggest(str(name), [*BY_NAME, *others], synonyms)}")
    return BY_NAME[name]


def methods_called(word: str) -> list[type[Method]]:
    """The method of that name, or all that have it as a synonym."""
    if word in BY_NAME:
        return [BY_NAME[word]]
    return [BY_NAME[name] for name in find_meant(word, {each.name: (each.name, *each.synonyms) for each in METHODS})]


def suitable_methods(problem: Problem) -> list[Method]:
    """Every method, with its default options, that accepts this problem."""
    return [method for method in default_methods() if misfit(method, problem) is None]


def default_methods() -> list[Method]:
    return [method() for method in METHODS]


def _construct(method: type[Method], options: dict[str, Any], arguments: Sequence[str]) -> Method:
    known = [field.name for field in fields(method)]
    for name in options:
        if name not in known:
            raise TypeError(f"{method.name} has no option {name!r}{suggest_option(name, method, arguments)}")
    return method(**options)


def suggest_option(word: str, method: type[Method] | None, arguments: Sequence[str]) -> str:
    """What to add to the refusal of an option: its name here, which methods have it, or the nearest known one."""
    own = {} if method is None else options_of((method,))
    return suggest_argument(word, [*own, *arguments], options_of(), own)


def refuse_options(title: str, options: Iterable[str], arguments: Sequence[str]) -> None:
    """Raise TypeError where there are any: no method is named that could have them."""
    for name in options:
        needs = "" if lead_home(name, arguments).here else "; options need a named method"
        raise TypeError(f"{title} has no argument {name!r}{suggest_option(name, None, arguments)}{needs}")


def options_of(methods: Iterable[type[Method]] = METHODS) -> dict[str, Argument]:
    """Every option of these methods: which of them have it, and its names elsewhere."""
    owners: dict[str, list[str]] = {}
    synonyms: dict[str, tuple[str, ...]] = {}
    for method in methods:
        docs = option_docs(method)
        for each in fields(method):
            owners.setdefault(each.name, []).append(method.name)
            others = docs[each.name].synonyms if each.name in docs else ()
            synonyms[each.name] = (*synonyms.get(each.name, ()), *others)
    return {name: Argument(f"an option of {_few(names)}", synonyms[name]) for name, names in owners.items()}


def _few(names: Sequence[str]) -> str:
    """The first names of many."""
    return ", ".join(names if len(names) <= FEW else (*names[:FEW], "..."))
