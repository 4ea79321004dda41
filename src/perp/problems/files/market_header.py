"""The head of a Matrix Market file: what it says it holds, judged before anything is allocated.

An entry takes a few characters at least, so that no file can hold more entries than its own size allows. A header that
promises more is refused at once, with its line.
"""

from __future__ import annotations

from typing import IO, NamedTuple

from perp.errors import suggest
from perp.problems.files.guard import FileGuard
from perp.version import __version__

NOTE = "%perp:"
"""A comment line that begins so holds `key=value` words for perp; for other programs it is a comment."""

SYMMETRIES = ("general", "symmetric", "skew-symmetric")

_LEAST_CHARACTERS = {"coordinate": len("1 1 1\n"), "array": len("1\n")}
_FIELDS = ("real", "integer")


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
    """Read up to the line of sizes; the stream then stands at the first entry."""
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
