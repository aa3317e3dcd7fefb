"""The contracts of .importlinter hold, and they speak of every folder they should."""

import configparser
import subprocess
import sys
from pathlib import Path

from tests.house.sources import PACKAGE, ROOT, imports, module_of, name_of, package_files

TORCH_FREE = (
    *("kit", "world", "guild", "jobs", "lake", "coach", "vault", "campaign"),
    *(f"play.{name}" for name in ("matchup", "roster", "seats")),
    "learn.adversary.attacks",
    *(f"trials.{name}" for name in ("davidson", "gate", "panel", "ratings", "verdict")),
    *(f"trials.{name}" for name in ("capped", "constitution", "cost", "robust")),
    *(f"trials.{name}" for name in ("safety", "speed", "suite", "watch")),
    *(f"export.{name}" for name in ("bundle", "draw", "mar_handler", "pipe", "policy", "runtime")),
    *("export.session", "export.text"),
    *(
        f"services.{p.stem}"
        for p in sorted((PACKAGE / "services").glob("[a-z]*"))
        if p.name not in ("__pycache__", "arena", "oracle")
    ),
)
WEB = {"fastapi", "starlette", "uvicorn", "jinja2", "httpx", "websockets"}
FARAMA = {"gymnasium", "pettingzoo", "mpe2"}
# spaces.py is the half of outside.py that reads Gymnasium's spaces.
FARAMA_ALLOWED = {
    *(f"levelcap/world/doors/{name}.py" for name in ("farama", "outside", "spaces")),
    "levelcap/play/gym_env.py",
}
KIT_MAY_IMPORT = {
    *("levelcap", "numpy", "scipy", "pydantic", "pydantic_settings", "pysqlite3"),
    *("rich", "structlog", "yaml"),
}


def contract(name: str) -> set[str]:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    return set(parser[f"importlinter:contract:{name}"]["source_modules"].split())


def exists(module: str) -> bool:
    path = PACKAGE.joinpath(*module.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def test_the_contracts_hold():
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]


def test_every_torch_free_module_that_exists_is_in_the_contract():
    there = {f"levelcap.{name}" for name in TORCH_FREE if exists(name)}
    assert contract("torch-free") == there


def test_every_folder_but_services_and_cli_is_kept_from_the_web():
    folders = {p.parent.name for p in PACKAGE.glob("*/__init__.py")} - {"services", "cli"}
    assert contract("web") == {f"levelcap.{name}" for name in folders}


def test_every_folder_but_the_command_line_is_kept_from_farama():
    folders = {p.parent.name for p in PACKAGE.glob("*/__init__.py")} - {"cli"}
    assert contract("farama") == {f"levelcap.{name}" for name in folders}


def test_web_frameworks_only_in_services():
    users = [name_of(p) for p in package_files() if imports(p) & WEB]
    assert [u for u in users if not u.startswith("levelcap/services/")] == []


def test_gymnasium_and_pettingzoo_only_in_four_files():
    users = {name_of(p) for p in package_files() if imports(p) & FARAMA}
    assert users <= FARAMA_ALLOWED


def test_the_floor_stands_on_few_packages():
    kit = [p for p in package_files() if module_of(p).startswith("levelcap.kit")]
    used = {(name_of(p), i) for p in kit for i in imports(p) - KIT_MAY_IMPORT}
    used.discard(("levelcap/kit/compiled.py", "numba"))
    assert {(n, i) for n, i in used if i not in sys.stdlib_module_names} == set()


def test_the_floor_and_the_world_start_without_torch():
    names = ["levelcap.kit.db", "levelcap.kit.log", "levelcap.kit.publish", "levelcap.world"]
    names += ["levelcap.world.match", "levelcap.world.players.scripted", "levelcap.play.matchup"]
    code = f"import sys, {', '.join(names)}; sys.exit('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr
