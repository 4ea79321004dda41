"""`perp scenes` lists what can be simulated."""

from __future__ import annotations

import json

from perp.scenes import kinds


def test_the_list_is_short_and_names_every_scene_with_its_source(perp_command):
    answer = perp_command("scenes")
    assert answer.code == 0
    for kind in kinds().values():
        line = next(line for line in answer.out.splitlines() if line.startswith(f"{kind.name} "))
        assert kind.source in line
        assert kind.description.split()[0] in line
        assert all(f"{option.name}={option.default}" not in answer.out for option in kind.options.values())
    assert len(answer.out.splitlines()) < 3 * len(kinds())


def test_one_scene_is_shown_with_its_options_and_how_it_runs(perp_command):
    for kind in kinds().values():
        answer = perp_command("scenes", kind.name)
        assert answer.code == 0
        assert f"{kind.name}  ({kind.source})" in answer.out
        assert all(f"{option.name}={option.default}" in answer.out for option in kind.options.values())
        assert f"dt = {kind.dt:.6g} s" in answer.out


def test_the_list_as_json(perp_command):
    entries = json.loads(perp_command("scenes", "--json").out)
    assert [entry["name"] for entry in entries] == list(kinds())
    for entry, kind in zip(entries, kinds().values(), strict=True):
        assert (entry["source"], entry["dt"], entry["method"]) == (kind.source, kind.dt, kind.method)
        assert entry["max_iterations"] == kind.iterations
        assert list(entry["options"]) == list(kind.options)
        assert all(option["doc"] for option in entry["options"].values())


def test_one_scene_as_json_and_one_that_is_not_there(perp_command):
    (entry,) = json.loads(perp_command("scenes", "pool1", "--json").out)
    assert entry["name"] == "pool1"
    answer = perp_command("scenes", "pol1")
    assert (answer.code, "did you mean 'pool1'" in answer.err) == (2, True)
