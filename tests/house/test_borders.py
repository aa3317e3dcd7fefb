"""What crosses a folder's border has a type: few parameters or results are `Any` or a bare dict.

Counted are functions, and public methods of classes, that another top-level folder imports by name
or reaches through an imported module. `Any | None`, a list of it or an iterator over it count, too.
"""

import ast
import functools

from tests.house.sources import PACKAGE, module_of, name_of, package_files, tree

# It falls with every contract that becomes a type; it never rises.
MAX_UNTYPED = 100
UNTYPED = {"Any", "dict", "dict[str, Any]", "Mapping[str, Any]", "dict[Any, Any]"}
WRAPPERS = {"list", "Sequence", "Iterable", "Iterator", "Generator", "tuple", "Awaitable"}


def folder_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@functools.cache
def modules() -> frozenset[str]:
    return frozenset(module_of(path) for path in package_files())


def _reached_by(path):
    """Pairs (module, name) of other folders that a file uses."""
    home = folder_of(module_of(path))
    aliases: dict[str, str] = {}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("levelcap"):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in modules():
                    aliases[alias.asname or alias.name] = inner
                elif folder_of(node.module) != home:
                    yield node.module, alias.name
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = aliases.get(node.value.id)
            if module and folder_of(module) != home:
                yield module, node.attr


def _bare(annotation) -> bool:
    if annotation is None:
        return False
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return _bare(ast.parse(annotation.value, mode="eval").body)
    if isinstance(annotation, ast.BinOp):
        return _bare(annotation.left) or _bare(annotation.right)
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) in WRAPPERS:
        inner = annotation.slice
        return any(_bare(i) for i in (inner.elts if isinstance(inner, ast.Tuple) else [inner]))
    return ast.unparse(annotation) in UNTYPED


def _untyped(function) -> int:
    known = function.args
    given = [*known.posonlyargs, *known.args, *known.kwonlyargs]
    return sum(_bare(a.annotation) for a in given) + _bare(function.returns)


def _functions(node):
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name, node
    elif isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                if not inner.name.startswith("_") or inner.name == "__init__":
                    yield f"{node.name}.{inner.name}", inner


def test_what_crosses_a_border_has_a_type():
    reached = {pair for path in package_files() for pair in _reached_by(path)}
    found = {}
    for path in package_files():
        if path.is_relative_to(PACKAGE / "cli"):
            continue
        for node in tree(path).body:
            if (module_of(path), getattr(node, "name", "")) in reached:
                for name, function in _functions(node):
                    if count := _untyped(function):
                        found[f"{name_of(path)}:{name}"] = count
    total = sum(found.values())
    print(f"{total} parameters or results without a type at {len(found)} places of borders")
    assert total <= MAX_UNTYPED, sorted(found.items(), key=lambda item: -item[1])
