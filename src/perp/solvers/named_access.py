"""Reading an object's values by name, as the results of SciPy are read: `result["x"]`, `dict(result)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, ClassVar


class NamedAccess:
    """The values of a frozen dataclass, and those of its properties that `other_names` lists, by name; nothing to set.

    It reads like a mapping without being one: two results are the same only if they are one.
    """

    other_names: ClassVar[tuple[str, ...]] = ()
    """Properties that are read by name as well."""

    def keys(self) -> tuple[str, ...]:
        """Every name, fields first; `dict(self)` computes those that are computed on demand."""
        return tuple(one.name for one in fields(self)) + self.other_names  # type: ignore[arg-type]

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())
