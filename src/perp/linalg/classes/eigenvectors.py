"""Eigenvectors of negative eigenvalues: x_i (A x)_i = l x_i^2 <= 0 for all i contradicts P, P0 and sufficiency."""

from __future__ import annotations

import numpy as np

from perp.linalg.classes.inquiry import Inquiry
from perp.linalg.classes.verdict import Witness
from perp.linalg.classes.witnesses import simplest_vector

MOST_ROWS = 300
"""The exact check of a vector of more rows takes long."""

FLOORS = (1e-14, 1e-9, 1e-5)
"""Entries below such a share of the largest are set to zero: at the level of rounding errors they may have any sign."""


def negative_eigenvector(inquiry: Inquiry, name: str) -> Witness | None:
    """A witness against the class `name` among the eigenvectors of A (of A^T for `row_sufficient`), if there is one."""
    subject = inquiry.subject
    if not subject.is_dense or not 2 < subject.n <= MOST_ROWS or inquiry.seconds_left < 5e-8 * subject.n**3:
        return None
    values, vectors = np.linalg.eig(subject.dense.T if name == "row_sufficient" else subject.dense)
    real = np.flatnonzero((values.imag == 0.0) & (values.real < 0.0))
    for k in real[np.argsort(values.real[real])][:3]:
        x = vectors[:, k].real.copy()
        for floor in FLOORS:
            inquiry.check()
            x[np.abs(x) < floor * np.abs(x).max()] = 0.0
            if witness := simplest_vector(subject, name, False, x.tolist()):
                return witness
    return None
