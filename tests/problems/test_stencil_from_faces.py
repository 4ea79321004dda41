"""Stencils of arrays that are taken over as they are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from perp.errors import InvalidProblem
from perp.problems.operators import StencilOperator


def arrays(shape, seed=0):
    """A random diagonal, couplings as a user gives them, and both as the operator keeps them."""
    draw = np.random.default_rng(seed)
    n, faces, between = int(np.prod(shape)), [], []
    for axis in range(len(shape)):
        inner = draw.uniform(-1.0, 0.0, [size - (k == axis) for k, size in enumerate(shape)])
        padded = np.zeros(n + int(np.prod(shape[axis + 1 :])))
        padded[:n].reshape(shape)[(slice(None),) * axis + (slice(1, None),)] = inner
        between.append(inner)
        faces.append(padded)
    return draw.uniform(4.0, 6.0, n), between, faces


@pytest.mark.parametrize("shape", [(5,), (3, 4), (1, 4), (4, 1), (2, 3, 4), (1, 1, 1), (0, 3)], ids=str)
def test_it_is_the_operator_of_the_same_couplings(shape):
    if 0 in shape:
        diagonal, between, faces = np.zeros(0), [np.zeros((0, 3)), np.zeros((0, 2))], [np.zeros(3), np.zeros(1)]
    else:
        diagonal, between, faces = arrays(shape)
    made = StencilOperator.from_faces(shape, diagonal, faces)
    usual = StencilOperator(shape, diagonal.reshape(shape), between)
    for other in (usual, pickle.loads(pickle.dumps(made))):
        assert made.grid == other.grid
        assert made.strides == other.strides
        assert made.centre.tobytes() == other.centre.tobytes()
        assert [one.tobytes() for one in made.faces] == [one.tobytes() for one in other.faces]
    np.testing.assert_array_equal(made.to_dense(), usual.to_dense())


def test_arrays_are_taken_over_and_frozen():
    diagonal, _, faces = arrays((3, 4))
    made = StencilOperator.from_faces((3, 4), diagonal, faces)
    assert np.shares_memory(made.centre, diagonal)
    assert all(np.shares_memory(*pair) for pair in zip(made.faces, faces, strict=True))
    with pytest.raises(ValueError, match="read-only"):
        faces[0][5] = 1.0


def spoil(change):
    diagonal, _, faces = arrays((3, 4))
    given = {"shape": (3, 4), "diagonal": diagonal, "faces": faces}
    change(given)
    return given


def shorten(given):
    given["faces"][1] = given["faces"][1][:-1]


def drop_an_axis(given):
    given["faces"].pop()


def make_single(given):
    given["diagonal"] = given["diagonal"].astype(np.float32)


def make_strided(given):
    given["diagonal"] = np.repeat(given["diagonal"], 2)[::2]


def put_nan(given):
    given["faces"][0][6] = np.nan


def open_the_first_layer(given):
    given["faces"][1][4] = -1.0


def open_the_last_layer(given):
    given["faces"][0][13] = -1.0


def lose_the_grid(given):
    given["shape"] = ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (shorten, r"faces\[1\] has shape \(12,\) and dtype float64; a contiguous vector of 13 float64"),
        (drop_an_axis, "faces has 1 arrays; the grid has 2 axes"),
        (make_single, "diagonal has shape .* and dtype float32"),
        (make_strided, "diagonal has shape"),
        (put_nan, r"faces\[0\]\[6\] is nan"),
        (open_the_first_layer, r"faces\[1\] is not zero at the rim"),
        (open_the_last_layer, r"faces\[0\] is not zero at the rim"),
        (lose_the_grid, r"shape is \(\)"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_does_not_fit_is_refused_by_name(change, message):
    with pytest.raises(InvalidProblem, match=message):
        StencilOperator.from_faces(**spoil(change))
