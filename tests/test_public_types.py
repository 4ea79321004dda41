"""The files that a strict checker of types reads use every public name, and no other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import perp

FILES = sorted((Path(__file__).parent / "typing").glob("*.py"))


def names_used(source: str) -> set[str]:
    """X of every `perp.X` in the code; words in strings and comments do not count."""
    attributes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute))
    return {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "perp"}


def test_names_in_strings_and_of_other_objects_are_not_taken_for_uses():
    assert names_used('"perp.LCP"  # perp.BoxLCP\nproblem.verify(perp.solve(x).y)\nperp.linalg.Plan') == {
        "solve",
        "linalg",
    }


def test_every_public_name_is_used_where_types_are_checked():
    used = set().union(*(names_used(file.read_text(encoding="utf-8")) for file in FILES))
    assert set(perp.__all__) - used == set()


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_files_where_types_are_checked_use_public_names_only(file):
    assert names_used(file.read_text(encoding="utf-8")) <= set(perp.__all__)
