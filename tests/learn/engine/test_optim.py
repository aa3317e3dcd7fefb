"""Optimizers against torch's own, schedules and the slow copy against sums done by hand."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from levelcap.kit.errors import UnknownName
from levelcap.learn.engine.optim import MuonAdamW, make_optimizer, orthogonalise
from levelcap.learn.engine.schedule import Ema, ema_decay, lr_factor


def two_copies(*shape):
    torch.manual_seed(0)
    one = torch.nn.Parameter(torch.randn(*shape))
    return one, torch.nn.Parameter(one.detach().clone())


def test_adamw_is_torchs_adamw():
    ours, theirs = two_copies(7, 5)
    mine = MuonAdamW([dict(params=[ours], lr=1e-2, betas=(0.8, 0.95), weight_decay=0.1)])
    peer = torch.optim.AdamW([theirs], lr=1e-2, betas=(0.8, 0.95), eps=1e-8, weight_decay=0.1)
    for step in range(20):
        grad = torch.randn(7, 5, generator=torch.Generator().manual_seed(step))
        ours.grad, theirs.grad = grad.clone(), grad.clone()
        mine.step()
        peer.step()
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(32, 32), (48, 16), (16, 48)])
def test_muon_is_torchs_muon(shape):
    ours, theirs = two_copies(*shape)
    mine = MuonAdamW([dict(params=[ours], lr=0.02, momentum=0.95, use_muon=True)])
    peer = torch.optim.Muon([theirs], lr=0.02, momentum=0.95, weight_decay=0.0, nesterov=True)
    for step in range(5):
        grad = torch.randn(*shape, generator=torch.Generator().manual_seed(step))
        ours.grad, theirs.grad = grad.clone(), grad.clone()
        mine.step()
        peer.step()
    # torch's iterates in bfloat16: three digits.
    moved = (theirs - two_copies(*shape)[0]).abs().max()
    assert (ours - theirs).abs().max() < 0.05 * moved


def test_orthogonalised_matrices_have_singular_values_near_one():
    matrix = torch.randn(40, 20, generator=torch.Generator().manual_seed(1))
    values = torch.linalg.svdvals(orthogonalise(matrix))
    assert 0.6 < values.min() and values.max() < 1.3


def test_with_a_helper_every_matrix_takes_the_same_step():
    generator = torch.Generator().manual_seed(3)
    starts = [torch.randn(n, 8, generator=generator) for n in (8, 16, 4, 8, 8)]
    grads = [[torch.randn(s.shape, generator=generator) for s in starts] for _ in range(3)]
    ends = []
    with ThreadPoolExecutor(1) as pool:
        for helper in (None, pool):
            params = [torch.nn.Parameter(s.clone()) for s in starts]
            groups = [dict(params=params[:2]), dict(params=params[2:], use_muon=True)]
            optimizer = MuonAdamW(groups)
            optimizer.helper = helper
            for row in grads:
                for parameter, grad in zip(params, row, strict=True):
                    parameter.grad = grad.clone()
                optimizer.step()
            ends.append(params)
    for one, other, start in zip(*ends, starts, strict=True):
        assert torch.equal(one, other) and not torch.equal(one, start)


def test_muon_takes_inner_matrices_and_adamw_the_rest():
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 8))
    net.hidden_matrices = lambda: [net[1].weight]  # type: ignore[assignment]
    made = make_optimizer(
        net, "muon", lr=1e-3, hidden_lr=0.02, weight_decay=0.0, betas=(0.9, 0.99), eps=1e-8
    )
    assert [len(g["params"]) for g in made.param_groups] == [3, 1]
    assert made.param_groups[1]["use_muon"] and made.param_groups[1]["peak_lr"] == 0.02
    with pytest.raises(UnknownName, match="muon"):
        make_optimizer(net, "muo", lr=1, hidden_lr=1, weight_decay=0, betas=(0, 0), eps=1)


def test_the_rate_warms_up_and_falls_along_a_cosine():
    rate = [
        lr_factor(n, 110, name="cosine", warmup=10, final_share=0.1)
        for n in (0, 9, 10, 60, 110, 999)
    ]
    assert rate == pytest.approx([1 / 11, 10 / 11, 1.0, 0.55, 0.1, 0.1])
    assert lr_factor(500, None, name="cosine", warmup=10, final_share=0.1) == 1.0
    assert lr_factor(500, 600, name="constant", warmup=10, final_share=0.1) == 1.0


def test_the_slow_copy_starts_fast_and_is_never_longer_than_a_twentieth_of_the_run():
    assert ema_decay(0, 0.99, None) == pytest.approx(0.1)
    assert ema_decay(10_000, 0.99, None) == 0.99
    assert ema_decay(10_000, 0.99, 400) == pytest.approx(1 - 1 / 20)
    net = torch.nn.Linear(1, 1, bias=False)
    net.weight.data.fill_(0.0)
    ema = Ema(net, 0.5)
    net.weight.data.fill_(1.0)
    ema.update(net, None)  # decay .1: 0 -> .9
    ema.update(net, None)  # decay 2/11
    assert float(ema.weights["weight"]) == pytest.approx(0.9 + 0.1 * (1 - 2 / 11))


def test_slow_weights_are_swapped_in_and_back_whatever_happens():
    net = torch.nn.Linear(2, 1)
    ema = Ema(net, 0.999)
    slow = {name: tensor.clone() for name, tensor in ema.weights.items()}
    with torch.no_grad():
        net.weight += 1.0
    own = net.weight.clone()
    with ema.average_parameters(net) as averaged:
        assert averaged is net and torch.equal(net.weight, slow["weight"])
    assert torch.equal(net.weight, own)
    with pytest.raises(KeyError), ema.average_parameters(net):
        raise KeyError
    assert torch.equal(net.weight, own)
    # Off: the slow copy is the net itself.
    off = Ema(net, 0.0)
    with torch.no_grad():
        net.weight += 1.0
    off.update(net, None)
    assert torch.equal(off.weights["weight"], net.weight)
