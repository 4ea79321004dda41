"""Pairs of bodies as callers hand them over: copied, checked, and left as they were."""

from __future__ import annotations

import re

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp

BODIES = 4


def masses(width):
    return (
        perp.PlanarMasses(np.ones(BODIES), np.ones(BODIES))
        if width == 3
        else perp.BodyMasses(np.ones(BODIES), np.broadcast_to(np.eye(3), (BODIES, 3, 3)))
    )


def random_rows(seed, width, rows):
    rng = np.random.default_rng(seed)
    bodies = np.array([rng.choice(BODIES + 1, 2, replace=False) - 1 for _ in range(rows)], dtype=int).reshape(rows, 2)
    return bodies, rng.standard_normal((rows, 2, width))


@given(strategies.SEEDS, st.sampled_from([3, 6]), st.integers(0, 6))
def test_the_layout_is_that_of_its_readable_twin(seed, width, rows):
    bodies, blocks = random_rows(seed, width, rows)
    pairs = perp.FactoredOperator.from_body_pairs(bodies, blocks, masses(width)).paired
    np.testing.assert_array_equal(pairs.bodies, np.where(bodies == -1, BODIES, bodies).reshape(-1))
    np.testing.assert_array_equal(pairs.jacobian, np.where(bodies[:, :, None] == -1, 0.0, blocks).reshape(-1))
    assert not pairs.bodies.flags.writeable
    assert not pairs.jacobian.flags.writeable


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize("numbers", [np.float32, np.float64, ">f8", np.int32])
def test_any_kind_of_number_and_order_in_memory_will_do(dtype, numbers):
    bodies, blocks = np.array([[0, 1], [2, 3]], dtype=dtype), np.arange(24.0).reshape(2, 2, 6)
    plain = perp.FactoredOperator.from_body_pairs(bodies.astype(np.int64), blocks, masses(6)).paired
    given_blocks = np.asfortranarray(blocks.astype(numbers))
    strange = perp.FactoredOperator.from_body_pairs(np.asfortranarray(bodies), given_blocks, masses(6)).paired
    np.testing.assert_array_equal(strange.bodies, plain.bodies)
    np.testing.assert_array_equal(strange.jacobian, plain.jacobian)


def test_the_arrays_of_the_caller_stay_writable_and_are_not_shared():
    bodies, blocks = random_rows(0, 6, 5)
    before = blocks.copy()
    pairs = perp.FactoredOperator.from_body_pairs(bodies, blocks, masses(6)).paired
    np.testing.assert_array_equal(blocks, before)
    blocks[:], bodies[:] = 7.0, 0
    assert not (pairs.jacobian == 7.0).any()
    assert pairs.bodies.any()


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((2, 1), 4, "bodies must lie in -1..3; bodies[2,1] is 4"),
        ((1, 0), -2, "bodies must lie in -1..3; bodies[1,0] is -2"),
        ((3,), 2, "bodies[3] names body 2 twice; add its two parts up"),
    ],
)
def test_a_wrong_number_is_named_with_its_place(place, value, message):
    bodies = np.tile([0, 1], (5, 1))
    bodies[place] = value
    with pytest.raises(ValueError, match=re.escape(message)):
        perp.FactoredOperator.from_body_pairs(bodies, np.zeros((5, 2, 6)), masses(6))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("world", [False, True])
def test_a_number_that_is_not_finite_is_named_also_where_the_world_would_ignore_it(value, world):
    bodies, blocks = np.tile([0, -1 if world else 1], (3, 1)), np.zeros((3, 2, 6))
    blocks[1, 1, 4] = value
    with pytest.raises(ValueError, match=re.escape(f"jacobian[1,1,4] is {value}")):
        perp.FactoredOperator.from_body_pairs(bodies, blocks, masses(6))


def test_numbers_beyond_those_of_the_kernels_do_not_wrap_around():
    for huge in (2**32, 2**63):
        with pytest.raises(ValueError, match=rf"bodies\[0,1\] is {huge}"):
            perp.FactoredOperator.from_body_pairs(
                np.array([[0, huge]], dtype=np.uint64), np.zeros((1, 2, 6)), masses(6)
            )


@pytest.mark.parametrize(("rows", "expected"), [([[0, 1]] * 6, True), ([[0, 1]] * 5 + [[1, 0]], False)])
def test_rows_of_a_block_have_common_bodies_in_the_same_order(rows, expected):
    pairs = perp.FactoredOperator.from_body_pairs(np.array(rows), np.ones((6, 2, 6)), masses(6)).paired
    assert pairs.has_common_bodies(3, 2) is expected
    assert pairs.has_common_bodies(3, 1)
    assert pairs.has_common_bodies(1, 6)
