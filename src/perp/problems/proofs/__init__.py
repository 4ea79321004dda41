"""Proofs that a solution exists and where it lies, and bounds of the error of a point: rigorous, rounding included."""

from __future__ import annotations

from perp.problems.proofs.error_bounds import ErrorBound, error_bounds
from perp.problems.proofs.prove import Proof, prove

__all__ = ["ErrorBound", "Proof", "error_bounds", "prove"]
