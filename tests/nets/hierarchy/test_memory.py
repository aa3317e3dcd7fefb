"""Memories: one pass over time equals one step after the other, and the libraries they follow."""

import runpy
import sys
import types

import pytest
import torch
from torch import nn

from levelcap.nets.hierarchy import ssd
from levelcap.nets.hierarchy.longconv import LongConvolution
from levelcap.nets.hierarchy.lstm import Lstm
from levelcap.nets.hierarchy.ssd import Ssd, SsdStack

WIDTH, ROWS = 24, 5


def _memories():
    torch.manual_seed(3)
    memories = {
        "ssd": SsdStack(WIDTH, 2, 16),
        "lstm": Lstm(WIDTH, 2),
        "longconv": LongConvolution(WIDTH),
        "batch": SsdStack(WIDTH, 1, 16, "batch").eval(),
    }
    # Louder than it begins: its filter shall matter in what is compared.
    nn.init.normal_(memories["longconv"].filter.out.weight, std=5.0)
    return memories


def _walk(memory, x, state, reset):
    """One step after the other."""
    seen = []
    for t in range(len(x)):
        y, state = memory(x[t : t + 1], state, reset[t : t + 1])
        seen.append(y)
    return torch.cat(seen), state


@pytest.mark.parametrize("name", ["ssd", "lstm", "longconv", "batch"])
@pytest.mark.parametrize("length", [2, 63, 130])
def test_one_pass_and_single_steps_agree(name, length):
    memory = _memories()[name]
    x = torch.randn(length, ROWS, WIDTH)
    reset = torch.rand(length, ROWS) < 0.05
    state = {n: torch.randn_like(t) for n, t in memory.initial_state(ROWS).items()}
    whole, after = memory(x, state, reset)
    walked, end = _walk(memory, x, state, reset)
    torch.testing.assert_close(whole, walked, atol=1e-5, rtol=1e-5)
    for key in after:
        torch.testing.assert_close(after[key], end[key], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["ssd", "lstm", "longconv", "batch"])
def test_rows_stop_where_their_steps_end(name):
    memory = _memories()[name]
    counts = torch.tensor([1, 4, 0, 7, 2])
    x = torch.randn(7, ROWS, WIDTH)
    valid = torch.arange(7)[:, None] < counts
    reset = (torch.rand(7, ROWS) < 0.3) & valid
    state = {n: torch.randn_like(t) for n, t in memory.initial_state(ROWS).items()}
    out, after = memory(x, state, reset, valid)
    for row, count in enumerate(counts.tolist()):
        mine = {n: t[row : row + 1] for n, t in state.items()}
        one = (slice(0, count), slice(row, row + 1))
        alone, end = _walk(memory, x[one], mine, reset[one]) if count else (x[:0, :1], mine)
        torch.testing.assert_close(out[one], alone, atol=1e-5, rtol=1e-5)
        for key in after:
            torch.testing.assert_close(after[key][row], end[key][0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["ssd", "lstm", "longconv", "batch"])
def test_a_new_match_knows_nothing_of_the_last(name):
    memory = _memories()[name]
    x = torch.randn(20, ROWS, WIDTH)
    reset = torch.zeros(20, ROWS, dtype=torch.bool)
    reset[9] = True
    noisy = {n: torch.randn_like(t) for n, t in memory.initial_state(ROWS).items()}
    other = x.clone()
    other[:9] = torch.randn(9, ROWS, WIDTH)
    first, _ = memory(x, noisy, reset)
    second, _ = memory(other, memory.initial_state(ROWS), reset)
    torch.testing.assert_close(first[9:], second[9:], atol=1e-5, rtol=1e-5)
    # Without the beginning the past does reach through.
    third, _ = memory(other, noisy, torch.zeros_like(reset))
    assert not torch.allclose(first[9:], third[9:], atol=1e-3)


def test_ssd_equals_mamba2_of_transformers():
    from transformers import Mamba2Config
    from transformers.models.mamba2.modeling_mamba2 import Mamba2Mixer

    torch.manual_seed(0)
    mine = Ssd(WIDTH, state=16, head=12)
    config = Mamba2Config(
        hidden_size=WIDTH,
        state_size=16,
        num_heads=mine.heads,
        head_dim=mine.head,
        n_groups=1,
        expand=2,
        conv_kernel=4,
        chunk_size=8,
        use_bias=False,
        use_conv_bias=True,
        time_step_limit=(0.0, float("inf")),
        rms_norm=True,
    )
    theirs = Mamba2Mixer(config, layer_idx=0)
    nn.init.normal_(mine.D)
    weights = {n: t for n, t in mine.state_dict().items() if not n.startswith("norm_in")}
    theirs.load_state_dict(weights)
    x = torch.randn(21, 3, WIDTH)
    y, _ = mine.mix(x, mine.initial_state(3), torch.zeros(21, 3, dtype=torch.bool))
    expected = theirs(x.transpose(0, 1)).transpose(0, 1)
    torch.testing.assert_close(y, expected, atol=1e-5, rtol=1e-4)


def test_a_long_convolution_is_the_sum_over_its_lags():
    memory = _memories()["longconv"]
    x = torch.randn(40, 2, WIDTH)
    state = {n: torch.randn_like(t) for n, t in memory.initial_state(2).items()}
    long = torch.cat((state["past"].transpose(0, 1), x))
    found = memory._convolve(long, torch.zeros(40, 2, dtype=torch.int64))
    weights = memory.filter()
    for t in (0, 17, 39):
        window = long[t : t + 1024].flip(0)  # the newest under lag 0
        expected = (window * weights[:, None]).sum(0)
        torch.testing.assert_close(found[t], expected, atol=1e-4, rtol=1e-4)


def _recurrence(x, dt, A, B, C, chunk, initial_states, seq_idx, return_final_states):
    """What mamba_ssm's scan computes, rows first, one step after the other."""
    assert return_final_states and seq_idx.dtype == torch.int32 and chunk > 0
    h, before, seen = initial_states, torch.zeros_like(seq_idx[:, 0]), []
    for t in range(x.shape[1]):
        h = h * (seq_idx[:, t] == before)[:, None, None, None]
        before = seq_idx[:, t]
        decay = torch.exp(dt[:, t] * A)[..., None, None]
        h = h * decay + (x[:, t] * dt[:, t, :, None])[..., None] * B[:, t, :, None]
        seen.append((h * C[:, t, :, None]).sum(-1))
    return torch.stack(seen, 1), h


def test_the_cuda_package_does_the_scan_where_it_can_be_imported(monkeypatch):
    memory = _memories()["ssd"]
    x, reset = torch.randn(30, ROWS, WIDTH), torch.rand(30, ROWS) < 0.1
    state = {n: torch.randn_like(t) for n, t in memory.initial_state(ROWS).items()}
    expected, after = memory(x, state, reset)
    asked = []

    def fake(*values, **named):
        asked.append(len(values))
        return _recurrence(*values, **named)

    monkeypatch.setattr(ssd, "mamba_chunk_scan_combined", fake)
    monkeypatch.setattr(ssd, "MAMBA_AVAILABLE", True)
    memory(x, state, reset)
    assert asked == []  # its kernels need another device
    monkeypatch.setattr(ssd, "KERNEL_DEVICES", ("cpu",))
    found, end = memory(x, state, reset)
    assert len(asked) == 2  # a block each
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    for key in after:
        torch.testing.assert_close(end[key], after[key], atol=1e-5, rtol=1e-5)


def test_the_cuda_package_is_known_when_it_can_be_imported(monkeypatch):
    assert not ssd.MAMBA_AVAILABLE
    inner = types.ModuleType("mamba_ssm.ops.triton.ssd_combined")
    inner.mamba_chunk_scan_combined = _recurrence
    for name in ("mamba_ssm", "mamba_ssm.ops", "mamba_ssm.ops.triton"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, inner.__name__, inner)
    assert runpy.run_path(ssd.__file__)["MAMBA_AVAILABLE"]


def test_lstm_equals_torch():
    torch.manual_seed(0)
    mine = Lstm(WIDTH, 2)
    x = torch.randn(17, ROWS, WIDTH)
    y, state = mine(x, mine.initial_state(ROWS), torch.zeros(17, ROWS, dtype=torch.bool))
    expected, (h, c) = mine.lstm(x)
    torch.testing.assert_close(y, expected, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(state["h"].transpose(0, 1), h, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(state["c"].transpose(0, 1), c, atol=1e-6, rtol=1e-5)
