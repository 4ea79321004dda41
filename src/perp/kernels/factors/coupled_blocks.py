"""The reduced matrix of small groups of rows that are coupled by blocks of low rank (Woodbury's formula)."""

from __future__ import annotations

from perp.kernels.compile import kernel


@kernel
def assemble(T, C_transposed, active, rank, out):
    """out = I + T C over the active groups, column-major; T has a rank x rank block for each of them.

    `C` is handed over transposed, so that it is read along its rows.
    """
    size = active.size * rank
    for h in range(active.size):
        for k in range(rank):
            column = (h * rank + k) * size
            source = active[h] * rank + k
            for g in range(active.size):
                first = active[g] * rank
                for i in range(rank):
                    total = 0.0
                    for j in range(rank):
                        total += T[g, i, j] * C_transposed[source, first + j]
                    out[column + g * rank + i] = total
            out[column + h * rank + k] += 1.0
