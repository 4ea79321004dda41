"""FCLIB files: the real ones, round trips, and HDF5 that lies or points elsewhere."""

from __future__ import annotations

import contextlib
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from saved_problems import (
    assert_refused,
    assert_same_bits,
    assert_same_operator,
    assert_same_statement,
    make_matrix_free,
    make_operators,
    make_problems,
)
from scipy import sparse

from perp import LCP, BodyMasses, ContactProblem, DiagonalMass, FactoredOperator, SparseMass
from perp.errors import FileFormatError, MissingExtra
from perp.problems.files import load, load_solution, save
from perp.problems.operators.sparse import as_csr

h5py = pytest.importorskip("h5py")

SHARED = Path(__file__).parents[3].parent / "shared" / "data"

REAL_FILES = {  # form, contacts, velocities, friction
    "fclib/local_problem_test.hdf5": ("sparse", 48, None, 0.7),
    "siconos/fclib_hdf5/Capsules-i125-1213.hdf5": ("sparse", 286, None, 0.7),
    "siconos/fclib_hdf5/Box_Stacks-i0122-82-5.hdf5": ("factored", 82, 450, 0.3),
    "siconos/fclib_hdf5/CubeH8.hdf5": ("dense", 1, None, 0.3),
}


def real_file(name):
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


@pytest.mark.parametrize("name", REAL_FILES)
def test_the_real_files_have_the_sizes_that_their_readme_tells(name):
    form, contacts, velocities, friction = REAL_FILES[name]
    problem = load(real_file(name))
    assert (problem.kind, problem.dimension) == ("contact/cone", 3)
    assert (problem.A.form, problem.contacts, problem.n) == (form, contacts, 3 * contacts)
    assert set(problem.friction) == {friction}
    if velocities:
        assert problem.A.mass.dofs == velocities


def test_the_diagonal_mass_of_a_real_file_is_recognised():
    assert isinstance(load(real_file("siconos/fclib_hdf5/Box_Stacks-i0122-82-5.hdf5")).A.mass, DiagonalMass)


def test_a_real_file_with_half_a_mass_matrix_is_condensed_as_it_stands():
    """CubeH8 stores the upper triangle of M; its README found W = 1.56e-2 times the identity."""
    W = load(real_file("siconos/fclib_hdf5/CubeH8.hdf5")).A.to_dense()
    np.testing.assert_allclose(W, 1.56173e-2 * np.eye(3), atol=1e-8)


@pytest.mark.parametrize("name", ["fclib/local_problem_test.hdf5", "siconos/fclib_hdf5/Box_Stacks-i0122-82-5.hdf5"])
def test_the_stored_velocity_of_a_real_file_is_one_that_its_matrix_can_reach(name):
    """u - b = A r for some r >= 0 in the range of A: the file's u fits the A and b that were made of its numbers."""
    path = real_file(name)
    problem = load(path)
    with h5py.File(path) as file:
        u = file["solution/u"][()]
    A = problem.A.to_dense()
    r = np.linalg.lstsq(A, u - problem.b, rcond=1e-10)[0]
    assert np.abs(A @ r + problem.b - u).max() < 2e-5 * np.abs(problem.b).max()


@pytest.mark.parametrize("name", REAL_FILES)
def test_the_solution_that_real_files_declare_and_never_wrote_is_none(name):
    assert load_solution(real_file(name)) is None


@pytest.mark.parametrize("name", REAL_FILES)
def test_a_real_file_survives_a_round_trip(name, tmp_path):
    problem = load(real_file(name))
    save(problem, tmp_path / "p.hdf5")
    again = load(tmp_path / "p.hdf5")
    assert_same_statement(again, problem)
    np.testing.assert_array_equal(again.A.to_dense(), problem.A.to_dense())
    if problem.A.form != "dense":
        assert_same_operator(again.A, problem.A)


# ---- round trips -----------------------------------------------------------------------------------------------------

CONES = {name: problem for name, problem in make_problems().items() if problem.kind == "contact/cone"}


@pytest.mark.parametrize("name", CONES)
def test_every_cone_comes_back_with_its_vectors_bit_for_bit(name, tmp_path):
    problem = CONES[name]
    save(problem, tmp_path / "p.h5")
    again = load(tmp_path / "p.h5")
    assert_same_statement(again, problem)
    expected = as_csr(problem.A.to_sparse(), "A")
    np.testing.assert_array_equal(again.A.to_sparse().toarray(), expected.toarray())


def make_global(mass):
    dofs = mass.dofs
    J = sparse.random_array((6, dofs), density=0.5, rng=np.random.default_rng(2), format="csr")
    return ContactProblem(FactoredOperator(J, mass), np.linspace(-1, 1, 6), 0.4, model="cone")


def test_a_factored_problem_stays_factored(tmp_path):
    for mass in (DiagonalMass([1.0, 2.0, 3.0]), SparseMass(sparse.csr_array([[2.0, 0.5], [0.5, 1.0]]))):
        problem = make_global(mass)
        save(problem, tmp_path / "p.hdf5")
        again = load(tmp_path / "p.hdf5")
        assert_same_operator(again.A, problem.A)


def test_bodies_come_back_as_a_sparse_mass_of_the_same_numbers(tmp_path):
    problem = make_global(BodyMasses([1.0, 2.0], [np.eye(3), np.diag([1.0, 2.0, 3.0]) + 0.1]))
    save(problem, tmp_path / "p.hdf5")
    again = load(tmp_path / "p.hdf5")
    assert isinstance(again.A.mass, SparseMass)
    np.testing.assert_array_equal(again.A.mass.matrix.toarray(), problem.A.mass.to_sparse().toarray())
    np.testing.assert_array_equal(again.A.J.toarray(), problem.A.J.toarray())


def test_the_solution_is_stored_with_the_velocities_that_it_implies(tmp_path):
    x = np.arange(1.0, 7.0)
    for problem in (make_global(DiagonalMass([1.0, 2.0, 3.0])), CONES["sparse-contact_cone"]):
        save(problem, tmp_path / "p.hdf5", x=x)
        assert_same_bits(load_solution(tmp_path / "p.hdf5"), x)
        with h5py.File(tmp_path / "p.hdf5") as file:
            u = file["solution/u"][()]
            if problem.A.form == "factored":
                assert file["solution/v"].shape == (3,)
        np.testing.assert_allclose(u, problem.A.to_dense() @ x + problem.b, rtol=1e-13)


def test_a_zero_solution_that_is_one_is_kept(tmp_path):
    problem = ContactProblem(np.eye(3), [1.0, 0.0, 0.0], 0.5, model="cone")
    save(problem, tmp_path / "p.hdf5", x=np.zeros(3))
    assert_same_bits(load_solution(tmp_path / "p.hdf5"), np.zeros(3))


def test_a_solution_of_the_wrong_length_in_hdf5_is_refused(path):
    with h5py.File(path, "a") as file:
        file["solution/r"] = np.ones(5)
    with pytest.raises(FileFormatError, match="solution/r has length 5"):
        load_solution(path)


def test_a_file_without_a_solution_gives_none(tmp_path):
    save(CONES["dense-contact_cone"], tmp_path / "p.hdf5")
    assert load_solution(tmp_path / "p.hdf5") is None


def test_the_layout_is_that_of_the_real_files(tmp_path):
    save(make_global(DiagonalMass([1.0, 2.0, 3.0])), tmp_path / "p.hdf5", x=np.zeros(6))
    with h5py.File(tmp_path / "p.hdf5") as ours, h5py.File(real_file(list(REAL_FILES)[2])) as theirs:
        names = []
        theirs.visit(names.append)
        for name in names:
            if not name.startswith("guesses"):
                assert type(ours[name]) is type(theirs[name])
                if isinstance(ours[name], h5py.Dataset) and not name.startswith("fclib_global/info"):
                    assert ours[name].dtype == theirs[name].dtype
                    assert ours[name].ndim == theirs[name].ndim


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (LCP(np.eye(2), [1.0, 2.0]), "FCLIB holds frictional contact problems; save this lcp as .npz"),
        (ContactProblem(np.eye(3), np.ones(3), 0.5), "FCLIB means the friction cone, and this problem has model='box'"),
        (
            ContactProblem(np.eye(4), np.ones(4), [0.5], model="cone", extra_rows=1),
            "FCLIB holds contacts only, and 1 rows are none",
        ),
        (make_matrix_free(), "matrix-free operator is a program"),
    ],
)
def test_what_fclib_cannot_express_is_refused_before_anything_is_written(problem, message, tmp_path):
    with pytest.raises(FileFormatError, match=message):
        save(problem, tmp_path / "p.hdf5")
    assert not list(tmp_path.iterdir())


def test_without_h5py_the_command_that_installs_it_is_told(tmp_path, monkeypatch):
    path = tmp_path / "p.hdf5"
    save(CONES["dense-contact_cone"], path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtra, match=r"pip install h5py"):
        load(path)
    with pytest.raises(MissingExtra, match=r"pip install h5py"):
        save(CONES["dense-contact_cone"], tmp_path / "q.hdf5")
    assert list(tmp_path.iterdir()) == [path]


# ---- files that lie --------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    """A local problem of two contacts, ready to be damaged."""
    save(ContactProblem(make_operators()["sparse"], np.ones(6), 0.5, model="cone"), tmp_path / "p.hdf5")
    return tmp_path / "p.hdf5"


@pytest.fixture
def global_path(tmp_path):
    save(make_global(SparseMass(sparse.csr_array([[2.0, 0.5], [0.5, 1.0]]))), tmp_path / "g.hdf5")
    return tmp_path / "g.hdf5"


def replace(path, name, value=None):
    """Put another dataset in the place of one (None: nothing)."""
    with h5py.File(path, "a") as file:
        del file[name]
        if value is not None:
            file[name] = value


def test_a_small_file_that_declares_terabytes_is_refused_before_it_is_read(path):
    with h5py.File(path, "a") as file:
        del file["fclib_local/vectors/q"]
        file["fclib_local/vectors"].create_dataset("q", (1_100_000_000_000,), "f8", chunks=(1000,))
    assert path.stat().st_size < 30_000
    assert_refused(path, "fclib_local/vectors/q: the file declares 8,800,000,000,000 bytes")


def test_numbers_that_were_never_written_are_not_read_as_zeros(path):
    with h5py.File(path, "a") as file:
        del file["fclib_local/vectors/q"]
        file["fclib_local/vectors"].create_dataset("q", (100_000_000,), "f8", chunks=(1000,))
    assert_refused(path, "vectors/q: the file declares 800,000,000 bytes and holds only 0 of them")


@pytest.mark.parametrize("filters", [{"compression": "gzip"}, {"shuffle": True}, {"fletcher32": True}])
def test_compressed_numbers_are_refused_with_the_way_out(filters, path):
    with h5py.File(path, "a") as file:
        del file["fclib_local/vectors/q"]
        file["fclib_local/vectors"].create_dataset("q", data=np.arange(6.0), **filters)
    assert_refused(path, "vectors/q: compressed or filtered; .* 'h5repack -f NONE'")


def test_chunked_numbers_are_read(path):
    with h5py.File(path, "a") as file:
        del file["fclib_local/vectors/q"]
        file["fclib_local/vectors"].create_dataset("q", data=np.arange(6.0), chunks=(4,), maxshape=(None,))
    assert load(path).b.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("name", ["fclib_local", "fclib_local/W", "fclib_local/vectors", "fclib_local/vectors/q"])
@pytest.mark.parametrize("link", [h5py.ExternalLink("/etc/passwd", "/q"), h5py.SoftLink("/elsewhere")])
def test_links_that_lead_elsewhere_are_not_followed(name, link, path):
    replace(path, name, link)
    assert_refused(path, f"{name}: a soft or external link, which perp does not follow")


def test_an_external_link_to_a_valid_file_is_not_opened(path, tmp_path):
    other = tmp_path / "other.hdf5"
    with h5py.File(other, "w") as file:
        file["q"] = np.ones(6)
    replace(path, "fclib_local/vectors/q", h5py.ExternalLink(str(other), "/q"))
    assert_refused(path, "vectors/q: a soft or external link")


def test_a_virtual_dataset_is_refused(path, tmp_path):
    layout = h5py.VirtualLayout((6,), "f8")
    layout[:] = h5py.VirtualSource(tmp_path / "other.hdf5", "q", (6,))
    with h5py.File(path, "a") as file:
        del file["fclib_local/vectors/q"]
        file["fclib_local/vectors"].create_virtual_dataset("q", layout)
    assert_refused(path, "vectors/q: its numbers lie in another file")


def test_external_storage_is_refused(path):
    with h5py.File(path, "a") as file:
        del file["fclib_local/vectors/q"]
        file["fclib_local/vectors"].create_dataset("q", (6,), "f8", external=[("/etc/passwd", 0, 48)])
    assert_refused(path, "vectors/q: its numbers lie in another file")


def test_max_bytes_bounds_the_sum_of_all_datasets(path):
    assert load(path, max_bytes=1000).n == 6
    assert_refused(path, "max_bytes=100 allows no more", max_bytes=100)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("spacedim", None, "fclib_local/spacedim: missing"),
        ("spacedim", [4], "spacedim: the dimension is 4"),
        ("spacedim", [3, 3], "spacedim: one integer must stand here, found 2"),
        ("spacedim", [3.0], "spacedim: the type is float64; integers are needed"),
        ("spacedim", b"three", "spacedim: the type is"),
        ("spacedim", h5py.Empty("i4"), r"spacedim: the shape is None"),
        ("vectors/mu", np.ones(3), "vectors/mu: 3 contacts of 3 rows do not make 6 rows"),
        ("vectors/mu", -np.ones(2), r"friction\[0\] is -1.0"),
        ("vectors/q", np.full(6, np.nan), r"b\[0\] is nan"),
        ("vectors/q", np.ones((2, 3)), r"vectors/q: the shape is \(2, 3\)"),
        ("vectors/q", np.ones(9), "vectors/mu: 2 contacts of 3 rows do not make 9 rows"),
        ("W", np.ones(6), "fclib_local/W: a group must stand here, found a dataset"),
        ("W/m", [10**9], "W/m, n: the matrix is 1000000000 x 6, but the vectors ask for 6 x 6"),
        ("W/nz", [-3], "W/nz: -3 names no storage"),
        ("W/nz", [5], "W/nz: p, i and x have .* 5 triplets are declared"),
        ("W/p", np.zeros(6, dtype="i4"), "W/nz: p, i and x have 6, .*; 7 pointers"),
        ("W/p", np.array([0, 0, 0, 0, 0, 0, 10**9]), "W: Last value of index pointer"),
        ("W/p", np.array([0, 9, 0, 9, 0, 9, 9]), "W: W.indptr must rise"),
        ("W/i", np.full(14, 99), r"W: W.indices\[0\] is 99"),
        ("W/i", np.full(14, -1), r"W: W.indices\[0\] is -1"),
        ("W/i", np.full(14, 2**63, dtype="u8"), "W: "),
        ("W/i", np.zeros(14), "W/i: the type is float64; integers are needed"),
        ("W/x", np.zeros(3), "W/nz: p, i and x have .* as many indices as values"),
        ("W/x", np.full(14, np.inf), r"W\[.*\] is inf"),
    ],
)
def test_a_damaged_local_problem_gives_one_clear_error(name, value, message, path):
    replace(path, f"fclib_local/{name}", value)
    assert_refused(path, message)


def test_triplets_outside_the_matrix_are_refused(path):
    for name, value in {"nz": [1], "p": [0], "i": [7], "x": [1.0]}.items():
        replace(path, f"fclib_local/W/{name}", np.array(value))
    assert_refused(path, "fclib_local/W: ")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("M/x", -np.ones(4), "M is not positive definite"),
        ("M/x", np.array([1.0, 2.0, 2.0, 4.0]), "M is not positive definite"),
        ("M/x", np.array([0.0, 1.0, 0.0, 0.0]), "M: the matrix cannot be inverted"),
        ("vectors/f", np.ones(5), "H/m, n: the matrix is 2 x 6, but the vectors ask for 5 x 6"),
        ("vectors/f", np.array([np.inf, 0]), r"f\[0\] is inf"),
        ("H/x", None, "fclib_global/H/x: missing"),
    ],
)
def test_a_damaged_global_problem_gives_one_clear_error(name, value, message, global_path):
    replace(global_path, f"fclib_global/{name}", value)
    assert_refused(global_path, message)


def test_forces_enter_the_right_side(global_path):
    without = load(global_path)
    f = np.array([1.0, -2.0])
    replace(global_path, "fclib_global/vectors/f", f)
    expected = without.b + without.A.J @ np.linalg.solve([[2.0, 0.5], [0.5, 1.0]], f)
    np.testing.assert_allclose(load(global_path).b, expected, rtol=1e-14)


def test_an_unsymmetric_mass_is_condensed_and_its_forces_too(global_path):
    J, w = load(global_path).A.J.toarray(), load(global_path).b
    M, f = np.array([[2.0, 0.5], [0.0, 1.0]]), np.array([1.0, -2.0])
    replace(global_path, "fclib_global/M/x", M.reshape(-1))
    replace(global_path, "fclib_global/vectors/f", f)
    problem = load(global_path)
    np.testing.assert_allclose(problem.A.to_dense(), J @ np.linalg.solve(M, J.T), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(problem.b, J @ np.linalg.solve(M, f) + w, rtol=1e-14)
    assert_refused(global_path, "fclib_global/M: the file declares", max_bytes=600)


@pytest.mark.parametrize("name", ["V", "R"])
def test_equality_constraints_of_a_local_problem_are_refused(name, path):
    with h5py.File(path, "a") as file:
        file.create_group(f"fclib_local/{name}")
    assert_refused(path, f"fclib_local/{name}: equality constraints beside the contacts are not supported")


def test_equality_constraints_of_a_global_problem_are_refused(global_path):
    with h5py.File(global_path, "a") as file:
        file.create_group("fclib_global/G")
    assert_refused(global_path, "fclib_global/G: equality constraints")


def test_another_hdf5_file_is_not_taken_for_a_problem(tmp_path):
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file.create_group("fclib_global_rolling")
    assert_refused(tmp_path / "p.h5", "neither 'fclib_local' nor 'fclib_global' is there")


@pytest.mark.parametrize("length", [0, 7, 100, 2000, -1])
def test_a_truncated_hdf5_file_gives_one_clear_error(length, path):
    path.write_bytes(path.read_bytes()[:length])
    assert_refused(path, "HDF5: ")


def test_text_with_the_suffix_of_hdf5_gives_one_clear_error(tmp_path):
    (tmp_path / "p.hdf5").write_text("hello")
    assert_refused(tmp_path / "p.hdf5", "HDF5: the file is too short")
    (tmp_path / "p.hdf5").write_text("hello" * 100)
    assert_refused(tmp_path / "p.hdf5", "HDF5: the file does not begin as an HDF5 file does")


def heaps_with_free_blocks(content):
    """Address of the first free block of every local heap that has one, and its offset within the heap."""
    place = content.find(b"HEAP\0\0\0\0")
    while place >= 0:
        free, address = struct.unpack_from("<QQ", content, place + 16)
        if free != 1:
            yield address + free, free
        place = content.find(b"HEAP\0\0\0\0", place + 1)


def test_a_heap_that_bites_its_own_tail_is_refused_before_hdf5_follows_it_forever(path):
    content = bytearray(path.read_bytes())
    block, offset = next(heaps_with_free_blocks(content))
    struct.pack_into("<Q", content, block, offset)
    path.write_bytes(content)
    assert_refused(path, "HDF5: the heap at byte .* is damaged")


@pytest.mark.parametrize("field", [8, 16, 24])
def test_a_heap_that_reaches_outside_the_file_is_refused(field, path):
    content = bytearray(path.read_bytes())
    struct.pack_into("<Q", content, content.find(b"HEAP\0\0\0\0") + field, 2**40)
    path.write_bytes(content)
    assert_refused(path, "HDF5: the heap at byte .* is damaged")


@pytest.mark.parametrize(("place", "byte"), [(8, 9), (13, 4), (24, 1)])
def test_a_superblock_of_another_kind_is_refused(place, byte, path):
    content = bytearray(path.read_bytes())
    content[place] = byte
    path.write_bytes(content)
    assert_refused(path, "HDF5: the superblock is damaged, or of a kind that perp does not read")


@pytest.mark.parametrize("version", ["earliest", "v108", "v110", "latest"])
def test_files_of_every_version_of_hdf5_are_read(version, path, tmp_path):
    with h5py.File(path) as old, h5py.File(tmp_path / "new.hdf5", "w", libver=(version, "latest")) as new:
        old.copy("fclib_local", new)
    assert_same_statement(load(tmp_path / "new.hdf5"), load(path))


@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(changes=st.lists(st.tuples(st.integers(0, 2**14), st.integers(0, 255)), max_size=6))
def test_mutated_hdf5_loads_or_raises_a_file_format_error(path, changes):
    valid = path.read_bytes()
    content = bytearray(valid)
    for place, byte in changes:
        content[place % len(content)] = byte
    mutated = path.with_name("mutated.hdf5")
    mutated.write_bytes(content)
    with contextlib.suppress(FileFormatError):
        load(mutated)
