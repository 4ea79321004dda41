"""`perp.verify(problem, x, prove=True)`: the residuals, the proof and the bounds in one."""

from __future__ import annotations

import numpy as np

import perp


def test_verify_proves_when_asked():
    problem = perp.LCP([[2.0, 1.0], [1.0, 3.0]], [-1.0, 4.0])
    measured = perp.verify(problem, [0.5, 0.0], prove=True)
    assert measured.proof.exists
    assert measured.proof.unique
    assert measured.error_bounds[0].proved
    assert "proved: a solution lies within" in str(measured)
    assert measured.residual == perp.verify(problem, [0.5, 0.0]).residual


def test_verify_proves_nothing_unasked():
    measured = perp.verify(perp.LCP(np.eye(2), [-1.0, 1.0]), [1.0, 0.0])
    assert measured.proof is None
    assert measured.error_bounds == ()
    assert "proof" not in str(measured)
