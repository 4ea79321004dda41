"""`perp scenes` lists what can be simulated."""

from __future__ import annotations

import json

from perp.scenes import kinds


def test_the_list_names_every_scene_with_its_source_its_options_and_how_it_runs(perp_command):
    answer = perp_command("scenes")
    assert answer.code == 0
    for kind in kinds().values():
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
