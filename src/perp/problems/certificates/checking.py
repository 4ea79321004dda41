"""The one function that checks proofs."""

from __future__ import annotations

from perp.errors import MissingAbility
from perp.problems.certificates.certificate import Certificate
from perp.problems.certificates.exhaustion import prove_by_exhaustion
from perp.problems.certificates.rays import certify_ray
from perp.problems.certificates.separation import check_vector
from perp.problems.contact_laws import require_one_coefficient
from perp.problems.friction import ContactProblem
from perp.problems.inputs import VectorLike, as_vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem


def verify_certificate(problem: Problem, certificate: Certificate | VectorLike) -> Certificate:
    """Check from the problem's own numbers whether it has no solution, as a vector u or a `Certificate` claims.

    The answer does not depend on who found it, nor how: nothing but u (for a ray also its cover, for an exhaustion the
    rows) is taken from a certificate. A vector is taken for a separating one, of an LCP, a boxed LCP or a contact
    problem; `perp.problems.certificates.separation` says what it must satisfy and how rounding errors are treated.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP, BoxLCP or ContactProblem is needed")
    if isinstance(problem, ContactProblem):
        require_one_coefficient(problem, "verify_certificate")
    if TO_SPARSE not in problem.A.ability_set:
        raise MissingAbility(f"A^T u is needed, and a {problem.A.form} operator cannot give it")
    if isinstance(certificate, Certificate):
        if certificate.kind == "exhausted":
            return prove_by_exhaustion(problem, certificate.rows)
        if certificate.kind == "ray":
            return certify_ray(problem, certificate.u, certificate.cover)
        certificate = certificate.u
    return check_vector(problem, as_vector(certificate, "u", problem.n))
