"""Rows on the disk: Parquet shards in one folder.

    <folder>/rows/<key>.parquet          one row, written whole or not at all by whoever measured it
    <folder>/rows/pack-<hash>.parquet    many rows: shards that `compact` has merged

The shards are the truth of a run: nobody keeps a row in memory only, and whoever dies takes no row along. Writers never
wait for one another, on one machine or on many that share the folder. Where a key has several rows, the one that was
started last counts.

Measured on two cores: a shard takes 10 to 30 ms to write; a group-by over 10,000 rows takes some 4 s in as many shards
and 0.25 s in packs, which is why a run ends with `compact`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from perp.extras import duckdb
from perp.lab.runs.parquet import (
    COLUMNS,
    PLAIN,
    connection,
    declarations,
    ends_are_whole,
    fetch_numbers,
    fetch_series,
    literal,
    newest_rows,
    plain_values,
    quoted,
    row_from,
    sound_files,
)
from perp.lab.runs.row import LabRow
from perp.lab.runs.task import Task
from perp.problems.files.guard import replacing

Answer = TypeVar("Answer")

PACK = "pack-"
MERGING = ".merging"
"""Part of the name of a shard that a compaction is about to merge: whoever writes a row does not touch it."""

OWN_NAME = re.compile(r"(?P<key>[0-9a-f]{32})(\.merging)?\.parquet|pack-[0-9a-f]{32}\.parquet")

FEWEST = 100
"""Shards that are worth a pack."""

PATIENCE = 3
"""Readings, if a compaction in another process replaces files at the same time."""


class RowStore:
    """The rows of a folder. Files that are damaged, or no rows at all, are left out and named in `skipped`."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        duckdb.require()
        self.folder: Path = Path(folder)
        self.rows_folder: Path = self.folder / "rows"
        self.skipped: tuple[Path, ...] = ()
        """What the last reading left out."""

    def write(self, row: LabRow) -> Path:
        """Keep a row; one with the same key gives way to it. OSError where it cannot be written."""
        values = dict(zip(PLAIN, plain_values(row), strict=True))
        marks = ["?"] * len(PLAIN) + ["map(?::VARCHAR[], ?::DOUBLE[])", "map(?::VARCHAR[], ?::DOUBLE[][])"]
        numbers = [float(value) for value in row.found.numbers.values()]
        series = [np.asarray(column, dtype=np.float64).tolist() for column in row.found.series.values()]
        maps = [list(row.found.numbers), numbers, list(row.found.series), series]
        self.rows_folder.mkdir(parents=True, exist_ok=True)
        path = self.rows_folder / f"{row.key}.parquet"
        with replacing(path) as temporary, connection() as duck:
            duck.execute(f"CREATE TABLE shard ({declarations()})")
            names = ", ".join(map(quoted, (*PLAIN, "numbers", "series")))
            duck.execute(f"INSERT INTO shard ({names}) VALUES ({', '.join(marks)})", [*values.values(), *maps])
            _copy(duck, "shard", temporary)
        return path

    def read(self, tasks: Iterable[Task] | None = None) -> dict[str, LabRow]:
        """Rows by key: those of these tasks, with their labels and groups, or without tasks all that there are."""
        wanted = None if tasks is None else {task.key: task for task in tasks}

        def fetch(duck: Any) -> dict[str, LabRow]:
            names = ", ".join(map(quoted, PLAIN))
            duck.execute(f"CREATE TEMP TABLE picked AS SELECT {names}, numbers, series FROM rows")
            plain = duck.execute(f"SELECT {names} FROM picked ORDER BY rowid").fetchall()
            records = [dict(zip(PLAIN, values, strict=True)) for values in plain]
            parts = zip(records, fetch_numbers(duck, "picked"), fetch_series(duck, "picked", len(plain)), strict=True)
            asked: Mapping[str, Task] = wanted or {}
            return {part[0]["key"]: row_from(*part, asked.get(part[0]["key"])) for part in parts}

        return self._ask(fetch, wanted)

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """What DuckDB answers; `rows` is the view of all rows, with the columns of `perp.lab.runs.parquet`."""
        return self._ask(lambda duck: list(duck.execute(sql, list(parameters)).fetchall()))

    def glance(self, tasks: Iterable[Task], columns: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Some plain columns of the rows of these tasks, by key: quicker than whole rows."""
        chosen = ", ".join(map(quoted, ("key", *columns)))
        found = self._ask(
            lambda duck: duck.execute(f"SELECT {chosen} FROM rows").fetchall(), {task.key: task for task in tasks}
        )
        return {key: dict(zip(columns, values, strict=True)) for key, *values in found}

    def compact(self, fewest: int = FEWEST) -> int:
        """Merge shards of one row into a pack, if there are so many of them; returns how many were merged.

        A shard is first renamed, to a name that readers find as well, so that a row which is written meanwhile has a
        file of its own; the pack appears whole; then its shards vanish. Whoever is killed in between leaves rows that
        are there twice, which does no harm. One process at a time may compact: the one that holds the folder's lock.
        """
        singles = [path for path in self._files() if not path.name.startswith(PACK)]
        if len(singles) < fewest:
            return 0
        aside = list(dict.fromkeys(map(_set_aside, singles)))
        packed = self._ask(self._pack, files=aside)
        merged = [path for path in aside if path.name.partition(".")[0] in packed]
        for path in merged:
            path.unlink(missing_ok=True)
        return len(merged)

    def _pack(self, duck: Any) -> set[str]:
        """Write the rows of the view to a pack, and return their keys."""
        identity = duck.execute("SELECT key, started FROM rows ORDER BY key").fetchall()
        if not identity:
            return set()
        name = hashlib.sha256(repr(identity).encode()).hexdigest()[:32]
        pack = self.rows_folder / f"{PACK}{name}.parquet"
        with replacing(pack) as temporary:
            columns = ", ".join(map(quoted, COLUMNS))
            _copy(duck, f"(SELECT {columns} FROM rows ORDER BY key)", temporary)
            with temporary.open("rb") as file:
                os.fsync(file.fileno())  # the shards vanish next: the pack must be on the disk, not on its way there
        return {key for key, _ in identity}

    def _files(self) -> list[Path]:
        """Shards and packs; what else has their suffix is foreign."""
        return sorted(path for path in self.rows_folder.glob("*.parquet") if OWN_NAME.fullmatch(path.name))

    def _chosen(self, wanted: Mapping[str, Task] | None) -> list[Path]:
        files = self._files()
        if wanted is None:
            return files
        return [path for path in files if path.name.startswith(PACK) or path.name.partition(".")[0] in wanted]

    def _ask(
        self,
        ask: Callable[[Any], Answer],
        wanted: Mapping[str, Task] | None = None,
        files: Sequence[Path] | None = None,
    ) -> Answer:
        """The answer of a connection with the view `rows`; what turns out to be damaged on the way is left out."""
        for _ in range(PATIENCE):
            chosen = self._chosen(wanted) if files is None else list(files)
            readable = [path for path in chosen if ends_are_whole(path)]
            failure = None
            try:
                answer = _answer(ask, wanted, readable)
            except duckdb.Error as error:
                failure = error
            if files is not None or set(chosen) <= set(self._chosen(wanted)):
                break  # no file has vanished in between
        if failure is not None:
            with connection() as duck:
                sound = sound_files(duck, readable)
            if sound == readable:
                raise failure
            readable, answer = sound, _answer(ask, wanted, sound)
        foreign = sorted(path for path in self.rows_folder.glob("*.parquet") if not OWN_NAME.fullmatch(path.name))
        known = set(readable)
        self.skipped = tuple(path for path in (*chosen, *foreign) if path not in known)
        return answer


def _copy(duck: Any, rows: str, path: Path) -> None:
    try:
        duck.execute(f"COPY {rows} TO {literal(path)} (FORMAT parquet)")
    except duckdb.IOException as failure:
        raise OSError(f"{path.parent}: rows cannot be written: {failure}") from failure


def _answer(ask: Callable[[Any], Answer], wanted: Mapping[str, Task] | None, files: Sequence[Path]) -> Answer:
    with connection() as duck:
        condition = "true"
        if wanted is not None:
            duck.execute("CREATE TEMP TABLE wanted AS SELECT unnest(?::VARCHAR[]) AS key", [list(wanted)])
            condition = "key IN (SELECT key FROM wanted)"
        duck.execute(f"CREATE TEMP VIEW rows AS {newest_rows(files, condition)}")
        return ask(duck)


def _set_aside(path: Path) -> Path:
    """The shard under the name that a compaction works with."""
    if MERGING in path.name:
        return path
    aside = path.with_name(f"{path.stem}{MERGING}{path.suffix}")
    os.replace(path, aside)
    return aside
