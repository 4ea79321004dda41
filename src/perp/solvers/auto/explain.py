"""Why "auto" asks whom: what it sees of a problem, the rule that applies, and the methods in their order."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial

from perp.problems.problem import Problem
from perp.solvers.auto.chain import list_steps
from perp.solvers.auto.features import Features
from perp.solvers.auto.presolve import (
    FEW_PRODUCTS,
    find_islands,
    settle_rows,
    write_products_out,
    write_small_out,
)
from perp.solvers.auto.rules import Step, find_rule
from perp.solvers.auto.small import MOST_ROWS, NAME, is_small


@dataclass(frozen=True)
class Explanation:
    """What `perp.solve(problem)` would do, told beforehand; prints as a text."""

    seen: str
    """The facts of the problem that rules look at."""
    presolve: tuple[str, ...]
    """What is done to the problem before a method sees it."""
    rule: str
    why: str
    measured: str
    """The families of problems, in `docs/choosing/best.csv`, that the rule was measured on."""
    chain: tuple[str, ...]
    """The methods in the order in which they are asked."""
    passed_over: tuple[str, ...]
    """Those that the rule names and this problem does not suit, with the reason."""

    def __str__(self) -> str:
        lines = [f"seen: {self.seen}"]
        lines += [f"beforehand: {step}" for step in self.presolve]
        lines += [f"rule '{self.rule}': {self.why}", f"measured on: {self.measured}"]
        lines += [f"{number}. {method}" for number, method in enumerate(self.chain, start=1)]
        lines += [f"passed over: {method}" for method in self.passed_over]
        return "\n".join(lines)


def explain(problem: Problem, *, is_warm: bool = False, tol: float = 1e-8) -> Explanation:
    """Say what `perp.solve(problem)` does and why, without solving anything.

    `is_warm` stands for a point to start from (`x0`), `tol` for the tolerance. What was really done, and how long it
    took, is in `result.methods`.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP, BoxLCP or ContactProblem is needed")
    steps = []
    for presolve in (partial(write_products_out, most_rows=FEW_PRODUCTS), write_small_out, settle_rows):
        reduced = presolve(problem)
        if reduced is not None:
            steps.append(reduced.told)
            problem = reduced.problem
    islands = find_islands(problem)
    if islands:
        largest = max(islands, key=lambda island: island.rows.size)
        steps.append(
            f"{len(islands)} islands are solved apart; what follows is for the largest, {largest.rows.size} rows"
        )
        problem = largest.problem
    features = Features.of(problem, is_warm=is_warm, tol=tol)
    rule = find_rule(features)
    chain, passed_over = [], []
    if is_small(problem) and not is_warm:
        chain.append(f"{NAME}: at most {MOST_ROWS} rows in an array, in one compiled call (unless a callback watches)")
    for step, reason in list_steps(rule, problem):
        if reason is None:
            limit = "" if step.iterations is None else f", at most {step.iterations} iterations"
            before = ", from the contacts as an LCP" if step.from_lcp else ""
            before += ", from contacts with a little compliance" if step.from_compliance else ""
            before += "" if step.below is None else f", if the residual is below {step.below:g} by then"
            chain.append(f"{_name(step)}{before}{limit}")
        else:
            passed_over.append(f"{_name(step)}: {reason}")
    return Explanation(
        str(features), tuple(steps), rule.name, rule.why, rule.measured, tuple(chain), tuple(passed_over)
    )


def _name(step: Step) -> str:
    """The method, with those of its options that are not its defaults."""
    method = step.method
    options = [f"{field.name}={getattr(method, field.name)!r}" for field in fields(method)]
    plain = [f"{field.name}={getattr(type(method)(), field.name)!r}" for field in fields(method)]
    changed = ", ".join(option for option, default in zip(options, plain, strict=True) if option != default)
    return f"{method.label}({changed})" if changed else method.label
