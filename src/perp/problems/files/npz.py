"""perp's own format: an .npz archive from which a problem comes back bit for bit.

Members (each a `.npy` array; `np.load` reads them too):

    format, perp_version          the version of this format, and who wrote it
    kind                          'lcp', 'box' or 'contact'
    form, ...                     the form of A and its arrays: see `Operator.arrays`
    b                             always
    lower, upper                  'box': one number a row; 'contact': one a row after the contacts
    friction, model, dimension    'contact'; friction is a matrix where each tangent has a coefficient of its own
    contact_compliance            'contact': the part of the diagonal of A that `with_compliance` added, one number a
                                  contact; not there where it is zero
    x                             a known solution, if there is one
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import suggest
from perp.problems.box import BoxLCP
from perp.problems.files.archive import Archive, open_archive, write_archive
from perp.problems.files.guard import Budget, FileGuard, replacing
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, as_vector
from perp.problems.lcp import LCP
from perp.problems.operators import (
    FILED,
    BodyMasses,
    DenseOperator,
    DiagonalMass,
    FactoredOperator,
    Operator,
    PlanarMasses,
    SparseMass,
    SparseOperator,
    StencilOperator,
)
from perp.problems.problem import Problem
from perp.version import __version__

FORMAT = 1
"""Raised when a reader of the former number would misunderstand the file."""

KINDS = ("lcp", "box", "contact")

Arrays = dict[str, NDArray[Any]]

OTHERS = {operator.form: operator for operator in FILED}
FORMS = (DenseOperator.form, SparseOperator.form, FactoredOperator.form, StencilOperator.form, *OTHERS)
MASSES = ("bodies", "planar", "diagonal", "sparse")


def save(problem: Problem, path: Path, x: Vector | None) -> None:
    arrays = {"format": np.array(FORMAT, dtype=np.int64), "perp_version": np.array(__version__)}
    arrays |= problem.to_arrays() | {"form": np.array(problem.A.form)} | problem.A.arrays() | {"b": problem.b}
    if x is not None:
        arrays["x"] = x
    with replacing(path) as temporary:
        write_archive(temporary, arrays)


def load(path: Path, max_bytes: int) -> Problem:
    guard = FileGuard(path, Budget(max_bytes))
    with open_archive(guard) as archive, guard.building():
        _require_format(archive)
        return _problem_from_arrays(archive)


def load_solution(path: Path, max_bytes: int) -> Vector | None:
    guard = FileGuard(path, Budget(max_bytes))
    with open_archive(guard) as archive, guard.building():
        _require_format(archive)
        return as_vector(archive.numbers("x"), "x", archive.numbers("b").size) if "x" in archive else None


def _require_format(archive: Archive) -> None:
    version = archive.integer("format")
    if version != FORMAT:
        writer = archive.word("perp_version")
        raise archive.fault("format", f"format {version}, written by perp {writer}; this perp reads format {FORMAT}")


def _problem_from_arrays(archive: Archive) -> Problem:
    kind = archive.word("kind")
    if kind not in KINDS:
        raise archive.fault("kind", f"the kind of problem is {kind!r}, which is unknown{suggest(kind, KINDS)}")
    A, b = operator_from_arrays(archive), archive.numbers("b")
    if kind == "contact":
        model, dimension = archive.word("model"), archive.integer("dimension")
        friction = archive.numbers("friction", 1, 2)
        lower, upper = archive.numbers("lower"), archive.numbers("upper")
        compliance = archive.numbers("contact_compliance") if "contact_compliance" in archive else 0.0
        return ContactProblem(
            A,
            b,
            friction,
            model,
            dimension=dimension,
            lower=lower,
            upper=upper,
            contact_compliance=compliance,
        )
    return LCP(A, b) if kind == "lcp" else BoxLCP(A, b, archive.numbers("lower"), archive.numbers("upper"))


def operator_from_arrays(archive: Archive) -> Operator:
    """An operator from its named arrays (`Operator.arrays`), bit for bit.

    The arrays are those that the operator keeps, so that a factored A stays factored and its J keeps its layout. What
    is derived from them (inverse masses, the factor of a sparse M) is made again by the constructors, which also judge
    them.
    """
    form = archive.word("form")
    if form == DenseOperator.form:
        return DenseOperator(archive.numbers("A", 2))
    if form == SparseOperator.form:
        return SparseOperator(_csr_from_arrays(archive, "A"))
    if form == StencilOperator.form:
        return _stencil_from_arrays(archive)
    if form == FactoredOperator.form:
        return _factored_from_arrays(archive)
    if form in OTHERS:
        return OTHERS[form].from_arrays(archive)
    raise archive.fault("form", f"the form of A is {form!r}, which is unknown{suggest(form, FORMS)}")


def _csr_from_arrays(archive: Archive, name: str, columns: int | None = None) -> sparse.csr_array:
    """The row pointers tell the number of rows; a square matrix has as many columns."""
    data, indices = archive.numbers(f"{name}.data"), archive.integers(f"{name}.indices")
    pointers = archive.integers(f"{name}.indptr")
    rows = len(pointers) - 1
    with archive.guard.building(name):
        return sparse.csr_array((data, indices, pointers), shape=(rows, rows if columns is None else columns))


def _stencil_from_arrays(archive: Archive) -> StencilOperator:
    grid = tuple(archive.integers("grid").tolist())
    centre = archive.numbers("centre")
    if min(grid, default=0) < 0 or max(grid, default=0) > max(centre.size, archive.guard.path.stat().st_size):
        raise archive.fault("grid", f"a grid of {grid} does not have {centre.size} cells")
    with archive.guard.building("centre"):
        diagonal = centre.reshape(grid)
    if "couplings" in archive:
        return StencilOperator(grid, diagonal, archive.numbers("couplings"))
    couplings = []
    for axis in range(len(grid)):
        shape = tuple(max(size - (k == axis), 0) for k, size in enumerate(grid))
        faces = archive.numbers(f"faces.{axis}")
        with archive.guard.building(f"faces.{axis}"):
            couplings.append(faces.reshape(shape))
    return StencilOperator(grid, diagonal, couplings)


def _factored_from_arrays(archive: Archive) -> FactoredOperator:
    mass = _mass_from_arrays(archive)
    compliance = archive.numbers("compliance")
    if isinstance(mass, BodyMasses | PlanarMasses) and "bodies" in archive:
        bodies, jacobian = archive.integers("bodies", 2), archive.numbers("jacobian", 3)
        return FactoredOperator.from_body_pairs(bodies, jacobian, mass, compliance)
    return FactoredOperator(_csr_from_arrays(archive, "J", mass.dofs), mass, compliance)


def _mass_from_arrays(archive: Archive) -> BodyMasses | PlanarMasses | DiagonalMass | SparseMass:
    form = archive.word("M.form")
    if form == "bodies":
        return BodyMasses(archive.numbers("M.mass"), archive.numbers("M.inertia", 3))
    if form == "planar":
        return PlanarMasses(archive.numbers("M.mass"), archive.numbers("M.inertia"))
    if form == "diagonal":
        return DiagonalMass(archive.numbers("M.diagonal"))
    if form == "sparse":
        return SparseMass(_csr_from_arrays(archive, "M"))
    raise archive.fault("M.form", f"the form of M is {form!r}, which is unknown{suggest(form, MASSES)}")
