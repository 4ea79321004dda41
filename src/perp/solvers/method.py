"""What a method is: a frozen dataclass of options, and a step. The library owns the loop."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from inspect import Signature, signature
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from perp.errors import MethodRefused
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers import roster
from perp.solvers.results import Status

DEFAULT_ITERATIONS = 1000


@dataclass
class State:
    """Where an iteration stands. Methods subclass it for whatever they carry along beside x."""

    x: Vector
    ended: tuple[Status, str] | None = field(default=None, kw_only=True)
    """Set by a step that cannot go on, with the reason; the loop then judges x and stops."""
    offer: Vector | None = field(default=None, kw_only=True)
    """An answer that the method prefers to x, where the iteration stands; the loop judges the offer instead."""
    repeatable: bool = field(default=True, kw_only=True)
    """Whether x alone decides what comes next, so that an x seen before means a cycle; not with random numbers."""
    ends_itself: bool = field(default=False, kw_only=True)
    """Pivoting: x may rest while the basis changes; the loop reads nothing from its motion and waits for `ended`."""
    unused: int = field(default=0, kw_only=True)
    """How many of the iterations that the last step was asked for were no longer needed."""
    is_due: bool = field(default=False, kw_only=True)
    """Set by a step that ends early for x to be judged: it may be a solution, and the next iterate another one."""
    certificate: Vector | None = field(default=None, kw_only=True)
    """A vector that may prove infeasibility (`perp.problems.certificates`); set with `ended`, checked by `solve`."""
    counters: dict[str, float] = field(default_factory=dict, kw_only=True)
    """What the method counts (pivots, factorisations, ...): a column each in the history. All from the start on."""


if TYPE_CHECKING:  # a default makes a plain `Method` mean `Method[Any]`; `typing` has it from Python 3.13 on
    from typing_extensions import TypeVar

    S = TypeVar("S", bound=State, default=Any)
else:
    from typing import TypeVar

    S = TypeVar("S", bound=State)


class _Options(ABCMeta):
    """Makes a method of its options; an unknown one raises a TypeError that says which was meant."""

    @property
    def __signature__(cls) -> Signature:
        """That of `__init__`: Python would take that of `__call__`."""
        made = signature(cls.__init__)  # type: ignore[misc]
        return made.replace(parameters=list(made.parameters.values())[1:], return_annotation=Signature.empty)

    if not TYPE_CHECKING:  # which would lose the type of what is made

        def __call__(cls, *arguments: Any, **options: Any) -> Any:
            try:
                return super().__call__(*arguments, **options)
            except TypeError:
                method: Any = cls
                unknown = next((name for name in options if name not in cls.__signature__.parameters), None)
                if unknown is None:
                    raise
                hint = roster.suggest_option(unknown, method, ())
                raise TypeError(f"{cls.__name__} has no option {unknown!r}{hint}") from None


@dataclass(frozen=True)
class Method(Generic[S], metaclass=_Options):
    """Options are fields, checked when the method is made; everything else a method says of itself is on the class.

    A method names the state that its `start` makes: `class Jacobi(Method[JacobiState])`. A plain `Method` is one with
    any state, for type checkers `Method[Any]`.
    """

    name: ClassVar[str]
    """The one name: roster, command line, tables."""
    family: ClassVar[str]
    accepts: ClassVar[frozenset[str]]
    """The problem kinds: `lcp`, `box`, `contact/box`, `contact/cone`, `contact/convex`, `contact/disc`, and `wide/box`,
    ... for contacts with a coefficient for every row (torsion, rolling)."""
    needs: ClassVar[frozenset[str]]
    """The operator abilities (`perp.problems.operators.base`)."""
    requires: ClassVar[str]
    """What A must be, in words."""
    reference: ClassVar[str]
    """Document, section, equation."""
    synonyms: ClassVar[tuple[str, ...]] = ()
    """Its names in papers and other libraries; several methods may share one. They lead to errors that name it."""
    check_every: ClassVar[int] = 1
    """Iterations between two checks, unless the caller says otherwise."""
    counted: ClassVar[tuple[str, ...]] = ()
    """Names in `State.counters` that are in every history, with zeros where nothing was to be done."""
    scales_itself: ClassVar[bool] = False
    """Whether it takes extreme rows as they are; otherwise it is given a problem whose rows are scaled."""

    @property
    def label(self) -> str:
        """The name as results show it; a wrapper shows what it wraps."""
        return self.name

    def objection(self, problem: Problem) -> str | None:
        """Why this problem, of an accepted kind and with the needed abilities, is still outside the method's class."""
        return None

    def default_iterations(self, problem: Problem) -> int:
        """The limit where the caller sets none, neither of iterations nor of time."""
        return DEFAULT_ITERATIONS

    @abstractmethod
    def start(self, problem: Problem, x: Vector) -> S:
        """Prepare: copies, factors, index sets. `x` is within its bounds and becomes the method's own."""

    def refresh(self, problem: Problem, state: S) -> None:
        """Compute anew from x what is kept beside it, so that rounding errors of earlier iterates are gone.

        Most methods keep nothing that needs it.
        """

    @abstractmethod
    def step(self, problem: Problem, state: S, count: int) -> None:
        """Do `count` iterations; step(2) then step(3) is bit for bit step(5), and step(0) only loads what it needs."""


def misfit(method: Method, problem: Problem) -> str | None:
    """The reason why `method` cannot solve `problem`, or None."""
    if problem.kind not in method.accepts:
        return f"it solves {_listed(method.accepts)} problems, and this one is '{problem.kind}'"
    missing = method.needs - problem.A.ability_set
    if missing:
        have = _listed(problem.A.ability_set)
        return f"it needs {_listed(missing)} of A, and a {problem.A.form} operator offers {have}"
    return method.objection(problem)


def require_fit(method: Method, problem: Problem, others: Callable[[], Iterable[Method]]) -> None:
    """Raise `MethodRefused` with the reason and those of the `others`, asked for only then, that would work."""
    reason = misfit(method, problem)
    if reason is not None:
        able = [other.name for other in others() if misfit(other, problem) is None]
        if method.name in able:  # it is the options that do not fit
            able = [f"{method.name} with its default options", *(name for name in able if name != method.name)]
        if method.family == "wrapper":  # what would fit in its place says nothing of what it wraps
            raise MethodRefused(f"{method.label} refuses: {reason}")
        advice = f"methods that would work: {', '.join(able)}" if able else "no method of this version would work"
        raise MethodRefused(f"{method.label} refuses: {reason} ({advice})")


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"'{word}'" for word in sorted(words))
