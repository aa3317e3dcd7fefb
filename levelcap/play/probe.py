"""Does this folder hold a net that works? A process of its own: the folder may be anybody's.

    python -m levelcap.play.probe FOLDER      # one line of JSON: {"ok": true, …} or the problem

Hashes say that bytes arrived; they do not say that the bytes are a net. So the description is
checked first (nothing is allocated for a wish), then the shapes of the stored tensors against the
net built without memory, then the net is loaded, shown 64 observations that a bot's play has
recorded, or prompts, and asked for one decision, or answer. What has no torch (Keeper, vault)
starts this file and reads the line.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadFile, LevelcapError, refuse
from levelcap.kit.files import read_json
from levelcap.nets.limits import check_limits, check_parameters
from levelcap.nets.meta import Meta, check_fits, meta_from_json
from levelcap.world.spec import WORLDS, arena_spec

MEMORY_BYTES = 2 << 30
SECONDS = 20.0
OBSERVATIONS = 64
APART = 10  # decisions between two looks at the match, so that they differ
MAX_JSON_BYTES = 4 << 20
REMEDY = "Give a checkpoint that levelcap trained"


def probe(place: Path) -> dict[str, Any]:
    """What is known of the net after it has worked once.

    Raises:
        BadFile, Corrupt: it does not, and why.
    """
    meta = described(place)
    if meta.text is None:
        seen = recorded(meta)  # our own code, compiled on a new machine: before the clock runs
        confine()
        _check_shapes(place, meta)
        return _decides(place, *seen)
    confine()
    _check_shapes(place, meta)
    return _answers(place)


def described(place: Path) -> Meta:
    """The description, if its sizes are within bounds and its world is ours."""
    path = place / "meta.json"
    if path.stat().st_size > MAX_JSON_BYTES:
        raise BadFile(refuse("meta.json is too long", path.stat().st_size, REMEDY))
    meta = meta_from_json(read_json(path), "meta.json")
    check_limits(meta)
    if (meta.text is None) != (meta.architecture != "qwen3"):
        raise BadFile(refuse("this architecture has no such shape", meta.architecture, REMEDY))
    if meta.text is not None:
        return meta
    if meta.world not in WORLDS:
        remedy = f"Give a net of one of {', '.join(WORLDS)}"
        raise BadFile(refuse("a net of a world that is not ours", meta.world, remedy))
    spec = arena_spec(meta.world, meta.patch)
    check_fits(meta, spec)
    names = tuple(head.name for head in spec.heads)
    said = (meta.head_names, meta.aim_heads, meta.aim_users)
    if said != (names, spec.aim_heads, spec.aim_users) or not meta.views:
        raise BadFile(refuse(f"heads or views are not those of {spec.name}", said, REMEDY))
    return meta


def confine() -> None:
    """From here on at most 2 GiB of memory and 20 s; whoever takes more is ended by the kernel.

    RLIMIT_AS would count every library torch maps; RLIMIT_DATA counts what is really taken.
    """
    import torch

    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)


def recorded(meta: Meta) -> tuple[Any, dict[str, NDArray[Any]]]:
    """A world the net was made for, and 64 rows of its views from a bot's matches."""
    from levelcap.play.roster import find
    from levelcap.play.seats import Seats
    from levelcap.world import make
    from levelcap.world.protocols import ALWAYS

    bot = find("rookie")
    names = tuple(dict.fromkeys((*meta.views, *bot.views)))
    world = make(meta.world, num_matches=4, patch=meta.patch, views=names, threads=1)
    shape = (world.num_matches, world.spec.num_players)
    table = Seats(world, [bot], np.zeros(shape, np.int64))
    views = world.reset()
    looks: list[dict[str, NDArray[Any]]] = []
    while len(looks) * shape[0] * shape[1] < OBSERVATIONS:
        for _ in range(APART):
            views = world.step(table.act(views))[0]
        kept = (*meta.views, *ALWAYS)
        looks.append({n: views[n].reshape(-1, *views[n].shape[2:]).copy() for n in kept})
    rows = {name: np.concatenate([look[name] for look in looks]) for name in looks[0]}
    return world, {name: row[:OBSERVATIONS] for name, row in rows.items()}


def _check_shapes(place: Path, meta: Meta) -> None:
    """Stored tensors against those of the net, which is built on a device without memory."""
    import torch
    from safetensors import SafetensorError, safe_open

    from levelcap.nets.checkpoint import MODEL
    from levelcap.nets.family import build
    from levelcap.nets.net import count_parameters

    with torch.device("meta"):
        net = build(meta)
    check_parameters(count_parameters(net))
    wanted = {name: tuple(tensor.shape) for name, tensor in net.state_dict().items()}
    try:
        with safe_open(place / MODEL, framework="pt") as file:
            found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}
            odd = [n for n in found if file.get_slice(n).get_dtype() not in ("F32", "F16", "BF16")]
    except SafetensorError as error:
        raise BadFile(refuse(f"not a file of weights ({error})", MODEL, REMEDY)) from error
    for what, names in (
        ("weights are missing", set(wanted) - set(found)),
        ("weights that the net does not have", set(found) - set(wanted)),
        ("weights of another shape", {n for n in wanted if found.get(n) != wanted[n]}),
        ("weights that are no floats", set(odd)),
    ):
        if names:
            raise BadFile(refuse(f"{what} than meta.json says", sorted(names)[:4], REMEDY))


def _decides(place: Path, world: Any, rows: dict[str, NDArray[Any]]) -> dict[str, Any]:
    from levelcap.play.load import load_checkpoint

    policy = load_checkpoint(place)
    policy.bind(world)
    out = policy.think(rows, policy.initial_state(OBSERVATIONS))
    # A critic that reads what no player may see has no value to tell here.
    _refuse_infinite(out.logits, *(() if policy.net.critic_views else (out.values,)))
    one = {name: row[:1] for name, row in rows.items()}
    actions = policy.act(one, policy.initial_state(1)).actions
    bins = [head.size for head in world.spec.heads]
    if actions.shape != (1, len(bins)) or not ((actions >= 0) & (actions < bins)).all():
        raise BadFile(refuse("its decision is none", actions.tolist(), REMEDY))
    return _passed(policy.meta, policy.net)


def _answers(place: Path) -> dict[str, Any]:
    import torch

    from levelcap.guild.alphabet import load_alphabet
    from levelcap.play.answers import BETWEEN, load_text_hero

    hero = load_text_hero(place)
    shape, alphabet = hero.net.shape, load_alphabet()
    if shape.alphabet_version == alphabet.version:
        if shape.characters != "".join(alphabet.characters):
            what = f"the characters are not those of alphabet v{alphabet.version}"
            raise BadFile(refuse(what, shape.characters, REMEDY))
    # Single characters, so that every token of the alphabet is read once.
    letters = [c for c in shape.characters if c != BETWEEN]
    prompts = [a + b for a, b in zip(letters, letters[1:] + letters[:1], strict=True)]
    tokens = torch.tensor(hero.tokens.encode_all(prompts))
    with torch.inference_mode():
        logits, _ = hero.net.begin(tokens, torch.full((len(prompts),), 2), 3)
    _refuse_infinite(logits)
    hero.answers(prompts[:1], longest=4)
    return _passed(hero.meta, hero.net)


def _refuse_infinite(*results: Any) -> None:
    for result in results:
        if not np.isfinite(result.numpy()).all():
            bad = int((~np.isfinite(result.numpy())).sum())
            raise BadFile(refuse("what the net says is not finite", f"{bad} numbers", REMEDY))


def _passed(meta: Meta, net: Any) -> dict[str, Any]:
    from levelcap.nets.net import count_parameters

    told = {"architecture": meta.architecture, "world": meta.world}
    return {"ok": True, **told, "parameters": count_parameters(net)}


def main() -> None:
    """Probe the folder named on the command line."""
    place = Path(sys.argv[1])
    try:
        report = probe(place)
    except (LevelcapError, RuntimeError, MemoryError, OSError) as error:
        told = " ".join(str(error).split()).replace(str(place), place.name)
        report = {"ok": False, "problem": told[:500] or type(error).__name__}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
