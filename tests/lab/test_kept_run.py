"""The run whose rows and verdicts are kept in docs/lab: it belongs to the experiments and claims as they are now."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

from perp.lab.claims import Outcome
from perp.lab.experiments.catalogue import all_experiments

DOCS = Path(__file__).resolve().parents[2] / "docs"
OUTCOMES = [outcome.value for outcome in Outcome]


def read_kept(name: str) -> list[dict[str, str]]:
    with (DOCS / "lab" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_claim_has_a_verdict_at_full_size_by_the_limits_that_it_has_now():
    kept = {(line["experiment"], line["claim"]): line for line in read_kept("verdicts")}
    claims = {(each.id, claim.id): claim for each in all_experiments() for claim in each.claims}
    assert set(kept) == set(claims)
    for key, line in kept.items():
        holds = claims[key].holds
        assert float(line["holds_least"] or "-inf") == holds.least, key
        assert float(line["holds_most"] or "inf") == holds.most, key
        assert line["size"] == "full"
        assert line["rows"] == line["tasks"]


def test_every_task_of_the_full_run_has_a_row():
    owners = Counter(name for line in read_kept("rows") for name in line["experiments"].split())
    assert owners == {each.id: len({task.key for task in each.make_tasks(False)}) for each in all_experiments()}


def test_what_rows_have_in_common_is_there():
    for name in ("instance", "preset", "setting"):
        numbers = {line[name] for line in read_kept(f"{name}s")}
        assert {line[name] for line in read_kept("rows")} == numbers


def test_the_table_of_the_page_is_that_of_the_verdicts():
    counted = {each.id: Counter[str]() for each in all_experiments()}
    for line in read_kept("verdicts"):
        counted[line["experiment"]][line["outcome"]] += 1
    shown = re.findall(r"^\| `([\w.-]+)` \| [^|]+ \|(.*)\|$", (DOCS / "lab.md").read_text(), re.MULTILINE)
    table = {name: [int(cell.strip() or 0) for cell in cells.split("|")] for name, cells in shown}
    assert table == {name: [counts[outcome] for outcome in OUTCOMES] for name, counts in counted.items()}
