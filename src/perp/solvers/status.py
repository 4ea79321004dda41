"""How a solve can end."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """The final state of a solve; its value is a sentence. Only CONVERGED is success.

    NOTES section 7 has six final states: absolute convergence is CONVERGED, relative convergence (eq. 108: the merit
    hardly changes any more) is RELATIVE, and the other four carry their names. INFEASIBLE is only ever said with a
    certificate that `perp.verify_certificate` has checked against the caller's own numbers.
    """

    CONVERGED = "the residual is within the tolerance"
    RELATIVE = "the merit function hardly changes any more, and the residual is not within the tolerance"
    ACTIVE_SET_UNCHANGED = "the active set stayed the same, and the residual is not within the tolerance"
    STAGNATED = "the iterate no longer changes, and the residual is not within the tolerance"
    CYCLING = "the iteration came back to an earlier iterate and would go on for ever"
    LOCAL_MINIMUM = "the merit function has a local minimum here that is not a solution"
    NON_DESCENT = "the method found no direction in which the merit function falls"
    ITERATION_LIMIT = "the iteration limit was reached"
    TIME_LIMIT = "the time limit was reached"
    REDUCED_ACCURACY = "the method is done, but rounding errors keep the residual above the tolerance"
    RAY = "the method ended on a ray"
    INFEASIBLE = "no x within its bounds has an admissible slack, and the certificate proves it"
    BREAKDOWN = "the method broke down"
    NON_FINITE = "the slack A x + b is not finite at the starting point"
    STOPPED_BY_CALLBACK = "the callback asked to stop"
    INTERRUPTED = "the solve was interrupted from the keyboard"

    @property
    def success(self) -> bool:
        return self is Status.CONVERGED
