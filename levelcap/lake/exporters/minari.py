"""A shard as a Minari dataset, which offline-RL libraries read.

    MINARI_DATASETS_PATH=OUT python -c "import minari; minari.load_dataset('levelcap/duel-v1')"

Observations are a Box, or a Dict of the views; actions MultiDiscrete. Minari wants what was seen
after the last action, which a shard does not hold: the last observation is there twice. Outcome,
intent and, where a policy knows them, log-probabilities are infos; an unknown one is NaN, never 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from levelcap.kit.errors import MissingPackage
from levelcap.lake.header import heads_of, views_of
from levelcap.lake.shard import Shard
from levelcap.world.spec import WorldSpec

PLACE = "MINARI_DATASETS_PATH"


def write(shard: Shard, out: Path) -> int:
    """Fill a folder; returns the number of rows.

    Raises:
        MissingPackage: Minari is not installed.
    """
    try:
        import minari
        from minari.data_collector import EpisodeBuffer
    except ImportError as error:
        what = f"a Minari dataset needs a package that is not here ({error})"
        raise MissingPackage(f"{what}; run: pip install 'minari[arrow]'") from error
    from levelcap.world.doors.farama import action_space, observation_space

    header = shard.header
    names = header.view_names
    spec = WorldSpec(
        name=header.world,
        num_players=header.num_players,
        num_teams=header.num_teams,
        heads=heads_of(header),
        views=views_of(header),
        flat_views=names,
    )
    buffers = [EpisodeBuffer(**columns) for columns in _episodes(shard)]
    before = os.environ.get(PLACE)
    os.environ[PLACE] = str(out)  # the only way to tell Minari where
    try:
        minari.create_dataset_from_buffers(
            f"levelcap/{re.sub('[^A-Za-z0-9-]', '-', header.world)}-v{header.world_version}",
            buffers,
            observation_space=observation_space(spec, names),
            action_space=action_space(spec),
            algorithm_name=", ".join(policy["name"] for policy in header.policies),
            author="levelcap",
            description=f"shard {shard.digest}, {header.made_by}, source: {header.source}",
            data_format="arrow",
            jpeg_encoding=False,  # pictures as they were, not nearly
        )
    finally:
        del os.environ[PLACE]
        if before is not None:
            os.environ[PLACE] = before
    return header.num_steps


def _episodes(shard: Shard) -> Iterator[dict[str, Any]]:
    """The fields of every kept episode's buffer."""
    names = shard.header.view_names
    for group in range(shard.num_groups):
        columns = shard.decode(group, names)
        first, last = shard.span(group)
        start = int(shard.first_row[first])
        for episode in (first + np.flatnonzero(shard.kept[first:last])).tolist():
            a = int(shard.first_row[episode]) - start
            rows = slice(a, a + int(shard.length[episode]))
            seen = {n: np.concatenate((columns[n][rows], columns[n][rows][-1:])) for n in names}
            infos = {"outcome": columns["outcome"][rows], "intent": columns["intent"][rows]}
            if "log_prob" in columns:  # Minari wants the same infos of all; NaN is unknown
                infos["behaviour_log_prob"] = columns["log_prob"][rows]
            yield {
                "observations": seen if len(names) > 1 else seen[names[0]],
                "actions": columns["actions"][rows].astype(np.int64),
                "rewards": columns["reward"][rows],
                "terminations": columns["terminated"][rows],
                "truncations": columns["truncated"][rows],
                # A column each, and one more row: Minari cannot read back flat ones.
                "infos": {n: np.append(v, v[-1:])[:, None] for n, v in infos.items()},
            }
