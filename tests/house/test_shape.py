"""Length, names and forbidden constructs of the package."""

import ast
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

from tests.house.sources import (
    PACKAGE,
    ROOT,
    imports,
    name_of,
    package_files,
    repository_files,
    tree,
)

MAX_FILE_LINES = 400
MIN_COMMENTS = 6  # of a hundred lines of code, in nets and learn
MAX_FUNCTION_LINES = 100
MAX_JS_LINES = 300
# Lines as the formatter leaves them, without blanks, comments and docstrings; DEVELOPMENT says the
# same number. The redesign ended at 33,500 of the 31,500 aimed at, at 32,000 with pages as
# templates; the hierarchy with its coach, mind and orders and 60 ticks a second are 3,400 since,
# mouse, replay, teacher and drills 800; league and trials 5,300; names, reports and mirrors of the
# command line 900, pages and arena 1,050, export 1,560, compression 780, recordings people bring
# 1,640. The 45,000 once set for the whole product were passed by these.
MAX_PACKAGE_LINES = 47_500
MAX_FOLDER_LINES = {"services": 11_000}
MAX_OTHER_FOLDER_LINES = 8_000
MAX_FMT_SKIP = 40
NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENDMARKER, tokenize.ENCODING),
}
VAGUE = re.compile(r"(^|_)(utils?|helpers?|managers?|common|core|misc|v2|new)(_|$)")
# Process boundaries, where anything may arrive: it is logged with its traceback, the job marked.
# A game of others raises what it likes: it becomes one sentence with the game's own words.
BROAD_EXCEPT_ALLOWED = {
    *(
        "levelcap/jobs/worker.py",
        "levelcap/services/door/http.py",
        "levelcap/world/doors/outside.py",
    ),
}
EMPTY_INIT = ("campaign", "play", "nets", "trials", "export")
DANGEROUS_IMPORTS = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"}


def test_no_file_is_longer_than_400_lines():
    lengths = {name_of(p): len(p.read_text().splitlines()) for p in package_files()}
    assert {n: k for n, k in lengths.items() if k > MAX_FILE_LINES} == {}


def test_no_file_for_the_browser_is_longer_than_300_lines():
    files = [*PACKAGE.rglob("*.js"), *PACKAGE.rglob("*.html")]
    found = {name_of(p): len(p.read_text().splitlines()) for p in files}
    assert found and {n: k for n, k in found.items() if k > MAX_JS_LINES} == {}


def test_no_function_is_longer_than_100_lines():
    found = {}
    for path in package_files():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = node.end_lineno - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    found[f"{name_of(path)}:{node.name}"] = length
    assert found == {}


def _code_lines(path):
    """Numbers of the lines that hold code: no blanks, no comments, no docstrings."""
    told = set()
    for node in ast.walk(tree(path)):
        body = getattr(node, "body", None)
        for inner in body if isinstance(body, list) else []:
            if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant):
                told |= set(range(inner.lineno, inner.end_lineno + 1))
    held = set()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type not in NO_CODE:
                held |= set(range(token.start[0], token.end[0] + 1))
    return held - told


def test_the_package_stays_small():
    raw = sum(len(p.read_text().splitlines()) for p in package_files())
    folders = Counter()
    for path in package_files():
        folders[path.relative_to(PACKAGE).parts[0]] += len(_code_lines(path))
    code = folders.total()
    print(f"{code} lines of code ({raw} with words and blanks) in {len(package_files())} files")
    assert code <= MAX_PACKAGE_LINES
    assert f"package ≤ {MAX_PACKAGE_LINES:,} lines" in (ROOT / "DEVELOPMENT.md").read_text()
    limits = {name: MAX_FOLDER_LINES.get(name, MAX_OTHER_FOLDER_LINES) for name in folders}
    assert {name: n for name, n in folders.items() if n > limits[name]} == {}


def test_everything_is_formatted():
    ruff = Path(sys.executable).with_name("ruff")
    run = subprocess.run([ruff, "format", "--check", "."], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-2000:]


def _is_literal_table(statement):
    """Whether a statement assigns a literal: names and constants in brackets, nothing computed."""
    allowed = (ast.Constant, ast.Name, ast.Attribute, ast.Starred, ast.UnaryOp, ast.USub, ast.Load)
    brackets = (ast.List, ast.Tuple, ast.Dict, ast.Set)
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.Assign | ast.AnnAssign) and (
        isinstance(value, brackets)
        and all(isinstance(node, (*allowed, *brackets)) for node in ast.walk(value))
    )


def test_only_literal_tables_are_kept_from_the_formatter():
    count, wrong = 0, []
    for path in [p for p in repository_files() if p.suffix == ".py"]:
        tables = [n for n in ast.walk(tree(path)) if _is_literal_table(n)]
        inside = {line for n in tables for line in range(n.lineno, n.end_lineno + 1)}
        with path.open("rb") as file:
            for token in tokenize.tokenize(file.readline):
                if token.type == tokenize.COMMENT and token.string.startswith("# fmt:"):
                    count += 1
                    if token.start[0] not in inside:
                        wrong.append(f"{name_of(path)}:{token.start[0]}")
    assert wrong == [] and count <= MAX_FMT_SKIP


def test_nets_and_learning_say_why():
    """Comments a hundred lines of code: a number has its reason beside it, an array its shape."""
    for folder in ("nets", "learn"):
        code = comments = 0
        for path in (PACKAGE / folder).rglob("*.py"):
            with path.open("rb") as file:
                tokens = [token.type for token in tokenize.tokenize(file.readline)]
            comments += tokens.count(tokenize.COMMENT)
            code += len(_code_lines(path))
        assert comments >= MIN_COMMENTS * code / 100, f"{folder}: {comments} in {code} lines"


def test_file_names_say_what_is_inside():
    assert [name_of(p) for p in package_files() if VAGUE.search(p.stem)] == []


def test_nobody_prints_outside_the_command_line():
    found = []
    for path in package_files():
        if path.is_relative_to(PACKAGE / "cli"):
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id in ("print", "pprint"):
                    found.append(f"{name_of(path)}:{node.lineno}")
    assert found == []


def test_nobody_touches_the_import_path():
    found = []
    for path in [p for p in repository_files() if p.suffix == ".py"]:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Attribute) and node.attr == "path":
                if isinstance(node.value, ast.Name) and node.value.id == "sys":
                    found.append(f"{name_of(path)}:{node.lineno}")
    assert found == []


def _catches_all(handler):
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or getattr(kind, "id", "") in ("Exception", "BaseException") for kind in kinds
    )


def _raises_again(handler):
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_broad_except_only_at_process_boundaries():
    found = []
    for path in package_files():
        if name_of(path) in BROAD_EXCEPT_ALLOWED:
            continue
        for node in ast.walk(tree(path)):
            # Cleaning up and raising the same error again hides nothing.
            if isinstance(node, ast.ExceptHandler) and _catches_all(node):
                if not _raises_again(node):
                    found.append(f"{name_of(path)}:{node.lineno}")
    assert found == []


def _dangerous_call(node):
    function = node.func
    if isinstance(function, ast.Name) and function.id in ("eval", "exec", "compile", "__import__"):
        return function.id
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        called = f"{function.value.id}.{function.attr}"
        if called in ("torch.load", "torch.save", "os.system", "os.popen", "yaml.load"):
            return called
    for keyword in node.keywords:
        value = getattr(keyword.value, "value", None)
        if (keyword.arg, value) in (("shell", True), ("allow_pickle", True)):
            return f"{keyword.arg}=True"
    return None


def test_no_construct_that_runs_foreign_code():
    found = [f"{name_of(p)}: {i}" for p in package_files() for i in imports(p) & DANGEROUS_IMPORTS]
    for path in package_files():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and (call := _dangerous_call(node)):
                found.append(f"{name_of(path)}:{node.lineno} {call}")
    assert found == []


def test_packages_that_must_not_pull_torch_have_an_empty_init():
    inits = [PACKAGE / name / "__init__.py" for name in EMPTY_INIT]
    assert [name_of(p) for p in inits if p.exists() and p.read_text().strip()] == []


def test_every_folder_of_code_is_a_package():
    folders = {p.parent for p in package_files()}
    assert [name_of(f) for f in sorted(folders) if not (f / "__init__.py").exists()] == []
