"""Ways to play for tests: a chaser that reads `features` and `mask`, and noise around it.

All are pure functions of views and numbers, so a match they play is fixed by its seed.
"""

import numpy as np

from levelcap.world.actions import Action, encode
from levelcap.world.spec import FEATURES, HEADS, OBJECT_CLASSES

VIEWS = ("features", "player", "objects", "context")
COLUMN = {name: i for i, name in enumerate(FEATURES)}
SIZES = np.array([head.size for head in HEADS])
FIRE, ABILITY, INTERACT = 44, 46, 50  # where these heads start in the mask row
STAND = np.array([5, 5, 5, 5, 0, 0, 0], np.uint8)

__all__ = [
    "OBJECT_CLASSES",
    "STAND",
    "VIEWS",
    "chaser",
    "noise",
    "noisy_chaser",
    "stand",
    "wavering_chaser",
]


def stand(world):
    """Nobody does anything: bins [M, P, 7]."""
    return np.tile(STAND, (world.num_matches, world.spec.num_players, 1))


def chaser(views):
    """Run at the nearest enemy and shoot; else fetch the nearest item; else go to the objective."""
    rows, mask = views["features"].astype(np.float64), views["mask"]

    def column(name):
        return rows[..., COLUMN[name]]

    sees_enemy, sees_item = column("enemy_dist") > 0, column("item_dist") > 0
    goal_x, goal_y = column("zone_x") - column("px"), column("zone_y") - column("py")
    at_hand = column("item_dist") < 0.2
    far = np.hypot(goal_x, goal_y) > 0.05
    # Closing in to 4 units, then circling, keeps two chasers from standing inside each other.
    ex, ey = column("enemy_x"), column("enemy_y")
    near = column("enemy_dist") < 0.4
    way_x = np.where(near, -ey, ex)
    way_y = np.where(near, ex, ey)
    move_x = np.where(sees_enemy, way_x, np.where(sees_item, column("item_x"), goal_x * far))
    move_y = np.where(sees_enemy, way_y, np.where(sees_item, column("item_y"), goal_y * far))
    size = np.maximum(np.hypot(move_x, move_y), 1e-9)
    moves = np.where(size > 1e-6, 1.0, 0.0)
    ready = mask[..., ABILITY + 1 : ABILITY + 4]
    ability = np.where(sees_enemy & ready.any(-1), ready.argmax(-1) + 1, 0)
    return encode(
        Action(
            move_x=np.clip(move_x / size, -1, 1) * moves,
            move_y=np.clip(move_y / size, -1, 1) * moves,
            aim_x=np.clip(ex, -1, 1) * sees_enemy,
            aim_y=np.clip(ey, -1, 1) * sees_enemy,
            fire=mask[..., FIRE + 1] * sees_enemy,
            ability=ability,
            # In reach, or next to nothing left to shoot: who reloads all the time never shoots.
            interact=mask[..., INTERACT + 1] * ((sees_item & at_hand) | (column("ammo") < 0.2)),
        )
    )


def wavering_chaser(views):
    """The chaser with chance of its own, drawn from `key`: no two seats play alike."""
    bins, key = chaser(views), views["key"]
    wavers = (key >> np.uint64(8)) % np.uint64(4) == 0
    for head, shift in ((0, 16), (1, 24), (2, 32), (3, 40)):
        nearby = bins[..., head] + (key >> np.uint64(shift)) % np.uint64(5)
        bins[..., head] = np.where(
            wavers, np.clip(nearby.astype(np.int64) - 2, 0, 10), bins[..., head]
        )
    bins[..., 5] *= ((key >> np.uint64(48)) % np.uint64(8) == 0).astype(np.uint8)
    return bins


def noise(rng, shape):
    """Uniform bins of every head: uint8 [*shape, 7]."""
    return (rng.random((*shape, len(SIZES))) * SIZES).astype(np.uint8)


def noisy_chaser(rng, views, share=0.4):
    """The chaser with every head of every player replaced by noise now and then."""
    bins = chaser(views)
    return np.where(rng.random(bins.shape) < share, noise(rng, bins.shape[:-1]), bins)
