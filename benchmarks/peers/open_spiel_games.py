"""OpenSpiel's games and judgements for benchmarks/league_maths.py. Runs in `.venv-open-spiel`.

    python -m benchmarks.peers.open_spiel_games export leduc_poker OUT.npz
    python -m benchmarks.peers.open_spiel_games judge leduc_poker POLICIES.json
    python -m benchmarks.peers.open_spiel_games psro kuhn_poker POLICIES.json 20

`export` writes a game in sequence form: of each seat the information sets (the sequence that leads
there, how many actions follow), and payoffs to seat 0 by pair of sequences, chance included.
`judge` prints OpenSpiel's NashConv of policies given as chances by information set. `psro` prints
NashConv after every iteration of OpenSpiel's own PSRO (exact best responses, Nash meta-solver) that
begins with the first of them.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import expected_game_score, exploitability, policy_aggregator
from open_spiel.python.algorithms.psro_v2 import best_response_oracle, psro_v2


class Export:
    """Walks the tree once; a parent's information set is met before its children's."""

    def __init__(self, game: Any) -> None:
        self.sets: list[dict[str, int]] = [{}, {}]  # information set -> its first sequence
        self.parents: list[list[int]] = [[], []]
        self.counts: list[list[int]] = [[], []]
        self.sizes = [1, 1]
        self.payoffs: list[tuple[int, int, float]] = []
        self.walk(game.new_initial_state(), (0, 0), 1.0)

    def walk(self, state: Any, sequences: tuple[int, int], chance: float) -> None:
        """sequences: what each seat has done to come here; chance: nature's share of it."""
        if state.is_terminal():
            self.payoffs.append((*sequences, chance * state.returns()[0]))
        elif state.is_chance_node():
            for action, share in state.chance_outcomes():
                self.walk(state.child(action), sequences, chance * share)
        else:
            seat, actions = state.current_player(), state.legal_actions()
            first = self.first_of(seat, state, sequences[seat], len(actions))
            for place, action in enumerate(actions):
                now = list(sequences)
                now[seat] = first + place
                self.walk(state.child(action), (now[0], now[1]), chance)

    def first_of(self, seat: int, state: Any, parent: int, count: int) -> int:
        """Number of the first of the sequences that go on from here."""
        name = state.information_state_string()
        if name not in self.sets[seat]:
            self.sets[seat][name] = self.sizes[seat]
            self.parents[seat].append(parent)
            self.counts[seat].append(count)
            self.sizes[seat] += count
        return self.sets[seat][name]


def export(name: str, out: Path) -> None:
    """Write a game for `benchmarks.exact.games.from_file`."""
    game = pyspiel.load_game(name)
    found = Export(game)
    rows, columns, payoffs = (np.array(column) for column in zip(*found.payoffs, strict=True))
    arrays: dict[str, Any] = {"rows": rows, "columns": columns, "payoffs": payoffs}
    for seat in range(2):
        arrays[f"names{seat}"] = np.array(list(found.sets[seat]))
        arrays[f"parents{seat}"] = np.array(found.parents[seat])
        arrays[f"counts{seat}"] = np.array(found.counts[seat])
    np.savez_compressed(out, most=game.max_utility(), **arrays)


def table_of(game: Any, chances: dict[str, list[float]]) -> Any:
    """A policy of chances by information set."""
    table = policies.TabularPolicy(game)
    for state, row in table.state_lookup.items():
        legal = np.flatnonzero(table.legal_actions_mask[row])
        table.action_probability_array[row] = 0
        table.action_probability_array[row, legal] = chances[state]
    return table


def judge(name: str, given: list[dict[str, list[float]]]) -> list[float]:
    """NashConv of each policy."""
    game = pyspiel.load_game(name)
    return [float(exploitability.nash_conv(game, table_of(game, row))) for row in given]


class ExactPsro(psro_v2.PSROSolver):  # type: ignore[misc]
    """PSRO whose table of payoffs holds expectations instead of sampled games."""

    def sample_episodes(self, players: Any, num_episodes: int) -> Any:
        """What each seat wins on average."""
        return expected_game_score.policy_value(self._game.new_initial_state(), players)


def psro(name: str, start: dict[str, list[float]], calls: int) -> list[float]:
    """NashConv of PSRO's mixture after 0, 1 … `calls` best responses in both seats."""
    game = pyspiel.load_game(name)
    first = table_of(game, start)
    with contextlib.redirect_stdout(io.StringIO()):  # it tells of its settings
        solver = ExactPsro(
            game,
            best_response_oracle.BestResponseOracle(game=game, policy=first),
            sims_per_entry=1,
            initial_policies=[first, first],
            meta_strategy_method="nash",
            training_strategy_selector="probabilistic",  # whom to start from: exact ones do not
            sample_from_marginals=True,
        )
    found = []
    for call in range(calls + 1):
        if call:
            solver.iteration()
        shares = solver.get_meta_strategies()
        mixture = policy_aggregator.PolicyAggregator(game).aggregate(
            [0, 1], solver.get_policies(), shares
        )
        found.append(float(exploitability.nash_conv(game, mixture)))
    return found


if __name__ == "__main__":
    what, asked = sys.argv[1], sys.argv[2]
    if what == "export":
        export(asked, Path(sys.argv[3]))
    else:
        given = json.loads(Path(sys.argv[3]).read_text())
        done = judge(asked, given) if what == "judge" else psro(asked, given[0], int(sys.argv[4]))
        print(json.dumps(done))
