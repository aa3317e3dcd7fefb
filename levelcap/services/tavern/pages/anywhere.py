"""`/anywhere`: an exported hero decides a recorded match again, inside the browser.

The page alone may run WebAssembly: onnxruntime-web, which `scripts/browser_runtime.py` fetches into
the environment. Bundles go out as files; the browser compares their sha256 with the manifest.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import FileResponse, HTMLResponse

from levelcap.export.bundle import FILE, MAX_GRAPH_BYTES, MAX_JSON_BYTES, read_bundle
from levelcap.kit.errors import BadFile, LevelcapError, refuse, unknown_name
from levelcap.kit.files import read_json
from levelcap.kit.paths import folder, without_paths
from levelcap.kit.publish import MANIFEST, read_manifest
from levelcap.services.door.fields import Id
from levelcap.services.door.rights import Routes
from levelcap.services.tavern.doorway import POLICY
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View

RUNTIME = Path(sys.prefix) / "share" / "levelcap" / "onnxruntime-web"
RUNTIME_ADDRESS = "/onnxruntime-web"
WASM_POLICY = POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")
Name = Annotated[str, Field(max_length=100)]


class AnywhereAsked(Asked):
    """Which bundle decides which seat of which replay; the page's script reads it, too."""

    path = "/anywhere"
    bundle: Name = ""
    replay: Name = ""
    seat: Annotated[int, Field(ge=0, lt=100)] = 0


@dataclass(frozen=True)
class Shown:
    """What the template shows; runtime: where the browser's onnxruntime is, "" when nowhere."""

    runtime: str
    bundles: list[dict[str, Any]]
    refused: list[str]


class AnywhereView(View[AnywhereAsked]):
    """The list of bundles; everything else happens in the browser."""

    asked = AnywhereAsked

    def read(self, moment: Moment, asked: AnywhereAsked) -> Shown:
        """Bundles of heroes that play; damaged ones with the reason."""
        bundles: list[dict[str, Any]] = []
        refused: list[str] = []
        for place in sorted(p.parent for p in folder("exports").glob(f"[!.]*/{FILE}")):
            changed_ns = max(path.lstat().st_mtime_ns for path in place.iterdir())
            try:
                if (found := _described(place, changed_ns)) is not None:
                    bundles.append(found)
            except LevelcapError as error:
                refused.append(f"{place.name}: {without_paths(str(error))}")
        versions = sorted(p.name for p in RUNTIME.glob("[0-9]*"))
        runtime = f"{RUNTIME_ADDRESS}/{versions[-1]}" if versions else ""
        return Shown(runtime, bundles, refused)

    async def show(self, request: Request) -> HTMLResponse:
        """Answers a browser, which may compile WebAssembly for this page."""
        answer = await super().show(request)
        answer.headers["Content-Security-Policy"] = WASM_POLICY
        return answer

    def routes(self) -> APIRouter:
        """The page, and the files of bundles."""
        door = Routes(super().routes())

        @door.get(f"{self.place.path}/bundles/{{name}}/{{file}}", "viewer")
        def bundle_file(name: Id, file: Id) -> FileResponse:
            """A file that the bundle's manifest names, or the manifest."""
            place = folder("exports") / name
            if not place.is_dir():
                known = [p.parent.name for p in folder("exports").glob(f"[!.]*/{FILE}")]
                raise unknown_name("bundle", name, known)
            path, files = place / file, read_manifest(place).files
            if file != MANIFEST and file not in files:
                raise unknown_name("file of the bundle", file, files)
            if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_GRAPH_BYTES:
                raise BadFile(refuse("no file that a bundle may have", file, "Export it again"))
            return FileResponse(path, media_type="application/octet-stream")

        return door.where


@lru_cache(maxsize=64)
def _described(place: Path, changed_ns: int) -> dict[str, Any] | None:
    """What the list says of a bundle, every byte of it verified; None: of a text hero.

    Raises:
        BadFile, Corrupt, Conflict: no bundle, a damaged one, or of another version.
    """
    small = (place / FILE).stat().st_size <= MAX_JSON_BYTES
    values = read_json(place / FILE) if small else None
    if isinstance(values, dict) and values.get("kind") == "text":
        return None
    made = read_bundle(place)
    return {"name": place.name, "kind": made.kind, "world": made.world, "source": made.source}
