"""The answer of a solve, which can judge itself; how it ended, and what happened on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.problems.certificates import Certificate
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.problems.residual_scale import scaled_residual
from perp.problems.residuals import Residuals, Watch, active_mask, verify

Row = tuple[int, float, float, float, int]
"""iteration, seconds, residual, merit, active"""

SHOWN = 6
"""Entries of x that are shown: as many as that, or the first and last half of them."""

LABEL = 17
"""Width of the column of labels."""


class NamedAccess:
    """The values of a frozen dataclass, and those of its properties that `other_names` lists, by name; nothing to set.

    It reads like a mapping without being one: two results are the same only if they are one.
    """

    other_names: ClassVar[tuple[str, ...]] = ()
    """Properties that are read by name as well."""

    def keys(self) -> tuple[str, ...]:
        """Every name, fields first; `dict(self)` computes those that are computed on demand."""
        return tuple(one.name for one in fields(self)) + self.other_names  # type: ignore[arg-type]

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())


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


@dataclass(frozen=True)
class History:
    """Columns of equal length, one entry a check, the starting point first.

    `seconds` counts the method's own time only: neither its preparation nor the checks. `counters` holds a column for
    each thing that the method itself counts, such as pivots or factorisations.
    """

    iteration: NDArray[np.int64]
    seconds: NDArray[np.float64]
    residual: NDArray[np.float64]
    merit: NDArray[np.float64]
    active: NDArray[np.int64]
    counters: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    @staticmethod
    def from_rows(rows: list[Row], counted: list[dict[str, float]] | None = None) -> History:
        """`counted` has what was counted at each row; nothing had been at rows where a name is missing.

        The lists become the history's own. Its columns are made when somebody first asks for one: a small problem is
        solved in the time that they take, and hardly anybody asks.
        """
        history = object.__new__(History)
        vars(history)["_told"] = rows, counted or []
        return history

    if not TYPE_CHECKING:  # a checker of types should go on telling columns from misspelt ones

        def __getattr__(self, name: str) -> Any:
            """Called for what is not there (yet). Two threads may both make the columns: they make the same ones."""
            told = vars(self).get("_told")
            if told is not None:
                vars(self).update(_as_columns(*told))
                vars(self).pop("_told", None)
            if name in vars(self):
                return vars(self)[name]
            raise AttributeError(f"a history has no column {name!r}")

    def __len__(self) -> int:
        return len(self.iteration)


def _as_columns(rows: list[Row], counted: list[dict[str, float]]) -> dict[str, Any]:
    iteration, seconds, residual, merit, active = zip(*rows, strict=True) if rows else ((),) * 5
    names = dict.fromkeys(name for counters in counted for name in counters)
    return {
        "iteration": np.array(iteration, dtype=np.int64),
        "seconds": np.array(seconds, dtype=np.float64),
        "residual": np.array(residual, dtype=np.float64),
        "merit": np.array(merit, dtype=np.float64),
        "active": np.array(active, dtype=np.int64),
        "counters": {name: np.array([counters.get(name, 0.0) for counters in counted]) for name in names},
    }


def join_histories(histories: Sequence[History]) -> History:
    """Of islands, as if they were solved one after the other.

    At each check, islands before the one at work stand at their last check, those after it at their first.

    The residual of the whole is the largest of all islands', merit and active rows are sums. Where an island begins,
    the whole stands where the last one ended, which is not listed twice.
    """
    filled = [history for history in histories if len(history)]
    if not filled:
        return History.from_rows([])
    lengths = np.array([len(history) for history in filled])
    island = np.repeat(np.arange(lengths.size), lengths)
    begins = np.cumsum(lengths) - lengths
    ends = begins + lengths - 1
    keep = np.ones(island.size, dtype=bool)
    keep[begins[1:]] = False

    def together(name: str, join: np.ufunc) -> NDArray[Any]:
        here = np.concatenate([getattr(history, name) for history in filled])
        before, after = _earlier(here[ends], join), _earlier(here[begins][::-1], join)[::-1]
        return np.asarray(join(join(here, before[island]), after[island])[keep])

    return History(
        together("iteration", np.add),  # first ones are 0
        together("seconds", np.add),
        together("residual", np.maximum),
        together("merit", np.add),
        together("active", np.add),
    )


def _earlier(values: NDArray[Any], join: np.ufunc) -> NDArray[Any]:
    """All values before each, joined; 0 for none."""
    return np.concatenate([np.zeros(1, values.dtype), join.accumulate(values)[:-1]])


def join_turns(histories: Sequence[History]) -> History:
    """The histories of methods that took turns as one: iterations and seconds count on. Counters belong to methods."""
    filled = [history for history in histories if len(history)]
    if len(filled) <= 1:
        return filled[0] if filled else History.from_rows([])
    iterations = np.cumsum([0, *(history.iteration[-1] for history in filled[:-1])])
    seconds = np.cumsum([0.0, *(history.seconds[-1] for history in filled[:-1])])
    return History(
        np.concatenate([history.iteration + done for history, done in zip(filled, iterations, strict=True)]),
        np.concatenate([history.seconds + spent for history, spent in zip(filled, seconds, strict=True)]),
        np.concatenate([history.residual for history in filled]),
        np.concatenate([history.merit for history in filled]),
        np.concatenate([history.active for history in filled]),
    )


class BestAnswer:
    """While each check is better than the last, the copy of x that the watch has anyway is the best answer, too.

    It is put aside when a check is worse. An offer, which the watch does not take over, is always copied.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._aside: Vector | None = None
        self._is_last = True

    @property
    def x(self) -> Vector:
        return self._watch.previous if self._is_last or self._aside is None else self._aside

    def accept(self, x: Vector, answer: Vector, is_better: bool) -> None:
        """Make x the point that the watch compares with, and the answer, which may be x, the best one if it is."""
        if self._is_last and not is_better:
            self._put_aside(self._watch.previous)
        self._watch.accept(x)
        if is_better and answer is x:
            self._is_last = True
        elif is_better:
            self._put_aside(answer)

    def _put_aside(self, answer: Vector) -> None:
        if self._aside is None:
            self._aside = answer.copy()
        else:
            np.copyto(self._aside, answer)
        self._is_last = False


@dataclass(frozen=True)
class Attempt:
    """One method, or one step of "auto", that was tried, and how it ended."""

    method: str
    status: Status | None
    """How it ended; None for a step that solves nothing, such as presolve."""
    iterations: int
    seconds: float
    """Wall clock for steps of "auto"; for a method that was named its own time, without preparation and checks."""
    residual: float
    """Of the point that it ended with; `nan` where there was none to look at."""
    why: str = ""
    """Why it was tried, and what came of it where the status does not say so."""


@dataclass(frozen=True, repr=False, eq=False)
class Result(NamedAccess):
    """x and its slack y, how the solve ended, and the problem itself.

    `residual` was recomputed from the problem and x by `perp.problems.residuals`, never taken from the method.

    Who comes from SciPy finds `x`, `success`, `status`, `message`, `nit`, `fun` and `active_mask`; values can be read
    by name, `result["x"]`, and `print(result)` tells what matters. What costs something (`fun`, `active_mask`,
    `scaled_residual`, the columns of `history`) is computed when it is first asked for.
    """

    other_names: ClassVar[tuple[str, ...]] = ("success", "nit", "fun", "active_mask", "scaled_residual")

    problem: Problem
    method: str
    x: Vector
    y: Vector
    status: Status
    """An enum; `int(result.status)` is its number, 0 for success, which never changes its meaning."""
    message: str
    iterations: int
    residual: float
    seconds: float
    """The method's own time: neither preparation nor checks. With "auto", that of all its steps."""
    setup_seconds: float
    """Preparation: scaled copies, diagonals, and in the first call of a process the loading of compiled kernels."""
    history: History
    best_iteration: int
    """The iteration that x comes from: the last one, or for a failed solve the best that was checked."""
    methods: tuple[Attempt, ...]
    """Every method, or step of "auto", that was tried, in order."""
    certificate: Certificate | None
    """The proof that there is no solution, checked against the problem's own numbers; None without one."""
    ray: Vector | None
    """The direction that a pivoting method ended on, where it ended on one. By itself it proves nothing."""
    notes: tuple[str, ...]
    """What happened to the input on the way, for example a starting point that had to be projected."""
    reason: str = field(default="", kw_only=True)
    """What `message` tells beyond the sentence of the status; empty where there is nothing to add."""

    @property
    def success(self) -> bool:
        return self.status.success

    @property
    def nit(self) -> int:
        """`iterations`, by the name that SciPy has for it."""
        return self.iterations

    @cached_property
    def fun(self) -> float | None:
        """1/2 x^T A x + b^T x (NOTES eq. 21) for symmetric A; others have no objective, and this is None."""
        return self.verify().objective

    @cached_property
    def active_mask(self) -> NDArray[np.int8]:
        """-1 for rows at their lower bound, 1 at their upper one, 0 between; see `perp.problems.residuals`."""
        return freeze(active_mask(self.problem, self.x, self.y))

    @cached_property
    def scaled_residual(self) -> float:
        """The residual as a share of the size of the data; see `perp.problems.residual_scale`."""
        return scaled_residual(self.problem, self.x, self.y, self.residual)

    def verify(self) -> Residuals:
        """Every residual of x, recomputed from the problem."""
        return verify(self.problem, self.x)

    def __repr__(self) -> str:
        return (
            f"<Result of {self.method}: {self.status.name}, residual {self.residual:.3e}, "
            f"{self.iterations} iterations, {self.seconds:.3g} s>"
        )

    def __str__(self) -> str:
        return summarise(self)


def make_message(sentence: str, reason: str, residual: float, iterations: int) -> str:
    """The message of a result: how the solve ended, why, and what it reached."""
    ending = f"{sentence}: {reason}" if reason else sentence
    return f"{ending} (residual {residual:.3e} after {iterations} iterations)"


def summarise(result: Result) -> str:
    """What `print` shows, in some ten lines: how it ended, by which methods, how good x is, and the notes."""
    return "\n".join(f"{label:>{LABEL}}: {text}" for label, text in _lines(result))


def _lines(result: Result) -> Iterator[tuple[str, str]]:
    yield "status", f"{result.status.name} ({result.status.code}), success {result.success}"
    yield "message", result.message
    yield "problem", f"{result.problem!r}, kind '{result.problem.kind}'"
    yield "method", result.method
    if len(result.methods) > 1 or any(attempt.why for attempt in result.methods):
        for number, attempt in enumerate(result.methods, start=1):
            yield f"attempt {number}", _tell_attempt(attempt)
    yield "residual", f"{result.residual:.3e}"
    yield "scaled residual", f"{result.scaled_residual:.3e}"
    yield "iterations", _tell_iterations(result)
    yield "seconds", f"{result.seconds:.3g}, and {result.setup_seconds:.3g} of preparation"
    yield "x", _abbreviate(result.x)
    yield "rows", _count_active(result)
    if result.certificate is not None:
        yield "certificate", result.certificate.reason
    for note in result.notes:
        yield "note", note


def _tell_attempt(attempt: Attempt) -> str:
    ending = "" if attempt.status is None else f"{attempt.status.name}, "
    text = f"{attempt.method}: {ending}residual {attempt.residual:.3e}, {attempt.seconds:.3g} s"
    return f"{text} ({attempt.why})" if attempt.why else text


def _tell_iterations(result: Result) -> str:
    text = str(result.iterations)
    return text if result.best_iteration == result.iterations else f"{text}, x is of iteration {result.best_iteration}"


def _count_active(result: Result) -> str:
    mask = result.active_mask
    lower, upper = (int(np.count_nonzero(mask == side)) for side in (-1, 1))
    return f"at lower bounds {lower}, at upper bounds {upper}, between {mask.size - lower - upper}"


def _abbreviate(x: Vector) -> str:
    half = SHOWN // 2
    shown = [f"{value + 0.0:.6g}" for value in (x if x.size <= SHOWN else (*x[:half], *x[-half:]))]  # -0.0 as 0
    if x.size > SHOWN:
        shown.insert(half, "...")
    return f"[{', '.join(shown)}]"
