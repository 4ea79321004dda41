"""How accurately a Newton equation is to be solved.

An inexact Newton method asks of its linear solver only ||F + F' dx|| <= gamma ||F|| (NOTES eq. 71 and 105), so the
absolute `tolerance` that the methods of this folder take is gamma ||F||.
"""

from __future__ import annotations

GREATEST = 0.9
"""No forcing term is larger: the linear model has to be reduced at all."""

SAFEGUARD = 0.1
"""Above this, a forcing term does not fall faster than the square of the last one."""


def forcing(gamma: float, norm: float) -> float:
    """The tolerance of an inexact Newton step: gamma ||F|| (NOTES eq. 71, 105)."""
    return gamma * norm


def next_gamma(norm: float, previous_norm: float, previous_gamma: float) -> float:
    """gamma = 0.9 (||F_k|| / ||F_{k-1}||)^2 with its safeguard (Eisenstat & Walker 1996, choice 2).

    Rough while far from the solution, tight enough for quadratic convergence close to it.
    """
    if previous_norm <= 0.0:
        return GREATEST
    gamma = GREATEST * (norm / previous_norm) ** 2
    floor = GREATEST * previous_gamma**2
    if floor > SAFEGUARD:
        gamma = max(gamma, floor)
    return min(gamma, GREATEST)
