"""The only list of nets and their sizes: a row a family.

    meta = describe("flat", spec, "slim")      # what the net will be, as saved in meta.json
    net = new_net(meta, seed=0)                # fresh weights that depend on the seed alone
    net = build(meta)                          # the same shape, for weights to be loaded into

A family is a file of this folder with a `FAMILY` in it; its name below makes it known to training,
play, the command line and checkpoints.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType

import torch
from torch import nn

from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.nets.meta import Meta
from levelcap.nets.net import Net
from levelcap.nets.options import OPTIONS, check_options
from levelcap.nets.row import Family
from levelcap.world.spec import WorldSpec

_FILES = ("flat", "hierarchy.net", "hierarchy.layer", "text.qwen3")
FAMILIES: dict[str, Family] = {
    # Loaded by name, so that a new family is one word here and no import.
    row.name: row
    for row in (importlib.import_module(f"levelcap.nets.{f}").FAMILY for f in _FILES)
}
DEFAULT = "flat"  # of new heroes of the arena
WORLD_FAMILIES = tuple(name for name, row in FAMILIES.items() if row.describe is not None)


def describe(
    family: str,
    spec: WorldSpec,
    size: str = "slim",
    standardise: bool = False,
    views: tuple[str, ...] = (),
    options: Mapping[str, str] = MappingProxyType({}),
) -> Meta:
    """The description of a new net of this family for a world.

    standardise: scale inputs by running moments. views: what it reads if not the usual. options:
    parts chosen by name, e.g. {"aim": "residual"}.

    Raises:
        UnknownName: no such family, size, view, option or value of one.
    """
    if family not in WORLD_FAMILIES:
        raise unknown_name("family of nets for a world", family, WORLD_FAMILIES)
    row = FAMILIES[family]
    if size not in row.sizes:
        raise unknown_name("net size", size, row.sizes)
    for name in views:
        if name not in spec.acting_views:  # what only a critic may see is none
            raise unknown_name(f"view of {spec.name}", name, spec.acting_views)
    check_options(family, options)
    assert row.describe is not None
    chosen = (options,) if family in OPTIONS else ()
    return row.describe(spec, size, standardise, views, *chosen)


def build(meta: Meta) -> nn.Module:
    """A net of this description; its weights mean nothing yet.

    Raises:
        UnknownName: a family this version does not have.
    """
    if meta.architecture not in FAMILIES:
        raise unknown_name("architecture", meta.architecture, tuple(FAMILIES))
    return FAMILIES[meta.architecture].build(meta)


def world_net(net: nn.Module, meta: Meta) -> Net:
    """The same net, known to play a world.

    Raises:
        BadValue: it reads text.
    """
    if not isinstance(net, Net):
        remedy = f"Give a checkpoint of one of {', '.join(WORLD_FAMILIES)}"
        raise BadValue(refuse("this net plays no world", meta.architecture, remedy))
    return net


def new_net(meta: Meta, seed: int = 0) -> Net:
    """A fresh net for a world; its weights depend on the seed alone."""
    # The caller's own chance is left as it was.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return world_net(build(meta), meta)


def copy_net(net: Net, meta: Meta) -> Net:
    """A second net with the same weights, in evaluation mode."""
    twin = world_net(build(meta), meta)
    # Copies: no memory is shared with the original.
    twin.load_state_dict(net.state_dict())
    twin.eval()
    return twin
