"""A sparse A whose rows are known to come in groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import EntriesLike, Vector, freeze
from perp.problems.operators.sparse import SparseOperator


class GroupedOperator(SparseOperator):
    """`GroupedOperator(A, row_groups)`: rows with the same number belong together, as those of a contact do.

    `perp.linalg.free_systems.coupled_blocks` could find them by the pattern of A, but where axes are aligned zeros in A
    by chance hide what belongs together: of 112 contacts of a wall, with 8 directions, 19 are recognised.
    """

    def __init__(self, A: EntriesLike, row_groups: NDArray[np.intp]) -> None:
        super().__init__(A)
        self.row_groups: NDArray[np.intp] = freeze(np.array(row_groups, dtype=np.intp))

    def scale_rows(self, factors: Vector) -> GroupedOperator | None:
        scaled = super().scale_rows(factors)
        return None if scaled is None else GroupedOperator(scaled.matrix, self.row_groups)

    def with_added_diagonal(self, added: Vector) -> GroupedOperator:
        return GroupedOperator(super().with_added_diagonal(added).to_sparse(), self.row_groups)

    def __reduce__(self) -> tuple[Any, ...]:
        return GroupedOperator, (self.matrix, self.row_groups)
