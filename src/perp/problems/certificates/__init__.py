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

from perp.errors import MissingAbility
from perp.problems.certificates.certificate import KINDS, PROVABLE, Certificate, list_rows
from perp.problems.certificates.exhaustion import prove_by_exhaustion
from perp.problems.certificates.rays import certify_ray
from perp.problems.certificates.separation import check_vector, rounding_share
from perp.problems.certificates.sharpening import round_to_integers, sharpen
from perp.problems.contact_laws import require_one_coefficient
from perp.problems.inputs import VectorLike, as_vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

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


def verify_certificate(problem: Problem, certificate: Certificate | VectorLike) -> Certificate:
    """Check from the problem's own numbers whether it has no solution, as a vector u or a `Certificate` claims.

    The answer does not depend on who found it, nor how: nothing but u (for a ray also its cover, for an exhaustion the
    rows) is taken from a certificate. A vector is taken for a separating one, of an LCP, a boxed LCP or a contact
    problem; `perp.problems.certificates.separation` says what it must satisfy and how rounding errors are treated.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP, BoxLCP or ContactProblem is needed")
    if problem.frictional is not None:
        require_one_coefficient(problem.frictional, "verify_certificate")
    if TO_SPARSE not in problem.A.ability_set:
        raise MissingAbility(f"A^T u is needed, and a {problem.A.form} operator cannot give it")
    if isinstance(certificate, Certificate):
        if certificate.kind == "exhausted":
            return prove_by_exhaustion(problem, certificate.rows)
        if certificate.kind == "ray":
            return certify_ray(problem, certificate.u, certificate.cover)
        certificate = certificate.u
    return check_vector(problem, as_vector(certificate, "u", problem.n))
