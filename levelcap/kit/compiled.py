"""The one decorator for compiled code, and where its cache lives.

numba's on-disk cache notices a change in the file of the compiled function, not in the files it
calls into. So the cache folder's name carries a hash of every file of levelcap that uses a
decorator of this one, in whatever folder, and of all that those import, because constants are
compiled in: edit a rule anywhere and the kernels are compiled anew; start twice and they are loaded
in a second.

Kernels release the GIL and use no fast-math: the same inputs give the same bits on every machine.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np

PACKAGE = Path(__file__).parents[1]
_USES = re.compile(r"^from levelcap\.kit\.compiled import", re.M)
# What stands after `import`: names in brackets over several lines, or the rest of the line.
_IMPORTS = re.compile(
    r"^\s*from levelcap\.?([\w.]*) import (\([^)]*\)|.*)|^import levelcap\.([\w.]+)", re.M
)


def sources(package: Path = PACKAGE) -> list[Path]:
    """Files that decide over compiled code: users of the decorators and, in turn, their imports."""
    found: set[Path] = set()
    new = {p for p in package.rglob("*.py") if _USES.search(p.read_text(encoding="utf-8"))}
    while new:
        found |= new
        new = {i for path in new for i in _imported(path, package)} - found
    return sorted(found)


def _imported(path: Path, package: Path) -> Iterator[Path]:
    for module, names, plain in _IMPORTS.findall(path.read_text(encoding="utf-8")):
        base = package.joinpath(*(module or plain).split("."))
        candidates = [base, *(base / name for name in re.findall(r"\w+", names))]
        yield from (f for c in candidates if (f := c.with_suffix(".py")).is_file())


def source_hash(package: Path = PACKAGE) -> str:
    """Hash of the `sources` and of the compiler versions."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for path in sources(package):
        digest.update(path.relative_to(package).as_posix().encode())
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
