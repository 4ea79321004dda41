"""Problems as Matrix Market text, which most programs of linear algebra read.

A problem is a family of files with one stem:

    NAME.mtx             A: 'array' where it is dense, 'coordinate' where it is anything else
    NAME.b.mtx           b                               (all vectors are 'array', n x 1)
    NAME.lower.mtx       with NAME.upper.mtx: the bounds
    NAME.upper.mtx
    NAME.friction.mtx    one coefficient a contact (model disc: one radius)
    NAME.x.mtx           a known solution, if there is one

Without bounds it is an LCP, with bounds a BoxLCP, with friction a ContactProblem; its bounds, if any, are those of the
rows after the contacts. Which law of friction is meant stands in a comment of NAME.mtx, without which friction is
refused: nothing is guessed.

    %perp: model=cone dimension=3

The text has no portable word for infinity. In the two files of bounds perp writes and reads `inf` and `-inf`;
elsewhere, and `nan` anywhere, they are refused.

Numbers are written with as many digits as give the same bits back. A factored or stencil operator is written as its
sparse matrix and comes back as a sparse one: for its own form use .npz. The same holds for a compliance that was added
to the contacts (`ContactProblem.with_compliance`): A contains it, and what comes back does not know of it.

Each file appears whole or not at all, NAME.mtx last. Members of an older family that the new problem does not have are
deleted, as they would turn it into another problem.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from perp.errors import FileFormatError, InvalidProblem
from perp.problems.box import BoxLCP
from perp.problems.contact_laws import require_one_coefficient
from perp.problems.files.guard import Budget, FileGuard
from perp.problems.files.market_text import (
    NOTE,
    open_text,
    read_header,
    read_matrix,
    read_vector,
    write_matrix,
    write_vector,
)
from perp.problems.files.replacement import replacing
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, as_vector
from perp.problems.lcp import LCP
from perp.problems.problem import Problem

VECTORS = ("b", "lower", "upper", "friction", "x")


def save(problem: Problem, path: Path, x: Vector | None) -> None:
    vectors = _vectors_of(problem)
    if x is not None:
        vectors["x"] = x
    note = f"model={problem.model} dimension={problem.dimension}" if isinstance(problem, ContactProblem) else ""
    matrix = problem.A.written_out()
    with ExitStack() as files:  # left in reverse order: the matrix, entered first, takes its place last
        write_matrix(files.enter_context(replacing(path)), matrix, note)
        for name, vector in vectors.items():
            write_vector(files.enter_context(replacing(_member(path, name))), vector)
    for name in set(VECTORS) - set(vectors):
        _member(path, name).unlink(missing_ok=True)


def load(path: Path, max_bytes: int) -> Problem:
    guard = FileGuard(path, Budget(max_bytes))
    vectors = {name: _read_member(guard, name) for name in VECTORS if name != "x" and _member(path, name).exists()}
    if "b" not in vectors:
        raise guard.fault("vector b", f"there must be a file {_member(path, 'b').name} beside it")
    b = vectors["b"]
    A, notes = read_matrix(guard, b.size)
    upper: Any  # there where `lower` is
    lower, upper, friction = (vectors.get(name) for name in ("lower", "upper", "friction"))
    if (lower is None) != (upper is None):
        raise guard.fault("bounds", f"{_member(path, 'lower').name} and {_member(path, 'upper').name} come together")
    with guard.building():
        if friction is not None:
            model, dimension = _read_friction_law(guard, notes)
            if lower is None:
                return ContactProblem(A, b, friction, model, dimension=dimension)
            return ContactProblem(A, b, friction, model, dimension=dimension, lower=lower, upper=upper)
        return LCP(A, b) if lower is None else BoxLCP(A, b, lower, upper)


def load_solution(path: Path, max_bytes: int) -> Vector | None:
    guard = FileGuard(path, Budget(max_bytes))
    if not _member(path, "x").exists():
        return None
    with open_text(guard) as stream:
        rows = read_header(stream, guard).rows
    with guard.building():
        return as_vector(_read_member(guard, "x"), "x", rows)


def _member(path: Path, name: str) -> Path:
    return path.with_name(f"{path.stem}.{name}{path.suffix}")


def _read_member(guard: FileGuard, name: str) -> Vector:
    return read_vector(guard.beside(_member(guard.path, name)), infinite=name in ("lower", "upper"))


def _vectors_of(problem: Problem) -> dict[str, Vector]:
    if isinstance(problem, LCP):
        return {"b": problem.b}
    if isinstance(problem, BoxLCP):
        return {"b": problem.b, "lower": problem.lower, "upper": problem.upper}
    if isinstance(problem, ContactProblem):
        _require_expressible(problem)
        others = {"lower": problem.lower, "upper": problem.upper} if problem.lower.size else {}
        return {"b": problem.b, "friction": problem.friction} | others
    raise FileFormatError(f"perp has no way to save a {type(problem).__name__}")


def _require_expressible(problem: ContactProblem) -> None:
    try:
        require_one_coefficient(problem, "the .mtx format")
    except InvalidProblem as error:
        raise FileFormatError(f"{error}; save it as .npz") from None


def _read_friction_law(guard: FileGuard, notes: dict[str, str]) -> tuple[str, int]:
    model, dimension = notes.get("model"), notes.get("dimension")
    if model is None or dimension not in ("2", "3"):
        example = f"{NOTE} model=cone dimension=3"
        raise guard.fault(
            "comments", f"friction needs a line '{example}' (model box, cone, convex or disc; dimension 2 or 3)"
        )
    return model, int(dimension)
