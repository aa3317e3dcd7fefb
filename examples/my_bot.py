"""A policy of one's own:  levelcap play examples.my_bot:Chaser rookie --world duel --games 20

Walks to the nearest enemy and fires at it; sees nobody: walks to the middle of the zone.
"""

import numpy as np

from levelcap.world import Decision, Policy
from levelcap.world.actions import Action, encode
from levelcap.world.spec import FEATURES, HEAD_OFFSETS

MAY_FIRE = HEAD_OFFSETS[4] + 1  # place of "fire = 1" in the mask row


class Chaser(Policy):
    views = ("features",)

    def act(self, views, state):
        see = dict(zip(FEATURES, views["features"].T.astype(float), strict=True))
        found = see["enemy_dist"] > 0
        x = np.where(found, see["enemy_x"], see["zone_x"] - see["px"]).clip(-1, 1)
        y = np.where(found, see["enemy_y"], see["zone_y"] - see["py"]).clip(-1, 1)
        fire = views["mask"][:, MAY_FIRE] * found
        return Decision(encode(Action(move_x=x, move_y=y, aim_x=x, aim_y=y, fire=fire)))
