"""What rlax makes of a few small traces, printed as Python literals. Runs in `.venv-peers`.

    .venv-peers/bin/python benchmarks/peers/rlax_arrays.py

The output is the list `RLAX` of tests/learn/maths/test_rlax.py, which holds our own functions
against it. All numbers in double precision, rounded to 12 digits. A step whose discount is 0 ends
its match. `cut` is the step a trace is cut off after without an end of the match (-1: none); rlax
is told so by a lambda of 0 there, which leaves its errors and returns right, and its advantage of
that step is taken from the trace that ends there.
"""

from __future__ import annotations

import os
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"

import jax.numpy as jnp
import rlax

R = [1.0, -0.5, 0.25, 0.0, 2.0, -1.0]
V = [0.3, 1.2, -0.4, 0.9, 0.1, -0.7]
NEXT = [1.2, -0.4, 0.9, 0.1, -0.7, 0.6]  # V one step later, and a bootstrap
RHO = [0.4, 1.7, 1.0, 0.05, 3.0, 0.8]
ONES = [1.0] * 6
G = 0.9
ON = [G] * 6


def case(
    name: str,
    rho: list[float],
    discount: list[float],
    lambda_: float,
    rho_bar: float = 1.0,
    v_next: list[float] = NEXT,
    cut: int = -1,
) -> dict[str, Any]:
    """One trace: its inputs and what rlax makes of it."""
    weights = [0.0 if step == cut else lambda_ for step in range(len(R))]
    v, after, r, d, w, lam = (jnp.array(x) for x in (V, v_next, R, discount, rho, weights))
    whole = rlax.vtrace_td_error_and_advantage(v, after, r, d, w, lam, rho_bar, rho_bar)
    advantages = whole.pg_advantage
    if cut >= 0:
        first = slice(0, cut + 1)
        alone = rlax.vtrace_td_error_and_advantage(
            v[first], after[first], r[first], d[first], w[first], lambda_, rho_bar, rho_bar
        )
        advantages = advantages.at[first].set(alone.pg_advantage)
    return {
        "name": name,
        "rewards": R,
        "values": V,
        "next_values": v_next,
        "discounts": discount,
        "rhos": rho,
        "cut": cut,
        "lambda_": lambda_,
        "rho_bar": rho_bar,
        "errors": whole.errors.tolist(),
        "advantages": advantages.tolist(),
        "returns": rlax.lambda_returns(r, d, after, lam).tolist(),
    }


CASES = [
    case("on policy", ONES, ON, 1.0),
    case("on policy, lambda .8", ONES, ON, 0.8),
    case("off policy, weights cut at 1", RHO, ON, 1.0),
    case("off policy, lambda .8", RHO, ON, 0.8),
    case("off policy, lambda 0", RHO, ON, 0.0),
    case("rho cut at 1.5, c at 1, lambda .8", RHO, ON, 0.8, 1.5),
    case("rho cut at .5, c at 1, lambda .8", RHO, ON, 0.8, 0.5),
    case("a match ends in the middle", RHO, [G, G, 0.0, G, G, G], 0.8),
    case("a match ends with the trace", RHO, [G, G, G, G, G, 0.0], 0.8),
    case("a match is cut off in the middle", RHO, ON, 0.8, 1.0, [*NEXT[:2], -2.5, *NEXT[3:]], 2),
]


def shown(value: Any) -> str:
    """A literal with doubles rounded to 12 digits."""
    if isinstance(value, list):
        return "[" + ", ".join(shown(item) for item in value) + "]"
    if isinstance(value, str):
        return f'"{value}"'
    return repr(round(value, 12) + 0.0) if isinstance(value, float) else repr(value)


def main() -> None:
    """Print the list."""
    print(f"# rlax {rlax.__version__}")
    print("RLAX = [")
    for found in CASES:
        print("    {")
        for key, value in found.items():
            line = f'        "{key}": {shown(value)},'
            if len(line) <= 100:
                print(line)
                continue
            print(f'        "{key}": [')
            for item in value:
                print(f"            {shown(item)},")
            print("        ],")
        print("    },")
    print("]")


if __name__ == "__main__":
    main()
