"""What is asked about a matrix, and what is answered.

`Subject` is the matrix in the forms that the tests read, scaled by powers of two; `Verdict` is the answer for a class,
with the reason and, where there is one, a `Witness`; `Inquiry` asks the questions in turn: each once, within the time,
with its own seconds.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import suggest
from perp.problems.exact_elimination import Integers, symmetric_sum, to_integers
from perp.problems.inputs import Matrix, MatrixLike, Vector
from perp.problems.operators import Operator, as_operator
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

DENSE_ROWS = 500
"""Matrices of up to so many rows are looked at as dense ones, whatever form they come in."""
UNIT = 2.0**-53
"""The unit roundoff of float64."""
TINY = 2.0**-1000
"""More than all that underflow can lose in a sum of products."""

ANSWERS = {True: "yes", False: "no", None: "undecided"}
WIDTH = 118
Kind = Literal["entry", "minor", "vector", "curvature"]


def read_operator(A: MatrixLike | Problem) -> Operator:
    """The operator of a problem, or of whatever a problem could be made from."""
    return A.A if isinstance(A, Problem) else as_operator(A)


class Subject:
    """A, and D A D with a diagonal D of powers of two that brings diagonal entries into [1, 4).

    All classes but symmetry and the signs of entries are looked for in D A D, which has the same classes: its numbers
    are those of A with other exponents, so that nothing is rounded (where that would overflow, D = I). A vector z found
    there is x = D z here.
    """

    operator: Operator

    def __init__(self, A: MatrixLike | Problem) -> None:
        self.operator = operator = read_operator(A)
        self.n: int = operator.n
        self.known: bool = TO_SPARSE in operator.ability_set
        """Whether entries of A can be had at all."""
        self.factored: bool = operator.factored is not None
        self.is_dense: bool = operator.is_dense or self.n <= DENSE_ROWS

    @property
    def name(self) -> str:
        """What the verdicts are about."""
        if self.factored:
            return "the matrix J M^-1 J^T + C (symmetric and semi-definite as such; other classes as formed in float64)"
        return f"the {self.operator.form} matrix A" if self.known else f"a {self.operator.form} operator"

    @cached_property
    def given(self) -> Matrix | sparse.csr_array:
        """A as it is."""
        return self.operator.to_dense() if self.is_dense else self.operator.to_sparse()

    @cached_property
    def scales(self) -> Vector:
        """The diagonal of D."""
        matrix = self.given
        size = np.abs(matrix.diagonal())
        if not size.all():
            rows = abs(matrix).max(axis=1)
            size = np.where(size == 0, rows if self.is_dense else rows.toarray(), size)
        _, exponent = np.frexp(size)
        scales = np.where(size == 0, 1.0, np.ldexp(1.0, -((exponent - 1) // 2)))
        with np.errstate(over="ignore", under="ignore"):
            there = _scale(matrix, scales)
            back = _scale(there, 1.0 / scales)
        same = np.array_equal(_data(back), _data(matrix)) and np.isfinite(_data(there)).all()
        return scales if same else np.ones(self.n)

    @cached_property
    def matrix(self) -> Any:
        """D A D, dense or as compressed rows."""
        return _scale(self.given, self.scales)

    @cached_property
    def dense(self) -> Matrix:
        dense: Matrix = self.matrix
        assert self.is_dense
        return dense

    @cached_property
    def diagonal(self) -> Vector:
        diagonal: Vector = self.matrix.diagonal()
        return diagonal

    @cached_property
    def integers(self) -> Integers:
        """D A D times a power of two, exactly."""
        return to_integers(self.dense)

    @cached_property
    def doubled(self) -> Integers:
        """D (A + A^T) D times a power of two, exactly."""
        return symmetric_sum(self.integers)

    @cached_property
    def symmetric_part(self) -> tuple[Any, float]:
        """D (A + A^T) D, and a bound of the norm of what rounding did to it (0 for a symmetric A)."""
        total = self.matrix + self.matrix.T
        if self.is_symmetric:
            return total, 0.0
        return total, 2.0 * UNIT * float(abs(total).sum(axis=1).max(initial=0.0)) + self.n * TINY

    @cached_property
    def is_symmetric(self) -> bool:
        """Exactly."""
        if self.factored:
            return True
        if self.is_dense:
            return bool(np.array_equal(self.given, self.given.T))
        return bool((self.given != self.given.T).nnz == 0)


def is_surely_negative(matrix: Any, x: Vector) -> bool:
    """Whether x^T A x < 0 for all rounding errors: gamma_(2n) |x|^T |A| |x|."""
    doubt = 2.0 * (2 * x.size + 4) * UNIT * float(np.abs(x) @ (abs(matrix) @ np.abs(x))) + TINY
    return float(x @ (matrix @ x)) < -doubt


def _scale(matrix: Any, scales: Vector) -> Any:
    if isinstance(matrix, np.ndarray):
        return matrix * scales[:, None] * scales
    scaled = matrix.copy()
    scaled.data = matrix.data * np.repeat(scales, np.diff(matrix.indptr)) * scales[matrix.indices]
    return scaled


def _data(matrix: Any) -> NDArray[np.float64]:
    return matrix if isinstance(matrix, np.ndarray) else matrix.data


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


class OutOfTime(Exception):
    """The share of the time that this question had is over."""


class Finding(NamedTuple):
    """An answer without a name."""

    answer: bool | None
    why: str
    witness: Witness | None = None


Rule = Callable[["Inquiry"], Finding]


class Inquiry:
    """What is known of one matrix so far. Rules ask one another through `ask`, so that nothing is found twice.

    Each takes at most half of the time that is left when it begins.
    """

    def __init__(self, subject: Subject, rules: Mapping[str, Rule], max_seconds: float) -> None:
        self.subject = subject
        self._rules = rules
        self._end = perf_counter() + max_seconds
        self._limit = self._end
        self._nested = 0.0
        self.verdicts: dict[str, Verdict] = {}
        self.memory: dict[str, Any] = {}
        """What a rule leaves behind for another one."""

    def ask(self, name: str) -> Verdict:
        """The verdict on one class."""
        if name in self.verdicts:
            return self.verdicts[name]
        begin, outer_nested, outer_limit = perf_counter(), self._nested, self._limit
        self._nested = 0.0
        self._limit = begin + 0.5 * max(self._end - begin, 0.0)
        try:
            finding = self._find(name)
        finally:
            self._limit = outer_limit
        spent = perf_counter() - begin
        verdict = Verdict(name, *finding, seconds=spent - self._nested)
        self._nested = outer_nested + spent
        self.verdicts[name] = verdict
        return verdict

    def _find(self, name: str) -> Finding:
        if not self.subject.known:
            return Finding(None, "only products with A are known, not its entries")
        if self.subject.n == 0:
            return Finding(True, "there is nothing in an empty matrix that could contradict it")
        try:
            return self._rules[name](self)
        except OutOfTime:
            return Finding(None, f"the time limit was reached (n = {self.subject.n}; raise max_seconds)")

    @property
    def seconds_left(self) -> float:
        """Of the present question."""
        return self._limit - perf_counter()

    def check(self) -> None:
        """Raise when the time of the present question is over."""
        if self.seconds_left < 0.0:
            raise OutOfTime
