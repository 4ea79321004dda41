"""Contacts between shapes, which know what they are: so that the next step finds them again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from perp.worlds.contacts import Contacts


@dataclass(frozen=True, eq=False, repr=False)
class ShapeContacts(Contacts):
    """`pair` is one number for the two shapes; `local` the point in a frame that moves with one of them (m x 3 [m])."""

    pair: NDArray[np.uint64]
    local: NDArray[np.float64]

    @cached_property
    def by_pair(self) -> NDArray[np.uint32]:
        """The contacts by rising pair."""
        return np.argsort(self.pair, kind="stable").astype(np.uint32)


def match_contacts(old: ShapeContacts, new: ShapeContacts) -> NDArray[np.int64]:
    """For each new contact the nearest old one between the same shapes, each old one once; -1 where there is none."""
    from perp.kernels.contacts import point_contacts

    match = np.empty(len(new), dtype=np.int64)
    is_taken = np.zeros(len(old), dtype=np.bool_)
    olds = (old.by_pair, old.pair, old.local.reshape(-1))
    news = (new.by_pair, new.pair, new.local.reshape(-1))
    point_contacts.match_points(*olds, *news, is_taken, match)
    return match
