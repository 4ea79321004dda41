"""From a cell through its six faces: open shares, and the cells behind them.

Faces across an axis stand in a field with one place more along it than there are cells. Of the six ways out of a cell,
0 and 1 lead back and ahead along the first axis, 2 and 3 along the second, 4 and 5 along the third. In the plane there
is no first axis: its field has one number that nobody reads, and its ways are shut.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined

U0, U1, U2, U3, U4 = (np.uint64(k) for k in range(5))
WAYS = np.uint64(6)


@inlined
def way_out(way, at, shape, fraction0, fraction1, fraction2):
    """The open share of one face of cell `at`, and the number of the cell behind it (beyond the rim the share is 0)."""
    n1, n2 = shape[U1], shape[U2]
    plane = n1 * n2
    ahead = way & U1
    if way < U2:
        share = 0.0
        if fraction0.size > U1:
            share = fraction0[at + ahead * plane]
        return share, at + plane if ahead else at - plane
    if way < U4:
        return fraction1[at + (at // plane + ahead) * n2], at + n2 if ahead else at - n2
    return fraction2[at + at // n2 + ahead], at + U1 if ahead else at - U1
