"""When a service is tried again: after 1, 2, 4 … seconds, a few times an hour, then no more."""

HOUR_S = 3600.0


class Restarts:
    """Counts the restarts of one service; times are seconds on a clock that never jumps."""

    def __init__(self, per_hour: int, first_pause_s: float = 1.0) -> None:
        self.per_hour, self.first_pause_s = per_hour, first_pause_s
        self._times: list[float] = []

    def next_pause(self, now_s: float) -> float | None:
        """Notes one more failure; returns the pause before the next start, None: give up."""
        self._times = [time for time in self._times if time > now_s - HOUR_S]
        if len(self._times) >= self.per_hour:
            return None
        self._times.append(now_s)
        return float(self.first_pause_s * 2 ** (len(self._times) - 1))
