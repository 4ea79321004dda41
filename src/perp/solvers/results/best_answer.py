"""The best answer of a loop, copied only when it must be."""

from __future__ import annotations

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.residuals import Watch


class BestAnswer:
    """While each check is better than the last, the copy of x that the watch has anyway is the best answer, too.

    It is put aside when a check is worse. An offer, which the watch does not take over, is always copied.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._aside: Vector | None = None
        self._is_last = True

    @property
    def x(self) -> Vector:
        return self._watch.previous if self._is_last or self._aside is None else self._aside

    def accept(self, x: Vector, answer: Vector, is_better: bool) -> None:
        """Make x the point that the watch compares with, and the answer, which may be x, the best one if it is."""
        if self._is_last and not is_better:
            self._put_aside(self._watch.previous)
        self._watch.accept(x)
        if is_better and answer is x:
            self._is_last = True
        elif is_better:
            self._put_aside(answer)

    def _put_aside(self, answer: Vector) -> None:
        if self._aside is None:
            self._aside = answer.copy()
        else:
            np.copyto(self._aside, answer)
        self._is_last = False
