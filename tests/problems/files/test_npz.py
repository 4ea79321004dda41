"""perp's own format: round trips bit for bit, and archives that lie."""

from __future__ import annotations

import contextlib
import io
import pickle
import tracemalloc
import zipfile

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
    make_operators,
    make_problems,
    make_small,
)

from perp import LCP, ContactProblem
from perp.errors import FileFormatError
from perp.problems.files import load, load_solution, save

PROBLEMS = make_problems()


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_kind_and_form_comes_back_from_npz_bit_for_bit(name, tmp_path):
    problem = PROBLEMS[name]
    save(problem, tmp_path / "p.npz")
    again = load(tmp_path / "p.npz")
    assert_same_statement(again, problem)
    assert_same_operator(again.A, problem.A)


def test_a_saved_solution_comes_back_and_a_missing_one_is_none(tmp_path):
    problem, path = make_small(), tmp_path / "p.npz"
    save(problem, path)
    assert load_solution(path) is None
    save(problem, path, x=[0.5, 1 / 3])
    assert_same_bits(load_solution(path), np.array([0.5, 1 / 3]))
    assert_same_statement(load(path), problem)


def test_a_solution_of_the_wrong_length_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match="x has length 3"):
        save(make_small(), tmp_path / "p.npz", x=[1, 2, 3])
    assert not list(tmp_path.iterdir())


def test_equal_problems_give_equal_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        save(make_small(), tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_numpy_reads_the_archive_without_pickle(tmp_path):
    save(make_small(), tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz", allow_pickle=False) as arrays:
        assert_same_bits(arrays["b"], make_small().b)
        assert arrays["kind"] == "box"


def test_an_archive_that_numpy_compressed_is_read_too(tmp_path):
    save(make_small(), tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as arrays:
        np.savez_compressed(tmp_path / "q.npz", **arrays)
    assert_same_operator(load(tmp_path / "q.npz").A, make_small().A)


def test_a_dense_matrix_in_fortran_order_is_read_as_it_is_meant(tmp_path):
    A = np.arange(9.0).reshape(3, 3)
    save(LCP(A, np.ones(3)), tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as arrays:
        np.savez(tmp_path / "q.npz", **(dict(arrays) | {"A": np.asfortranarray(A)}))
    assert_same_bits(load(tmp_path / "q.npz").A.matrix, A)


def test_a_matrix_free_problem_cannot_be_saved(tmp_path):
    with pytest.raises(FileFormatError, match="matrix-free operator is a program, not data"):
        save(make_matrix_free(), tmp_path / "p.npz")
    assert not list(tmp_path.iterdir())


# ---- files that lie -------------------------------------------------------------------------------------------------


def rewrite(path, replaced, compression=zipfile.ZIP_STORED):
    """The archive of `make_small` with members replaced, added, or (None) left out."""
    save(make_small(), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in (members | replaced).items():
            if content is not None:
                archive.writestr(name, content)
    return path


def npy(array, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), **options)
    return stream.getvalue()


def npy_header(text):
    """A .npy member that consists of a header only."""
    line = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line


def test_a_128_byte_array_that_declares_32_gigabytes_is_refused_without_allocating(tmp_path):
    lie = npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (65536, 65536), }")
    assert len(lie) == 128
    path = rewrite(tmp_path / "p.npz", {"A.npy": lie})
    tracemalloc.start()
    assert_refused(path, r"A\.npy: the header declares 34,359,738,368 bytes of numbers, the member holds 0")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_a_pickled_object_array_is_never_unpickled(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    array = np.empty(2, dtype=object)
    array[:] = [Bomb(), Bomb()]
    path = rewrite(tmp_path / "p.npz", {"b.npy": npy(array, allow_pickle=True)})
    assert_refused(path, r"b\.npy: the type is '\|O', but numbers must stand here; pickled objects are never read")
    path = rewrite(tmp_path / "q.npz", {"b.npy": pickle.dumps([1.0, 2.0])})
    assert_refused(path, r"b\.npy: the member is not an array")


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1 2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,) + (2,), }",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 60 + ",), }",
        "((((((((((((((((((((",
        "",
    ],
)
def test_a_strange_array_header_gives_one_clear_error(header, tmp_path):
    assert_refused(rewrite(tmp_path / "p.npz", {"b.npy": npy_header(header)}), r"b\.npy: ")


def test_an_empty_array_with_an_absurd_extent_is_refused(tmp_path):
    lie = npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 99999999999999999999999), }")
    assert_refused(rewrite(tmp_path / "p.npz", {"A.npy": lie}), r"A\.npy: .* an extent larger than the member")


def test_a_zip_bomb_is_refused_by_its_ratio(tmp_path):
    zeros = npy(np.zeros(3_000_000))
    path = rewrite(tmp_path / "p.npz", {"b.npy": zeros}, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 50_000
    assert_refused(path, r"b\.npy: .* bytes would unpack to 24,000,128, more than 100 times as many")


def test_a_bomb_that_hides_its_size_is_cut_off(tmp_path):
    """The directory says 1000 bytes, the compressed stream unpacks to 8 million."""
    zeros = npy(np.zeros(1_000_000))
    path = rewrite(tmp_path / "p.npz", {"b.npy": zeros}, zipfile.ZIP_DEFLATED)
    true_size, lie = len(zeros).to_bytes(4, "little"), (1000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(true_size, lie))
    tracemalloc.start()
    assert_refused(path, r"b\.npy: the member is damaged")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**21


def test_a_directory_that_promises_more_than_the_file_holds_is_refused(tmp_path):
    path = rewrite(tmp_path / "p.npz", {})
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("b.npy").file_size.to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size + size, (2**31).to_bytes(4, "little") * 2))
    assert_refused(path, "the file declares 2,147,483,648 bytes and holds only")


def test_max_bytes_bounds_the_sum_of_all_members(tmp_path):
    path = rewrite(tmp_path / "p.npz", {})
    assert load(path, max_bytes=10_000).n == 2
    assert_refused(path, "max_bytes=1,000 allows no more", max_bytes=1000)


def test_members_with_paths_in_their_names_are_ignored(tmp_path):
    hostile = dict.fromkeys(("../../outside.npy", "/etc/passwd", "..\\b.npy", "sub/b.npy", "b.npy/"), b"whatever")
    path = rewrite(tmp_path / "p.npz", hostile)
    assert_same_statement(load(path), make_small())
    assert list(tmp_path.iterdir()) == [path]


def test_two_members_of_one_name_are_refused(tmp_path):
    path = rewrite(tmp_path / "p.npz", {})
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("b.npy", npy(np.zeros(2)))
    assert_refused(path, r"b\.npy: the archive holds two members of this name")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compression_that_numpy_does_not_write_is_refused(method, tmp_path):
    assert_refused(rewrite(tmp_path / "p.npz", {}, method), "compression method")


@pytest.mark.parametrize("member", ["format", "kind", "form", "A", "b", "lower", "upper"])
def test_a_missing_member_is_named(member, tmp_path):
    assert_refused(rewrite(tmp_path / "p.npz", {f"{member}.npy": None}), rf"{member}\.npy: the member is missing")


@pytest.mark.parametrize(
    ("member", "content", "message"),
    [
        ("b", [1, 2], "the type is '<i8', but numbers must stand here"),
        ("b", np.ones((2, 1)), r"the shape is \(2, 1\); 1 dimensions are needed"),
        ("kind", "quadratic", "'quadratic', which is unknown"),
        ("kind", "boxx", "did you mean 'box'"),
        ("kind", 3, "a word must stand here"),
        ("kind", "l" * 200, "a word must stand here"),
        ("form", "densee", "did you mean 'dense'"),
        ("form", "sparse", r"A\.data\.npy: the member is missing"),
        ("format", 2, "format 2, written by perp .*; this perp reads format 1"),
        ("format", 1.0, "integers must stand here"),
    ],
)
def test_a_member_of_the_wrong_content_is_named(member, content, message, tmp_path):
    assert_refused(rewrite(tmp_path / "p.npz", {f"{member}.npy": npy(np.array(content))}), message)


@pytest.mark.parametrize(
    ("member", "content", "message"),
    [
        ("b", [1.0, np.nan], r"b\[1\] is nan"),
        ("b", [1.0, 2.0, 3.0], "b has length 3"),
        ("A", np.ones((2, 3)), r"A has shape \(2, 3\)"),
        ("A", np.full((2, 2), np.inf), r"A\[0,0\] is inf"),
        ("lower", [9.0, 9.0], r"lower\[1\] = 9.0 is greater"),
        ("upper", [np.nan, 1.0], r"upper\[0\] is nan"),
    ],
)
def test_what_a_constructor_refuses_is_told_with_the_file(member, content, message, tmp_path):
    path = rewrite(tmp_path / "p.npz", {f"{member}.npy": npy(np.array(content))})
    assert_refused(path, message)
    with pytest.raises(FileFormatError) as caught:
        load(path)
    assert isinstance(caught.value.__cause__, ValueError)


def replaced_member(path, problem, member, content):
    save(problem, path)
    with np.load(path) as arrays:
        np.savez(path, **(dict(arrays) | {member: np.array(content)}))
    return path


@pytest.mark.parametrize(
    ("form", "member", "content", "message"),
    [
        ("sparse", "A.indices", [-1] * 14, r"A.indices\[0\] is -1"),
        ("sparse", "A.indices", [0] * 13, "A: indices and data should have the same size"),
        ("sparse", "A.indptr", [0, 0, 0, 0, 0, 0, 10**9], "A: Last value of index pointer"),
        ("sparse", "A.indptr", [0, 9, 0, 9, 0, 9, 0], "A.indptr must rise"),
        ("sparse", "A.indptr", np.empty(0, dtype=int), "A: 'shape' elements cannot be negative"),
        ("body_pairs", "bodies", [[0, 99]] * 6, r"bodies must lie in -1\.\.2"),
        ("body_pairs", "jacobian", np.zeros((6, 2, 5)), r"jacobian has shape \(6, 2, 5\)"),
        ("body_pairs", "M.mass", [1.0, 0.0, 1.0], r"mass\[1\] is 0.0"),
        ("body_pairs", "M.mass", [1.0, 1e-320, 1.0], "positive mass"),
        ("body_pairs", "compliance", [-1.0] * 6, r"compliance\[0\] is -1.0"),
        ("body_pairs", "M.form", "massive", "'massive', which is unknown"),
        ("body_rows", "M.form", "diagonal", r"M\.diagonal\.npy: the member is missing"),
        ("sparse_mass", "M.data", [-1.0] * 8, "M is not"),
        ("sparse_mass", "M.data", [np.nan] * 8, r"M\[0,0\] is nan"),
        ("stencil", "grid", [3, 3], "cannot reshape"),
        ("stencil", "grid", [-3, -2], "grid"),
        ("stencil", "grid", np.empty(0, dtype=int), "cannot reshape"),
        ("stencil", "couplings", [1.0], "couplings has length 1"),
    ],
)
def test_damaged_operators_give_one_clear_error(form, member, content, message, tmp_path):
    problem = LCP(make_operators()[form], np.ones(6))
    assert_refused(replaced_member(tmp_path / "p.npz", problem, member, content), message)


def test_an_empty_grid_with_an_absurd_axis_is_refused(tmp_path):
    problem = LCP(make_operators()["stencil"], np.ones(6))
    path = replaced_member(tmp_path / "p.npz", problem, "grid", [10**12, 0])
    with np.load(path) as arrays:
        np.savez(path, **(dict(arrays) | {"centre": np.empty(0), "b": np.empty(0)}))
    assert_refused(path, "grid")


def test_a_word_of_impossible_characters_is_refused(tmp_path):
    word = bytearray(npy(np.array("box")))
    word[-1] = 0xFF
    assert_refused(rewrite(tmp_path / "p.npz", {"kind.npy": bytes(word)}), r"kind\.npy: 'utf-32-le' codec can't decode")


@pytest.mark.parametrize("length", [0, 1, 21, 100, 1000, -1])
def test_a_truncated_npz_gives_one_clear_error(length, tmp_path):
    path = rewrite(tmp_path / "p.npz", {})
    path.write_bytes(path.read_bytes()[:length])
    assert_refused(path, "zip directory: not a zip archive, or a damaged one")


def test_a_flipped_bit_in_the_numbers_is_found_by_the_checksum(tmp_path):
    path = tmp_path / "p.npz"
    save(make_small(), path)
    content = bytearray(path.read_bytes())
    content[content.index(make_small().b.tobytes())] ^= 1
    path.write_bytes(content)
    assert_refused(path, r"b\.npy: the member is damaged")


MUTABLE = ("dense", "sparse", "body_pairs", "sparse_mass", "stencil")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of archives, one a form of A."""
    made = tmp_path_factory.mktemp("archives")
    for form in MUTABLE:
        problem = ContactProblem(make_operators()[form], np.ones(6), [0.3], extra_rows=3, lower=-1.0)
        save(problem, made / f"{form}.npz", x=np.ones(6))
    return made


def load_or_refuse(path):
    for reader in (load, load_solution):
        with contextlib.suppress(FileFormatError):
            reader(path)


CHANGES = st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), max_size=4)
"""Places (taken modulo the length) and the bytes that are put there."""


@settings(max_examples=150, deadline=None)
@given(form=st.sampled_from(MUTABLE), changes=CHANGES, cut=st.none() | st.integers(0, 2**12))
def test_a_mutated_npz_loads_or_raises_a_file_format_error(folder, form, changes, cut):
    content = bytearray((folder / f"{form}.npz").read_bytes())
    for place, byte in changes:
        content[place % len(content)] = byte
    (folder / "mutated.npz").write_bytes(content[:cut])
    load_or_refuse(folder / "mutated.npz")


@settings(max_examples=150, deadline=None)
@given(form=st.sampled_from(MUTABLE), member=st.integers(0, 20), changes=CHANGES)
def test_mutated_arrays_with_valid_checksums_load_or_raise_a_file_format_error(folder, form, member, changes):
    """Past the checksum: a header, a word or numbers changed inside an archive that is otherwise in order."""
    with zipfile.ZipFile(folder / f"{form}.npz") as archive:
        members = {name: bytearray(archive.read(name)) for name in archive.namelist()}
    content = members[sorted(members)[member % len(members)]]
    for place, byte in changes:
        content[place % len(content)] = byte
    with zipfile.ZipFile(folder / "mutated.npz", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, bytes(data))
    load_or_refuse(folder / "mutated.npz")
