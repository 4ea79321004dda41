"""Residuals, proofs, error bounds, certificates and classes of matrices."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from fractions import Fraction
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import perp

Vector = NDArray[np.float64]


def residuals(problem: perp.LCP, result: perp.Result) -> str:
    measured = perp.verify(problem, result)
    assert_type(measured, perp.Residuals)
    assert_type(measured.residual, float)
    assert_type(measured.natural_2, float)
    assert_type(measured.fischer, float)
    assert_type(measured.objective, float | None)
    assert_type(measured.active, int)
    assert_type(perp.verify(problem, [0.0, 1.0]).proof, perp.Proof | None)
    assert_type(perp.verify(problem, result.x, prove=True).proof, perp.Proof | None)
    assert_type(perp.verify(problem, result.x, prove=True).error_bounds, tuple[perp.ErrorBound, ...])
    return str(measured)


def proofs(problem: perp.LCP, result: perp.Result) -> str:
    proof = perp.prove(problem, result, max_rows=100, exact=True)
    assert_type(proof, perp.Proof)
    assert_type(proof.exists, bool)
    assert_type(proof.lower, Vector | None)
    assert_type(proof.radius, float)
    assert_type(proof.exact, tuple[Fraction, ...] | None)
    assert_type(proof.unique, bool | None)
    assert_type(proof.how, str)
    assert_type(proof.width, float)
    return f"{proof} {perp.prove(problem, [0, 0]).reason}"


def bounds(problem: perp.LCP, result: perp.Result) -> list[str]:
    found = perp.error_bounds(problem, result.x)
    assert_type(found, tuple[perp.ErrorBound, ...])
    for one in found:
        assert_type(one.bound, float)
        assert_type(one.constant, float)
        assert_type(one.proved, bool)
        assert_type(one.entries, Vector | None)
    return [one.name + one.norm + one.assumption for one in found]


def certificates(problem: perp.LCP) -> bool:
    found = perp.find_no_solution(problem, max_seconds=1.0, hints=[problem.b, [1, 2, 3]])
    assert_type(found, perp.Certificate | None)
    exhausted = perp.prove_by_exhaustion(problem, [0, 1, 2], max_seconds=1.0)
    assert_type(exhausted, perp.Certificate)
    checked = perp.verify_certificate(problem, exhausted)
    assert_type(checked, perp.Certificate)
    assert_type(checked.u, Vector)
    assert_type(checked.margin, float)
    assert_type(checked.valid, bool)
    assert_type(checked.reason, str)
    assert_type(checked.kind, str)
    assert_type(checked.rows, tuple[int, ...])
    assert_type(checked.excludes_solutions, bool)
    return perp.verify_certificate(problem, problem.b).valid and perp.prove_by_exhaustion(problem).valid


def classes(problem: perp.LCP) -> str:
    found = perp.classify(problem, max_seconds=1.0, classes=["P", "Z"])
    assert_type(found, perp.MatrixClasses)
    assert_type(found.P, perp.Verdict)
    assert_type(found["positive_definite"], perp.Verdict)
    assert_type([verdict.name for verdict in found], list[str])
    assert_type(found.n, int)
    assert_type(found.seconds, float)
    verdict = perp.classify([[1, 2], [0, 1]]).P
    assert_type(verdict.answer, bool | None)
    assert_type(verdict.why, str)
    if verdict.witness is not None:
        assert_type(verdict.witness.rows, tuple[int, ...])
        assert_type(verdict.witness.vector, Vector)
        assert_type(perp.check_witness(problem.A, verdict), bool)
    return f"{found} {perp.classify(problem.A)} {perp.check_witness([[1, 2], [0, 1]], verdict)}"


def mistakes(problem: perp.LCP) -> None:
    """What a checker of types should find before the program runs."""
    perp.classify(1.0)  # pyright: ignore[reportArgumentType]
    perp.verify(problem, None)  # pyright: ignore[reportArgumentType]
    perp.verify_certificate(problem, perp.find_no_solution(problem))  # pyright: ignore[reportArgumentType]
