"""Cost: core-seconds, energy and price of what was gained; cost per Elo. No torch.

    meter = Meter()
    ...
    cost_of(core_seconds, gain=(40.0, 12.0, 68.0), watts=meter.watts_per_core())

Energy is core-seconds times watts of a busy core. Where the machine's counters can be read (RAPL),
these watts are measured while the trial runs; elsewhere they are a stated model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil

from levelcap.trials.verdict import Figure

POWERCAP = Path("/sys/class/powercap")
MODEL_WATTS = 10.0  # a core of a server under load, with its share of memory
PRICE = 0.04  # USD a core-hour, about what clouds ask for one
CURRENCY = "USD"


class Meter:
    """Energy of the machine since it was made, for every core-second that it was busy."""

    def __init__(self, place: Path = POWERCAP) -> None:
        self._place = place
        self._joules, self._busy = read_joules(place), _busy_s()

    def watts_per_core(self) -> tuple[float, str]:
        """Watts of a busy core, and where the number comes from."""
        now, busy = read_joules(self._place), _busy_s() - self._busy
        # A counter that ran over reads less than before.
        if now is None or self._joules is None or now <= self._joules or busy < 1.0:
            return MODEL_WATTS, f"model: {MODEL_WATTS:g} W a core"
        return (now - self._joules) / busy, "RAPL: energy of the packages over busy core-seconds"


def read_joules(place: Path = POWERCAP) -> float | None:
    """Energy counters of all packages together; None: there are none, or they may not be read."""
    try:
        counters = [path / "energy_uj" for path in place.glob("intel-rapl:?")]
        return sum(int(path.read_text()) for path in counters) / 1e6 if counters else None
    except (OSError, ValueError):
        return None  # readable by root alone on many machines


def cost_of(
    core_seconds: float,
    gain: Figure | None,
    *,
    watts: tuple[float, str] = (MODEL_WATTS, f"model: {MODEL_WATTS:g} W a core"),
    price: float = PRICE,
) -> dict[str, Any]:
    """What training cost, and what one Elo of `gain` over the champion did; gain None: none was.

    `per_elo` is null ("∞") while the gain's lower bound is not above 0.
    """
    joules = core_seconds * watts[0]
    money = core_seconds / 3600 * price
    known = gain is not None and gain[1] > 0
    found = {
        "core_seconds": round(core_seconds, 1),
        "joules": round(joules, 1),
        "watts_per_core": round(watts[0], 3),
        "energy_source": watts[1],
        "price": round(money, 6),
        "price_per_core_hour": price,
        "currency": CURRENCY,
        "elo_gain": None if gain is None else [round(number, 2) for number in gain],
        "per_elo": None,
        "text": "no champion to gain upon" if gain is None else "∞: the gain may be none",
    }
    if known:
        assert gain is not None
        # The dearest case is the smallest gain.
        per = {"core_seconds": core_seconds, "joules": joules, "price": money}
        found["per_elo"] = {k: [v / gain[0], v / gain[2], v / gain[1]] for k, v in per.items()}
        found["text"] = f"{core_seconds / gain[0]:.2f} core-seconds an Elo"
    return found


def _busy_s() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.system + times.nice)
