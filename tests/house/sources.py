"""What the rules of the house are about: the files of the repository, read once."""

import ast
import functools
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "levelcap"
SKIPPED = {".git", "__pycache__", "build", "dist", "out", "node_modules"}


def _skipped(name: str) -> bool:
    return name in SKIPPED or name.startswith(".venv") or name.endswith("_cache")


@functools.cache
def repository_files() -> tuple[Path, ...]:
    """All files that belong to the repository: no environments, caches or build products."""
    found = []
    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = [s for s in subfolders if not _skipped(s) and s != ".hypothesis"]
        found += [Path(folder) / name for name in names if not _skipped(name)]
    return tuple(sorted(p for p in found if p.suffix not in {".pyc", ".nbi", ".nbc", ".lock"}))


@functools.cache
def package_files() -> tuple[Path, ...]:
    """The Python files of the package."""
    return tuple(sorted(p for p in PACKAGE.rglob("*.py") if "__pycache__" not in p.parts))


@functools.cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of one file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def name_of(path: Path) -> str:
    """A file's name as shown in messages."""
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    """The dotted module name of a package file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _for_types_only(path: Path) -> set[ast.AST]:
    """Everything below `if TYPE_CHECKING:`, which never runs."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            found |= {inner for statement in node.body for inner in ast.walk(statement)}
    return found


def imports(path: Path) -> set[str]:
    """Top-level names of everything a file imports when run, also inside functions."""
    found = set()
    for node in set(ast.walk(tree(path))) - _for_types_only(path):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found
