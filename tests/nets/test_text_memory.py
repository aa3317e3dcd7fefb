"""The memory calculator against peaks of real updates."""

import pytest
from torch.profiler import ProfilerActivity, profile

from levelcap.kit.errors import BadValue
from levelcap.learn.engine.optim import make_optimizer
from levelcap.learn.engine.schedule import Ema
from levelcap.learn.text.lessons import Lesson
from levelcap.learn.text.update import backward, make_batch
from levelcap.nets.meta import text_meta
from levelcap.nets.text.memory import training_memory
from levelcap.nets.text.qwen3 import fresh_text_net
from levelcap.nets.text.shape import SIZES, TextShape

TINY = TextShape(164, *SIZES["tiny"])


def peak(shape, batch, length, optimizer):
    """Most bytes that torch held at a time in two updates from nothing."""
    lessons = [Lesson("current", [3] * (length - length // 2 + 1), [4] * (length // 2))] * batch
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        net = fresh_text_net(text_meta(shape, "tiny"), 0)
        steps = make_optimizer(
            net, optimizer, lr=1e-3, hidden_lr=1e-2, weight_decay=0.0, betas=(0.9, 0.95), eps=1e-8
        )
        slow = Ema(net, 0.95)
        for _ in range(2):
            steps.zero_grad(set_to_none=True)
            backward(net, [make_batch(lessons, 0)])  # two cores hold both halves at once
            steps.step()
            slow.update(net, 100)
    events = profiled.profiler.kineto_results.events()
    held = most = 0
    for event in sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
@pytest.mark.parametrize("batch,length", [(8, 64), (30, 64), (8, 256), (64, 96)])
def test_the_calculator_agrees_with_peaks_of_the_tiny_hero(batch, length, optimizer):
    said = training_memory(TINY, batch, length).total
    assert said == pytest.approx(peak(TINY, batch, length, optimizer), rel=0.15)


def test_the_calculator_adds_up():
    found = training_memory(TINY, 30, 64)
    count = TINY.parameters
    assert found.weights == found.gradients == 4 * count and found.optimizer == 8 * count
    kept = 3 * (6 * 128 + 4 * 128 + 4 * 64 + 4 * 384) + 3 * 128 + 164
    assert found.activations == 30 * 64 * 4 * kept
    assert found.sentence() == f"batch_size=30 uses about {found.total / 2**30:.2g} GB"
    spared = training_memory(TINY, 30, 64, checkpointing=True)
    assert spared.activations == pytest.approx(found.activations / 3**0.5)
    colours = [found.colour(found.total / share) for share in (0.7, 0.8, 0.9, 0.91)]
    assert colours == ["green", "amber", "amber", "red"]
    with pytest.raises(BadValue, match="batch"):
        training_memory(TINY, 0, 64)
