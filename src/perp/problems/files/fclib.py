"""FCLIB files: frictional contact problems in HDF5, as Siconos and its collection write them. Needs h5py.

    fclib_local     u = W r + q                          A = W,             b = q
    fclib_global    M v = H r + f,  u = H^T v + w        A = H^T M^-1 H,    b = H^T M^-1 f + w

with the exact Coulomb law in both, that is `model="cone"`; a contact owns (normal, tangent, tangent) as it does here. A
global problem becomes a FactoredOperator with J = H^T. FCLIB asks for a symmetric M, but there are files without one
(CubeH8 of Siconos stores an upper triangle): an M that is not symmetric is taken as it stands, and A = H^T M^-1 H is
formed. Equality constraints (G in a global, V and R in a local problem) and rolling friction have no place in a
ContactProblem and are refused.

Matrices have m rows, n columns and nz: nz >= 0 counts triplets (rows in `i`, columns in `p`: the comment in FCLIB's own
header has it the other way round, its files do not), -1 means compressed columns, -2 compressed rows.

Written is a global problem where A is factored with finite masses and no compliance (with f = 0 and w = b, so that b
comes back bit for bit), a local one otherwise. FCLIB knows only general masses: bodies come back as a sparse M. It has
no place for a compliance that was added to the contacts (`ContactProblem.with_compliance`): W contains it, and what
comes back does not know of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from perp.errors import FileFormatError, InvalidProblem
from perp.extras import h5py
from perp.problems.files.guard import Budget, FileGuard, replacing
from perp.problems.files.guarded_hdf5 import GuardedGroup, open_hdf5
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, as_vector
from perp.problems.operators import (
    DenseOperator,
    DiagonalMass,
    FactoredOperator,
    Operator,
    SparseMass,
    SparseOperator,
)
from perp.problems.operators.masses import factor_sparse
from perp.problems.operators.sparse import as_csr
from perp.problems.problem import SYMMETRY_TOLERANCE, Problem
from perp.version import __version__

COMPRESSED_COLUMNS, COMPRESSED_ROWS = -1, -2
LARGEST_INTEGER = 2**31 - 1
"""FCLIB counts in 32 bits."""


def load(path: Path, max_bytes: int) -> ContactProblem:
    with open_hdf5(FileGuard(path, Budget(max_bytes))) as file:
        return _read_problem(file)


def load_solution(path: Path, max_bytes: int) -> Vector | None:
    """`solution/r`; None too where a writer has made room for it and never filled it, as in Siconos's own files."""
    with open_hdf5(FileGuard(path, Budget(max_bytes))) as file:
        if "solution" not in file:
            return None
        solution = file.group("solution")
        if "r" not in solution or not solution.was_written("r"):
            return None
        name, vector = ("fclib_local", "q") if "fclib_local" in file else ("fclib_global", "w")
        rows = file.group(name).group("vectors").numbers(vector).size
        return as_vector(solution.numbers("r"), "solution/r", rows)


def save(problem: Problem, path: Path, x: Vector | None) -> None:
    contacts = _as_expressible(problem, path)
    A, M = contacts.A.factored, _finite_mass(contacts.A.factored)
    with replacing(path) as temporary, h5py.File(temporary, "x") as file:
        if A is not None and M is not None:
            _write_global(file, contacts, A, M, x)
        else:
            _write_local(file, contacts, x)


def _read_problem(file: GuardedGroup) -> ContactProblem:
    if "fclib_local" in file:
        return _read_local(file.group("fclib_local"))
    if "fclib_global" in file:
        return _read_global(file.group("fclib_global"))
    if "frames" in file and "statistics" in file:
        raise file.fault("/", "this is a recording of a simulation, not a problem (`--dump-problems` writes problems)")
    raise file.fault("/", "neither 'fclib_local' nor 'fclib_global' is there (rolling friction is not supported)")


def _read_local(group: GuardedGroup) -> ContactProblem:
    _reject_equalities(group, ("V", "R"))
    vectors = group.group("vectors")
    q = vectors.numbers("q")
    friction, dimension = _read_friction(group, q.size)
    W = _read_matrix(group, "W", q.size, q.size)
    return ContactProblem(W, q, friction, model="cone", dimension=dimension)


def _read_global(group: GuardedGroup) -> ContactProblem:
    _reject_equalities(group, ("G",))
    vectors = group.group("vectors")
    f, w = as_vector(vectors.numbers("f"), "f"), vectors.numbers("w")
    friction, dimension = _read_friction(group, w.size)
    H = _read_matrix(group, "H", f.size, w.size)
    M = _read_matrix(group, "M", f.size, f.size)
    if SparseOperator(M).asymmetry > SYMMETRY_TOLERANCE:
        A, added = _condense(group, H, M, f)
    else:
        A = FactoredOperator(H.T, _as_mass(M))
        added = A.J @ A.mass.solve(f)
    return ContactProblem(A, added + w if f.any() else w, friction, model="cone", dimension=dimension)


def _as_mass(M: sparse.csr_array) -> DiagonalMass | SparseMass:
    n = M.shape[0]
    is_diagonal = np.array_equal(M.indices, np.arange(n)) and np.array_equal(M.indptr, np.arange(n + 1))
    return DiagonalMass(M.data) if is_diagonal else SparseMass(M)


def _condense(group: GuardedGroup, H: sparse.csr_array, M: sparse.csr_array, f: Vector) -> tuple[Operator, Vector]:
    """H^T M^-1 H and H^T M^-1 f for an M that is not symmetric and so no mass."""
    dofs, rows = H.shape
    group.spend("M", 8 * (dofs + rows) * rows)  # M^-1 H and the matrix that comes of it are dense
    try:
        factor = factor_sparse(M)
    except RuntimeError as error:
        raise group.fault("M", f"the matrix cannot be inverted ({error})") from error
    return DenseOperator(H.T @ factor.solve(H.toarray())), H.T @ factor.solve(f)


def _reject_equalities(group: GuardedGroup, names: tuple[str, ...]) -> None:
    for name in names:
        if name in group:
            raise group.fault(name, "equality constraints beside the contacts are not supported")


def _read_friction(group: GuardedGroup, rows: int) -> tuple[Vector, int]:
    """The coefficients and the dimension, which together must account for every row."""
    dimension, friction = group.integer("spacedim"), group.group("vectors").numbers("mu")
    if dimension not in (2, 3):
        raise group.fault("spacedim", f"the dimension is {dimension}; 2 or 3 is needed")
    if dimension * friction.size != rows:
        found = f"{friction.size} contacts of {dimension} rows"
        raise group.fault("vectors/mu", f"{found} do not make {rows} rows")
    return friction, dimension


def _read_matrix(group: GuardedGroup, name: str, rows: int, columns: int) -> sparse.csr_array:
    """A matrix of a size that vectors of the file have proven: m and n alone cost a file nothing."""
    part = group.group(name)
    m, n, nz = (part.integer(size) for size in ("m", "n", "nz"))
    if (m, n) != (rows, columns):
        raise part.fault("m, n", f"the matrix is {m} x {n}, but the vectors ask for {rows} x {columns}")
    p, i, x = part.integers("p"), part.integers("i"), part.numbers("x")
    lengths = f"p, i and x have {p.size}, {i.size} and {x.size} entries"
    if nz >= 0:
        if not p.size == i.size == x.size == nz:
            raise part.fault("nz", f"{lengths}; {nz} triplets are declared")
        with part.building():
            return as_csr(sparse.coo_array((x, (i, p)), shape=(m, n)), name)
    if nz not in (COMPRESSED_COLUMNS, COMPRESSED_ROWS):
        raise part.fault("nz", f"{nz} names no storage: triplets (>= 0), columns (-1) or rows (-2) are known")
    form, major = (sparse.csc_array, n) if nz == COMPRESSED_COLUMNS else (sparse.csr_array, m)
    if p.size != major + 1 or i.size != x.size:
        raise part.fault("nz", f"{lengths}; {major + 1} pointers and as many indices as values are needed")
    with part.building():
        return as_csr(form((x, i, p), shape=(m, n)), name)


def _as_expressible(problem: Problem, path: Path) -> ContactProblem:
    """The problem, if FCLIB has words for it."""
    if not isinstance(problem, ContactProblem):
        raise FileFormatError(f"{path}: FCLIB holds frictional contact problems; save this {problem.kind} as .npz")
    if problem.is_wide:
        raise FileFormatError(f"{path}: FCLIB means one coefficient a contact, without moments; save it as .npz")
    if problem.model != "cone":
        raise FileFormatError(
            f"{path}: FCLIB means the friction cone, and this problem has model={problem.model!r}; save it as .npz, "
            f"or make it a cone: ContactProblem(..., model='cone') (for a box in two dimensions the same problem)"
        )
    if problem.contact_rows != problem.n:
        others = problem.n - problem.contact_rows
        raise FileFormatError(f"{path}: FCLIB holds contacts only, and {others} rows are none; save it as .npz")
    return problem


def _write_local(file: Any, problem: ContactProblem, x: Vector | None) -> None:
    W = problem.A.to_sparse()
    group = _write_group(file, "fclib_local", problem, {"q": problem.b})
    _write_matrix(group, "W", W.shape, COMPRESSED_ROWS, W)
    if x is not None:
        _write_vectors(file, "solution", {"r": x, "u": W @ x + problem.b})


def _write_global(
    file: Any, problem: ContactProblem, A: FactoredOperator, M: sparse.csr_array, x: Vector | None
) -> None:
    J = A.J
    group = _write_group(file, "fclib_global", problem, {"f": np.zeros(J.shape[1]), "w": problem.b})
    _write_matrix(group, "M", M.shape, COMPRESSED_ROWS, M)
    _write_matrix(group, "H", J.shape[::-1], COMPRESSED_COLUMNS, J)  # the rows of J are the columns of H
    if x is not None:
        v = A.velocity(x)
        _write_vectors(file, "solution", {"r": x, "u": J @ v + problem.b, "v": v})


def _finite_mass(A: FactoredOperator | None) -> sparse.csr_array | None:
    """M, if the problem can be written as a global one: with a factored A, no compliance, and bodies that all move."""
    if A is None or A.compliance.any():
        return None
    try:
        return A.mass.to_sparse()
    except InvalidProblem:
        return None


def _write_group(file: Any, name: str, problem: ContactProblem, vectors: dict[str, Vector]) -> Any:
    group = file.create_group(name)
    _write_integer(group, "spacedim", problem.dimension)
    for key, text in (("title", "saved by perp"), ("description", f"perp {__version__}"), ("math_info", "")):
        group[f"info/{key}"] = np.bytes_(text + "\0")
    _write_vectors(group, "vectors", vectors | {"mu": problem.friction})
    return group


def _write_vectors(group: Any, name: str, vectors: dict[str, Vector]) -> None:
    for key, vector in vectors.items():
        group[f"{name}/{key}"] = vector


def _write_matrix(group: Any, name: str, shape: tuple[int, int], nz: int, stored: sparse.csr_array) -> None:
    part = group.create_group(name)
    for key, value in (("m", shape[0]), ("n", shape[1]), ("nz", nz), ("nzmax", stored.nnz)):
        _write_integer(part, key, value)
    part["p"], part["i"] = stored.indptr.astype(np.int32), stored.indices.astype(np.int32)
    part["x"] = stored.data


def _write_integer(group: Any, name: str, value: int) -> None:
    if value > LARGEST_INTEGER:
        raise FileFormatError(f"FCLIB counts up to {LARGEST_INTEGER:,}, and {name} is {value:,}; save it as .npz")
    group[name] = np.array([value], dtype=np.int32)
