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

Numbers are read in blocks by NumPy. Only when a block is refused are its lines looked at one by one: so the message
names the line, and files that are in order are read at full speed (a million entries in about a second).
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import FileFormatError, InvalidProblem, suggest
from perp.problems.box import BoxLCP
from perp.problems.contact_laws import require_one_coefficient
from perp.problems.files.guard import Budget, FileGuard, replacing
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Matrix, Vector, as_vector
from perp.problems.lcp import LCP
from perp.problems.problem import Problem
from perp.version import __version__

VECTORS = ("b", "lower", "upper", "friction", "x")

CHARACTERS_AT_ONCE = 2**22
_NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)
NOTE = "%perp:"
"""A comment line that begins so holds `key=value` words for perp; for other programs it is a comment."""
SYMMETRIES = ("general", "symmetric", "skew-symmetric")
_LEAST_CHARACTERS = {"coordinate": len("1 1 1\n"), "array": len("1\n")}
_FIELDS = ("real", "integer")


def save(problem: Problem, path: Path, x: Vector | None) -> None:
    vectors = _vectors_of(problem)
    if x is not None:
        vectors["x"] = x
    contacts = problem.frictional
    note = "" if contacts is None else f"model={contacts.model} dimension={contacts.dimension}"
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
    arrays = {"b": problem.b} | problem.to_arrays()
    if problem.frictional is not None:
        _require_expressible(problem.frictional)
        if not problem.lower.size:  # no rows after the contacts
            del arrays["lower"], arrays["upper"]
    return {name: arrays[name] for name in VECTORS if name in arrays}


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


# -- one file: a dense or sparse matrix, or a vector, and the header that says what it holds ---------------------------


def write_matrix(path: Path, matrix: Matrix | sparse.csr_array, note: str = "") -> None:
    """A dense matrix column by column, a sparse one as triplets; digits enough to give the same bits back."""
    rows, columns = matrix.shape
    with path.open("x", encoding="ascii") as stream:
        if isinstance(matrix, np.ndarray):
            stream.write(make_heading("array", note) + f"{rows} {columns}\n")
            for column in matrix.T:
                _write_lines(stream, column)
            return
        stream.write(make_heading("coordinate", note) + f"{rows} {columns} {matrix.nnz}\n")
        for i in range(rows):
            part = slice(matrix.indptr[i], matrix.indptr[i + 1])
            entries = zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True)
            stream.writelines(f"{i + 1} {j + 1} {value!r}\n" for j, value in entries)


def write_vector(path: Path, vector: Vector) -> None:
    with path.open("x", encoding="ascii") as stream:
        stream.write(make_heading("array") + f"{vector.size} 1\n")
        _write_lines(stream, vector)


def read_vector(guard: FileGuard, *, infinite: bool = False) -> Vector:
    """A file of n x 1 numbers; `inf` and `-inf` only where the caller says so."""
    with open_text(guard) as stream:
        header = read_header(stream, guard)
        if header.layout != "array" or header.columns != 1 or header.symmetry != "general":
            shape = f"{header.layout} {header.symmetry}, {header.rows} x {header.columns}"
            raise guard.fault(f"line {header.lines}", f"this is {shape}; a vector is 'array general', n x 1")
        return _read_entries(stream, header, guard, infinite=infinite).reshape(-1)


def read_matrix(guard: FileGuard, n: int) -> tuple[Matrix | sparse.coo_array, dict[str, str]]:
    """A square matrix and its notes; n is known from a file that holds n numbers, as a sparse header proves nothing."""
    with open_text(guard) as stream:
        header = read_header(stream, guard)
        where = f"line {header.lines}"
        if (header.rows, header.columns) != (n, n):
            size = f"{header.rows} x {header.columns}"
            raise guard.fault(where, f"the matrix is {size}, but the vector b beside it asks for {n} x {n}")
        entries = _read_entries(stream, header, guard)
    if header.layout == "coordinate":
        return _make_sparse(entries, header), header.notes
    guard.spend(where, 8 * n * n)
    return _make_dense(entries.reshape(-1), header), header.notes


def open_text(guard: FileGuard) -> IO[str]:
    """As Latin-1, in which every byte is a character: a strange one is then refused as a number, with its line."""
    return guard.path.open(encoding="latin-1")


def _write_lines(stream: IO[str], numbers: NDArray[Any]) -> None:
    stream.writelines(f"{value!r}\n" for value in numbers.tolist())


def _read_entries(stream: IO[str], header: Header, guard: FileGuard, *, infinite: bool = False) -> Matrix:
    """All entries, one a row; blank lines are allowed, every other line must hold exactly one entry."""
    guard.spend(f"line {header.lines}", 8 * header.entries * header.width)
    entries = np.empty((header.entries, header.width))
    filled, before = 0, header.lines
    while lines := stream.readlines(CHARACTERS_AT_ONCE):
        numbered = [k for k, line in enumerate(lines, before + 1) if not line.isspace()]
        written = [line for line in lines if not line.isspace()]
        room = header.entries - filled
        if len(written) > room:
            raise guard.fault(f"line {numbered[room]}", f"the file goes on after its {header.entries:,} entries")
        if written:
            block = _parse_block(written, numbered, header.width, guard)
            _reject_bad_entries(block, numbered, header, guard, infinite=infinite)
            entries[filled : filled + len(written)] = block
        filled += len(written)
        before += len(lines)
    if filled < header.entries:
        raise guard.fault(f"line {before}", f"the file ends after {filled:,} of {header.entries:,} entries")
    return entries


def _parse_block(written: list[str], numbered: list[int], width: int, guard: FileGuard) -> Matrix:
    try:
        block: Matrix = np.loadtxt(written, dtype=np.float64, comments=None, ndmin=2)
    except ValueError as error:
        raise _explain_block(written, numbered, width, guard, str(error)) from error
    if block.shape != (len(written), width):
        raise _explain_block(written, numbered, width, guard, f"the lines have {block.shape[1]} numbers")
    return block


def _explain_block(written: list[str], numbered: list[int], width: int, guard: FileGuard, why: str) -> FileFormatError:
    """The first line at fault in a block that was refused."""
    for line, text in zip(numbered, written, strict=True):
        words = text.split()
        if len(words) != width:
            return guard.fault(f"line {line}", f"an entry has {width} numbers, found {len(words)}")
        for word in words:
            if not _NUMBER.fullmatch(word):
                return guard.fault(f"line {line}", f"{word[:40]!r} is not a number")
    return guard.fault(f"lines {numbered[0]} to {numbered[-1]}", why)


def _reject_bad_entries(
    block: Matrix, numbered: list[int], header: Header, guard: FileGuard, *, infinite: bool
) -> None:
    """Refuse values that are not finite and places outside the matrix (or its stored triangle)."""
    values = block[:, -1]
    bad = np.isnan(values) if infinite else ~np.isfinite(values)
    if bad.any():
        k = int(np.argmax(bad))
        raise guard.fault(f"line {numbered[k]}", f"the value is {values[k]}")
    if header.layout == "array":
        return
    i, j = block[:, 0], block[:, 1]
    inside = (i >= 1) & (i <= header.rows) & (j >= 1) & (j <= header.columns)
    bad = ~(inside & (i == np.floor(i)) & (j == np.floor(j)))
    why = f"outside the {header.rows} x {header.columns} matrix"
    if not bad.any() and header.symmetry != "general":
        bad = j > i if header.symmetry == "symmetric" else j >= i
        why = f"not in the lower triangle, which is all that a {header.symmetry} file holds"
    if bad.any():
        k = int(np.argmax(bad))
        raise guard.fault(f"line {numbered[k]}", f"the place ({i[k]:g}, {j[k]:g}) is {why}")


def _make_sparse(entries: Matrix, header: Header) -> sparse.coo_array:
    """Entries with their mirror images, numbered from zero; duplicates are left to be summed."""
    rows, columns = (entries[:, k].astype(np.int64) - 1 for k in (0, 1))
    values = entries[:, 2]
    if header.symmetry != "general":
        below = rows > columns
        sign = 1.0 if header.symmetry == "symmetric" else -1.0
        values = np.concatenate([values, sign * values[below]])
        rows, columns = np.concatenate([rows, columns[below]]), np.concatenate([columns, rows[below]])
    return sparse.coo_array((values, (rows, columns)), shape=(header.rows, header.columns))


def _make_dense(values: Vector, header: Header) -> Matrix:
    """The columns one after the other, or the parts of them that lie on or below the diagonal."""
    n = header.rows
    if header.symmetry == "general":
        return values.reshape((n, n), order="F")
    offset, sign = (0, 1.0) if header.symmetry == "symmetric" else (1, -1.0)
    matrix = np.zeros((n, n))
    start = 0
    for j in range(n):
        part = values[start : start + max(n - j - offset, 0)]
        matrix[j, j + offset :] = sign * part
        matrix[j + offset :, j] = part
        start += part.size
    return matrix


class Header(NamedTuple):
    """What a file says before its first entry; `lines` is how many lines that took."""

    layout: str
    symmetry: str
    rows: int
    columns: int
    entries: int
    notes: dict[str, str]
    lines: int

    @property
    def width(self) -> int:
        """How many numbers an entry has."""
        return 3 if self.layout == "coordinate" else 1


def make_heading(layout: str, note: str = "") -> str:
    """The lines before the sizes."""
    noted = f"{NOTE} {note}\n" if note else ""
    return f"%%MatrixMarket matrix {layout} real general\n% written by perp {__version__}\n{noted}"


def read_header(stream: IO[str], guard: FileGuard) -> Header:
    """Read up to the line of sizes; the stream then stands at the first entry.

    An entry takes a few characters at least, so that no file can hold more entries than its own size allows. A header
    that promises more is refused at once, with its line.
    """
    layout, symmetry = _read_banner(stream.readline(), guard)
    notes: dict[str, str] = {}
    lines = 2
    while (line := stream.readline()).startswith("%") or line.isspace():
        if line.startswith(NOTE):
            words = (word.partition("=") for word in line.removeprefix(NOTE).split())
            notes |= {key: value for key, _, value in words}
        lines += 1
    where = f"line {lines}"
    rows, columns, *stored = _read_sizes(line, where, 3 if layout == "coordinate" else 2, guard)
    if symmetry != "general" and rows != columns:
        raise guard.fault(where, f"the file says '{symmetry}', but {rows} x {columns} is not square")
    entries = stored[0] if stored else _count_dense(rows, columns, symmetry)
    size = guard.path.stat().st_size
    if entries * _LEAST_CHARACTERS[layout] > size + 1:  # the last line may lack its end
        raise guard.fault(where, f"{entries:,} entries are declared, which a file of {size:,} bytes cannot hold")
    return Header(layout, symmetry, rows, columns, entries, notes, lines)


def _read_banner(line: str, guard: FileGuard) -> tuple[str, str]:
    words = line.lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise guard.fault("line 1", "a Matrix Market file begins with '%%MatrixMarket matrix' and three more words")
    layout, field, symmetry = words[2:]
    for word, known in ((layout, _LEAST_CHARACTERS), (field, _FIELDS), (symmetry, SYMMETRIES)):
        if word not in known:
            raise guard.fault(
                "line 1", f"perp does not read files of the sort {word[:40]!r}{suggest(word[:40], known)}"
            )
    return layout, symmetry


def _read_sizes(line: str, where: str, count: int, guard: FileGuard) -> list[int]:
    try:
        sizes = [int(word) for word in line.split()]
    except ValueError as error:
        raise guard.fault(where, f"sizes must stand here, found {line.strip()[:40]!r}") from error
    if len(sizes) != count:
        raise guard.fault(where, f"{count} sizes must stand here, found {len(sizes)}")
    if min(sizes) < 0:
        raise guard.fault(where, f"the size {min(sizes)} is negative")
    return sizes


def _count_dense(rows: int, columns: int, symmetry: str) -> int:
    """A symmetric dense file holds its lower triangle; a skew-symmetric one leaves out the diagonal of zeros too."""
    if symmetry == "general":
        return rows * columns
    return rows * (rows + 1) // 2 if symmetry == "symmetric" else rows * (rows - 1) // 2
