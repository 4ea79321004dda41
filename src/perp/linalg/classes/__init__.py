"""Classes of matrices in complementarity theory: `classify` tells which a matrix is in, `check_witness` checks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from time import perf_counter

from perp.errors import suggest
from perp.linalg.classes.comparison import decide_H_plus, decide_M, decide_symmetric, decide_Z
from perp.linalg.classes.copositive import decide_copositive, decide_strictly_copositive
from perp.linalg.classes.definite import decide_positive_definite, decide_positive_semidefinite
from perp.linalg.classes.inquiry import CLASSES, Inquiry, MatrixClasses, Rule, Subject, Verdict, Witness
from perp.linalg.classes.minors import decide_P, decide_P0
from perp.linalg.classes.sufficient import decide_column_sufficient, decide_row_sufficient, decide_sufficient
from perp.linalg.classes.witnesses import check_witness
from perp.problems.inputs import MatrixLike, require_number
from perp.problems.problem import Problem

__all__ = ["CLASSES", "MatrixClasses", "Verdict", "Witness", "check_witness", "classify"]

RULES: Mapping[str, Rule] = {
    "symmetric": decide_symmetric,
    "positive_definite": decide_positive_definite,
    "positive_semidefinite": decide_positive_semidefinite,
    "Z": decide_Z,
    "M": decide_M,
    "H_plus": decide_H_plus,
    "P": decide_P,
    "P0": decide_P0,
    "copositive": decide_copositive,
    "strictly_copositive": decide_strictly_copositive,
    "column_sufficient": decide_column_sufficient,
    "row_sufficient": decide_row_sufficient,
    "sufficient": decide_sufficient,
}


def classify(
    A: MatrixLike | Problem, *, max_seconds: float = 2.0, classes: Iterable[str] | None = None
) -> MatrixClasses:
    """To which classes A belongs: yes, no with a witness, or undecided with the reason.

    `A` is an array, a SciPy sparse array, an operator or a problem, whose A is taken; `classes` are the names of those
    that are wanted (all: `perp.linalg.classes.CLASSES`). The answers yes and no are theorems about the float64 numbers
    of A, whatever rounding errors were made on the way: see `check_witness`. Of A = J M^-1 J^T + C, symmetry and
    semi-definiteness are known from its form, and the other classes are those of the matrix that `to_sparse` forms.

    Some of these questions take time exponential in n (P, P0, copositivity, sufficiency: Coxson 1994, Murty & Kabadi
    1987, Tseng 2000). What does not fit into `max_seconds` is undecided; cheap tests and implications run nevertheless.

    >>> print(classify([[1, 2], [0, 1]]).P)
    P: yes (an H+-matrix)
    """
    require_number(max_seconds, "max_seconds")
    wanted = CLASSES if classes is None else tuple(classes)
    for name in wanted:
        if name not in CLASSES:
            raise ValueError(f"classes has {name!r}, which is unknown{suggest(str(name), CLASSES)}")
    import_module("scipy.sparse.csgraph")  # a tenth of a second, once, that no question should be charged with
    begin = perf_counter()
    subject = Subject(A)
    inquiry = Inquiry(subject, RULES, float(max_seconds))
    verdicts = {name: inquiry.ask(name) if name in wanted else Verdict(name, None, "not asked for") for name in CLASSES}
    return MatrixClasses(**verdicts, n=subject.n, subject=subject.name, seconds=perf_counter() - begin)
