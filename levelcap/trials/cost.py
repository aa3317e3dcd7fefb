"""Cost: core-seconds, energy and price of what was gained; cost per Elo. No torch.

    meter = Meter()
    ...
    cost_of(core_seconds, gain=(40.0, 12.0, 68.0), watts=meter.watts_per_core())

Energy is core-seconds times watts of a busy core. Where the machine's counters can be read (RAPL),
these watts are measured while the trial runs; elsewhere they are a stated model.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from levelcap.kit.config import load_settings
from levelcap.trials.verdict import Figure

POWERCAP = Path("/sys/class/powercap")
MODEL_WATTS = 10.0  # a core of a server under load, with its share of memory
MODEL = (MODEL_WATTS, f"model: {MODEL_WATTS:g} W a core")


@dataclass(frozen=True)
class Prices:
    """What the user says that a core-hour and a kWh cost, in a currency of theirs."""

    core_hour: float | None = None
    kwh: float | None = None

    def of(self, core_seconds: float, joules: float) -> float | None:
        """The price of some work; None: no price is known."""
        if self.core_hour is None and self.kwh is None:
            return None
        return (self.core_hour or 0.0) * core_seconds / 3600 + (self.kwh or 0.0) * joules / 3.6e6

    def text(self) -> str:
        """What is known."""
        said = [f"{v:g} a {n}" for n, v in (("core-hour", self.core_hour), ("kWh", self.kwh)) if v]
        return " + ".join(said) or "unknown: set price_core_hour or price_kwh"


def prices() -> Prices:
    """Those of this machine's settings."""
    settings = load_settings()
    return Prices(settings.price_core_hour, settings.price_kwh)


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
            return MODEL
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
    watts: tuple[float, str] = MODEL,
    prices: Prices | None = None,
) -> dict[str, Any]:
    """What training cost, and what one Elo of `gain` over the champion did; gain None: none was.

    prices None: not known. `per_elo` is null ("∞") while the gain's lower bound is not above 0.
    """
    joules = core_seconds * watts[0]
    known_prices = prices or Prices()
    money = known_prices.of(core_seconds, joules)
    known = gain is not None and gain[1] > 0
    found = {
        "core_seconds": round(core_seconds, 1),
        "joules": round(joules, 1),
        "watts_per_core": round(watts[0], 3),
        "energy_source": watts[1],
        "price": None if money is None else round(money, 6),
        "prices": asdict(known_prices),
        "price_source": known_prices.text(),
        "elo_gain": None if gain is None else [round(number, 2) for number in gain],
        "per_elo": None,
        "text": "no champion to gain upon" if gain is None else "∞: the gain may be none",
    }
    if known:
        assert gain is not None
        # The dearest case is the smallest gain.
        per = {"core_seconds": core_seconds, "joules": joules}
        per |= {} if money is None else {"price": money}
        found["per_elo"] = {k: [v / gain[0], v / gain[2], v / gain[1]] for k, v in per.items()}
        found["text"] = f"{core_seconds / gain[0]:.2f} core-seconds an Elo"
    return found


def _busy_s() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.system + times.nice)
