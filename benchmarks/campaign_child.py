"""One process of the campaign: reads numbers of samples, one a line, and answers each with a row as JSON.

What a solve prints is caught (also what native code prints), and so is every warning; both are flaws.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from time import perf_counter
from typing import Any

import numpy as np

import perp
from benchmarks.campaign_digest import Row
from benchmarks.campaign_judge import find_objection, judge, largest
from benchmarks.campaign_sample import Sample
from benchmarks.campaign_samples import draw_sample, structure_of
from perp.problems.problem import Problem

TOLERANCE = 1e-8
ROUNDING_OF_SUMS = 1.0 + 1e-6
"""The judge adds up in another order: an answer that is within the tolerance by a hair is not called false; nor is one
whose residual is nothing but the rounding of the slack (`Judgement.certain`)."""
PLANTED_SHARE = 0.1
"""A planted solution proves that a problem can be solved to `tol` only if it is itself well within it."""
SURFACE = 2.0**-50
"""A point that leaves a cone or a disc by so little has only been rounded (`problems/friction.py` says the same)."""


def measure_sample(number: int, tol: float = TOLERANCE, repeat: bool = False) -> Row:
    """Draw a sample, solve it by plain `perp.solve`, and write down everything that must not have happened."""
    sample = draw_sample(number)
    problem = sample.problem
    before = fingerprint(problem)
    told = _told(number, sample, tol)
    begun = perf_counter()
    with caught_output() as heard:
        try:
            result = solve(problem, tol)
        except Exception as error:  # noqa: BLE001  (what must never happen is what is looked for)
            flaw = f"raised {type(error).__name__}: {error}"[:300]
            return _failed(told, "ERROR", perf_counter() - begun, flaw)
    seconds = perf_counter() - begun
    flaws = [*heard, *find_flaws(sample, result, tol)]
    if fingerprint(problem) != before:
        flaws.append("the problem was modified")
    if repeat:
        again = solve(draw_sample(number).problem, tol)
        if again.x.tobytes() != result.x.tobytes() or again.status is not result.status:
            flaws.append(f"not the same bits when repeated ({again.status.name}, {largest(again.x - result.x):.1e})")
    judged = judge(problem, result.x)
    return Row(
        **told,
        status=result.status.name,
        success=int(result.success),
        residual=judged.residual,
        scaled=judged.scaled,
        seconds=seconds,
        methods=" > ".join(attempt.method for attempt in result.methods),
        proved=int(is_proved(result)),
        flaws="; ".join(flaws),
    )


def solve(problem: Problem, tol: float) -> perp.Result:
    """Plain `perp.solve(problem)`; a tolerance is named only where it is not the default."""
    return perp.solve(problem) if tol == TOLERANCE else perp.solve(problem, tol=tol)


def known_answer(sample: Sample, tol: float) -> tuple[str, str]:
    """Whether the problem can be solved to this tolerance, and how we know."""
    if sample.solvable is None:
        return "gamble", sample.why
    if not sample.solvable:
        return "no", sample.why
    if sample.x is not None:
        planted = judge(sample.problem, sample.x).scaled
        if not planted <= PLANTED_SHARE * tol:
            return "unknown", f"{sample.why}; rounding leaves the planted x with a residual of {planted:.1e}"
    return "yes", sample.why


def find_flaws(sample: Sample, result: perp.Result, tol: float) -> Iterator[str]:
    problem = sample.problem
    if not (np.isfinite(result.x).all() and np.isfinite(result.y).all()):
        yield "x or y is not finite"
    if np.isnan(result.residual):
        yield "the residual is NaN"
    if result.success:
        judged = judge(problem, result.x)
        if not judged.certain <= tol * ROUNDING_OF_SUMS:
            yield f"false CONVERGED: scaled residual {judged.scaled:.2e}"
        if judged.outside > SURFACE * max(1.0, 2.0**0.5 * largest(result.x)):  # two tangents are as long as that
            yield f"CONVERGED out of bounds by {judged.outside:.1e}"
        if sample.solvable is False:
            yield "CONVERGED on a problem without solution"
    if result.status is perp.Status.INFEASIBLE and not is_proved(result):
        yield "INFEASIBLE without a proof that holds"
    if is_proved(result):
        assert result.certificate is not None
        if sample.x is not None:
            yield "false proof: a solution was planted"
        elif sample.solvable:
            yield "false proof: theory has a solution"
        objection = find_objection(problem, result.certificate)
        if objection:
            yield f"a proof that does not hold: {objection}"


def is_proved(result: perp.Result) -> bool:
    """Whether the result comes with a certificate that shows that there is no solution, and perp says that it holds."""
    if result.success or result.certificate is None:
        return False
    return perp.verify_certificate(result.problem, result.certificate).excludes_solutions


def fingerprint(problem: Problem) -> bytes:
    """The bytes of all numbers of a problem."""
    A: Any = problem.A
    matrix = A.product.matmat(np.eye(problem.n)) if isinstance(A, perp.MatrixFreeOperator) else A.to_dense()
    parts = [matrix, problem.b, *(getattr(problem, name, np.empty(0)) for name in ("lower", "upper", "friction"))]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


@contextmanager
def caught_output() -> Iterator[list[str]]:
    """A list that, after the block, says what was printed on either channel, and which warnings were given."""
    heard: list[str] = []
    sys.stdout.flush()
    with tempfile.TemporaryFile() as sink, warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        kept = os.dup(1), os.dup(2)
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
        try:
            yield heard
        finally:
            sys.stdout.flush()
            for channel, descriptor in enumerate(kept, start=1):
                os.dup2(descriptor, channel)
                os.close(descriptor)
            sink.seek(0)
            printed = sink.read()
        if printed:
            heard.append(f"printed {printed[:100]!r}")
        heard += [f"warned {one.category.__name__}: {one.message}"[:200] for one in given]


def _told(number: int, sample: Sample, tol: float) -> dict[str, Any]:
    solvable, why = known_answer(sample, tol)
    problem = sample.problem
    told = {"number": number, "structure": structure_of(number), "kind": problem.kind, "n": problem.n}
    return {**told, "solvable": solvable, "why": why}


def _failed(told: dict[str, Any], status: str, seconds: float, flaw: str) -> Row:
    empty: dict[str, Any] = {"success": 0, "residual": float("nan"), "scaled": float("nan"), "methods": "", "proved": 0}
    return Row(**told, **empty, status=status, seconds=seconds, flaws=flaw)


def failed_row(number: int, tol: float, status: str, seconds: float, flaw: str) -> Row:
    """For a sample whose process hung or died."""
    return _failed(_told(number, draw_sample(number), tol), status, seconds, flaw)


def main() -> None:
    perp.warm_up()
    print("ready", flush=True)
    for line in sys.stdin:
        number, tol, repeat = json.loads(line)
        print(json.dumps(asdict(measure_sample(number, tol, repeat))), flush=True)


if __name__ == "__main__":
    main()
