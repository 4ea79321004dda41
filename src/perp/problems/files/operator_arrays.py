"""An operator from its named arrays (`Operator.arrays`), bit for bit.

The arrays are those that the operator keeps, so that a factored A stays factored and its J keeps its layout. What is
derived from them (inverse masses, the factor of a sparse M) is made again by the constructors, which also judge them.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from scipy import sparse

from perp.errors import suggest
from perp.problems.files.archive import Archive
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

Arrays = dict[str, NDArray[Any]]

OTHERS = {operator.form: operator for operator in FILED}
FORMS = (DenseOperator.form, SparseOperator.form, FactoredOperator.form, StencilOperator.form, *OTHERS)
MASSES = ("bodies", "planar", "diagonal", "sparse")


def operator_from_arrays(archive: Archive) -> Operator:
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
