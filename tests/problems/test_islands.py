"""Problems split into islands: which rows, in which order, and with which data."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from side_by_side import make_stack, put_side_by_side
from strategies import SEEDS, explicit, in_form, spd_matrix

import perp
from perp.errors import InvalidProblem
from perp.problems.islands import gather, split_islands
from perp.problems.operators import PlanarMasses


def find_islands_slowly(A: np.ndarray, blocks: list[range]) -> list[list[int]]:
    """The readable twin: join what A couples until nothing changes."""
    islands = [set(block) for block in blocks]
    coupled = (A != 0.0) | (A.T != 0.0)
    grown = True
    while grown:
        grown = False
        for one in islands:
            for other in [another for another in islands if another is not one]:
                if coupled[np.ix_(sorted(one), sorted(other))].any():
                    one |= other
                    islands.remove(other)
                    grown = True
            if grown:
                break
    return sorted((sorted(island) for island in islands), key=lambda rows: rows[0])


def rows_of(islands) -> list[list[int]]:
    return [island.rows.tolist() for island in islands]


def assert_islands_are_parts(problem: perp.Problem, islands) -> None:
    """Each has the data of its rows, and no entry of A leads from one to another."""
    whole = problem.A.to_dense()
    left = whole.copy()
    for island in islands:
        part, rows = island.problem, island.rows
        assert part.kind == problem.kind
        np.testing.assert_allclose(part.A.to_dense(), whole[np.ix_(rows, rows)], rtol=1e-13, atol=1e-300)
        np.testing.assert_array_equal(part.b, problem.b[rows])
        x = np.zeros(problem.n)
        x[rows] = 1.0
        for mine, theirs in zip(part.bounds(x[rows]), problem.bounds(x), strict=True):
            np.testing.assert_array_equal(mine, theirs[rows])
        left[np.ix_(rows, rows)] = 0.0
    assert not left.any()
    assert sorted(np.concatenate(rows_of(islands)).tolist()) == list(range(problem.n))
    assert [rows[0] for rows in rows_of(islands)] == sorted(rows[0] for rows in rows_of(islands))


@st.composite
def block_diagonal_problems(draw: st.DrawFn) -> perp.Problem:
    """Rows of several full or sparse blocks, shuffled, symmetric or not, as an LCP or with bounds."""
    rng = np.random.default_rng(draw(SEEDS))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    A = sparse.block_diag([spd_matrix(rng, size) for size in sizes]).toarray()
    if draw(st.booleans()):
        A *= rng.random(A.shape) < 0.4
    order = rng.permutation(len(A))
    A = explicit(A[np.ix_(order, order)], draw(st.sampled_from(["dense", "sparse"])))
    b = rng.standard_normal(len(order))
    if draw(st.booleans()):
        return perp.LCP(A, b)
    return perp.BoxLCP(A, b, rng.choice([-np.inf, -1.0], b.size), rng.choice([0.5, np.inf], b.size))


@given(block_diagonal_problems())
def test_islands_are_what_a_slow_search_finds(problem):
    islands = split_islands(problem)
    assert rows_of(islands) == find_islands_slowly(problem.A.to_dense(), [range(i, i + 1) for i in range(problem.n)])
    assert_islands_are_parts(problem, islands)
    assert {type(island.problem.A) for island in islands} == {type(problem.A)}


@given(block_diagonal_problems(), st.integers(1, 30))
def test_small_islands_are_united_in_order(problem, at_least):
    islands = split_islands(problem, at_least)
    sizes = [rows.size for rows in (island.rows for island in islands)]
    apart = [set(rows) for rows in rows_of(split_islands(problem))]
    assert_islands_are_parts(problem, islands)
    for island in islands:
        inside = [rows for rows in apart if rows <= set(island.rows.tolist())]
        assert sum(map(len, inside)) == island.rows.size
        assert len(inside) == 1 or max(map(len, inside)) < at_least
    assert sum(size < at_least for size in sizes) <= 1
    if min(sizes) < at_least:  # then all small ones together are too few
        assert sum(len(rows) for rows in apart if len(rows) < at_least) == min(sizes)


def test_what_is_left_over_joins_the_last_union_and_large_islands_stay_alone():
    A = sparse.block_diag([np.ones((size, size)) for size in (2, 5, 1, 2, 2, 1)], format="csr")
    islands = split_islands(perp.LCP(A, np.ones(13)), at_least=3)
    assert rows_of(islands) == [[0, 1, 7], [2, 3, 4, 5, 6], [8, 9, 10, 11, 12]]


@pytest.mark.parametrize("form", ["body pairs", "factored", "sparse", "dense"])
def test_stacks_on_one_ground_are_one_island_each_in_every_form(form):
    whole = put_side_by_side([make_stack(seed, rows, joints=2) for seed, rows in enumerate((12, 36, 24, 12))])
    blocks = [range(3 * c, 3 * c + 3) for c in range(whole.contacts)]
    blocks += [range(row, row + 1) for row in range(whole.contact_rows, whole.n)]
    problem = perp.ContactProblem(in_form(whole.A, form), whole.b, whole.friction, lower=whole.lower, upper=whole.upper)
    islands = split_islands(problem)
    assert len(islands) == 4
    assert rows_of(islands) == find_islands_slowly(whole.A.to_dense(), blocks)
    assert_islands_are_parts(problem, islands)
    for island in islands:
        part = island.problem
        contacts = island.rows[: part.contact_rows].reshape(-1, 3)
        np.testing.assert_array_equal(contacts, contacts[:, :1] + np.arange(3))
        np.testing.assert_array_equal(part.friction, whole.friction[contacts[:, 0] // 3])
        assert (contacts < whole.contact_rows).all()
        assert part.n - part.contact_rows == 2
        if form in ("body pairs", "factored"):
            np.testing.assert_array_equal(part.A.compliance, whole.A.compliance[island.rows])
            assert part.A.mass.dofs == 6 * (part.contacts // 4)


def test_bodies_that_cannot_move_connect_nothing_and_are_left_out():
    stacks = [make_stack(seed, 24) for seed in range(3)]
    problem = put_side_by_side(stacks, ground=True)
    islands = split_islands(problem)
    assert rows_of(islands) == rows_of(split_islands(put_side_by_side(stacks)))
    assert_islands_are_parts(problem, islands)
    assert [island.problem.A.mass.mass.size for island in islands] == [2, 2, 2]
    assert all(np.isfinite(island.problem.A.mass.mass).all() for island in islands)


def test_static_velocities_of_a_general_jacobian_connect_nothing():
    J = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]])
    assert len(split_islands(perp.LCP(perp.FactoredOperator(J, np.array([1.0, 2.0, np.inf])), np.ones(2)))) == 2
    assert len(split_islands(perp.LCP(perp.FactoredOperator(J, np.array([1.0, 2.0, 1e9])), np.ones(2)))) == 1


def test_entries_of_the_mass_matrix_connect_velocities():
    J, M = np.eye(3), np.diag([2.0, 2.0, 2.0])
    M[0, 1] = M[1, 0] = 1.0
    problem = perp.LCP(perp.FactoredOperator(J, M), np.array([1.0, -1.0, 2.0]))
    islands = split_islands(problem)
    assert rows_of(islands) == [[0, 1], [2]]
    assert_islands_are_parts(problem, islands)


@pytest.mark.parametrize("kind", [perp.BodyMasses, PlanarMasses])
def test_rows_that_touch_three_bodies_are_split_by_bodies(kind):
    width = 6 if kind is perp.BodyMasses else 3
    inertia = np.broadcast_to(np.eye(3), (6, 3, 3)) if width == 6 else np.ones(6)
    rng = np.random.default_rng(1)
    J = np.zeros((3, 6, width))
    for row, bodies in enumerate([(0, 1, 2), (3, 5), (3, 4, 5)]):
        J[row, bodies] = rng.standard_normal((len(bodies), width))
    mass = kind(np.array([1.0, 2.0, np.inf, 1.0, 1.0, 3.0]), inertia)
    problem = perp.LCP(perp.FactoredOperator(J.reshape(3, -1), mass, 0.1), np.ones(3))
    assert problem.A.paired is None
    islands = split_islands(problem)
    assert rows_of(islands) == [[0], [1, 2]]
    assert [island.problem.A.mass.mass.size for island in islands] == [2, 3]
    assert_islands_are_parts(problem, islands)


@pytest.mark.parametrize("form", ["pairs", "rows"])
def test_rows_on_which_nothing_moves_are_one_island_with_the_compliance_alone(form):
    masses = perp.BodyMasses(np.array([np.inf, 1.0, 1.0]), np.broadcast_to(np.eye(3), (3, 3, 3)))
    pairs = np.array([[-1, 0], [1, -1], [-1, -1], [2, 0]])
    A = perp.FactoredOperator.from_body_pairs(pairs, np.ones((4, 2, 6)), masses, np.array([0.1, 0.2, 0.3, 0.4]))
    if form == "rows":
        A = perp.FactoredOperator(A.J, np.where(np.isfinite(np.repeat(masses.mass, 6)), 1.0, np.inf), A.compliance)
    islands = split_islands(perp.LCP(A, np.ones(4)))
    assert rows_of(islands) == [[0, 2], [1], [3]]
    np.testing.assert_array_equal(islands[0].problem.A.to_dense(), np.diag([0.1, 0.3]))
    assert_islands_are_parts(perp.LCP(A, np.ones(4)), islands)


def test_a_world_without_any_body_can_be_split():
    A = perp.FactoredOperator.from_body_pairs(
        np.full((6, 2), -1), np.zeros((6, 2, 6)), perp.BodyMasses(np.empty(0), np.empty((0, 3, 3))), 1.0
    )
    problem = perp.ContactProblem(A, -np.ones(6), 0.5)
    assert split_islands(problem)[0].problem is problem


def test_a_contact_whose_rows_act_on_different_bodies_ties_them():
    masses = perp.BodyMasses(np.ones(3), np.broadcast_to(np.eye(3), (3, 3, 3)))
    pairs = np.array([[0, -1], [1, -1], [0, -1], [2, -1], [2, -1], [2, -1]])
    A = perp.FactoredOperator.from_body_pairs(pairs, np.ones((6, 2, 6)), masses)
    problem = perp.ContactProblem(A, np.ones(6), 0.5)
    assert rows_of(split_islands(problem)) == [[0, 1, 2], [3, 4, 5]]
    assert_islands_are_parts(problem, split_islands(problem))
    assert len(split_islands(perp.LCP(A, np.ones(6)))) == 3


@pytest.mark.parametrize("dimension", [2, 3])
def test_rows_of_a_contact_stay_together_where_an_explicit_matrix_is_diagonal(dimension):
    n = 2 * dimension + 1
    problem = perp.ContactProblem(np.eye(n), np.ones(n), [0.1, 0.2], dimension=dimension, extra_rows=1)
    sizes = [island.problem.n for island in split_islands(problem)]
    assert sizes == [dimension, dimension, 1]


def test_planar_bodies_are_split_like_bodies_in_space():
    rng = np.random.default_rng(3)
    masses = PlanarMasses(np.array([1.0, np.inf, 2.0, 3.0]), np.array([0.5, 1.0, 0.6, 0.7]))
    pairs = np.repeat(np.array([[0, 1], [2, 3], [1, 2], [0, -1]]), 2, axis=0)
    A = perp.FactoredOperator.from_body_pairs(pairs, rng.standard_normal((8, 2, 3)), masses, rng.uniform(0.1, 0.2, 8))
    problem = perp.ContactProblem(A, rng.standard_normal(8), 0.3, dimension=2)
    islands = split_islands(problem)
    assert rows_of(islands) == [[0, 1, 6, 7], [2, 3, 4, 5]]
    assert_islands_are_parts(problem, islands)
    for island in islands:
        part = island.problem.A
        assert part.planar is not None
        assert_read_only(part.planar.bodies, part.planar.jacobian, part.planar.inverse_mass)
        f = rng.standard_normal(part.mass.dofs)
        np.testing.assert_allclose(part.mass.solve(f), sparse.linalg.spsolve(part.mass.to_sparse().tocsc(), f))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(part)).to_dense(), part.to_dense())


def test_an_entry_on_one_side_of_the_diagonal_couples():
    A = np.eye(3)
    A[2, 0] = 1.0
    for matrix in (A, sparse.csr_array(A), A.T):
        assert rows_of(split_islands(perp.LCP(matrix, np.ones(3)))) == [[0, 2], [1]]


def test_lines_of_a_grid_without_coupling_are_islands_in_compressed_rows():
    problem = perp.LCP(perp.StencilOperator((3, 4), 4.0, [0.0, -1.0]), -np.ones(12))
    islands = split_islands(problem)
    assert rows_of(islands) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert {island.problem.A.form for island in islands} == {"sparse"}
    assert_islands_are_parts(problem, islands)


def test_islands_of_a_polygon_problem_know_which_rows_belong_together():
    contacts = put_side_by_side([make_stack(seed, 24, model="cone") for seed in range(2)])
    problem = perp.stewart_trinkle(contacts, 6)
    islands = split_islands(problem)
    assert len(islands) == 2
    assert_islands_are_parts(problem, islands)
    for island in islands:
        part = island.problem.A
        assert type(island.problem) is perp.LCP
        assert part.row_groups is not None
        theirs = problem.A.row_groups[island.rows]
        assert np.bincount(part.row_groups).tolist() == [8] * 8
        assert (theirs[:, None] == theirs).tolist() == (part.row_groups[:, None] == part.row_groups).tolist()


def test_a_problem_that_is_one_island_is_the_same_object():
    stack = make_stack(0, joints=1)
    pair = put_side_by_side([make_stack(0), make_stack(1)])
    product = perp.LCP(aslinearoperator(np.eye(4)), np.ones(4))
    empty = perp.LCP(np.empty((0, 0)), np.empty(0))
    for problem, at_least in ((stack, 1), (pair, pair.n), (pair, 37), (pair, 10**9), (product, 1), (empty, 1)):
        (island,) = split_islands(problem, at_least)
        assert island.problem is problem
        assert island.rows.tolist() == list(range(problem.n))


def test_splitting_twice_gives_the_same_bits():
    problem = put_side_by_side([make_stack(seed) for seed in range(4)], seed=5)
    for one, other in zip(split_islands(problem), split_islands(problem), strict=True):
        assert one.rows.tobytes() == other.rows.tobytes()
        assert one.problem.A.pairs.jacobian.tobytes() == other.problem.A.pairs.jacobian.tobytes()
        assert one.problem.A.pairs.inverse_mass.tobytes() == other.problem.A.pairs.inverse_mass.tobytes()


@pytest.mark.parametrize("ground", [False, True])
def test_islands_travel_and_are_what_the_constructors_would_make(ground):
    for island in split_islands(put_side_by_side([make_stack(seed, joints=2) for seed in range(2)], ground=ground)):
        again = pickle.loads(pickle.dumps(island.problem))  # through the checks of the constructors
        for name in ("bodies", "jacobian", "inverse_mass"):
            mine, theirs = getattr(island.problem.A.pairs, name), getattr(again.A.pairs, name)
            assert (mine.tobytes(), mine.dtype, mine.flags.c_contiguous) == (theirs.tobytes(), theirs.dtype, True)
        assert island.problem.A.pairs.body_count == again.A.pairs.body_count
        np.testing.assert_array_equal(island.problem.A.mass.inverse_blocks, again.A.mass.inverse_blocks)
        assert vars(again).keys() <= vars(island.problem).keys()


def assert_read_only(*arrays: np.ndarray) -> None:
    for array in arrays:
        assert not array.flags.writeable


@pytest.mark.parametrize("form", ["body pairs", "factored", "sparse", "dense"])
def test_the_data_of_islands_are_read_only(form):
    whole = put_side_by_side([make_stack(seed) for seed in range(2)])
    problem = perp.ContactProblem(in_form(whole.A, form), whole.b, whole.friction)
    for island in split_islands(problem):
        part = island.problem
        assert_read_only(part.b, part.friction, part.lower, part.upper, island.rows)
        if form == "body pairs":
            pairs, mass = part.A.pairs, part.A.mass
            assert_read_only(pairs.bodies, pairs.jacobian, pairs.inverse_mass, part.A.compliance)
            assert_read_only(mass.mass, mass.inertia, mass.packed())
        elif form == "sparse":
            assert_read_only(part.A.pointers, part.A.indices, part.A.values, part.A.matrix.data)
        elif form == "dense":
            assert_read_only(part.A.flat)


def test_gathering_undoes_the_split():
    problem = put_side_by_side([make_stack(seed, joints=2) for seed in range(3)])
    x = np.random.default_rng(0).standard_normal(problem.n)
    islands = split_islands(problem)
    np.testing.assert_array_equal(gather(islands, [x[island.rows] for island in islands]), x)
    with pytest.raises(InvalidProblem, match="3 islands, but 2 parts"):
        gather(islands, [x[island.rows] for island in islands[:2]])
    with pytest.raises(InvalidProblem, match=r"parts\[1\] has length 1"):
        gather(islands, [x[islands[0].rows], np.zeros(1), x[islands[2].rows]])


@pytest.mark.parametrize(
    ("at_least", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_a_size_that_makes_no_sense_raises(at_least, error):
    with pytest.raises(error, match="at_least"):
        split_islands(perp.LCP(np.eye(2), np.ones(2)), at_least)


def test_only_problems_can_be_split():
    with pytest.raises(TypeError, match="ndarray"):
        split_islands(np.eye(2))
