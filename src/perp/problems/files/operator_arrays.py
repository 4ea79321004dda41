"""An operator as named arrays and back, bit for bit.

The arrays are those that the operator keeps, so that a factored A stays factored and its J keeps its layout. What is
derived from them (inverse masses, the factor of a sparse M) is made again by the constructors, which also judge them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import FileFormatError, suggest
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


def operator_to_arrays(A: Operator) -> Arrays:
    arrays: Arrays = {"form": np.array(A.form)}
    if isinstance(A, DenseOperator):
        return arrays | {"A": A.matrix}
    if isinstance(A, SparseOperator):
        return arrays | _csr_to_arrays("A", A.matrix)
    if isinstance(A, StencilOperator):
        return arrays | _stencil_to_arrays(A)
    if isinstance(A, FactoredOperator):
        return arrays | _jacobian_to_arrays(A) | _mass_to_arrays(A.mass) | {"compliance": A.compliance}
    own = A.to_arrays() if isinstance(A, FILED) else None
    if own is not None:
        return arrays | own
    raise FileFormatError(f"perp has no way to save a {type(A).__name__}; its matrix can be: A.to_sparse()")


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


def _csr_to_arrays(name: str, matrix: sparse.csr_array) -> Arrays:
    return {f"{name}.data": matrix.data, f"{name}.indices": matrix.indices, f"{name}.indptr": matrix.indptr}


def _csr_from_arrays(archive: Archive, name: str, columns: int | None = None) -> sparse.csr_array:
    """The row pointers tell the number of rows; a square matrix has as many columns."""
    data, indices = archive.numbers(f"{name}.data"), archive.integers(f"{name}.indices")
    pointers = archive.integers(f"{name}.indptr")
    rows = len(pointers) - 1
    with archive.guard.building(name):
        return sparse.csr_array((data, indices, pointers), shape=(rows, rows if columns is None else columns))


def _stencil_to_arrays(A: StencilOperator) -> Arrays:
    arrays: Arrays = {"grid": np.array(A.grid, dtype=np.int64), "centre": A.centre}
    if A.couplings is not None:
        return arrays | {"couplings": A.couplings}
    return arrays | {f"faces.{axis}": A.between(axis).reshape(-1) for axis in range(len(A.grid))}


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


def _jacobian_to_arrays(A: FactoredOperator) -> Arrays:
    if A.paired is None:
        return _csr_to_arrays("J", A.J)
    bodies, jacobian = A.paired.as_given()
    return {"bodies": bodies, "jacobian": jacobian}


def _factored_from_arrays(archive: Archive) -> FactoredOperator:
    mass = _mass_from_arrays(archive)
    compliance = archive.numbers("compliance")
    if isinstance(mass, BodyMasses | PlanarMasses) and "bodies" in archive:
        bodies, jacobian = archive.integers("bodies", 2), archive.numbers("jacobian", 3)
        return FactoredOperator.from_body_pairs(bodies, jacobian, mass, compliance)
    return FactoredOperator(_csr_from_arrays(archive, "J", mass.dofs), mass, compliance)


def _mass_to_arrays(mass: Any) -> Arrays:
    if isinstance(mass, BodyMasses):
        return {"M.form": np.array("bodies"), "M.mass": mass.mass, "M.inertia": mass.inertia}
    if isinstance(mass, PlanarMasses):
        return {"M.form": np.array("planar"), "M.mass": mass.mass, "M.inertia": mass.inertia}
    if isinstance(mass, DiagonalMass):
        return {"M.form": np.array("diagonal"), "M.diagonal": mass.m}
    if isinstance(mass, SparseMass):
        return {"M.form": np.array("sparse")} | _csr_to_arrays("M", mass.matrix)
    raise FileFormatError(f"perp has no way to save a {type(mass).__name__}")


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
