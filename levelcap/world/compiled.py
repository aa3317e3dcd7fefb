"""The one decorator for compiled code, and where its cache lives.

numba's on-disk cache notices a change in the file of the compiled function, not in the files it
calls into. So the cache folder's name carries a hash of every source file of this package: edit a
rule anywhere and the kernels are compiled anew; start twice and they are loaded in a second.

Kernels release the GIL and use no fast-math: the same inputs give the same bits on every machine.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np


def source_hash(folder: Path | None = None) -> str:
    """Hash of all Python sources of this package and of the compiler versions."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for path in sorted((folder or Path(__file__).parent).glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_dir() -> Path:
    """Folder of the compiled kernels: $LEVELCAP_KERNEL_CACHE or the user's cache folder."""
    base = os.environ.get("LEVELCAP_KERNEL_CACHE")
    if base:
        root = Path(base)
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "levelcap"
    return root / f"kernels-{source_hash()}"


numba.config.CACHE_DIR = str(cache_dir())


_OPTIONS = {"cache": True, "nogil": True, "fastmath": False}


_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that only other kernels call: no Python wrapper, faster to compile.

    Without reference counting: the caller keeps the arrays alive, and counting the references of
    all buffers at every call (atomically, on counters that both threads share) cost a quarter of a
    duel's step. So a kernel cannot make arrays; one that has to is an `allocating` one.
    """
    return numba.njit(**_OPTIONS, **_INNER, _nrt=False)(function)


def allocating(function: Callable[..., Any]) -> Any:
    """Compile a kernel that makes arrays."""
    return numba.njit(**_OPTIONS, **_INNER, _nrt=True)(function)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls: cached on disk, without the GIL, exact arithmetic."""
    return numba.njit(**_OPTIONS, no_cfunc_wrapper=True, _nrt=True)(function)
