"""Does this method fit this problem? One function compares what is needed with what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from perp.errors import MethodRefused
from perp.problems.problem import Problem
from perp.solvers.method import Method


def misfit(method: Method, problem: Problem) -> str | None:
    """The reason why `method` cannot solve `problem`, or None."""
    if problem.kind not in method.accepts:
        return f"it solves {_listed(method.accepts)} problems, and this one is '{problem.kind}'"
    missing = method.needs - problem.A.ability_set
    if missing:
        have = _listed(problem.A.ability_set)
        return f"it needs {_listed(missing)} of A, and a {problem.A.form} operator offers {have}"
    return method.objection(problem)


def require_fit(method: Method, problem: Problem, others: Callable[[], Iterable[Method]]) -> None:
    """Raise `MethodRefused` with the reason and those of the `others`, asked for only then, that would work."""
    reason = misfit(method, problem)
    if reason is not None:
        able = [other.name for other in others() if misfit(other, problem) is None]
        if method.name in able:  # it is the options that do not fit
            able = [f"{method.name} with its default options", *(name for name in able if name != method.name)]
        if method.family == "wrapper":  # what would fit in its place says nothing of what it wraps
            raise MethodRefused(f"{method.label} refuses: {reason}")
        advice = f"methods that would work: {', '.join(able)}" if able else "no method of this version would work"
        raise MethodRefused(f"{method.label} refuses: {reason} ({advice})")


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"'{word}'" for word in sorted(words))
