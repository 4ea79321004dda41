"""The page and the server must say the same: constants and words are compared with the text of the page's sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import perp
from perp.viewer import layout

SOURCES = Path(__file__).resolve().parents[2] / "viewer" / "src"


@pytest.fixture(scope="module")
def text() -> str:
    return (SOURCES / "layout.ts").read_text(encoding="utf-8")


def constant(text: str, name: str) -> int:
    (value,) = re.findall(rf"^(?:export )?const {name} = (\d+);", text, flags=re.MULTILINE)
    return int(value)


def table(text: str, name: str) -> dict[str, int]:
    (body,) = re.findall(rf"^export const {name} = \{{(.*?)\}} as const;", text, flags=re.MULTILINE | re.DOTALL)
    return {word: int(place) for word, place in re.findall(r"(\w+): (\d+),", body)}


@pytest.mark.parametrize(
    "name", ["LAYOUT", "HEADER", "BODIES", "LIQUID", "CONTACT_NUMBERS", "CELL_NUMBERS", "CURVE_NUMBERS"]
)
def test_constants_of_the_page_are_those_of_the_server(text, name):
    assert constant(text, name) == getattr(layout, name)


def test_numbers_of_header_and_contacts_stand_where_the_page_looks_for_them(text):
    assert table(text, "Header") == {number.name: number.value for number in layout.Header}
    assert table(text, "ContactNumber") == {number.name: number.value for number in layout.ContactNumber}


def test_contact_states_have_the_page_s_order(text):
    (words,) = re.findall(r"CONTACT_STATES = \[(.*?)\]", text)
    assert re.findall(r'"(\w+)"', words) == [state.name.lower() for state in perp.ContactState]


def test_the_header_has_room_for_its_names():
    assert max(layout.Header) < layout.HEADER
