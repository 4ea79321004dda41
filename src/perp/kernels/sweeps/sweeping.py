"""Gauss-Seidel sweeps over the rows of an explicit A, written once for every storage.

`row_slack(storage, b, x, i)` gives (A x + b)_i; each storage has its own and makes kernels of these two functions.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined
from perp.kernels.measures.projection import clip, disc_factor

ONE, TWO = np.uint64(1), np.uint64(2)


@inlined
def pass_over_rows(row_slack, storage, first, order, step, b, lower, upper, x):
    """x_i <- clip(x_i - step_i y_i, lower_i, upper_i) once for each row in order (NOTES eq. 59).

    step_i = relaxation / A_ii; `lower` and `upper` start at row `first`: the rows of contacts have bounds of their own.
    """
    for k in range(np.uint64(order.size)):
        i = np.uint64(order[k])
        y = row_slack(storage, b, x, i)
        x[i] = clip(x[i] - step[i] * y, lower[i - first], upper[i - first])


@inlined
def pass_over_contacts(row_slack, storage, contacts, width, cone, friction, step, b, x):
    """Normal, then tangents bounded by the newest normal (PGS-SM eq. 17), once for each contact in order."""
    for k in range(np.uint64(contacts.size)):
        contact = np.uint64(contacts[k])
        i = contact * width
        x[i] = max(x[i] - step[i] * row_slack(storage, b, x, i), 0.0)
        limit = friction[contact] * x[i]
        if cone:
            p, q = i + ONE, i + TWO
            slip_p = row_slack(storage, b, x, p)
            slip_q = row_slack(storage, b, x, q)
            x[p] -= step[p] * slip_p
            x[q] -= step[q] * slip_q
            factor = disc_factor(x[p], x[q], limit)
            x[p] *= factor
            x[q] *= factor
        else:
            for t in range(i + ONE, i + width):
                y = row_slack(storage, b, x, t)
                x[t] = clip(x[t] - step[t] * y, -limit, limit)
