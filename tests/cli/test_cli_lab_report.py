"""`perp lab list`, `report` and `compare` as a user types them."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

from perp.lab.experiments.catalogue import FILES, find_experiment
from perp.lab.runs.process import perform

ONE = "slides-basic"


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A run that has the quick rows of one experiment."""
    pytest.importorskip("duckdb")
    from perp.lab.runs.store import RowStore

    folder = tmp_path_factory.mktemp("run")
    store = RowStore(folder)
    for task in find_experiment(ONE).make_tasks(True)[:6]:
        store.write(perform(task, folder))
    return folder


def test_the_list_has_every_experiment_with_its_source_and_minutes(perp_command):
    answer = perp_command("lab", "list")
    assert answer.code == 0
    lines = [line.split()[0] for line in answer.out.splitlines() if line and not line.startswith(" ")]
    assert [line for line in lines if line in FILES] == list(FILES)
    assert f"{len(FILES)} experiments with" in answer.out
    assert "minutes on two cores" in answer.out


def test_the_list_as_json_has_claims_and_sizes(perp_command):
    entries = json.loads(perp_command("lab", "list", "--json").out)
    assert [entry["id"] for entry in entries] == list(FILES)
    for entry in entries:
        assert {"source", "item", "title", "size", "rows", "minutes", "claims"} <= set(entry)
        assert entry["minutes"] > 0.0
        assert entry["rows"] >= 1


def test_one_experiment_is_told_with_all_its_claims(perp_command):
    answer = perp_command("lab", "list", ONE)
    assert answer.code == 0
    assert all(claim.id in answer.out for claim in find_experiment(ONE).claims)


def test_a_misspelt_experiment_is_one_line_with_the_nearest_ids(perp_command):
    answer = perp_command("lab", "list", "slides-basics")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert ONE in answer.err


def test_files_that_are_no_rows_are_named(perp_command, run_folder, tmp_path):
    pytest.importorskip("matplotlib")
    shutil.copytree(run_folder, tmp_path / "run")
    damaged = min((tmp_path / "run" / "rows").iterdir())
    damaged.write_bytes(b"PAR1 and no more")
    answer = perp_command("lab", "report", "--from", tmp_path / "run")
    assert f"1 damaged or foreign files were left out: {damaged.name}" in answer.err
    assert damaged.name in (tmp_path / "run" / "report" / "report.html").read_text(encoding="utf-8")


def test_the_report_is_written_beside_the_rows_or_where_it_is_wanted(perp_command, run_folder, tmp_path):
    pytest.importorskip("matplotlib")
    answer = perp_command("lab", "report", "--from", run_folder, "--out", tmp_path / "page")
    assert answer.code in (0, 1)  # a run of six rows may leave a figure without what it needs
    assert (answer.code == 0) == (answer.err == "")
    assert f"wrote {tmp_path / 'page' / 'report.html'}" in answer.out
    for name in ("report.html", "rows.csv", "settings.csv", "verdicts.csv", "figures"):
        assert (tmp_path / "page" / name).exists()
    assert f'id="{ONE}"' in (tmp_path / "page" / "report.html").read_text(encoding="utf-8")


def test_a_part_that_cannot_be_made_is_named_and_the_exit_code_is_1(perp_command, run_folder, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from dataclasses import replace

    from perp.lab.publication import report as publication_report

    def fail(rows):
        raise LookupError("nothing to show")

    broken = replace(find_experiment(ONE), tabulate=fail, draw=None)
    monkeypatch.setattr(publication_report, "all_experiments", lambda: [broken])
    answer = perp_command("lab", "report", "--from", run_folder, "--out", tmp_path)
    assert answer.code == 1
    assert f"perp: {ONE}: tables: LookupError: nothing to show" in answer.err
    assert (tmp_path / "report.html").exists()


def test_a_run_that_is_not_there_or_empty_exits_with_2(perp_command, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("duckdb")
    for folder, part in ((tmp_path / "none", "no such folder"), (tmp_path, "no rows")):
        answer = perp_command("lab", "report", "--from", folder)
        assert answer.code == 2
        assert answer.err.count("\n") == 1
        assert part in answer.err


def test_a_missing_matplotlib_is_told_before_any_work(perp_command, run_folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answer = perp_command("lab", "report", "--from", run_folder, "--out", tmp_path / "page")
    assert answer.code == 2
    assert "pip install matplotlib" in answer.err
    assert not (tmp_path / "page").exists()


def test_a_run_compared_with_itself_changes_nothing(perp_command, run_folder):
    answer = perp_command("lab", "compare", run_folder, run_folder)
    assert answer.code == 0
    assert ONE in answer.out
    assert "0 of " in answer.out
    assert "the status of 0 of 6 common rows changed" in answer.out
    plain = json.loads(perp_command("lab", "compare", run_folder, run_folder, "--json").out)
    assert [entry["experiment"] for entry in plain["experiments"]] == [ONE]
    assert not any(entry["changed"] for entry in plain["claims"])


def test_folders_that_cannot_be_compared_exit_with_2(perp_command, run_folder, tmp_path):
    for folder, part in ((tmp_path / "none", "no such folder"), (tmp_path, "no rows")):
        answer = perp_command("lab", "compare", run_folder, folder)
        assert answer.code == 2
        assert part in answer.err
