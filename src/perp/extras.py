"""The optional packages that several files of perp use: each is imported at its first use.

from perp.extras import h5py

h5py.File(...)      # MissingExtra, with the command that installs it, where h5py is missing
h5py.require()      # the same, before any work is done
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from perp.errors import MissingExtra


class Extra:
    """A package that may be missing. Packages that only one file uses are imported in that file."""

    def __init__(self, package: str, purpose: str, extra: str) -> None:
        self._package, self._purpose, self._extra = package, purpose, extra

    def require(self) -> ModuleType:
        """The module, or `MissingExtra`."""
        try:
            return import_module(self._package)
        except ImportError as error:
            raise MissingExtra(self._package, self._purpose, self._extra) from error

    def __getattr__(self, name: str) -> Any:
        if "_package" not in vars(self):  # it is being copied, and has nothing yet
            raise AttributeError(name)
        module = self.require()
        try:
            return getattr(module, name)
        except AttributeError:  # it may be a module in it that has not been imported yet
            place = f"{self._package}.{name}"
            try:
                return import_module(place)
            except ModuleNotFoundError as error:
                if error.name != place:
                    raise
            raise


distributed: Any = Extra("distributed", "a run on a cluster", "cluster")
duckdb: Any = Extra("duckdb", "keeping the rows of the lab", "lab")
h5py: Any = Extra("h5py", "an HDF5 file (a recording, an FCLIB problem)", "hdf5")
matplotlib: Any = Extra("matplotlib", "drawing figures", "report")
mujoco: Any = Extra("mujoco", "worlds of MuJoCo models", "mujoco")
