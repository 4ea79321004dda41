"""Proofs that a problem has no solution, and the one function that checks them.

| kind | what it is | what it proves |
|---|---|---|
| infeasible | u^T y >= 0 for admissible slacks, and u^T (A x + b) < 0 within the bounds (`separation`) | no solution |
| inconsistent | the same on equations alone, with A^T u = 0: they contradict each other | no solution |
| friction | the same for contacts, where A^T u is in the polar of the friction cones (`separation`) | no solution |
| exhausted | every index set of a few rows refuted (`exhaustion`) | no solution |
| ray | a direction that Lemke's method ended on (`rays`) | how the method ended |
"""

from __future__ import annotations

from perp.problems.certificates.certificate import KINDS, PROVABLE, Certificate, list_rows
from perp.problems.certificates.checking import verify_certificate
from perp.problems.certificates.enclosing import rounding_share
from perp.problems.certificates.exhaustion import prove_by_exhaustion
from perp.problems.certificates.rays import certify_ray
from perp.problems.certificates.sharpening import round_to_integers, sharpen

__all__ = [
    "Certificate",
    "KINDS",
    "PROVABLE",
    "verify_certificate",
    "prove_by_exhaustion",
    "certify_ray",
    "sharpen",
    "round_to_integers",
    "rounding_share",
    "list_rows",
]
