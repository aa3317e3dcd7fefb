"""Snapshots of nets on disk: a folder, whole or absent, never pickle.

<folder>/model.safetensors   the weights
<folder>/meta.json           what they are (`nets.meta.Meta`)
<folder>/manifest.json       sha256 of both, written last
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

import levelcap
from levelcap.kit.errors import BadFile, Corrupt, refuse
from levelcap.kit.files import read_json, write_json
from levelcap.kit.publish import publish, verify
from levelcap.nets.family import build, world_net
from levelcap.nets.meta import Meta, meta_from_json
from levelcap.nets.net import Net

MODEL, META = "model.safetensors", "meta.json"


def save_snapshot(folder: Path, weights: dict[str, Tensor], meta: Meta, made_by: str) -> None:
    """Publish weights and meta as a new folder.

    Raises:
        Corrupt: a weight is not finite; nothing is written.
        Conflict: the folder exists.
    """
    # Last line of defence: a snapshot is what others load.
    for name, tensor in weights.items():
        if not torch.isfinite(tensor).all():
            raise Corrupt(refuse("weights must be finite", name, "Go back to the last snapshot"))

    def write(target: Path) -> None:
        # safetensors stores no views: two names of one memory become two tensors.
        plain = {name: tensor.detach().contiguous() for name, tensor in weights.items()}
        (target / MODEL).write_bytes(save(plain))
        write_json(target / META, meta.as_json())

    author = f"levelcap {levelcap.__version__} {made_by}"
    publish(folder, write, made_by=author, parents=list(meta.parents))


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise BadFile(refuse("no such checkpoint folder", str(folder), "Give its path"))
    if (folder / "snapshots").is_dir():
        remedy = "Give a folder inside its snapshots/"
        raise BadFile(refuse("the folder of a run, not a snapshot", str(folder), remedy))


def read_meta(folder: Path) -> Meta:
    """The description alone; the weights are not looked at."""
    _check_folder(folder)
    return meta_from_json(read_json(folder / META), str(folder / META))


def load_snapshot(folder: Path) -> tuple[nn.Module, Meta, str]:
    """The net in evaluation mode, its meta, and the sha256 of its weights.

    Raises:
        Corrupt: a byte differs from the manifest.
        BadFile: whole, but not a net this version can build; or a run's folder.
    """
    _check_folder(folder)
    # Every byte before any of it is believed.
    manifest = verify(folder)
    meta = read_meta(folder)
    net = build(meta)
    try:
        net.load_state_dict(load((folder / MODEL).read_bytes()))
    except (SafetensorError, RuntimeError, KeyError) as error:
        what = f"the weights do not fit {META} ({str(error).splitlines()[0]})"
        raise BadFile(refuse(what, str(folder), "Use a checkpoint of this version")) from error
    # Dropout off; who trains it says so.
    net.eval()
    return net, meta, str(manifest.files[MODEL]["sha256"])


def load_world_net(folder: Path) -> tuple[Net, Meta, str]:
    """The same of a net that plays a world.

    Raises:
        BadValue: it reads text.
    """
    net, meta, digest = load_snapshot(folder)
    return world_net(net, meta), meta, digest


def weights_of(net: nn.Module) -> dict[str, Any]:
    """A detached copy of a net's weights."""
    return {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}
