"""Seven documents, and nothing a user can type is missing in them."""

import ast
import os
import re
import subprocess
import sys

import pytest

from levelcap.kit.config import RESERVED_VARIABLES, Settings
from tests.house.sources import PACKAGE, ROOT, name_of, repository_files

DOCUMENTS = {
    *("README.md", "QUICKSTART.md", "ARCHITECTURE.md", "TROUBLESHOOTING.md"),
    *("REMOTE_INFERENCE.md", "DEVELOPMENT.md", "CHANGELOG.md"),
}
# Put together here so that this file does not contain what it looks for.
MACHINE_PATHS = re.compile(
    "(?<![\\w.$}~-])/(" + "|".join(["home", "root", "work", "tmp"]) + ")/\\w"
)
TEXT_SUFFIXES = {
    *(".py", ".md", ".toml", ".txt", ".in", ".yaml", ".yml", ".json", ".sh", ".cfg", ".js"),
    *(".css", ".html", ".lcg", ""),
}


def text_of(*names: str) -> str:
    return "\n".join((ROOT / n).read_text() for n in names if (ROOT / n).exists())


def test_the_seven_documents_and_no_others():
    found = {name_of(p) for p in repository_files() if p.suffix.lower() in (".md", ".rst")}
    assert found == DOCUMENTS


def commands() -> list[str]:
    """Every command `levelcap --help` lists."""
    run = subprocess.run(
        [sys.executable, "-m", "levelcap.cli.main", "--help"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"},
    )
    assert run.returncode == 0, run.stderr
    block = run.stdout.split("Commands", 1)[1]
    found = re.findall(r"^[│|\s]*([a-z][a-z0-9-]*)(?=\s{2,}|\s*[│|]?$)", block, re.M)
    assert found, f"no command found in the help:\n{run.stdout}"
    return found


def test_every_command_is_documented():
    if not (PACKAGE / "cli").exists():
        pytest.skip("no cli yet")
    documents = text_of("QUICKSTART.md")
    assert [c for c in commands() if f"levelcap {c}" not in documents] == []


def test_every_setting_and_variable_is_documented():
    documents = text_of("README.md", "TROUBLESHOOTING.md", "DEVELOPMENT.md")
    names = [*Settings.model_fields, *RESERVED_VARIABLES]
    assert [n for n in names if not re.search(rf"\b{n}\b", documents)] == []


def test_every_variable_the_code_reads_is_known_to_the_settings():
    known = RESERVED_VARIABLES | {f"LEVELCAP_{n.upper()}" for n in Settings.model_fields}
    used = set()
    for path in [*PACKAGE.rglob("*.py"), ROOT / "Makefile", *(ROOT / "scripts").glob("*")]:
        if path.is_file():
            used |= set(re.findall(r"\bLEVELCAP_[A-Z][A-Z_]*[A-Z]\b", path.read_text()))
    assert used - known == set()


def test_every_make_target_is_documented():
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.M)
    documents = text_of("QUICKSTART.md")
    assert [t for t in targets if t != "help" and f"make {t}" not in documents] == []


def test_no_file_names_a_place_on_somebodys_machine():
    found = []
    for path in repository_files():
        if path.suffix not in TEXT_SUFFIXES:
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
            if MACHINE_PATHS.search(line):
                found.append(f"{name_of(path)}:{number} {line.strip()[:80]}")
    assert found == []


def test_the_map_in_front_of_a_folder_names_files_that_are_there():
    missing = []
    for path in PACKAGE.rglob("__init__.py"):
        words = ast.get_docstring(ast.parse(path.read_text())) or ""
        for name in re.findall(r"(?<![\w./])([a-z_]+\.py)\b", words):
            if not (path.parent / name).is_file():
                missing.append(f"{name_of(path)}: {name}")
    assert missing == []


def test_a_file_named_in_a_document_is_there():
    text = re.sub(
        r"^```diff.*?^```$", "", text_of(*DOCUMENTS - {"CHANGELOG.md"}), flags=re.M | re.S
    )
    named = set(re.findall(r"levelcap/[a-z_/]+\.py\b", text))
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []
