"""Rows on the disk: what is written is read again, whatever lies beside it."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from perp.errors import MissingExtra
from perp.lab.runs.circumstances import observe
from perp.lab.runs.parquet import CIRCUMSTANCES, COLUMNS
from perp.lab.runs.row import LabRow, Measurement
from perp.lab.runs.store import RowStore
from perp.lab.work.recipes import gallery
from perp.lab.work.solve import solve_task

duckdb = pytest.importorskip("duckdb")


def make_row(seed: int = 0, *, started: float = 1000.0, status: str = "CONVERGED", **numbers: float) -> LabRow:
    task = solve_task(gallery("fluid_like", 27, seed), "pgs", {"tol": 1e-8}, label="ours", group="fluid", timed=True)
    columns = {"residual": np.array([1.0, np.nan, -np.inf, 1e-300]), "iteration": np.arange(3.0), "none": np.array([])}
    found = Measurement(
        status, 'it\'s "said" ⊥', 27, "f" * 16, {"residual": np.inf, "seconds": np.nan} | numbers, columns
    )
    return LabRow(task, found, replace(observe(), started=started, wall_seconds=0.5))


def assert_same(one: LabRow, other: LabRow) -> None:
    assert one.task == other.task
    for field in fields(Measurement):
        if field.name not in ("numbers", "series"):
            assert getattr(one.found, field.name) == getattr(other.found, field.name)
    np.testing.assert_equal(dict(one.found.numbers), dict(other.found.numbers))
    np.testing.assert_equal(dict(one.found.series), dict(other.found.series))
    assert repr(one.circumstances) == repr(other.circumstances)  # nan included


def contents(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "rows").iterdir())


def test_a_row_comes_back_as_it_was_with_nan_and_infinities(tmp_path):
    row = make_row(iterations=12.0, odd=-0.0)
    store = RowStore(tmp_path)
    assert store.write(row) == tmp_path / "rows" / f"{row.key}.parquet"
    (back,) = store.read([row.task]).values()
    assert_same(back, row)
    assert np.signbit(back["odd"])
    assert store.skipped == ()


def test_a_message_that_utf_8_cannot_write_loses_a_sign_and_not_the_row(tmp_path):
    row = make_row()
    row = replace(row, found=replace(row.found, message="no such file: \udc80.npz"))
    store = RowStore(tmp_path)
    store.write(row)
    assert store.read([row.task])[row.key].found.message == "no such file: ?.npz"


def test_a_shard_has_the_columns_of_the_schema_in_its_order(tmp_path):
    path = RowStore(tmp_path).write(make_row())
    described = duckdb.sql(f"DESCRIBE SELECT * FROM read_parquet('{path}')").fetchall()
    assert {name: kind for name, kind, *_ in described} == COLUMNS
    assert [name for name, *_ in described] == list(COLUMNS)


def test_the_schema_has_all_that_a_row_is_measured_under():
    assert tuple(COLUMNS)[-len(CIRCUMSTANCES) :] == CIRCUMSTANCES
    assert {"version", "revision", "machine", "load", "threads", "started", "code"} < set(CIRCUMSTANCES)
    assert {"key", "seed", "numbers", "series", "instance", "options", "stop", "arguments"} < set(COLUMNS)


def test_labels_and_groups_are_those_of_the_tasks_that_ask(tmp_path):
    row = make_row()
    store = RowStore(tmp_path)
    store.write(row)
    asking = replace(row.task, label="theirs", group="elsewhere", wall_seconds=7.0, timed=False)
    assert store.read([asking])[row.key].task == asking


def test_without_tasks_all_rows_are_read_and_their_tasks_made_again(tmp_path):
    store = RowStore(tmp_path)
    for seed in range(3):
        store.write(make_row(seed))
    rows = store.read()
    assert {row.task.seed for row in rows.values()} == {0, 1, 2}
    assert all(key == row.task.key and row.name == "ours" for key, row in rows.items())


def test_only_rows_that_are_asked_for_are_read(tmp_path):
    store = RowStore(tmp_path)
    store.write(make_row(0))
    store.write(make_row(1))
    assert list(store.read([make_row(1).task, make_row(2).task])) == [make_row(1).key]
    assert store.read([]) == {}


def test_a_folder_without_rows_has_none_and_can_be_asked(tmp_path):
    store = RowStore(tmp_path / "nothing")
    assert store.read() == {}
    assert store.query("SELECT count(*), count(series) FROM rows") == [(0, 0)]
    assert store.compact(0) == 0


def test_sql_answers_questions_about_rows(tmp_path):
    store = RowStore(tmp_path)
    for seed in range(4):
        store.write(make_row(seed, status="CONVERGED" if seed else "FAILED", iterations=float(seed)))
    asked = "SELECT \"group\", sum(iterations), max(numbers['seconds']) FROM rows WHERE status = ? GROUP BY 1"
    ((group, iterations, seconds),) = store.query(asked, ["CONVERGED"])
    assert (group, iterations) == ("fluid", 6.0)
    assert np.isnan(seconds)
    with pytest.raises(duckdb.Error, match="no_such_column"):
        store.query("SELECT no_such_column FROM rows")


def test_a_row_replaces_the_former_one_of_its_key(tmp_path):
    store = RowStore(tmp_path)
    store.write(make_row(started=1.0, status="FAILED"))
    store.write(make_row(started=2.0))
    assert contents(tmp_path) == [f"{make_row().key}.parquet"]
    assert store.read()[make_row().key].status == "CONVERGED"


def damage_nothing(path: Path) -> None:
    path.write_bytes(b"")


def damage_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def damage_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    path.write_bytes(content)


def damage_kind(path: Path) -> None:
    path.write_text("PAR1 and this is no Parquet at all PAR1")


@pytest.mark.parametrize("damage", [damage_nothing, damage_end, damage_middle, damage_kind])
def test_a_damaged_shard_is_left_out_and_named(tmp_path, damage):
    store = RowStore(tmp_path)
    for seed in range(5):
        store.write(make_row(seed))
    broken = tmp_path / "rows" / f"{make_row(2).key}.parquet"
    damage(broken)
    tasks = [make_row(seed).task for seed in range(5)]
    assert sorted(row.task.seed for row in store.read(tasks).values()) == [0, 1, 3, 4]
    assert store.skipped == (broken,)
    assert len(store.query("SELECT key, numbers, series, message FROM rows")) == 4
    assert store.compact(1) == 4
    assert sorted(row.task.seed for row in store.read().values()) == [0, 1, 3, 4]


def test_foreign_files_are_left_out_and_those_with_our_suffix_named(tmp_path):
    store = RowStore(tmp_path)
    store.write(make_row())
    foreign = tmp_path / "rows" / "measurements.parquet"
    duckdb.sql(f"COPY (SELECT 1 AS key, 2 AS b) TO '{foreign}' (FORMAT parquet)")
    alike = tmp_path / "rows" / f"{'0' * 32}.parquet"
    duckdb.sql(f"COPY (SELECT 'x' AS word) TO '{alike}' (FORMAT parquet)")
    (tmp_path / "rows" / "README").write_text("nothing")
    assert list(store.read()) == [make_row().key]
    assert foreign in store.skipped
    store.compact(1)
    assert foreign.exists()


def test_packs_hold_the_same_rows_in_one_file(tmp_path):
    store = RowStore(tmp_path)
    rows = [make_row(seed, iterations=float(seed)) for seed in range(7)]
    for row in rows:
        store.write(row)
    assert store.compact(8) == 0
    assert store.compact(7) == 7
    (pack,) = contents(tmp_path)
    assert pack.startswith("pack-")
    back = store.read([row.task for row in rows])
    for row in rows:
        assert_same(back[row.key], row)


def test_a_row_that_is_newer_than_its_pack_counts(tmp_path):
    store = RowStore(tmp_path)
    for seed in range(3):
        store.write(make_row(seed, started=1.0, status="FAILED"))
    store.compact(1)
    store.write(make_row(1, started=2.0))
    assert [store.read()[make_row(seed).key].status for seed in range(3)] == ["FAILED", "CONVERGED", "FAILED"]
    store.compact(1)
    assert [store.read()[make_row(seed).key].status for seed in range(3)] == ["FAILED", "CONVERGED", "FAILED"]
    assert store.query("SELECT count(*) FROM rows") == [(3,)]


@pytest.mark.parametrize("deadly_call", [1, 3])
@pytest.mark.parametrize("place", ["os.replace", "pathlib.Path.unlink"])
def test_a_compaction_that_dies_on_the_way_loses_no_row(tmp_path, monkeypatch, place, deadly_call):
    store = RowStore(tmp_path)
    for seed in range(5):
        store.write(make_row(seed))
    calls = []

    def die(*words, **named):
        calls.append(words)
        if len(calls) == deadly_call:
            raise KeyboardInterrupt
        return original(*words, **named)

    owner = "os" if place == "os.replace" else "pathlib.Path"
    original = sys.modules["os"].replace if owner == "os" else Path.unlink
    with monkeypatch.context() as patch:
        patch.setattr(place, die)
        with pytest.raises(KeyboardInterrupt):
            store.compact(1)
    assert len(store.read()) == 5
    store.write(make_row(0, started=5000.0, status="FAILED"))
    store.compact(1)
    rows = store.read()
    assert len(rows) == 5
    assert rows[make_row(0).key].status == "FAILED"
    assert len(contents(tmp_path)) <= 2


def test_a_reader_sees_all_rows_while_a_compaction_moves_them(tmp_path, monkeypatch):
    store, other = RowStore(tmp_path), RowStore(tmp_path)
    for seed in range(5):
        store.write(make_row(seed))
    listing, files = [], store._files()

    def old_listing(self):
        listing.append(None)
        return files if len(listing) == 1 else original(self)

    original = RowStore._files
    other.compact(1)
    monkeypatch.setattr(RowStore, "_files", old_listing)
    assert len(store.read()) == 5


def test_what_cannot_be_written_is_an_error_of_the_system(tmp_path, monkeypatch):
    monkeypatch.setattr("perp.lab.runs.store.replacing", lambda path: nullcontext(tmp_path / "nowhere" / path.name))
    with pytest.raises(OSError, match="rows cannot be written"):
        RowStore(tmp_path).write(make_row())


def test_a_path_with_quotes_is_a_path(tmp_path):
    store = RowStore(tmp_path / "it's [here] *")
    store.write(make_row())
    assert len(store.read()) == 1


def test_a_missing_library_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"duckdb.*lab"):
        RowStore(tmp_path)
