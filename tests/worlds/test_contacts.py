"""Which contact is which: pairs of shapes and points, against a slow twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from perp.worlds.contacts import ShapeContacts, match_contacts


def contacts(pair: NDArray[np.int64], local: NDArray[np.float64]) -> ShapeContacts:
    m = pair.size
    frame = np.tile(np.eye(3), (m, 1, 1))
    none = np.zeros(m)
    bodies = np.zeros((m, 2), dtype=np.int64)
    return ShapeContacts(bodies, local, frame, none, none, none, pair.astype(np.uint64), local)


def match_slowly(old: ShapeContacts, new: ShapeContacts) -> list[int]:
    """Couples of one pair by rising distance, of equal ones those of the lowest numbers first."""
    couples = [
        (np.square(new.local[j] - old.local[i]).sum(), j, i)
        for j in range(len(new))
        for i in range(len(old))
        if new.pair[j] == old.pair[i]
    ]
    match = [-1] * len(new)
    for _, j, i in sorted(couples):
        if match[j] < 0 and i not in match:
            match[j] = i
    return match


@given(st.integers(0, 12), st.integers(0, 12), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_nearest_of_a_pair_belong_together(olds: int, news: int, pairs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    old = contacts(rng.integers(0, pairs, olds), rng.integers(0, 4, (olds, 3)).astype(float))
    new = contacts(rng.integers(0, pairs, news), rng.integers(0, 4, (news, 3)).astype(float))
    match = match_contacts(old, new)
    assert match.tolist() == match_slowly(old, new)
    used = match[match >= 0]
    assert np.unique(used).size == used.size


def test_contacts_that_moved_a_little_and_were_shuffled_are_found_again() -> None:
    rng = np.random.default_rng(0)
    old = contacts(np.repeat([5, 2, 9], 4), rng.uniform(-1.0, 1.0, (12, 3)))
    order = rng.permutation(12)
    new = contacts(old.pair[order], old.local[order] + 1e-3)
    assert match_contacts(old, new).tolist() == order.tolist()


def test_a_corner_keeps_its_impulse_when_points_appear_beside_it() -> None:
    """Of two faces that lie on one another, clipping finds four corners, or the middles of the edges as well."""
    corners = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]], dtype=float)
    middles = 0.5 * (corners + np.roll(corners, 1, axis=0))
    old = contacts(np.zeros(4, dtype=np.int64), corners)
    new = contacts(np.zeros(8, dtype=np.int64), np.concatenate([middles, corners]) + 1e-6)
    assert match_contacts(old, new).tolist() == [-1] * 4 + [0, 1, 2, 3]
