"""Bridges to solvers of quadratic programs that other people wrote. None is needed to install perp.

`solve_quadratic_program` hands a statement to one of them; what comes back is what that solver says, unchecked.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from time import perf_counter

from perp.errors import MissingExtra, suggest
from perp.problems.inputs import require_number
from perp.solvers.reformulation.bridges.bridge import Answer, Bridge, Ending, words_of
from perp.solvers.reformulation.bridges.clarabel import ClarabelBridge
from perp.solvers.reformulation.bridges.quadratic import DaqpBridge, HighsBridge, OsqpBridge, PiqpBridge, ProxqpBridge
from perp.solvers.reformulation.statement import Statement

BRIDGES: dict[str, Bridge] = {
    bridge.name: bridge
    for bridge in (PiqpBridge(), ClarabelBridge(), DaqpBridge(), ProxqpBridge(), OsqpBridge(), HighsBridge())
}
"""In the order in which "auto" takes them.

PIQP is the quickest on piles of contacts and on grids, and reaches 1e-9 and less there. Clarabel is 2 to 15 times
slower and ends near 1e-7 on piles, but knows an infeasible problem at once. DAQP is exact, the quickest on full
matrices up to 500 rows, and takes seconds from 1,000 on. ProxQP, OSQP and HiGHS take seconds on piles of 1,000 rows and
end above 1e-8 there; HiGHS also says 'Optimal' where it is not.
"""

BACKENDS = ("auto", *BRIDGES)


def find_bridge(backend: str = "auto") -> Bridge | None:
    """The bridge of that name, or with "auto" the first whose solver is installed; None where it is not installed."""
    if backend not in BACKENDS:
        raise ValueError(f"backend is {backend!r}{suggest(str(backend), BACKENDS)}")
    wanted = BRIDGES.values() if backend == "auto" else [BRIDGES[backend]]
    return next((bridge for bridge in wanted if bridge.is_installed), None)


def name_missing(backend: str) -> str:
    """What to install, in a sentence."""
    if backend == "auto":
        return f"none of {', '.join(BRIDGES)} is installed: pip install 'perp[{next(iter(BRIDGES))}]'"
    return f"{BRIDGES[backend].package} is not installed: pip install 'perp[{backend}]'"


def solve_quadratic_program(
    statement: Statement, backend: str = "auto", *, tolerance: float = 1e-10, seconds: float = inf
) -> Answer:
    """Hand the program to the solver of that name and bring back what it says. Nothing of that has been checked.

    Raises MissingExtra where the solver is not installed. A solver that raises has stopped, and its words are those of
    the exception.
    """
    require_number(tolerance, "tolerance", positive=True)
    bridge = find_bridge(backend)
    if bridge is None:
        extra = next(iter(BRIDGES)) if backend == "auto" else backend
        raise MissingExtra(BRIDGES[extra].package, "a quadratic program", extra)
    return cross(bridge, statement, tolerance, seconds)


def cross(bridge: Bridge, statement: Statement, tolerance: float, seconds: float = inf) -> Answer:
    """The same over a bridge that is known to be there."""
    begun = perf_counter()
    try:
        answer = bridge.prepare(bridge.load(), statement, tolerance, seconds)()
    except Exception as fault:  # noqa: BLE001 (other people's code: whatever it raises is its answer)
        answer = Answer(Ending.STOPPED, words_of(fault))
    return replace(answer, backend=bridge.name, seconds=perf_counter() - begun)
