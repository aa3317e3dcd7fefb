"""A small file system that forgets: what may be on disk after the power goes, given the calls.

Every file and folder is a node. Data of a file is certain once the file was synced after the last
write; a name in a folder is certain once the folder was synced after it was made, moved or
removed. Whatever is not certain is there or not, each piece by a throw of the dice. A rename is
one piece. The database is trusted with its own promise: what it committed before a sync of its
log is there.
"""

import random
import re
from dataclasses import dataclass, field

from tests.trust.tracing import Call

_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FD = re.compile(r"^\d+<([^>]*)>")


@dataclass(frozen=True)
class Step:
    """create, mkdir, write, sync, rename, remove, commit: what happened to which path."""

    kind: str
    path: str
    target: str = ""


def steps_of(calls: list[Call]) -> list[Step]:
    """The calls that matter to the model; a sync of the database's log is a commit."""
    found = []
    for call in calls:
        if call.result < 0:
            continue
        fd = _FD.match(call.arguments)
        paths = _PATH.findall(call.arguments)
        where = fd[1] if fd else ""
        if "realm.db" in where or any("realm.db" in path for path in paths):
            if call.name in ("fsync", "fdatasync") and where.endswith("-wal"):
                found.append(Step("commit", "database"))
            continue
        if call.name == "openat" and "O_CREAT" in call.arguments:
            found.append(Step("create", paths[0]))
        elif call.name in ("write", "pwrite64") and where.startswith("/") and "runs" in where:
            found.append(Step("write", where))
        elif call.name in ("fsync", "fdatasync"):
            found.append(Step("sync", where))
        elif call.name in ("mkdir", "mkdirat"):
            found.append(Step("mkdir", paths[0]))
        elif call.name in ("rename", "renameat", "renameat2"):
            found.append(Step("rename", paths[0], paths[1]))
        elif call.name in ("unlink", "unlinkat", "rmdir"):
            # rmtree names what it removes relative to an open folder.
            path = paths[-1] if paths[-1].startswith("/") else f"{where}/{paths[-1]}"
            found.append(Step("remove", path))
    return found


@dataclass
class Node:
    """A file or folder: what it may hold, and what it certainly holds."""

    is_folder: bool
    written: int = 0  # changes of the data
    certain: int = 0  # … of which so many are certain
    names: dict[str, "Node"] = field(default_factory=dict)  # as the running system sees it
    changes: list[tuple[str, dict[str, "Node | None"]]] = field(default_factory=list)
    kept: dict[str, "Node"] = field(default_factory=dict)  # certain names


class Disk:
    """Applies steps, then says what a power cut leaves."""

    def __init__(self, root: str, existing: dict[str, bool]) -> None:
        """existing: path -> is it a folder, of everything certain before."""
        self.root = root
        self.top = Node(True)
        self.commits = 0
        self._moves: list[list[tuple[Node, str, Node | None]]] = []
        for path, is_folder in sorted(existing.items()):
            parent, name = self._parent(path)
            node = Node(is_folder, 1, 1)
            parent.names[name] = parent.kept[name] = node

    def _parts(self, path: str) -> list[str]:
        assert path.startswith(self.root), path
        return [part for part in path[len(self.root) :].split("/") if part]

    def _find(self, path: str) -> Node | None:
        node: Node | None = self.top
        for part in self._parts(path):
            node = None if node is None else node.names.get(part)
        return node

    def _parent(self, path: str) -> tuple[Node, str]:
        *parts, name = self._parts(path)
        node = self.top
        for part in parts:
            node = node.names[part]
        return node, name

    def apply(self, step: Step) -> None:
        """One step of the running system."""
        if step.kind == "commit":
            self.commits += 1
        elif not step.path.startswith(self.root):
            return
        elif step.kind in ("create", "mkdir"):
            parent, name = self._parent(step.path)
            if name not in parent.names:
                self._change([(parent, name, Node(step.kind == "mkdir"))])
        elif step.kind == "write":
            node = self._find(step.path)
            assert node is not None, step
            node.written += 1
        elif step.kind == "sync":
            self._sync(self._find(step.path))
        elif step.kind == "rename":
            parent, name = self._parent(step.path)
            other, new = self._parent(step.target)
            node = parent.names[name]
            self._change([(parent, name, None), (other, new, node)])
        elif step.kind == "remove":
            parent, name = self._parent(step.path)
            self._change([(parent, name, None)])

    def _change(self, move: list[tuple[Node, str, Node | None]]) -> None:
        for folder, name, node in move:
            if node is None:
                folder.names.pop(name, None)
            else:
                folder.names[name] = node
        self._moves.append(move)

    def _sync(self, node: Node | None) -> None:
        if node is None:
            return
        node.certain = node.written
        if not node.is_folder:
            return
        # Everything that touched this folder becomes certain, moves as a whole.
        left = []
        for move in self._moves:
            if any(folder is node for folder, _, _ in move):
                self._keep(move)
            else:
                left.append(move)
        self._moves = left

    @staticmethod
    def _keep(move: list[tuple[Node, str, Node | None]]) -> None:
        for folder, name, node in move:
            if node is None:
                folder.kept.pop(name, None)
            else:
                folder.kept[name] = node

    def cut(self, rng: random.Random) -> "Remains":
        """What one power cut leaves; the dice decide over everything uncertain."""
        survived = [move for move in self._moves if rng.random() < 0.5]
        whole: dict[int, bool] = {}
        return Remains(self, survived, whole, rng)


class Remains:
    """The disk after a cut, looked at by path."""

    def __init__(self, disk: Disk, survived: list, whole: dict[int, bool], rng) -> None:  # type: ignore[no-untyped-def,type-arg]
        self.commits = disk.commits
        self._disk, self._whole, self._rng = disk, whole, rng
        self._extra: dict[int, dict[str, Node | None]] = {}
        for move in survived:
            for folder, name, node in move:
                self._extra.setdefault(id(folder), {})[name] = node

    def names(self, node: Node) -> dict[str, Node]:
        found: dict[str, Node | None] = {**node.kept, **self._extra.get(id(node), {})}
        return {name: inner for name, inner in found.items() if inner is not None}

    def at(self, path: str) -> Node | None:
        """The node at a path, or None."""
        node: Node | None = self._disk.top
        for part in self._disk._parts(path):
            node = None if node is None else self.names(node).get(part)
        return node

    def intact(self, node: Node) -> bool:
        """Has a file all its data? Decided once a file."""
        if node.certain == node.written:
            return True
        return self._whole.setdefault(id(node), self._rng.random() < 0.5)
