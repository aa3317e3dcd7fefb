"""A scan for places and addresses written into the code: they belong into settings and registries.

Looks at the texts in every Python file of the installed package, docstrings and comments left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import levelcap

# The one file where addresses belong.
ALLOWED = ("services/process/hosts.py",)
_SLASH = "/"
PLACES = re.compile(
    rf"^(~{_SLASH}|{_SLASH}(home|root|Users|mnt|media|data|work|tmp|var|opt|srv){_SLASH}\w|[A-Z]:\\)"
)
ADDRESSES = re.compile(
    r"\b(?:\d{1,3}\.){3}\d{1,3}\b|\blocalhost\b|\b\w+\.local:\d+"
    r"|https?://(?!www\.w3\.org/)[A-Za-z0-9\[]"  # a namespace of the W3C is a name
)


def scan(package: Path | None = None, ignore_ips: bool = False) -> list[str]:
    """Returns `file:line text` of everything found.

    Args:
        package: a folder of Python files; the installed levelcap by default.
        ignore_ips: True to look for places only.
    """
    root = package or Path(levelcap.__file__).parent
    found = []
    for file in sorted(root.rglob("*.py")):
        name = file.relative_to(root).as_posix()
        if name in ALLOWED:
            continue
        for line, text in texts(file):
            if PLACES.search(text) or (not ignore_ips and ADDRESSES.search(text)):
                found.append(f"{name}:{line} {text[:60]!r}")
    return found


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """Line and value of every text in a file that is no docstring."""
    tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, described) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docstrings:
                yield node.lineno, node.value
