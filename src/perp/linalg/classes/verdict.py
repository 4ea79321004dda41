"""What `classify` answers: a verdict a class, with the reason and, where there is one, a witness."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from perp.errors import suggest
from perp.problems.inputs import Vector

ANSWERS = {True: "yes", False: "no", None: "undecided"}
WIDTH = 118

Kind = Literal["entry", "minor", "vector", "curvature"]


@dataclass(frozen=True)
class Witness:
    """Numbers from which anybody can see that the answer is right; `check_witness` does, in exact arithmetic."""

    kind: Kind
    """`entry`: the place (i, j) of an entry. `minor`: the rows of a principal minor. `vector`: an x, whose meaning
    depends on the class. `curvature`: an x with x^T A x too small, for a symmetric A, where that settles the class."""
    rows: tuple[int, ...] = ()
    x: tuple[Fraction, ...] = ()
    """Exact numbers: a null vector need not be one of float64 numbers."""

    @property
    def vector(self) -> Vector:
        """x rounded to float64, divided by its largest entry."""
        largest = max(map(abs, self.x), default=Fraction(0)) or Fraction(1)
        return np.array([float(value / largest) for value in self.x])

    def __str__(self) -> str:
        if self.kind == "entry":
            return f"entry {self.rows}"
        if self.kind == "minor":
            return f"rows {self.rows}" if len(self.rows) <= 12 else f"{len(self.rows)} rows {self.rows[:6]}..."
        places = [i for i, value in enumerate(self.x) if value]
        if len(self.x) > 8 and len(places) <= 4:
            return f"x = {', '.join(f'{self.vector[i]:.4g} in row {i}' for i in places)}, else 0"
        shown = [f"{value:.4g}" for value in self.vector[:8]]
        return f"x = ({', '.join(shown)}{', ...' if len(self.x) > 8 else ''})"


@dataclass(frozen=True)
class Verdict:
    """Whether A belongs to a class. `bool(verdict)` is true only for a proved yes."""

    name: str
    answer: bool | None
    """True and False are proved for the very numbers of A; None is undecided."""
    why: str
    """The theorem or the test that the answer rests on, or what stood in its way, in a sentence."""
    witness: Witness | None = None
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return self.answer is True

    def __str__(self) -> str:
        told = f"; {self.witness}" if self.witness else ""
        return f"{self.name}: {ANSWERS[self.answer]} ({self.why}{told})"


@dataclass(frozen=True)
class MatrixClasses:
    """The answer of `classify`: one verdict a class, as attributes or by name, `result["P"]`."""

    symmetric: Verdict
    positive_definite: Verdict
    positive_semidefinite: Verdict
    Z: Verdict
    M: Verdict
    H_plus: Verdict
    P: Verdict
    P0: Verdict
    copositive: Verdict
    strictly_copositive: Verdict
    column_sufficient: Verdict
    row_sufficient: Verdict
    sufficient: Verdict
    n: int
    subject: str
    """What was looked at: the numbers that were given, or those of a matrix formed from them."""
    seconds: float

    def __iter__(self) -> Iterator[Verdict]:
        return (getattr(self, name) for name in CLASSES)

    def __getitem__(self, name: str) -> Verdict:
        if name not in CLASSES:
            raise KeyError(f"{name!r} is no class of matrices{suggest(name, CLASSES)}")
        verdict: Verdict = getattr(self, name)
        return verdict

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON: x of a witness as fractions in words."""
        return {
            "n": self.n,
            "subject": self.subject,
            "seconds": self.seconds,
            "classes": {verdict.name: _plain(verdict) for verdict in self},
        }

    def __str__(self) -> str:
        width = max(map(len, CLASSES))
        lines = [f"{self.subject}, {self.n} x {self.n}, {self.seconds:.3g} s"]
        for verdict in self:
            head = f"{verdict.name:<{width}}  {ANSWERS[verdict.answer]:<9}  "
            told = f"{verdict.why}; {verdict.witness}" if verdict.witness else verdict.why
            lines += textwrap.wrap(told, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
        return "\n".join(lines)


CLASSES: tuple[str, ...] = tuple(field.name for field in fields(MatrixClasses) if field.type == "Verdict")
"""The names of all classes, in the order of the table."""


def _plain(verdict: Verdict) -> dict[str, Any]:
    witness = verdict.witness
    told = None
    if witness is not None:
        told = {"kind": witness.kind, "rows": list(witness.rows), "x": [str(value) for value in witness.x]}
    return {"answer": verdict.answer, "why": verdict.why, "witness": told, "seconds": verdict.seconds}
