#!/usr/bin/env bash
# Creates or repairs a virtual environment out of a lock:  setup.sh [main|peers|sample-factory|open-spiel]
#
# A stamp inside the environment names what it was made of. It is removed before anything is
# changed and written last, so a set-up that was killed leaves no stamp, and the next one starts
# from nothing. Same stamp = nothing to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-main}" in
    main) venv=.venv lock=requirements/run-test.lock.txt ;;
    peers) venv=.venv-peers lock=requirements/peers.lock.txt ;;
    sample-factory) venv=.venv-sample-factory lock=requirements/sample-factory.lock.txt ;;
    open-spiel) venv=.venv-open-spiel lock=requirements/open-spiel.lock.txt ;;
    *) echo "setup: unknown environment '$1'; use main, peers, sample-factory or open-spiel" >&2; exit 2 ;;
esac
stamp="$venv/.made-of"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

# Two set-ups at once would write into each other.
if command -v flock >/dev/null; then
    exec 9>"$venv.lock"
    flock 9
fi

usable() { # Python 3.11 or newer that can make environments
    "$1" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-} python3.11 python3.12 python3.13 python3; do
        if command -v "$candidate" >/dev/null && usable "$candidate"; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

missing_packages() { # of APT_PACKAGES, those that are not installed
    local package
    for package in ${APT_PACKAGES:-}; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            printf '%s ' "$package"
    done
}

install_packages() { # as root; anyone else is told the one command
    local command="apt-get update && apt-get install -y --no-install-recommends $*"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "setup: installing $*"
        DEBIAN_FRONTEND=noninteractive bash -c "$command" >/dev/null
    else
        echo "setup: missing system packages: $*" >&2
        echo "setup: run this once, then try again:  sudo sh -c '$command'" >&2
        exit 1
    fi
}

browser_runtime() { # what /anywhere runs heroes with; a set-up without it is whole
    [ "$venv" != .venv ] || "$venv/bin/python" scripts/browser_runtime.py
}

read -r -a packages <<<"$(missing_packages)"
python=$(find_python) || packages+=(python3 python3-venv)
if [ "${#packages[@]}" -gt 0 ]; then
    install_packages "${packages[@]}"
    python=$(find_python) || {
        echo "setup: no Python 3.11 or newer found; install one, or name it with PYTHON=…" >&2
        exit 1
    }
fi

want=$("$python" - "$lock" requirements/torch.txt pyproject.toml scripts/setup.sh <<'PY'
import hashlib, os, pathlib, sys
seen = hashlib.sha256(repr((sys.version_info[:2], os.getcwd())).encode())
seen.update(os.environ.get("LEVELCAP_TORCH_ARGS", "").encode())
for name in sys.argv[1:]:
    seen.update(pathlib.Path(name).read_bytes())
print(seen.hexdigest())
PY
)
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ] && [ -x "$venv/bin/python" ]; then
    browser_runtime
    exit 0
fi

began=$SECONDS
if [ ! -f "$stamp" ] || ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    rm -f "$stamp"
    rm -rf "$venv"
    echo "setup: making $venv (about two minutes the first time)"
    "$python" -m venv "$venv"
else
    echo "setup: updating $venv"
fi
rm -f "$stamp"

# Torch alone and first: resolved together with the rest it may pull another build.
# shellcheck disable=SC2086  # LEVELCAP_TORCH_ARGS is a list of options
[ "$venv" = .venv-open-spiel ] || "$venv/bin/python" -m pip install -q --no-deps ${LEVELCAP_TORCH_ARGS:-} -r requirements/torch.txt
"$venv/bin/python" -m pip install -q --require-hashes --no-deps -r "$lock"

# What an older lock asked for and this one does not.
"$venv/bin/python" - "$lock" <<'PY'
import importlib.metadata, pathlib, re, subprocess, sys

def key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

text = pathlib.Path(sys.argv[1]).read_text()
keep = {key(name) for name in re.findall(r"^([A-Za-z0-9_.-]+)==", text, re.M)}
keep |= {"pip", "setuptools", "torch", "levelcap"}
extra = sorted({key(d.name) for d in importlib.metadata.distributions()} - keep)
if extra:
    print("setup: removing", *extra)
    subprocess.run([sys.executable, "-m", "pip", "uninstall", "-q", "-y", *extra], check=True)
PY
if [ "$venv" = .venv ]; then
    "$venv/bin/python" -m pip install -q --no-deps --no-build-isolation -e .
fi
browser_runtime
echo "$want" >"$stamp.new"
mv "$stamp.new" "$stamp"
echo "setup: $venv is ready after $((SECONDS - began)) s"
