"""How a solve can end."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """The final state of a solve: a number, a sentence. Only CONVERGED is success.

    `status.value` is the sentence and `status.code` the number, which `int(status)` gives as well: 0 for success,
    positive for everything else. **The numbers are for programs and files: a number never changes its meaning, and a
    new status takes the next free one.**

    NOTES section 7 has six final states: absolute convergence is CONVERGED, relative convergence (eq. 108: the merit
    hardly changes any more) is RELATIVE, and the other four carry their names. INFEASIBLE is only ever said with a
    certificate that `perp.verify_certificate` has checked against the caller's own numbers.
    """

    CONVERGED = 0, "the residual is within the tolerance"
    RELATIVE = 1, "the merit function hardly changes any more, and the residual is not within the tolerance"
    ACTIVE_SET_UNCHANGED = 2, "the active set stayed the same, and the residual is not within the tolerance"
    STAGNATED = 3, "the iterate no longer changes, and the residual is not within the tolerance"
    CYCLING = 4, "the iteration came back to an earlier iterate and would go on for ever"
    LOCAL_MINIMUM = 5, "the merit function has a local minimum here that is not a solution"
    NON_DESCENT = 6, "the method found no direction in which the merit function falls"
    ITERATION_LIMIT = 7, "the iteration limit was reached"
    TIME_LIMIT = 8, "the time limit was reached"
    REDUCED_ACCURACY = 9, "the method is done, but rounding errors keep the residual above the tolerance"
    RAY = 10, "the method ended on a ray"
    INFEASIBLE = 11, "no x within its bounds has an admissible slack, and the certificate proves it"
    BREAKDOWN = 12, "the method broke down"
    NON_FINITE = 13, "the slack A x + b is not finite at the starting point"
    STOPPED_BY_CALLBACK = 14, "the callback asked to stop"
    INTERRUPTED = 15, "the solve was interrupted from the keyboard"

    _value_: str
    code: int

    def __new__(cls, code: int, sentence: str) -> Status:
        status = object.__new__(cls)
        status._value_ = sentence
        status.code = code
        return status

    @property
    def success(self) -> bool:
        return self is Status.CONVERGED

    def __int__(self) -> int:
        return self.code
