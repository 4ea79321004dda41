"""From an answer of one problem to a point of another that is made of the same contacts, by way of the impulses."""

from __future__ import annotations

from perp.errors import InvalidProblem, suggest
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.models.restatement import Restated, frictionless
from perp.problems.models.stewart_trinkle import stewart_trinkle
from perp.problems.problem import Problem

NAMED_MODELS = ("box", "cone", "convex", "frictionless", "stewart_trinkle")
"""The models that a word is enough for; fixed bounds and discs need numbers."""


def contacts_of(problem: Problem) -> ContactProblem | None:
    """The contact problem itself, or the one that an LCP or boxed LCP was made of; None for any other problem."""
    if problem.frictional is not None:
        return problem.frictional
    return problem.origin.contacts if isinstance(problem, Restated) else None


def under_model(problem: Problem, model: str) -> Problem:
    """The contacts of `problem` under the model of that name, one of `NAMED_MODELS`."""
    require_named_model(model)
    contacts = contacts_of(problem)
    if contacts is None:
        raise InvalidProblem(f"{problem!r} is not made of contacts: there is no other model of it")
    if model == "stewart_trinkle":
        return stewart_trinkle(contacts)
    return frictionless(contacts) if model == "frictionless" else contacts.with_model(model)


def require_named_model(model: str) -> None:
    if model not in NAMED_MODELS:
        raise ValueError(f"model {model!r} is unknown{suggest(str(model), NAMED_MODELS)}")


def has_other_unknowns(source: Problem, target: Problem) -> bool:
    """Whether both are made of contacts, and x of the one means something else than x of the other."""
    if contacts_of(source) is None or contacts_of(target) is None:
        return False
    if isinstance(source, Restated) and isinstance(target, Restated):
        return not source.origin.is_like(target.origin)
    return isinstance(source, Restated) or isinstance(target, Restated)


def carry_over(x: Vector, source: Problem, target: Problem) -> Vector:
    """The point of `target`, perhaps outside its bounds, for the impulses that x stands for in `source`.

    It is x itself where the two mean the same.
    """
    if not has_other_unknowns(source, target):
        return x
    contacts = contacts_of(target)
    assert contacts is not None
    impulses = find_impulses(source, x, contacts)
    return target.origin.unknowns(impulses) if isinstance(target, Restated) else impulses


def find_impulses(source: Problem, x: Vector, contacts: ContactProblem) -> Vector:
    """What x, an answer of `source`, means as impulses of `contacts`, which must be laid out alike."""
    given = contacts_of(source)
    if given is None or _layout(given) != _layout(contacts):
        raise InvalidProblem(f"an answer to {source!r} says nothing of the impulses of {contacts!r}")
    return source.origin.impulses(x) if isinstance(source, Restated) else x


def _layout(problem: ContactProblem) -> tuple[int, int, int]:
    return problem.contacts, problem.dimension, problem.n
