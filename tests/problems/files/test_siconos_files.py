"""Siconos' text files: five layouts, three storages, found out from the numbers; and files that lie."""

from __future__ import annotations

import contextlib
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_problems import assert_refused
from scipy import sparse

from perp import LCP, BoxLCP, ContactProblem, FactoredOperator
from perp.errors import FileFormatError
from perp.problems.files import load, load_solution, save, siconos_words

# ---- writers of the three storages, as the original writes them ------------------------------------------------------


def dense(matrix):
    rows, columns = np.shape(matrix)
    lines = "\n".join(" ".join(repr(float(value)) for value in column) for column in np.transpose(matrix))
    return f"0\n{rows}\n{columns}\n{rows}\t{columns}\n{lines}\n"


def blocked(matrix, size):
    """All blocks that are not zero; the last ones may be smaller."""
    matrix = np.asarray(matrix, dtype=float)
    rows, columns = matrix.shape
    ends = [[*range(size, extent, size), extent] for extent in (rows, columns)]
    blocks, pointers, across = [], [0], []
    for top in range(0, rows, size):
        for left in range(0, columns, size):
            block = matrix[top : top + size, left : left + size]
            if block.any():
                across.append(left // size)
                blocks.append(block)
        pointers.append(len(blocks))
    text = [f"1\n{rows}\n{columns}\n{len(blocks)}\n{len(ends[0])}\n{len(ends[1])}"]
    text += ["\t".join(map(str, part)) for part in ends]
    text += [f"{len(pointers)}\n{len(across)}", "\t".join(map(str, pointers)), "\t".join(map(str, across))]
    for number, block in enumerate(blocks):
        text += [str(number), *(f"  {value!r}" for value in block.ravel(order="F").tolist())]
    return "\n".join(text) + "\n"


BANNER = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016\n"


def triplets(matrix):
    entries = sparse.coo_array(matrix)
    head = f"2\n{entries.shape[0]}\n{entries.shape[1]}\n1\n{BANNER}"
    head += f"triplet: {entries.shape[0]}-by-{entries.shape[1]}, nzmax: {entries.nnz} nnz: {entries.nnz}\n"
    row, column = entries.coords
    lines = (f"    {i} {j} : {value!r}\n" for i, j, value in zip(row, column, entries.data.tolist(), strict=True))
    return head + "".join(lines)


def by_columns(matrix):
    columns = sparse.csc_array(matrix)
    m, n = columns.shape
    text = f"2\n{m}\n{n}\n2\n{BANNER}{m}-by-{n}, nzmax: {columns.nnz} nnz: {columns.nnz}, 1-norm: 2.5\n"
    for j in range(n):
        first, last = columns.indptr[j], columns.indptr[j + 1]
        text += f"    col {j} : locations {first} to {last - 1}\n"
        for k in range(first, last):
            text += f"      {columns.indices[k]} : {columns.data[k].item()!r}\n"
    return text


STORAGES = {
    "dense": dense,
    "blocked": lambda matrix: blocked(matrix, 2),
    "triplets": triplets,
    "by_columns": by_columns,
}


def vector(values):
    return " ".join(repr(float(value)) for value in values) + "\n"


def mlcp_text(M, q, n):
    m = len(q) - n
    parts = (M[:n, :n], M[n:, n:], M[:n, n:], M[n:, :n])
    rows = "".join(vector(np.ravel(part)) for part in parts)
    return f"1\n1\n{n}\n{m}\n0 {n} {n + m}\n0 1\n{dense(M)}{vector(q)}{rows}{vector(q[:n])}{vector(q[n:])}"


def write(folder, text):
    path = folder / "p.dat"
    path.write_text(text, encoding="latin-1")
    return path


@pytest.fixture
def numbers():
    """A matrix of full rank that is not symmetric, with zeros, and vectors that go with it."""
    rng = np.random.default_rng(4)
    M = rng.standard_normal((6, 6)) * (rng.random((6, 6)) < 0.6) + 3.0 * np.eye(6)
    return M, rng.standard_normal(6), rng.random(6)


# ---- what the numbers mean -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", STORAGES)
def test_an_lcp_comes_from_every_storage_bit_for_bit(storage, numbers, tmp_path):
    M, q, _ = numbers
    problem = load(write(tmp_path, f"6\n{STORAGES[storage](M)}{vector(q)}"))
    assert isinstance(problem, LCP)
    assert problem.A.form == ("dense" if storage == "dense" else "sparse")
    np.testing.assert_array_equal(problem.A.to_dense(), M)
    np.testing.assert_array_equal(problem.b, q)


@pytest.mark.parametrize("storage", STORAGES)
def test_a_relay_is_an_lcp_followed_by_bounds(storage, numbers, tmp_path):
    M, q, width = numbers
    upper = np.append(width[:-1], np.inf)
    problem = load(write(tmp_path, f"6\n{STORAGES[storage](M)}{vector(q)}{vector(-width)}{vector(upper)}"))
    assert isinstance(problem, BoxLCP)
    np.testing.assert_array_equal(problem.A.to_dense(), M)
    np.testing.assert_array_equal(problem.lower, -width)
    np.testing.assert_array_equal(problem.upper, upper)


@pytest.mark.parametrize("rest", ["", "0.5 1.5\n", "0.5 1.5 and words\n"])
def test_a_mixed_lcp_has_free_rows_first(rest, numbers, tmp_path):
    M, q, _ = numbers
    problem = load(write(tmp_path, mlcp_text(M, q, 2) + rest))
    assert isinstance(problem, BoxLCP)
    np.testing.assert_array_equal(problem.A.to_dense(), M)
    assert problem.lower.tolist() == [-np.inf] * 2 + [0.0] * 4
    assert (problem.upper == np.inf).all()


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("flag", ["", "1\n", "0"])
@pytest.mark.parametrize("storage", STORAGES)
def test_contacts_have_the_exact_cone(storage, flag, dimension, numbers, tmp_path):
    W, q, mu = numbers
    contacts = 6 // dimension
    text = f"{dimension}\n{contacts}\n{STORAGES[storage](W)}{vector(q)}{vector(mu[:contacts])}{flag}"
    problem = load(write(tmp_path, text))
    assert isinstance(problem, ContactProblem)
    assert (problem.model, problem.dimension) == ("cone", dimension)
    np.testing.assert_array_equal(problem.A.to_dense(), W)
    np.testing.assert_array_equal(problem.b, q)
    np.testing.assert_array_equal(problem.friction, mu[:contacts])


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("dofs", [6, 8])
def test_global_contacts_become_a_factored_problem(dofs, storage, numbers, tmp_path):
    """Six velocities are the hard case: M is then as large as a W would be."""
    _, w, mu = numbers
    rng = np.random.default_rng(5)
    J = rng.standard_normal((6, dofs)) * (rng.random((6, dofs)) < 0.7)
    M = np.diag(rng.uniform(1.0, 2.0, dofs)) + 0.1
    f = rng.standard_normal(dofs)
    text = f"3\n2\n{STORAGES[storage](M)}{STORAGES[storage](J.T)}{vector(f)}{vector(w)}{vector(mu[:2])}"
    problem = load(write(tmp_path, text))
    assert isinstance(problem.A, FactoredOperator)
    assert problem.model == "cone"
    inverse = np.linalg.inv(M)
    np.testing.assert_allclose(problem.A.to_dense(), J @ inverse @ J.T, atol=1e-12)
    np.testing.assert_allclose(problem.b, J @ inverse @ f + w, atol=1e-12)


def test_text_after_the_last_number_is_no_part_of_the_problem(numbers, tmp_path):
    M, q, _ = numbers
    path = write(tmp_path, f"6\n{dense(M)}{vector(q)}\nRemark 4.1.14: the solutions are z_1 + z_2 = 1\n# 7\n")
    assert isinstance(load(path), LCP)


def test_pieces_that_end_within_words_change_nothing(numbers, tmp_path, monkeypatch):
    M, q, _ = numbers
    path = write(tmp_path, f"6\n{dense(M)}{vector(q)}\nend")
    for characters in range(20, 60):
        monkeypatch.setattr(siconos_words, "CHARACTERS_AT_ONCE", characters)
        problem = load(path)
        np.testing.assert_array_equal(problem.A.to_dense(), M)
        np.testing.assert_array_equal(problem.b, q)


# ---- which layout ----------------------------------------------------------------------------------------------------


def test_the_layout_can_be_named(numbers, tmp_path):
    M, q, width = numbers
    path = write(tmp_path, f"6\n{dense(M)}{vector(q)}{vector(-width)}{vector(width)}")
    assert isinstance(load(path), BoxLCP)
    assert isinstance(load(path, layout="siconos/lcp"), LCP)  # what follows is then somebody's remark


def test_numbers_that_suit_two_layouts_are_refused_until_one_is_named(tmp_path):
    """Without unknowns an LCP and a relay are the same words."""
    path = write(tmp_path, "0\n0\n0\n0\n0 0\n")
    assert_refused(path, r"the numbers suit siconos/lcp and siconos/relay: say which with layout=\.\.\.")
    assert isinstance(load(path, layout="siconos/lcp"), LCP)
    assert isinstance(load(path, layout="siconos/relay"), BoxLCP)


@pytest.mark.parametrize("layout", ["siconos/fx", "lcp", "", 3])
def test_an_unknown_layout_is_answered_with_the_known_ones(layout, tmp_path):
    path = write(tmp_path, "0\n0\n0\n0\n0 0\n")
    with pytest.raises(ValueError, match=r"layout .* is unknown.*siconos/fc, siconos/gfc, siconos/lcp"):
        load(path, layout=layout)


def test_other_formats_need_no_layout(tmp_path):
    save(LCP(np.eye(2), [1.0, 2.0]), tmp_path / "p.npz")
    with pytest.raises(ValueError, match=r"only \.dat files need one"):
        load(tmp_path / "p.npz", layout="siconos/lcp")


def test_text_files_are_read_and_not_written(tmp_path):
    with pytest.raises(FileFormatError, match=r"read, not written; save it as \.npz"):
        save(LCP(np.eye(2), [1.0, 2.0]), tmp_path / "p.dat")
    assert not list(tmp_path.iterdir())


def test_a_missing_text_file_raises_what_open_raises(tmp_path):
    (tmp_path / "folder.dat").mkdir()
    for reader in (load, load_solution):
        with pytest.raises(FileNotFoundError):
            reader(tmp_path / "missing.dat")
        with pytest.raises(IsADirectoryError):
            reader(tmp_path / "folder.dat")


def test_text_files_have_no_solution_beside_them(numbers, tmp_path):
    M, q, _ = numbers
    assert load_solution(write(tmp_path, f"6\n{dense(M)}{vector(q)}")) is None


# ---- files that lie --------------------------------------------------------------------------------------------------

LCP_TEXT = "2\n0\n2\n2\n2 2\n2 1\n1 2\n-5 -6\n"
BLOCK_TEXT = "2\n1\n2\n2\n1\n1\n1\n2\n2\n2\n1\n0 1\n0\n0\n2\n1\n1\n2\n-5 -6\n"
FC_TEXT = "3\n1\n0\n3\n3\n3 3\n15 -1 -2\n-1 14 1\n-2 1 16\n-1 2 3\n0.1\n"
SPARSE_TEXT = f"2\n2\n2\n2\n1\n{BANNER}triplet: 2-by-2, nzmax: 2 nnz: 2\n0 0 : 1\n1 1 : 2\n-5 -6\n"


def test_the_texts_below_are_in_order_before_they_are_broken(tmp_path):
    for text, n in ((LCP_TEXT, 2), (BLOCK_TEXT, 2), (FC_TEXT, 3), (SPARSE_TEXT, 2)):
        assert load(write(tmp_path, text)).n == n


@pytest.mark.parametrize(
    ("layout", "text", "message"),
    [
        ("lcp", "", "line 1: the file ends where n, the number of unknowns must stand"),
        ("lcp", "\n\nhello\n", "line 3: n, the number of unknowns must stand here, found 'hello'"),
        ("lcp", "-2\n0\n", "line 1: n, the number of unknowns is -2; a whole number >= 0"),
        ("lcp", "2.5\n0\n", "line 1: n, the number of unknowns must stand here, found '2.5'"),
        ("lcp", "9" * 300 + "\n", "line 1: n, the number of unknowns must stand here"),
        ("lcp", "1" * 500, "line 1: a word of more than 400 characters"),
        (
            "lcp",
            "1000000000000\n0\n",
            "line 2: 1,000,000,000,000 entries of n, the number of unknowns are declared, which",
        ),
        (
            "lcp",
            LCP_TEXT.replace("2\n0\n", "2\n7\n", 1),
            "line 2: 7 names no storage of M: 0 .dense., 1 .blocks., 2 .sparse.",
        ),
        ("lcp", LCP_TEXT.replace("2 2\n", "2 3\n", 1), "line 5: M has 3 columns; 2 are needed"),
        ("lcp", LCP_TEXT.replace("1 2\n", "1 x\n"), "line 7: an entry of M must stand here, found 'x'"),
        ("lcp", LCP_TEXT.replace("1 2\n", "1 nan\n"), "line 7: an entry of M is nan"),
        ("lcp", LCP_TEXT.replace("1 2\n", "1 -inf\n"), "line 7: an entry of M is -inf"),
        ("lcp", LCP_TEXT.replace("1 2\n", "1 1e999\n"), "line 7: an entry of M is inf"),
        ("lcp", LCP_TEXT.replace("1 2\n", "1 1_0\n"), "line 7: an entry of M must stand here, found '1_0'"),
        ("lcp", LCP_TEXT.replace("1 2\n", "1 0x1\n"), "line 7: an entry of M must stand here, found '0x1'"),
        ("lcp", LCP_TEXT.replace("1 2\n", "1 1.5e\n"), "line 7: an entry of M must stand here, found '1.5e'"),
        ("lcp", LCP_TEXT.replace("1 2\n", "1 \xb2\n"), "line 7: an entry of M must stand here, found '\xb2'"),
        ("lcp", LCP_TEXT.replace("-5 -6", "-5"), "line 8: the file ends after 1 of 2 entries of q"),
        (
            "relay",
            LCP_TEXT.replace("-5 -6", "-5 -6 1 1 1"),
            "line 8: the file ends after 1 of 2 entries of the upper bounds",
        ),
        ("relay", LCP_TEXT.replace("-5 -6", "-5 -6 1 1 -1 -1"), r"lower\[0\] = 1.0 is greater than upper\[0\] = -1.0"),
        ("lcp", BLOCK_TEXT.replace("0 1\n0\n", "0 2\n0\n"), "line 12: the row pointers of M do not rise from 0 to 1"),
        ("lcp", BLOCK_TEXT.replace("0 1\n0\n", "0 1\n4\n"), "line 13: a block of M stands in column 4 of 1"),
        ("lcp", BLOCK_TEXT.replace("0 1\n0\n0\n", "0 1\n0\n1\n"), "line 14: block 0 of M must stand here, found 1"),
        (
            "lcp",
            BLOCK_TEXT.replace("1\n1\n1\n2\n2\n", "1\n1\n1\n3\n2\n"),
            "line 8: the ends of the block rows of M do not rise",
        ),
        (
            "lcp",
            BLOCK_TEXT.replace("2\n2\n1\n1\n1\n", "2\n2\n999999999\n1\n1\n"),
            "line 11: M has 1 block rows and 999999999 blocks, but 2 row",
        ),
        ("fc", FC_TEXT.replace("3\n1\n", "4\n1\n", 1), "line 1: the dimension is 4; 2 or 3 is needed"),
        ("fc", FC_TEXT.replace("0.1", "-0.1"), r"friction\[0\] is -0.1; a coefficient must not be negative"),
        ("fc", FC_TEXT.replace("\n0.1", ""), "line 10: the file ends after 0 of 1 entries of mu"),
        ("lcp", SPARSE_TEXT.replace("1 1 : 2", "1 2 : 2"), "line 9: column 2 is outside M, which has 2"),
        ("lcp", SPARSE_TEXT.replace("1 1 : 2", "1 1 ; 2"), "line 9: ':' must stand here, found ';'"),
        ("lcp", SPARSE_TEXT.replace("nnz: 2", "nnz: 3"), "line 10: the row of an entry of M is -5"),
        (
            "lcp",
            SPARSE_TEXT.replace("nnz: 2", "nnz: 900000000"),
            "line 8: 900,000,000 entries of M are declared, which a file",
        ),
        ("lcp", SPARSE_TEXT.replace("2-by-2", "2-by-3"), "line 7: M is 2 x 3; 2 x 2 is needed"),
        (
            "lcp",
            SPARSE_TEXT.replace("2-by-2", "2 by 2"),
            "line 10: the file ends where the sizes of M, as 2-by-2 must stand",
        ),
    ],
)
def test_a_text_that_lies_is_refused_with_its_line(layout, text, message, tmp_path):
    path = write(tmp_path, text)
    tracemalloc.start()
    assert_refused(path, f"p.dat: {message}", layout=f"siconos/{layout}")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LCP_TEXT.replace("1 2\n", "1 x\n"), "line 7: an entry of M must stand here, found 'x' .read as .*siconos/lcp"),
        (LCP_TEXT.replace("-5 -6", "-5 -6 1 1 1"), "line 8: the file ends after 1 of 2 entries of the upper bounds"),
        (LCP_TEXT.replace("-5 -6", "-5 -6 1 1 2 2 7"), "line 8: more numbers follow .*siconos/relay"),
        (SPARSE_TEXT.replace("nnz: 2", "nnz: 1"), "line 9: an entry of a matrix goes on here: it has more of them"),
        (FC_TEXT.replace("16", "x"), "line 9: an entry of W must stand here, found 'x' .read as .*siconos/fc"),
        (FC_TEXT.replace("0.1", "0.1 1 1"), "line 11: more numbers follow than the layout has .read as .*siconos/fc"),
    ],
)
def test_what_suits_no_layout_is_refused_by_the_one_that_came_closest(text, message, tmp_path):
    assert_refused(write(tmp_path, text), f"p.dat: {message}")


def test_parts_of_a_mixed_lcp_must_repeat_the_whole(numbers, tmp_path):
    M, q, _ = numbers
    text = mlcp_text(M, q, 2)
    last = vector(q[2:])
    assert_refused(write(tmp_path, text.removesuffix(last) + vector(q[2:] + 1.0)), "b is not the part of M or q")
    assert_refused(
        write(tmp_path, text.replace("1\n1\n", "1\n0\n", 1)),
        "a 1 must stand here: A, B, C, D are stored",
        layout="siconos/mlcp",
    )
    assert_refused(write(tmp_path, text.replace("0 2 6", "0 3 6")), "the first 2 rows must be equations")
    assert_refused(write(tmp_path, text.replace("0 2 6", "0 2 7")), "the blocks end at 7, but there are 6 rows")


@pytest.mark.parametrize(
    ("M", "message"),
    [
        (np.diag([1.0, -1.0, 1.0]), r"M\[1,1\] is -1.0; the diagonal of a mass matrix is positive"),
        (np.diag([1.0, 0.0, 1.0]), r"M\[1,1\] is 0.0; the diagonal of a mass matrix is positive"),
        (np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "M is not positive definite"),
        (np.array([[1.0, 0.5, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]]), "M is not symmetric"),
    ],
)
def test_a_mass_that_is_no_mass_is_refused(M, message, tmp_path):
    text = f"3\n1\n{blocked(M, 3)}{dense(np.eye(3))}0 0 0\n0 0 0\n0.5\n"
    assert_refused(write(tmp_path, text), message)


def test_max_bytes_bounds_all_numbers_of_a_text_together(tmp_path):
    path = write(tmp_path, LCP_TEXT)
    assert load(path, max_bytes=48).n == 2
    assert_refused(path, "max_bytes=47 allows no more", max_bytes=47)


@pytest.mark.parametrize("text", [LCP_TEXT, BLOCK_TEXT, FC_TEXT, SPARSE_TEXT])
def test_no_start_of_a_file_is_a_problem(text, tmp_path):
    """Cut after any word, a file is refused: there is none that a shorter layout would fit by chance."""
    words = text.split()
    needed = len(words)
    for count in range(needed):
        with pytest.raises(FileFormatError):
            load(write(tmp_path, " ".join(words[:count])))
    assert load(write(tmp_path, " ".join(words))).n > 0


VALID = [LCP_TEXT, BLOCK_TEXT, FC_TEXT, SPARSE_TEXT, mlcp_text(np.eye(2), np.array([1.0, 2.0]), 1)]


@settings(max_examples=150, deadline=None)
@given(
    text=st.sampled_from(VALID),
    changes=st.lists(
        st.tuples(st.integers(0, 200), st.sampled_from("0123456789 \n\t+-.eEinfa:\0\x85\xff")), max_size=5
    ),
    cut=st.none() | st.integers(0, 200),
)
def test_mutated_siconos_text_loads_or_raises_a_file_format_error(tmp_path_factory, text, changes, cut):
    letters = list(text)
    for place, letter in changes:
        letters[place % len(letters)] = letter
    path = tmp_path_factory.getbasetemp() / "mutated.dat"
    path.write_text("".join(letters)[:cut], encoding="latin-1")
    with contextlib.suppress(FileFormatError):
        load(path)
