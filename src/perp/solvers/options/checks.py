"""Checks that methods share: words among which an option chooses, and spaces that do not suit a problem."""

from __future__ import annotations

from collections.abc import Sequence

from perp.errors import suggest
from perp.problems.problem import Problem

MOST_DENSE_ROWS = 20_000
"""A full matrix of so many rows takes 3.2 GB."""


def require_choices(options: object, **choices: Sequence[str]) -> None:
    """`require_choices(self, order=ORDERS)`: raise ValueError where an attribute is none of the words for it."""
    for name, words in choices.items():
        value = getattr(options, name)
        if value not in words:
            raise ValueError(f"{name} is {value!r}{suggest(str(value), words)}")


def space_objection(problem: Problem, name: str, space: str) -> str | None:
    """Why free rows of this problem cannot be solved for in that space, the value of the option `name`; or None."""
    if space == "dense" and problem.n > MOST_DENSE_ROWS:
        return f"{name}='dense' holds A as a full matrix, and {problem.n} rows are more than {MOST_DENSE_ROWS}"
    if space == "body" and problem.A.factored is None:
        return f"{name}='body' needs a factored A, and this one is {problem.A.form}"
    return None
