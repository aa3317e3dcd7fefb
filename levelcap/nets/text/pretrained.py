"""Published Qwen3 folders (config.json, *.safetensors, tokenizer.json) <-> our net.

`transformers` reads and writes them; it is imported here and nowhere else, inside the functions,
because it takes seconds to load.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from levelcap.kit.errors import BadFile, refuse
from levelcap.nets.meta import Meta, text_meta
from levelcap.nets.text.qwen3 import Qwen3Net
from levelcap.nets.text.shape import TextShape
from levelcap.nets.text.tokens import Tokens, file_tokens

# A number of `TextShape` -> what a Qwen3Config calls it.
NAMES = {
    "vocab": "vocab_size",
    "hidden": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "ffn": "intermediate_size",
    "tied": "tie_word_embeddings",
    "norm_eps": "rms_norm_eps",
}


def load_published(folder: Path, positions: int = 4096) -> tuple[Qwen3Net, Tokens, Meta]:
    """The net of a Qwen3 folder on this disk, its tokenizer and its description.

    Args:
        folder: what `save_pretrained` wrote, with tokenizer.json beside it. Nothing is downloaded.
        positions: longest text to prepare for.

    Raises:
        BadFile: the folder is missing, or holds another kind of model.
    """
    from transformers import AutoConfig, Qwen3ForCausalLM

    if not (folder / "config.json").is_file():
        remedy = "Put the weights of a Qwen3 there, or use dio-tiny, which needs none"
        raise BadFile(refuse("no model folder", str(folder), remedy))
    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    if config.model_type != "qwen3":
        raise BadFile(refuse("not a Qwen3", config.model_type, "Give the folder of a Qwen3"))
    # Never a pickle: safetensors or nothing.
    theirs = Qwen3ForCausalLM.from_pretrained(
        folder, local_files_only=True, dtype=torch.float32, use_safetensors=True
    )
    meta = text_meta(shape_of(config, positions), folder.name)
    net = Qwen3Net(meta)
    # Same names and shapes; only a tied head is stored twice there.
    net.load_state_dict(_ours(theirs.state_dict(), meta))
    net.eval()
    return net, file_tokens(folder / "tokenizer.json"), meta


def shape_of(config: Any, positions: int) -> TextShape:
    """What a Qwen3Config says, in our words."""
    rope = config.rope_parameters
    # What our net does not compute must not be loaded as if it did.
    if rope["rope_type"] != "default" or config.attention_bias or config.use_sliding_window:
        what = "only plain Qwen3 is read: default rope, no attention bias, no sliding window"
        raise BadFile(refuse(what, rope["rope_type"], "Use another model"))
    return TextShape(
        **{ours: getattr(config, theirs) for ours, theirs in NAMES.items()},
        rope_theta=float(rope["rope_theta"]),
        positions=min(positions, config.max_position_embeddings),
    )


def to_transformers(net: Qwen3Net) -> Any:
    """The same net as a `Qwen3ForCausalLM`, e.g. to save it as a folder others can read."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    shape = net.shape
    config = Qwen3Config(
        **{theirs: getattr(shape, ours) for ours, theirs in NAMES.items()},
        max_position_embeddings=shape.positions,
        rope_parameters={"rope_type": "default", "rope_theta": shape.rope_theta},
    )
    theirs = Qwen3ForCausalLM(config)  # type: ignore[no-untyped-call]
    weights = dict(net.state_dict())
    if shape.tied:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    theirs.load_state_dict(weights)
    theirs.eval()  # type: ignore[no-untyped-call]
    return theirs


def _ours(weights: dict[str, torch.Tensor], meta: Meta) -> dict[str, torch.Tensor]:
    assert meta.text is not None
    return {n: w for n, w in weights.items() if not (meta.text.tied and n == "lm_head.weight")}
