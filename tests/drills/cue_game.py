"""Remember: a cue is shown for one decision; twenty decisions later it is asked for.

The observation is [cue or 0, is it asked now, how far the match is]: whoever sees one moment only
can do no better than guess.
"""

import gymnasium
import numpy as np

from levelcap.world import Decision, Policy

DELAY = 20


class Cue(gymnasium.Env):
    """+1 for saying the cue when asked, -1 for the other answer, 0 in between."""

    observation_space = gymnasium.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cue, self.t = int(self.np_random.integers(2)), 0
        return self._look(), {}

    def step(self, action):
        asked = self.t == DELAY
        self.t += 1
        reward = (1.0 if int(action) == self.cue else -1.0) if asked else 0.0
        return self._look(), reward, asked, False, {}

    def _look(self):
        shown = (2 * self.cue - 1) if self.t == 0 else 0
        return np.array([shown, self.t == DELAY, self.t / DELAY], np.float32)


gymnasium.register("drill/Cue-v0", Cue)


class Knower(Policy):
    """Remembers the cue: the teacher."""

    name, views = "knower", ("features",)

    def initial_state(self, num_rows):
        return np.zeros(num_rows, np.int64)

    def act(self, views, state):
        shown = views["features"][:, 0]
        state = np.where(shown != 0, (shown > 0).astype(np.int64), state)
        return Decision(state[:, None].astype(np.uint8), state)
