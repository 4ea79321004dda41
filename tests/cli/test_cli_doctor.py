"""`perp doctor` as a user runs it."""

from __future__ import annotations

import json
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from perp.cli import doctor

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
NOT_FOR_USERS = {"all", "qp", "bench", "docs", "dev", "test"}
"""Extras that gather others, and those of people who work on perp."""


def test_it_names_versions_kernels_and_every_optional_package(perp_command):
    answer = perp_command("doctor")
    assert (answer.code, answer.err) == (0, "")
    for word in ("perp ", "numba ", "cores", "BLAS", "kernels", "h5py", "cone_program"):
        assert word in answer.out


def test_every_extra_for_users_has_a_purpose():
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(doctor.PURPOSES) == set(extras) - NOT_FOR_USERS


def test_json_has_the_version_of_each_package(perp_command):
    report = json.loads(perp_command("doctor", "--json").out)
    assert report["versions"]["numpy"] == metadata.version("numpy")
    assert {extra["name"] for extra in report["extras"]} == set(doctor.PURPOSES)
    assert all(extra["packages"] for extra in report["extras"])


def test_what_is_missing_comes_with_the_command_that_installs_it(perp_command, monkeypatch):
    monkeypatch.setattr(doctor, "version_of", lambda package: None if package == "h5py" else "1.0")
    out = perp_command("doctor").out
    assert "h5py missing" in out
    assert "pip install 'perp[hdf5]'" in " ".join(out.split())
    assert "perp[mujoco]" not in out


def test_without_an_installation_it_still_tells_what_there_is(perp_command, monkeypatch):
    def missing(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(doctor.metadata, "requires", missing)
    answer = perp_command("doctor")
    assert answer.code == 0
    assert "unknown" in answer.out


@pytest.mark.parametrize(("plain", "place", "words"), [(True, "", "plain Python"), (False, None, "nowhere")])
def test_kernels_that_are_not_kept_are_told(monkeypatch, plain, place, words):
    monkeypatch.setattr(doctor.compilation, "IS_PLAIN", plain)
    monkeypatch.setattr(doctor.residuals.measure_rows, "_cache", type("Cache", (), {"cache_path": place}))
    assert words in str(doctor.kernel_cache())
