"""Where a shard comes from: its parents, theirs, and so on up to files and matches.

    root = lineage(folder)
    root.label, root.parents

A parent is a word in a manifest: a shard's digest, `file <sha256> <name>` of something that was
brought, or `policy <name> <sha256>` of somebody who played.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from levelcap.kit.errors import StateError
from levelcap.kit.files import dump_json
from levelcap.kit.ids import sha256_bytes
from levelcap.kit.publish import Manifest, read_manifest
from levelcap.lake.header import HEADER_FILE, Header
from levelcap.lake.zones import zone

_FILE = re.compile(r"file (?P<sha256>[0-9a-f]{64}) (?P<name>.+)", re.DOTALL)


@dataclass(frozen=True)
class Ancestor:
    """Something in a lineage, and what it was made from."""

    kind: str
    """shard, labels, file, policy, matches, or missing: a digest that nothing here has"""
    label: str
    sha256: str
    parents: tuple[Ancestor, ...] = ()

    def walk(self) -> Iterator[Ancestor]:
        """It and all before it."""
        yield self
        for parent in self.parents:
            yield from parent.walk()


def lineage(folder: Path) -> Ancestor:
    """The tree of a published folder of the lake.

    Raises:
        Corrupt: its manifest cannot be read.
    """
    shards = {digest: path for path, digest in _published("trajectories", "synth")}
    raw = {
        entry["sha256"]: f"{path.name}/{name}"
        for path, _ in _published("raw")
        for name, entry in read_manifest(path).files.items()
    }
    return _ancestor(folder, read_manifest(folder), shards, raw)


def _published(*zones: str) -> Iterator[tuple[Path, str]]:
    """Folders of zones with their digests; what cannot be read is nobody's parent."""
    for name in zones:
        for path in sorted(p for p in zone(name).iterdir() if p.is_dir() and p.name[0] != "."):
            try:
                yield path, _digest(read_manifest(path))
            except StateError:
                continue


def _digest(manifest: Manifest) -> str:
    return sha256_bytes(dump_json(manifest.files))  # as `Shard.digest`


def _ancestor(
    folder: Path, manifest: Manifest, shards: Mapping[str, Path], raw: Mapping[str, str]
) -> Ancestor:
    parents = [_parent(word, shards, raw) for word in manifest.parents]
    kind, label = "labels", folder.name
    if HEADER_FILE in manifest.files:
        header = Header.from_file(folder / HEADER_FILE)
        kind = "shard"
        label = f"{folder.name} · {header.world} · {header.num_steps:,} steps · {manifest.made_by}"
        if not any(p.kind in ("file", "shard", "missing") for p in parents):
            seed = header.config.get("seed", header.config.get("match_seed", "?"))
            played = f"{header.num_matches:,} matches of {header.world}, seed {seed}"
            parents.append(Ancestor("matches", played, header.config_sha256))
    return Ancestor(kind, label, _digest(manifest), tuple(parents))


def _parent(word: str, shards: Mapping[str, Path], raw: Mapping[str, str]) -> Ancestor:
    if found := _FILE.fullmatch(word):
        sha256 = found["sha256"]
        where = f" · in raw/{raw[sha256]}" if sha256 in raw else " · named, not kept"
        return Ancestor("file", found["name"] + where, sha256)
    if word in shards:
        return _ancestor(shards[word], read_manifest(shards[word]), shards, raw)
    kind, _, rest = word.partition(" ")
    if kind == "policy":
        name, _, sha256 = rest.rpartition(" ")
        return Ancestor("policy", name, sha256)
    return Ancestor("missing", "nothing in this lake has this digest", word)
