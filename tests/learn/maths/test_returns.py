"""Targets against numbers worked by hand, against sums written out from the papers, and laws."""

import numpy as np
import pytest
import torch

from levelcap.learn.maths.returns import td_lambda_targets, upgo_returns, vtrace


def column(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)[:, None]


def flags(*numbers):
    return torch.tensor(numbers, dtype=torch.bool)[:, None]


def random_trace(seed, steps=7, lanes=5, ends=0.2):
    """A trace with matches ending inside it; next_values follow values except at the ends."""
    rng = np.random.default_rng(seed)

    def draw(scale=1.0):
        return torch.tensor(rng.normal(size=(steps, lanes)) * scale)

    values, last = draw(), torch.tensor(rng.normal(size=(1, lanes)))
    terminated = torch.tensor(rng.random((steps, lanes)) < ends)
    truncated = torch.tensor(rng.random((steps, lanes)) < ends) & ~terminated
    next_values = torch.cat([values[1:], last])
    next_values = torch.where(truncated, draw(), next_values)
    return {
        "rewards": draw(),
        "values": values,
        "next_values": next_values,
        "terminated": terminated,
        "truncated": truncated,
    }


def without_values(trace):
    return {name: tensor for name, tensor in trace.items() if name != "values"}


def vtrace_by_sums(log_rhos, trace, gamma, lambda_, rho_bar, c_bar):
    """v_s = V + sum over t of gamma^(t-s) (prod of c) delta_t, written out, lane by lane."""
    steps, lanes = trace["rewards"].shape
    ratio = log_rhos.exp().numpy()
    r, v, nv = (trace[k].numpy() for k in ("rewards", "values", "next_values"))
    end, cut = trace["terminated"].numpy(), trace["truncated"].numpy()
    out = np.zeros((steps, lanes))
    for lane in range(lanes):
        for s in range(steps):
            total, weight = 0.0, 1.0
            for t in range(s, steps):
                rho = min(rho_bar, ratio[t, lane])
                follow = 0.0 if end[t, lane] else gamma * nv[t, lane]
                total += weight * rho * (r[t, lane] + follow - v[t, lane])
                if end[t, lane] or cut[t, lane]:
                    break
                weight *= gamma * lambda_ * min(c_bar, ratio[t, lane])
            out[s, lane] = v[s, lane] + total
    return out


def test_vtrace_by_hand():
    # gamma .5, rho = c = (1, .5 after cutting nothing, 1): log ratios 0, ln .5, ln 4 -> 1, .5, 1.
    out = vtrace(
        column(0, np.log(0.5), np.log(4)),
        column(1, 0, 2),
        column(1, 2, 3),
        column(2, 3, 4),
        flags(0, 0, 0),
        flags(0, 0, 0),
        gamma=0.5,
    )
    # deltas: 1(1 + 1 - 1) = 1; .5(0 + 1.5 - 2) = -.25; 1(2 + 2 - 3) = 1.
    # errors: e2 = 1; e1 = -.25 + .5*.5*1 = 0; e0 = 1 + .5*1*0 = 1.
    assert out.targets[:, 0].tolist() == [2.0, 2.0, 4.0]
    # advantages: 1(1 + .5*2 - 1) = 1; .5(0 + .5*4 - 2) = 0; 1(2 + .5*4 - 3) = 1.
    assert out.advantages[:, 0].tolist() == [1.0, 0.0, 1.0]


def test_td_lambda_by_hand():
    # gamma .5, lambda .5. G2 = 4 + .5*6 = 7; G1 = 2 + .5(.5*4 + .5*7) = 4.75;
    # G0 = 0 + .5(.5*2 + .5*4.75) = 1.6875.
    out = td_lambda_targets(
        column(0, 2, 4), column(2, 4, 6), flags(0, 0, 0), flags(0, 0, 0), gamma=0.5, lambda_=0.5
    )
    assert out[:, 0].tolist() == [1.6875, 4.75, 7.0]


def test_upgo_by_hand():
    # gamma 1. Step 2: G = 1 + 5 = 6. Step 1 follows if r2 + V3 = 6 >= V2 = 3: 0 + 6 = 6.
    # Step 0 follows if r1 + V2 = 3 >= V1 = 4: no, so 2 + V1 = 6.
    out = upgo_returns(
        column(2, 0, 1), column(0, 4, 3), column(4, 3, 5), flags(0, 0, 0), flags(0, 0, 0), gamma=1.0
    )
    assert out[:, 0].tolist() == [6.0, 6.0, 6.0]


@pytest.mark.parametrize("seed", range(10))
def test_vtrace_is_the_sum_of_the_paper(seed):
    trace = random_trace(seed)
    log_rhos = torch.tensor(np.random.default_rng(seed + 99).normal(size=(7, 5)))
    out = vtrace(log_rhos, **trace, gamma=0.9, lambda_=0.8, rho_bar=1.2, c_bar=0.9)
    expected = vtrace_by_sums(log_rhos, trace, 0.9, 0.8, 1.2, 0.9)
    np.testing.assert_allclose(out.targets.numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_on_policy_vtrace_is_the_n_step_return(seed):
    trace = random_trace(seed)
    zeros = torch.zeros_like(trace["rewards"])
    out = vtrace(zeros, **trace, gamma=0.9)
    returns = td_lambda_targets(**without_values(trace), gamma=0.9, lambda_=1.0)
    torch.testing.assert_close(out.targets, returns, rtol=1e-12, atol=1e-12)


def test_two_matches_in_one_trace_are_two_traces():
    one, two = random_trace(1, ends=0), random_trace(2, ends=0)
    one["terminated"][-1] = True
    both = {name: torch.cat([one[name], two[name]]) for name in one}
    log_rhos = torch.tensor(np.random.default_rng(5).normal(size=(14, 5)))
    for part, rows in ((one, slice(0, 7)), (two, slice(7, 14))):
        for field in ("targets", "advantages"):
            whole = getattr(vtrace(log_rhos, **both, gamma=0.9), field)[rows]
            alone = getattr(vtrace(log_rhos[rows], **part, gamma=0.9), field)
            torch.testing.assert_close(whole, alone)
        torch.testing.assert_close(
            upgo_returns(**both, gamma=0.9)[rows], upgo_returns(**part, gamma=0.9)
        )
        torch.testing.assert_close(
            td_lambda_targets(**without_values(both), gamma=0.9, lambda_=0.7)[rows],
            td_lambda_targets(**without_values(part), gamma=0.9, lambda_=0.7),
        )


def test_termination_forgets_the_next_value_and_truncation_does_not():
    for end, cut, expected in ((1, 0, 1.0), (0, 1, 1.0 + 0.5 * 8)):
        arguments = (column(1), column(8), flags(end), flags(cut))
        assert td_lambda_targets(*arguments, gamma=0.5, lambda_=0.9).item() == expected
        out = vtrace(column(0), column(1), column(0), *arguments[1:], gamma=0.5)
        assert out.targets.item() == out.advantages.item() == expected
        upgo = upgo_returns(column(1), column(0), *arguments[1:], gamma=0.5)
        assert upgo.item() == expected


def test_the_rewarded_last_step_keeps_its_advantage():
    out = vtrace(
        column(0, 0),
        column(0, 1),
        column(0.25, 0.5),
        column(0.5, 99),
        flags(0, 1),
        flags(0, 0),
        gamma=0.99,
    )
    assert out.advantages[1].item() == 0.5  # 1 - V, nothing of the next match's 99


def test_shapes_are_checked():
    with pytest.raises(AssertionError, match="values must be"):
        vtrace(column(0), column(1), column(0, 1), column(1), flags(0), flags(0), gamma=0.9)
