"""Copies of objects whose arrays kernels read: what was read-only stays so."""

from __future__ import annotations

from typing import Any

import numpy as np

from perp.problems.inputs import freeze


class KeepsReadOnly:
    """NumPy makes copies and unpickled arrays writable, and Numba would compile every kernel that reads them again."""

    def __getstate__(self) -> tuple[dict[str, Any], list[str]]:
        fields = dict(vars(self))
        return fields, [name for name, value in fields.items() if _is_read_only(value)]

    def __setstate__(self, state: tuple[dict[str, Any], list[str]]) -> None:
        fields, read_only = state
        for name in read_only:
            freeze(fields[name])
        vars(self).update(fields)


def _is_read_only(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not value.flags.writeable
