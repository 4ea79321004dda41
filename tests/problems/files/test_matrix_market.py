"""Matrix Market text: round trips bit for bit, what other programs write, and files that lie."""

from __future__ import annotations

import contextlib
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_problems import (
    assert_refused,
    assert_same_bits,
    assert_same_operator,
    assert_same_statement,
    make_matrix_free,
    make_problems,
    make_small,
)
from scipy import io, sparse

from perp import LCP, BoxLCP, ContactProblem
from perp.errors import FileFormatError
from perp.problems.files import load, load_solution, save
from perp.problems.operators.sparse import as_csr

PROBLEMS = make_problems()


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_kind_comes_back_from_text_bit_for_bit(name, tmp_path):
    problem = PROBLEMS[name]
    save(problem, tmp_path / "p.mtx")
    again = load(tmp_path / "p.mtx")
    assert_same_statement(again, problem)
    if problem.A.form == "dense":
        assert_same_operator(again.A, problem.A)
    else:
        expected = as_csr(problem.A.to_sparse(), "A")
        assert again.A.form == "sparse"
        assert_same_bits(again.A.matrix.data, expected.data)
        assert again.A.matrix.indices.tolist() == expected.indices.tolist()
        assert again.A.matrix.indptr.tolist() == expected.indptr.tolist()


def test_a_saved_solution_comes_back_from_text_and_a_missing_one_is_none(tmp_path):
    problem, path = make_small(), tmp_path / "p.mtx"
    save(problem, path)
    assert load_solution(path) is None
    save(problem, path, x=[0.1, -1 / 3])
    assert_same_bits(load_solution(path), np.array([0.1, -1 / 3]))


def test_the_family_of_files_is_named_after_the_matrix(tmp_path):
    save(make_small(), tmp_path / "wall.7.mtx", x=[0, 0])
    expected = {f"wall.7{part}.mtx" for part in ("", ".b", ".lower", ".upper", ".x")}
    assert {path.name for path in tmp_path.iterdir()} == expected


def test_saving_over_another_family_leaves_nothing_of_it(tmp_path):
    path = tmp_path / "p.mtx"
    save(make_small(), path, x=[0, 0])
    problem = LCP(np.eye(2), [1.0, 2.0])
    save(problem, path)
    assert_same_statement(load(path), problem)
    assert load_solution(path) is None


def test_scipy_reads_what_perp_writes(tmp_path):
    problem = PROBLEMS["sparse-contact_cone"]
    save(problem, tmp_path / "p.mtx")
    assert (io.mmread(tmp_path / "p.mtx", spmatrix=False) != problem.A.to_sparse()).nnz == 0
    np.testing.assert_array_equal(io.mmread(tmp_path / "p.b.mtx").reshape(-1), problem.b)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.coo_array])
def test_perp_reads_what_scipy_writes(layout, symmetry, tmp_path):
    A = np.random.default_rng(3).standard_normal((5, 5))
    A = {"general": A, "symmetric": A + A.T, "skew-symmetric": A - A.T}[symmetry]
    io.mmwrite(tmp_path / "p.mtx", layout(A), precision=17, symmetry=symmetry)
    io.mmwrite(tmp_path / "p.b.mtx", np.ones((5, 1)))
    np.testing.assert_allclose(load(tmp_path / "p.mtx").A.to_dense(), A, rtol=1e-15)


def test_a_matrix_free_problem_has_no_text(tmp_path):
    with pytest.raises(FileFormatError, match="matrix-free operator is a program"):
        save(make_matrix_free(), tmp_path / "p.mtx")
    assert not list(tmp_path.iterdir())


def test_a_quarter_of_a_million_entries_are_read_in_seconds(tmp_path):
    rng = np.random.default_rng(1)
    n, entries = 20_000, 250_000
    A = sparse.coo_array((rng.standard_normal(entries), rng.integers(0, n, (2, entries))), shape=(n, n))
    problem = LCP(A, np.ones(n))
    save(problem, tmp_path / "p.mtx")
    start = time.perf_counter()
    again = load(tmp_path / "p.mtx")
    assert time.perf_counter() - start < 10
    assert_same_bits(again.A.matrix.data, problem.A.matrix.data)


# ---- files that other hands have written -----------------------------------------------------------------------------

REAL = "%%MatrixMarket matrix coordinate real general\n"
ARRAY = "%%MatrixMarket matrix array real general\n"
VECTOR = ARRAY + "2 1\n"


def write(folder, matrix, b=VECTOR + "1\n2\n", **others):
    """A family from its texts; gives the path of the matrix."""
    path = folder / "p.mtx"
    path.write_text(matrix, encoding="latin-1")
    for name, text in ({"b": b} | others).items():
        if text is not None:
            path.with_name(f"p.{name}.mtx").write_text(text, encoding="latin-1")
    return path


def test_blank_lines_comments_integers_and_capitals_are_read(tmp_path):
    text = "%%MatrixMarket MATRIX Coordinate Integer General\n% a comment\n\n%\n2 2 3\n\n1 1 3\n  2\t1 -4  \n\n2 2 +5"
    assert load(write(tmp_path, text)).A.to_dense().tolist() == [[3, 0], [-4, 5]]


def test_lines_that_end_in_carriage_returns_are_read(tmp_path):
    path = write(tmp_path, "")
    path.write_bytes((REAL + "2 2 1\n2 1 7\n").replace("\n", "\r\n").encode())
    assert load(path).A.to_dense().tolist() == [[0, 0], [7, 0]]


def test_duplicate_entries_are_summed(tmp_path):
    assert load(write(tmp_path, REAL + "2 2 3\n1 1 1\n1 1 2\n2 2 1\n")).A.to_dense().tolist() == [[3, 0], [0, 1]]


def test_infinity_is_read_in_bounds_and_nowhere_else(tmp_path):
    bounds = {"lower": VECTOR + "-inf\n0\n", "upper": VECTOR + "Infinity\ninf\n"}
    problem = load(write(tmp_path, REAL + "2 2 1\n1 1 1\n", **bounds))
    assert isinstance(problem, BoxLCP)
    assert problem.lower.tolist() == [-np.inf, 0]
    assert problem.upper.tolist() == [np.inf, np.inf]
    assert_refused(write(tmp_path, REAL + "2 2 1\n1 1 inf\n", **bounds), "p.mtx: line 3: the value is inf")
    assert_refused(write(tmp_path, REAL + "2 2 1\n1 1 1\n", VECTOR + "inf\n1\n"), "p.b.mtx: line 3: the value is inf")
    assert_refused(
        write(tmp_path, REAL + "2 2 1\n1 1 1\n", lower=VECTOR + "nan\n0\n"), "p.lower.mtx: line 3: the value is nan"
    )


def test_friction_needs_the_line_that_names_its_law(tmp_path):
    friction = ARRAY + "1 1\n0.5\n"
    assert_refused(
        write(tmp_path, REAL + "2 2 0\n", friction=friction), "friction needs a line '%perp: model=cone dimension=3'"
    )
    noted = REAL + "%perp: model=cone dimension=2\n2 2 0\n"
    problem = load(write(tmp_path, noted, friction=friction))
    assert isinstance(problem, ContactProblem)
    assert (problem.model, problem.dimension) == ("cone", 2)
    assert_refused(write(tmp_path, noted.replace("cone", "pyramid"), friction=friction), "model 'pyramid' is unknown")


def test_one_bound_without_the_other_is_refused(tmp_path):
    assert_refused(
        write(tmp_path, REAL + "2 2 0\n", lower=VECTOR + "0\n0\n"), "p.lower.mtx and p.upper.mtx come together"
    )


def test_a_matrix_without_its_vector_is_refused(tmp_path):
    assert_refused(write(tmp_path, REAL + "2 2 0\n", b=None), "there must be a file p.b.mtx beside it")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (ARRAY + "1000000 1000000\n1.0\n", "line 2: 1,000,000,000,000 entries are declared, which a file of"),
        (REAL + "2 2 9000000000000\n1 1 1\n", "line 2: 9,000,000,000,000 entries are declared"),
        (REAL + "1000000000000 1000000000000 0\n", "line 2: the matrix is 1000000000000 x 1000000000000, but"),
        (REAL + "2 -2 1\n1 1 1\n", "line 2: the size -2 is negative"),
        (REAL + "2 2\n1 1 1\n", "line 2: 3 sizes must stand here, found 2"),
        (REAL + "2 2 one\n1 1 1\n", "line 2: sizes must stand here, found '2 2 one'"),
        (REAL + "2 2 " + "9" * 5000 + "\n", "line 2: sizes must stand here"),
        (REAL, "line 2: 3 sizes must stand here, found 0"),
        (REAL + "% nothing\n", "line 3: 3 sizes must stand here, found 0"),
        (REAL + "2 3 1\n1 1 1\n", "line 2: the matrix is 2 x 3, but the vector b beside it asks for 2 x 2"),
        (REAL + "2 2 2\n1 1 1\n\n2 2 nan\n", "line 5: the value is nan"),
        (REAL + "2 2 2\n1 1 1\n2 2 1e999\n", "line 4: the value is inf"),
        (REAL + "2 2 2\n1 1 1\n3 1 1\n", r"line 4: the place \(3, 1\) is outside the 2 x 2 matrix"),
        (REAL + "2 2 2\n1 1 1\n0 1 1\n", r"line 4: the place \(0, 1\) is outside"),
        (REAL + "2 2 2\n1 1 1\n1 -1 1\n", r"line 4: the place \(1, -1\) is outside"),
        (REAL + "2 2 2\n1 1 1\n1.5 1 1\n", r"line 4: the place \(1.5, 1\) is outside"),
        (REAL + "2 2 2\n1 1 1\nnan 1 1\n", r"line 4: the place \(nan, 1\) is outside"),
        (REAL + "2 2 2\n1 1 1\n2 1\n", "line 4: an entry has 3 numbers, found 2"),
        (REAL + "2 2 2\n1 1 1\n2 1 1 1\n", "line 4: an entry has 3 numbers, found 4"),
        (REAL + "2 2 2\n1 1\n2 1\n    ", "line 3: an entry has 3 numbers, found 2"),
        (REAL + "2 2 2\n1 1 1\n2 1 0x1p3\n", "line 4: '0x1p3' is not a number"),
        (REAL + "2 2 2\n1 1 1\n2 1 1_0\n", "line 4: '1_0' is not a number"),
        (REAL + "2 2 2\n1 1 1\n2 1 1.5e\n", "line 4: '1.5e' is not a number"),
        (REAL + "2 2 2\n1 1 1\n2 1 \xb2\n", "line 4: '\xb2' is not a number"),
        (REAL + "2 2 2\n1 1 1\n\n", "line 4: the file ends after 1 of 2 entries"),
        (REAL + "2 2 1\n1 1 1\n\n1 2 1\n", "line 5: the file goes on after its 1 entries"),
        (ARRAY + "2 2\n1\n2\n3\n", "line 5: the file ends after 3 of 4 entries"),
        (ARRAY + "2 2\n1\n2\n3 4\n5\n", "line 5: an entry has 1 numbers, found 2"),
        (REAL.replace("general", "symmetric") + "2 2 1\n1 2 1\n", "line 3: .* not in the lower triangle"),
        (REAL.replace("general", "skew-symmetric") + "2 2 1\n1 1 1\n", "line 3: .* not in the lower triangle"),
        (REAL.replace("general", "symmetric") + "2 3 0\n", "line 2: .* is not square"),
        (REAL.replace("general", "hermitian") + "2 2 0\n", "line 1: perp does not read files of the sort 'hermitian'"),
        (REAL.replace("real", "pattern") + "2 2 1\n1 1\n", "line 1: perp does not read files of the sort 'pattern'"),
        (REAL.replace("real", "complex") + "2 2 1\n1 1 1 1\n", "line 1: .* 'complex'"),
        (REAL.replace("real", "reel") + "2 2 0\n", "line 1: .* did you mean 'real'"),
        (REAL.replace("coordinate", "sparse") + "2 2 0\n", "line 1: .* 'sparse'"),
        ("2 2 1\n1 1 1\n", "line 1: a Matrix Market file begins with"),
        ("", "line 1: a Matrix Market file begins with"),
    ],
)
def test_a_matrix_file_that_lies_is_refused_with_its_line(matrix, message, tmp_path):
    path = write(tmp_path, matrix)
    tracemalloc.start()
    assert_refused(path, f"p.mtx: {message}")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


@pytest.mark.parametrize(
    ("b", "message"),
    [
        (ARRAY + "1000000000000 1\n", "line 2: 1,000,000,000,000 entries are declared"),
        (ARRAY + "2 2\n1\n2\n3\n4\n", "line 2: this is array general, 2 x 2; a vector is"),
        (REAL + "1000000000000 1 0\n", "line 2: this is coordinate general, 1000000000000 x 1; a vector is"),
        (VECTOR + "1\n", "line 3: the file ends after 1 of 2 entries"),
    ],
)
def test_a_vector_file_that_lies_is_refused_with_its_line(b, message, tmp_path):
    assert_refused(write(tmp_path, REAL + "2 2 0\n", b=b), f"p.b.mtx: {message}")


def test_max_bytes_bounds_all_files_of_a_family_together(tmp_path):
    path = write(tmp_path, REAL + "2 2 2\n1 1 1\n2 2 1\n")
    assert load(path, max_bytes=64).n == 2
    assert_refused(path, "max_bytes=63 allows no more", max_bytes=63)


def test_a_solution_of_the_wrong_length_in_text_is_refused(tmp_path):
    path = write(tmp_path, REAL + "2 2 0\n", x=ARRAY + "3 1\n1\n2\n3\n")
    with pytest.raises(FileFormatError, match="x has length 3"):
        load_solution(path)


VALID = {
    "p": (REAL + "%perp: model=box dimension=3\n4 4 5\n1 1 2.5\n2 2 1e-3\n3 3 4\n4 4 1\n4 1 -.5\n").encode(),
    "p.b": (ARRAY + "4 1\n1\n-2\n3\n0.25\n").encode(),
    "p.friction": (ARRAY + "1 1\n0.5\n").encode(),
    "p.lower": (ARRAY + "1 1\n-inf\n").encode(),
    "p.upper": (ARRAY + "1 1\n2\n").encode(),
    "p.x": (ARRAY + "4 1\n1\n-2\n3\n0.25\n").encode(),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("texts")
    for name, content in VALID.items():
        (made / f"{name}.mtx").write_bytes(content)
    return made


@settings(max_examples=200, deadline=None)
@given(
    member=st.sampled_from(sorted(VALID)),
    changes=st.lists(
        st.tuples(st.integers(0, 200), st.sampled_from(b"0123456789 \n\r\t+-.eEinfa%\0\x85\xff")), max_size=5
    ),
    cut=st.none() | st.integers(0, 200),
)
def test_mutated_text_loads_or_raises_a_file_format_error(folder, member, changes, cut):
    content = bytearray(VALID[member])
    for place, byte in changes:
        content[place % len(content)] = byte
    (folder / f"{member}.mtx").write_bytes(content[:cut])
    for reader in (load, load_solution):
        with contextlib.suppress(FileFormatError):
            reader(folder / "p.mtx")
    (folder / f"{member}.mtx").write_bytes(VALID[member])
