"""A game of one's own, and a policy for it:

levelcap play examples.my_game:Follower --world gym:examples.my_game:my/Catch-v0 --games 100
"""

import gymnasium
import numpy as np

from levelcap.world import Decision, Policy


class Catch(gymnasium.Env):
    """A ball falls nine rows; be below it: +1, else -1. Actions: left, stay, right."""

    observation_space = gymnasium.spaces.Box(0, 9, (3,), np.float32)  # ball x, ball height, own x
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        ball, own = self.np_random.integers(0, 10, 2)
        self.now = np.array([ball, 9, own], np.float32)
        return self.now.copy(), {}

    def step(self, action):
        self.now[1] -= 1
        self.now[2] = np.clip(self.now[2] + int(action) - 1, 0, 9)
        landed = bool(self.now[1] == 0)
        reward = (1.0 if self.now[2] == self.now[0] else -1.0) if landed else 0.0
        return self.now.copy(), reward, landed, False, {}


gymnasium.register("my/Catch-v0", Catch)


class Follower(Policy):
    """Goes where the ball is: one head of three bins."""

    views = ("features",)

    def act(self, views, state):
        ball, _, own = views["features"].T
        return Decision((np.sign(ball - own) + 1).astype(np.uint8)[:, None])
