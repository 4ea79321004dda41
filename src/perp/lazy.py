"""Lazy import: a module of perp is executed when one of its names is first used, not when it is imported.

`from perp.kernels.factors import lanes` at the top of a file therefore costs next to nothing and may be part of a
cycle; `lanes.LANES` later executes the file (and so imports Numba). `from perp.kernels.factors.lanes import LANES` asks
for a name and executes it at once. Import the module where loading must wait, the name everywhere else.

Python's own `importlib.util.LazyLoader` does the same; before Python 3.12 two threads that ask for the same module at
the same time may see half of it, and `inspect.getmodule` executes all modules that wait. Here one lock guards all
loading, and only a name that is missing triggers it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

_LOCK = RLock()

if hasattr(os, "register_at_fork"):  # a child must not wait for a thread that it does not have
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class _Waiting(ModuleType):
    """A module that has been imported but not executed."""

    def __getattr__(self, name: str) -> Any:
        execute(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and sys.modules.get(f"{self.__name__}.{name}") is value:
            return  # Python puts a module that it has imported into its package; `_take_modules` will
        if not name.startswith("__"):  # Python itself sets those
            execute(self)
        ModuleType.__setattr__(self, name, value)


class _Loading(ModuleType):
    """A module during its execution; other threads wait for the lock."""

    def __getattr__(self, name: str) -> Any:
        with _LOCK:  # which the thread that executes it has
            return ModuleType.__getattribute__(self, name)


def execute(module: ModuleType) -> None:
    """Execute a module unless that has been done already."""
    with _LOCK:
        _execute(module)


def _execute(module: ModuleType) -> None:
    """Execute the package of a module, as Python does, and then the module, unless that has been done or begun."""
    if type(module) is not _Waiting:
        return
    _execute(sys.modules[module.__name__.rpartition(".")[0]])
    spec = module.__spec__
    if type(module) is not _Waiting or spec is None or spec.loader is None:  # the package may have executed it
        return
    _become(module, _Loading)  # a name that is asked for in the middle is missing, as in any cycle
    try:
        spec.loader.exec_module(module)
    except AttributeError as error:  # which would look as if the module did not have the name that was asked for
        _become(module, _Waiting)
        raise ImportError(f"{module.__name__} cannot be executed: {error}", name=module.__name__) from error
    except BaseException:
        _become(module, _Waiting)
        raise
    _become(module, ModuleType)
    if spec.submodule_search_locations is not None:
        _take_modules(module)


def _take_modules(package: ModuleType) -> None:
    """Give a package the modules that were imported while it waited, but for names that it uses for something else."""
    for name, module in list(sys.modules.items()):
        place, _, last = name.rpartition(".")
        if place == package.__name__:
            vars(package).setdefault(last, module)


def _become(module: ModuleType, kind: type[ModuleType]) -> None:
    module.__class__ = kind


class _Later(Loader):
    """Creates the module and defers its execution."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if "__builtins__" in vars(module):  # it has been executed before, and is reloaded
            self._loader.exec_module(module)
            return
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self._loader
        _become(module, _Waiting)


class _Finder(MetaPathFinder):
    """Finds the modules below one package as Python does, and defers their execution."""

    def __init__(self, package: str) -> None:
        self._start = f"{package}."

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(self._start):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Later(spec.loader)
        return spec


def load_later(package: str) -> None:
    """Defer the execution of modules below a package until one of their names is used."""
    sys.meta_path.insert(0, _Finder(package))
