#!/usr/bin/env bash
# From nothing to a rated hero on two cores in under ten minutes. Everything lands under $HERO.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
HERO=${HERO:-out/first_hero}
export PATH="$PWD/.venv/bin:$PATH"
mkdir -p "$HERO"

# 1. Experience: master plays veteran, its seats are kept as a shard of the lake.
[ -d "$HERO/demos" ] || levelcap record master veteran --world duel --games 3000 --keep master --out "$HERO/demos"

# 2. Imitation: pi_sup, the policy that plays like the recording.
levelcap imitate --world duel --shards "$HERO/demos" --policies master --minutes 0.5 --out "$HERO/imitate"
sup=$(ls -d "$HERO"/imitate/snapshots/step-* | tail -n 1)

# 3. Reinforcement: pi_rl, four minutes of play against itself, its past, bots and their cousins.
levelcap reinforce --world duel --from "$sup" --minutes 4 --out "$HERO/reinforce"
rl=$(ls -d "$HERO"/reinforce/snapshots/step-* | tail -n 1)

# 4. Judgement: the sealed panel first, then the bots it trained on, Elo with intervals.
levelcap rate "$sup" "$rl" --world duel --out "$HERO/verdict.json"
