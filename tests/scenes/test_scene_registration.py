"""A builder whose options do not say what they mean is refused with its name, when it is registered."""

from __future__ import annotations

from typing import Annotated

import pytest
from small_worlds import Pucks

from perp.gallery import catalogue as gallery
from perp.gallery.options import About
from perp.scenes import catalogue


def register(build):
    return catalogue.scene("a test", dt=0.01, method="pgs")(build)


@pytest.fixture(autouse=True)
def own_catalogue(monkeypatch):
    monkeypatch.setattr(catalogue, "_CATALOGUE", dict(catalogue._CATALOGUE))


def heap(*, count: int = 2) -> Pucks:
    """Discs."""
    return Pucks(count)


def bare(*, count=2) -> Pucks:
    """Discs."""
    return Pucks(count)


def half_said(*, count: Annotated[int, "number of discs"] = 2) -> Pucks:
    """Discs."""
    return Pucks(count)


def well_said(*, count: Annotated[int, About("number of discs", 1)] = 2, seed: int = 0) -> Pucks:
    """Discs."""
    return Pucks(count)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (heap, r"^scene heap: option count needs Annotated\[int, About\(\.\.\.\)\]$"),
        (bare, r"^scene bare: option count needs Annotated\[type, About\(\.\.\.\)\]$"),
        (half_said, r"^scene half_said: option count needs Annotated\[int, About\(\.\.\.\)\]$"),
    ],
)
def test_an_option_without_a_meaning_is_named(build, message):
    with pytest.raises(TypeError, match=message):
        register(build)
    assert build.__name__ not in catalogue.kinds()


def test_a_problem_of_the_gallery_is_named_likewise():
    with pytest.raises(TypeError, match=r"^problem heap: option count needs"):
        gallery.catalogued(n=1)(heap)


def test_an_option_with_a_meaning_is_read():
    register(well_said)
    kind = catalogue.kinds()["well_said"]
    assert (kind.options["count"].doc, kind.seeded) == ("number of discs", True)
    assert len(catalogue.make("well_said", count=5).world.bodies()[0]) == 5
