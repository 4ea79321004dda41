"""What a bridge to somebody else's solver is, and what comes back over it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

from perp.problems.inputs import Vector
from perp.solvers.reformulation.statement import Multipliers, Statement

FAR = 1e20
"""A bound that stands for none, where a solver takes no infinity."""

LONGEST = 200
"""Letters of an exception that are repeated."""


class Ending(Enum):
    """How a solver says that it ended, in our words."""

    SOLVED = "solved"
    UNBOUNDED = "unbounded"
    INFEASIBLE = "infeasible"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Answer:
    """What a solver says. None of it has been checked."""

    ending: Ending
    words: str
    """The solver's own word for it."""
    z: Vector | None = None
    multipliers: Multipliers | None = None
    iterations: int = 0
    ray: Vector | None = None
    """A direction in which the objective falls for ever, where the solver gives one."""
    backend: str = ""
    """Which solver it was; with `seconds` filled in by `solve_quadratic_program`."""
    seconds: float = 0.0


Run = Callable[[], Answer]


@dataclass(frozen=True)
class Bridge(ABC):
    """One solver: how it is called, and how its answer reads. Each has a class here and an entry in `BRIDGES`."""

    name: ClassVar[str]
    """The one name: the option `backend`, tables, and the extra of `pip install perp[...]`."""
    package: ClassVar[str]
    """Its name on the package index."""
    module: ClassVar[str]
    tightest: ClassVar[float]
    """The least tolerance that it can be asked for and has a chance to reach."""
    dense_only: ClassVar[bool] = False
    """Whether it works on full matrices, so that a statement in body space would only be larger."""

    @property
    def is_installed(self) -> bool:
        return find_spec(self.module) is not None

    def load(self) -> Any:
        """The solver's own module."""
        return import_module(self.module)

    @abstractmethod
    def prepare(self, solver: Any, statement: Statement, tolerance: float, seconds: float) -> Run:
        """Bring the arrays into the solver's own form; the run sets up, analyses and solves, and prints nothing.

        `solver` is the module. `seconds` is a limit for those that listen; the others have one of iterations.
        """


def words_of(fault: BaseException) -> str:
    """What a solver that raised has said, in one line."""
    return f"{type(fault).__name__}: {' '.join(str(fault).split())}"[:LONGEST]
