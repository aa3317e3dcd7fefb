"""Our targets against those of an independent library, rlax.

rlax needs jax and lives in the environment of `make bench-peers`, so its answers stand here as
literals, made by

    .venv-peers/bin/python benchmarks/peers/rlax_arrays.py

How the two correspond: rlax's v_tm1, v_t, r_t are our values, next_values, rewards; its discount_t
is gamma, and 0 where we say `terminated`; its errors are our targets - values; its weights c are
always cut at 1 (our c_bar = 1), and its clip_rho_threshold = clip_pg_rho_threshold is our rho_bar.

One definition differs. rlax's advantage looks ahead to lambda v_{t+1} + (1 - lambda) V_{t+1}, ours
(IMPALA, section 4.2) to the V-trace target v_{t+1} alone. So ours = theirs
+ rho_t gamma (1 - lambda) (v_{t+1} - V_{t+1}) wherever a step of the same match follows in the
trace, and the same number elsewhere and for lambda = 1.
"""

import numpy as np
import pytest
import torch

from levelcap.learn.maths.returns import td_lambda_targets, vtrace

GAMMA = 0.9
# rlax 0.1.9
RLAX = [
    {
        "name": "on policy",
        "rewards": [1.0, -0.5, 0.25, 0.0, 2.0, -1.0],
        "values": [0.3, 1.2, -0.4, 0.9, 0.1, -0.7],
        "next_values": [1.2, -0.4, 0.9, 0.1, -0.7, 0.6],
        "discounts": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
        "rhos": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        "cut": -1,
        "lambda_": 1.0,
        "rho_bar": 1.0,
        "errors": [1.4930746, -0.318806, 1.93466, 0.5274, 1.486, 0.24],
        "advantages": [1.4930746, -0.318806, 1.93466, 0.5274, 1.486, 0.24],
        "returns": [1.7930746, 0.881194, 1.53466, 1.4274, 1.586, -0.46],
    },
    {
        "name": "on policy, lambda .8",
        "rewards": [1.0, -0.5, 0.25, 0.0, 2.0, -1.0],
        "values": [0.3, 1.2, -0.4, 0.9, 0.1, -0.7],
        "next_values": [1.2, -0.4, 0.9, 0.1, -0.7, 0.6],
        "discounts": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
        "rhos": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        "cut": -1,
        "lambda_": 0.8,
        "rho_bar": 1.0,
        "errors": [1.139069114368, -0.8901817856, 1.62474752, 0.228816, 1.4428, 0.24],
        "advantages": [1.139069114368, -0.8901817856, 1.62474752, 0.228816, 1.4428, 0.24],
        "returns": [1.439069114368, 0.3098182144, 1.22474752, 1.128816, 1.5428, -0.46],
    },
    {
        "name": "off policy, weights cut at 1",
        "rewards": [1.0, -0.5, 0.25, 0.0, 2.0, -1.0],
        "values": [0.3, 1.2, -0.4, 0.9, 0.1, -0.7],
        "next_values": [1.2, -0.4, 0.9, 0.1, -0.7, 0.6],
        "discounts": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
        "rhos": [0.4, 1.7, 1.0, 0.05, 3.0, 0.8],
        "cut": -1,
        "lambda_": 1.0,
        "rho_bar": 1.0,
        "errors": [0.4505626216, -0.72621494, 1.4819834, 0.024426, 1.4428, 0.192],
        "advantages": [0.4505626216, -0.72621494, 1.4819834, 0.024426, 1.4428, 0.192],
        "returns": [1.7930746, 0.881194, 1.53466, 1.4274, 1.586, -0.46],
    },
    {
        "name": "off policy, lambda .8",
        "rewards": [1.0, -0.5, 0.25, 0.0, 2.0, -1.0],
        "values": [0.3, 1.2, -0.4, 0.9, 0.1, -0.7],
        "next_values": [1.2, -0.4, 0.9, 0.1, -0.7, 0.6],
        "discounts": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
        "rhos": [0.4, 1.7, 1.0, 0.05, 3.0, 0.8],
        "cut": -1,
        "lambda_": 0.8,
        "rho_bar": 1.0,
        "errors": [0.422987950195, -1.003514061824, 1.4673415808, 0.01019664, 1.40824, 0.192],
        "advantages": [0.422987950195, -1.003514061824, 1.4673415808, 0.01019664, 1.40824, 0.192],
        "returns": [1.439069114368, 0.3098182144, 1.22474752, 1.128816, 1.5428, -0.46],
    },
    {
        "name": "off policy, lambda 0",
        "rewards": [1.0, -0.5, 0.25, 0.0, 2.0, -1.0],
        "values": [0.3, 1.2, -0.4, 0.9, 0.1, -0.7],
        "next_values": [1.2, -0.4, 0.9, 0.1, -0.7, 0.6],
        "discounts": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
        "rhos": [0.4, 1.7, 1.0, 0.05, 3.0, 0.8],
        "cut": -1,
        "lambda_": 0.0,
        "rho_bar": 1.0,
        "errors": [0.712, -2.06, 1.46, -0.0405, 1.27, 0.192],
        "advantages": [0.712, -2.06, 1.46, -0.0405, 1.27, 0.192],
        "returns": [2.08, -0.86, 1.06, 0.09, 1.37, -0.46],
    },
    {
        "name": "rho cut at 1.5, c at 1, lambda .8",
        "rewards": [1.0, -0.5, 0.25, 0.0, 2.0, -1.0],
        "values": [0.3, 1.2, -0.4, 0.9, 0.1, -0.7],
        "next_values": [1.2, -0.4, 0.9, 0.1, -0.7, 0.6],
        "discounts": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
        "rhos": [0.4, 1.7, 1.0, 0.05, 3.0, 0.8],
        "cut": -1,
        "lambda_": 0.8,
        "rho_bar": 1.5,
        "errors": [0.129760929907, -2.021663437824, 1.4838007808, 0.03305664, 2.04324, 0.192],
        "advantages": [0.129760929907, -1.487495156736, 1.4838007808, 0.03305664, 2.11236, 0.192],
        "returns": [1.439069114368, 0.3098182144, 1.22474752, 1.128816, 1.5428, -0.46],
    },
    {
        "name": "rho cut at .5, c at 1, lambda .8",
        "rewards": [1.0, -0.5, 0.25, 0.0, 2.0, -1.0],
        "values": [0.3, 1.2, -0.4, 0.9, 0.1, -0.7],
        "next_values": [1.2, -0.4, 0.9, 0.1, -0.7, 0.6],
        "discounts": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
        "rhos": [0.4, 1.7, 1.0, 0.05, 3.0, 0.8],
        "cut": -1,
        "lambda_": 0.8,
        "rho_bar": 0.5,
        "errors": [0.564563542344, -0.51193214464, 0.719538688, -0.0145296, 0.7214, 0.12],
        "advantages": [0.564563542344, -0.77096607232, 0.724769344, -0.0145296, 0.6782, 0.12],
        "returns": [1.439069114368, 0.3098182144, 1.22474752, 1.128816, 1.5428, -0.46],
    },
    {
        "name": "a match ends in the middle",
        "rewards": [1.0, -0.5, 0.25, 0.0, 2.0, -1.0],
        "values": [0.3, 1.2, -0.4, 0.9, 0.1, -0.7],
        "next_values": [1.2, -0.4, 0.9, 0.1, -0.7, 0.6],
        "discounts": [0.9, 0.9, 0.0, 0.9, 0.9, 0.9],
        "rhos": [0.4, 1.7, 1.0, 0.05, 3.0, 0.8],
        "cut": -1,
        "lambda_": 0.8,
        "rho_bar": 1.0,
        "errors": [0.253504, -1.592, 0.65, 0.01019664, 1.40824, 0.192],
        "advantages": [0.253504, -1.592, 0.65, 0.01019664, 1.40824, 0.192],
        "returns": [0.93376, -0.392, 0.25, 1.128816, 1.5428, -0.46],
    },
    {
        "name": "a match ends with the trace",
        "rewards": [1.0, -0.5, 0.25, 0.0, 2.0, -1.0],
        "values": [0.3, 1.2, -0.4, 0.9, 0.1, -0.7],
        "next_values": [1.2, -0.4, 0.9, 0.1, -0.7, 0.6],
        "discounts": [0.9, 0.9, 0.9, 0.9, 0.9, 0.0],
        "rhos": [0.4, 1.7, 1.0, 0.05, 3.0, 0.8],
        "cut": -1,
        "lambda_": 0.8,
        "rho_bar": 1.0,
        "errors": [0.421316181361, -1.00931881472, 1.459279424, -0.0010008, 1.0972, -0.24],
        "advantages": [0.421316181361, -1.00931881472, 1.459279424, -0.0010008, 1.0972, -0.24],
        "returns": [1.33458356224, 0.164699392, 1.0231936, 0.84888, 1.154, -1.0],
    },
    {
        "name": "a match is cut off in the middle",
        "rewards": [1.0, -0.5, 0.25, 0.0, 2.0, -1.0],
        "values": [0.3, 1.2, -0.4, 0.9, 0.1, -0.7],
        "next_values": [1.2, -0.4, -2.5, 0.1, -0.7, 0.6],
        "discounts": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
        "rhos": [0.4, 1.7, 1.0, 0.05, 3.0, 0.8],
        "cut": 2,
        "lambda_": 0.8,
        "rho_bar": 1.0,
        "errors": [-0.213056, -3.212, -1.6, 0.01019664, 1.40824, 0.192],
        "advantages": [-0.213056, -3.212, -1.6, 0.01019664, 1.40824, 0.192],
        "returns": [-0.23264, -2.012, -2.0, 1.128816, 1.5428, -0.46],
    },
]


def column(numbers, dtype=torch.float64):
    return torch.tensor(numbers, dtype=dtype)[:, None]


def inputs(case):
    """The trace as our functions take it."""
    steps = range(len(case["rewards"]))
    assert set(case["discounts"]) <= {0.0, GAMMA}
    return {
        "rewards": column(case["rewards"]),
        "next_values": column(case["next_values"]),
        "terminated": column([d == 0.0 for d in case["discounts"]], torch.bool),
        "truncated": column([step == case["cut"] for step in steps], torch.bool),
    }


def ours(case):
    return vtrace(
        column(case["rhos"]).log(),
        values=column(case["values"]),
        **inputs(case),
        gamma=GAMMA,
        lambda_=case["lambda_"],
        rho_bar=case["rho_bar"],
        c_bar=1.0,
    )


each_case = pytest.mark.parametrize("case", RLAX, ids=lambda case: case["name"])


@each_case
def test_vtrace_targets_agree(case):
    errors = ours(case).targets[:, 0].numpy() - case["values"]
    np.testing.assert_allclose(errors, case["errors"], rtol=0, atol=1e-9)


@each_case
def test_vtrace_advantages_agree(case):
    expected = np.array(case["advantages"])
    for t in range(len(expected) - 1):
        if case["discounts"][t] and t != case["cut"]:
            rho = min(case["rho_bar"], case["rhos"][t])
            # v_{t+1} - V_{t+1} is rlax's own error of the next step.
            expected[t] += rho * GAMMA * (1 - case["lambda_"]) * case["errors"][t + 1]
    np.testing.assert_allclose(ours(case).advantages[:, 0].numpy(), expected, rtol=0, atol=1e-9)


@each_case
def test_td_lambda_agrees(case):
    found = td_lambda_targets(**inputs(case), gamma=GAMMA, lambda_=case["lambda_"])
    np.testing.assert_allclose(found[:, 0].numpy(), case["returns"], rtol=0, atol=1e-9)


def test_the_cases_cover_ends_cuts_and_weights():
    assert {case["lambda_"] for case in RLAX} == {0.0, 0.8, 1.0}
    assert any(0.0 in case["discounts"][:-1] for case in RLAX)
    assert any(0 <= case["cut"] < 5 for case in RLAX)
    assert any(max(case["rhos"]) > case["rho_bar"] != 1.0 for case in RLAX)
