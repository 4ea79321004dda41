"""Optional packages that wait until something of them is asked for."""

from __future__ import annotations

import copy

import pytest

from perp.errors import MissingExtra
from perp.extras import Extra

json = Extra("json", "an example", "example")
xml = Extra("xml", "an example", "example")


def test_a_name_of_the_package_is_found_and_a_module_in_it_is_imported():
    assert json.loads("[1]") == [1]
    assert xml.dom.Node.ELEMENT_NODE == 1


def test_a_name_that_is_not_there_is_no_missing_package():
    assert not hasattr(json, "no_such_name")
    assert getattr(json, "no_such_name", 3) == 3


def test_a_missing_package_is_named_with_the_command_that_installs_it():
    absent = Extra("perp_has_no_such_package", "an example", "example")
    with pytest.raises(MissingExtra, match=r"an example needs perp_has_no_such_package, .*pip install"):
        absent.anything  # noqa: B018
    with pytest.raises(MissingExtra):
        absent.require()


def test_it_can_be_copied():
    assert copy.copy(json).dumps([1]) == "[1]"
