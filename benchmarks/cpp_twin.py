"""Compile the C++ twins and call them with NumPy arrays."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).with_name("twin.cpp")
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")


class CppTwin:
    """`CppTwin().call("sweep_csr", 10, n, array, ...)`: numbers go as int64, arrays as pointers."""

    def __init__(self) -> None:
        compiler = shutil.which("g++") or shutil.which("clang++")
        if compiler is None:
            raise SystemExit("the benchmark compares with a C++ twin: install g++")
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "twin.so"
            subprocess.run([compiler, *FLAGS, "-o", str(library), str(SOURCE)], check=True)
            self.library = ctypes.CDLL(str(library))

    def call(self, name: str, *arguments: Any) -> None:
        getattr(self.library, name)(
            *(
                ctypes.c_void_p(argument.ctypes.data) if isinstance(argument, np.ndarray) else ctypes.c_int64(argument)
                for argument in arguments
            )
        )
