"""The nonsmooth nonlinear conjugate gradient method on top of projected Gauss-Seidel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.kernels.sweeps import nncg
from perp.problems.inputs import Vector
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options import About, option, require_choices
from perp.solvers.splitting.sweeps import REFRESH_EVERY, Sweeper, diagonal_objection, make_sweeper
from perp.solvers.symmetry import asymmetry_objection

ORDERS = ("forward", "backward", "symmetric")
RESTARTS = ("published", "gradient")

SLIGHT_ASYMMETRY = 0.01
"""Contacts may have an A that is asymmetric by this share: with friction there is no objective to spoil anyway."""


@dataclass
class NNCGState(State):
    """x is the last swept point, which lies within its bounds; `point`, where the next sweep begins, need not."""

    sweeper: Sweeper
    """Sweeps `point`, and keeps the velocity of it where A is factored."""
    passes: tuple[Any, ...]
    point: Vector
    before: Vector
    direction: Vector
    velocities: tuple[Vector, Vector, Vector]
    """M^-1 J^T times point, before and direction; empty where A is explicit."""
    memory: Vector
    done: int = 0


@dataclass(frozen=True)
class NNCG(Method[NNCGState]):
    """Conjugate directions for the change that a sweep of projected Gauss-Seidel makes.

        grad_k = -(PGS(x_k) - x_k),       beta = |grad_k|^2 / |grad_{k-1}|^2                  (Fletcher & Reeves)

    An iteration is one sweep and a step along the last direction,

        x_{k+1} = PGS(x_k) + beta p_{k-1},       p_k = beta p_{k-1} - grad_k,

    for fixed bounds and symmetric A a preconditioned conjugate gradient method wherever the active set rests. The swept
    point PGS(x_k) lies within its bounds and is the answer; x_{k+1} may leave them and the next sweep brings it back.

    `restart="published"` begins anew where beta > 1: x_{k+1} = PGS(x_k), p_k = 0. On redundant frictional contacts the
    gradient grows in most iterations, and not much more than PGS is left. `restart="gradient"` begins anew where the
    direction has become one of ascent, grad_k · p_{k-1} > 0, and takes 1 for a larger beta (as O'Donoghue & Candes 2015
    restart Nesterov's method): several times fewer iterations there. `order="symmetric"` sweeps forward and backward,
    two sweeps an iteration, which makes the preconditioner a symmetric one, as conjugate gradients want it.
    """

    name: ClassVar[str] = "nncg"
    family: ClassVar[str] = "splitting"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/box", "contact/cone"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS})
    requires: ClassVar[str] = "symmetric A with a positive diagonal, positive semidefinite to converge"
    reference: ClassVar[str] = "Silcowitz-Hansen, Niebe & Erleben 2010 (The Visual Computer 26)"
    check_every: ClassVar[int] = 10
    counted: ClassVar[tuple[str, ...]] = ("restarts",)

    restart: str = option(
        "published",
        About("directions begin anew where beta > 1 (published), or where they lead uphill (gradient)", RESTARTS),
    )
    order: str = option("forward", About("of the sweeps; symmetric is one forward and one backward", ORDERS))

    def __post_init__(self) -> None:
        require_choices(self, restart=RESTARTS, order=ORDERS)

    def objection(self, problem: Problem) -> str | None:
        slight = problem.frictional is not None and (problem.A.asymmetry or 0.0) <= SLIGHT_ASYMMETRY
        return diagonal_objection(problem) or (None if slight else asymmetry_objection(problem))

    def start(self, problem: Problem, x: Vector) -> NNCGState:
        point = x.copy()
        sweeper = make_sweeper(problem, 1.0, point)
        v = np.empty(0) if sweeper.refresh is None else sweeper.vectors[-1]
        return NNCGState(
            x,
            sweeper,
            _passes(problem, self.order),
            point,
            before=point.copy(),
            direction=np.zeros(problem.n),
            velocities=(v, v.copy(), np.zeros(v.size)),
            memory=np.array([-1.0, 0.0]),
            repeatable=False,
            counters={"restarts": 0.0},
        )

    def refresh(self, problem: Problem, state: NNCGState) -> None:
        """The velocity of the direction first, then that of the point, by the one function that the sweeper has."""
        if state.sweeper.refresh is None:
            return
        v, v_before, v_direction = state.velocities
        np.copyto(state.point, state.direction)
        state.sweeper.refresh()
        np.copyto(v_direction, v)
        np.copyto(state.point, state.before)  # between two iterations they are the same
        state.sweeper.refresh()
        np.copyto(v_before, v)

    def step(self, problem: Problem, state: NNCGState, count: int) -> None:
        last = state.done + count
        while True:  # also for count = 0, which loads the kernel and does nothing
            width = min(last - state.done, REFRESH_EVERY - state.done % REFRESH_EVERY)
            self._iterate(state, width)
            state.done += width
            if width and state.done % REFRESH_EVERY == 0:
                self.refresh(problem, state)
            if state.done == last:
                break
        state.counters["restarts"] = float(state.memory[1])

    def _iterate(self, state: NNCGState, count: int) -> None:
        sweeper = state.sweeper
        storage = sweeper.kernels.__name__.rpartition(".")[2]
        what = "rows" if sweeper.contact is None else "contacts"
        arrays: tuple[Any, ...] = (sweeper.storage, sweeper.vectors)
        if sweeper.contact is not None:
            arrays = (sweeper.contact, *arrays)
        points = (state.x, state.point, state.before, state.direction)
        published = self.restart == "published"
        kernel = getattr(nncg, f"{storage}_{what}")
        kernel(count, *state.passes, arrays, published, state.memory, points, state.velocities)


def _passes(problem: Problem, order: str) -> tuple[Any, ...]:
    """Whether there are two passes an iteration, and the order of each as the kernels take it."""
    first, contacts = problem.contact_rows, problem.contacts

    def one_way(numbers: NDArray[np.uint32], rows: NDArray[np.uint32], rows_first: bool) -> Any:
        return (numbers, rows, rows_first) if problem.frictional is not None else rows

    numbers, rows = np.arange(contacts, dtype=np.uint32), np.arange(first, problem.n, dtype=np.uint32)
    there, back = one_way(numbers, rows, False), one_way(numbers[::-1].copy(), rows[::-1].copy(), True)
    return (order == "symmetric", back, back) if order == "backward" else (order == "symmetric", there, back)
