"""`levelcap <verb>`: the table of commands. A verb's module is imported only when it is called.

Exit codes: 0 done, 1 the machine or its files do not allow it, 2 wrong input, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, UnusedCliTokensError
from rich.console import Console

import levelcap
from levelcap.kit.errors import LevelcapError, UserError

app = App(
    name="levelcap",
    help="Train AI heroes, measure every gain, watch and play their matches.",
    version=levelcap.__version__,
)
# Groups of commands, each an app of its own.
GROUPS = {
    "nets": "The nets a hero can be: parameters, size, latency.",
    "lake": "Recorded play: shards of episodes.",
    "coach": "What players did and why: labels of recorded play.",
    "league": "Seasons: players that learn against each other.",
    "text": "The text hero: teach it, examine it, ask it.",
    "guild": "Skills of the guild, and where a text hero stands in them.",
    "hero": "The heroes, and which one trains.",
    "vault": "Checkpoints: the ledger, the champion, what is kept.",
    "campaign": "Campaigns: new, continued, archived.",
    "quest": "Units of training work.",
    "job": "The queue: every piece of work.",
    "settings": "What you may set for this machine.",
    "match": "Live matches, and quests made of recorded ones.",
    "training": "Pause, resume, stop, skip or retry what keeps failing.",
    "claims": "The figures of README: listed, written, measured again.",
    "realm": "The data folder of this machine: its size, or its end.",
}
# What is typed, the function in `levelcap.cli` that does it, and its line in the help.
COMMANDS = (
    ("play", "play:play", "Play A against B and print the result."),
    ("watch", "look:watch", "Show a match in the terminal."),
    ("replay", "look:replay", "Check a replay file; make a GIF or PNG of it."),
    ("first-match", "look:first_match", "A siege: terminal, replay, GIF."),
    ("worlds", "look:worlds", "List rulesets, bots, patches and champions."),
    ("first-hero", "first_hero:first_hero", "A hero from nothing."),
    ("record", "record:record", "Play games and keep them as a shard."),
    ("imitate", "train:imitate", "Clone recorded play into a policy, pi_sup."),
    ("reinforce", "train:reinforce", "Let a policy play and learn: pi_rl."),
    ("harden", "harden:harden", "Let a hero learn under attack."),
    ("rate", "rate:rate", "How strong is it? Sealed panel, bots, Elo."),
    ("test", "compare:test", "Is A stronger than B? Plays until it is clear."),
    ("tests", "compare:tests", "Tests that run, wait and have ended."),
    ("trial", "trial:trial", "May it be champion? A whole trial, a verdict."),
    ("league start", "league:start", "Play a season, or go on with it."),
    ("league status", "league:status", "Where a season stands."),
    ("league players", "league:players", "Everybody in a season."),
    ("league why", "league:why", "Why this opponent?"),
    ("league report", "league:report", "Elo, win rates, Nash mass, cycles."),
    ("export", "export:export", "A bundle that runs without torch, proven equal."),
    ("compress", "compress:compress", "A smaller, quicker hero that is no weaker."),
    ("hunt", "hunt:hunt", "What does an exploiter find against it?"),
    ("report", "report:report", "Elo a day, cost per Elo, incidents, this week and last."),
    ("track", "track:track", "Mirror a run's metrics into TensorBoard, MLflow or trackio."),
    ("query", "query:query", "Ask the realm's database a SELECT, read-only."),
    ("doctor", "doctor:doctor", "Is this machine ready?"),
    ("nets ls", "nets:ls", "List every net of a world."),
    ("nets card", "nets:card", "What a checkpoint is made of."),
    ("nets split", "nets:split", "Publish each layer of a hierarchy alone."),
    ("lake ls", "lake:ls", "List the shards of this realm."),
    ("lake show", "lake:show", "Show what a shard says of itself."),
    ("lake check", "lake:check", "Read every byte and value of shards."),
    ("lake import", "recordings:import_", "Make a shard of recordings you bring."),
    ("lake lineage", "recordings:lineage", "What a shard was made from."),
    ("lake export", "recordings:export", "A shard as Parquet or Minari."),
    ("lake old-actions", "lake:old_actions", "Read actions of the old form."),
    ("coach label", "coach:label", "Label every two seconds of a shard."),
    ("coach agree", "coach:agree", "How far two labellings say the same."),
    ("orders", "orders:orders", "Teach a hero's goal the ten orders."),
    ("text train", "text:train", "Teach a skill, level by level."),
    ("text eval", "text:evaluate", "Examine on fresh problems."),
    ("text samples", "samples:samples", "Show answers with the judge's scores."),
    ("text chat", "text:chat", "Ask; every line of the input is one."),
    ("guild show", "guild:show", "Levels, progress, passives, cap."),
    ("guild problem", "guild:problem", "Print problems of a skill."),
    ("guild eval", "guild:evaluate", "Queue an exam of a checkpoint."),
    ("guild spar", "guild:spar", "Make lessons of wrong answers."),
    ("hero ls", "guild:heroes", "List them."),
    ("hero switch", "guild:switch", "Let another one train."),
    ("up", "up:up", "Start the realm: services, training, events."),
    ("open", "open:open_", "An address that lets you into the game."),
    ("down", "up:down", "Stop the realm's services."),
    ("status", "status:status", "What runs, trains, and why not."),
    ("tui", "tui:tui", "The same live, as a dashboard in the terminal."),
    ("logs", "logs:logs", "What the services wrote."),
    ("worker", "worker:worker", "One more process that takes jobs."),
    ("vault ls", "vault:ls", "List checkpoints."),
    ("vault show", "vault:show", "Show one checkpoint and its evaluations."),
    ("vault best", "vault:best", "The best checkpoint by a metric."),
    ("vault compare", "vault:compare", "Elo of one minus the other, with its interval."),
    ("vault verify", "vault:verify", "Read every byte and compare."),
    ("vault promote", "vault:promote", "Make a checkpoint champion."),
    ("vault rollback", "vault:rollback", "Undo the last promotion."),
    ("vault retain", "vault:retain", "Remove what need not stay."),
    ("vault pin", "vault:pin", "Keep a checkpoint for ever."),
    ("vault unpin", "vault:unpin", "Keep it no longer than others."),
    ("vault note", "vault:note", "Show or write a note beside a checkpoint or run."),
    ("vault tag", "vault:tag", "Show, add or remove its tags."),
    ("vault rm", "vault:rm", "Remove a checkpoint."),
    ("vault restore", "vault:restore", "Take back a removal that waits."),
    ("vault pack", "vault:pack", "Write a checkpoint as one .tar."),
    ("vault unpack", "vault:unpack", "Take one in."),
    ("campaign ls", "campaign:ls", "List campaigns."),
    ("campaign new", "campaign:new", "Start one, from nothing or a checkpoint."),
    ("campaign continue", "campaign:continue_", "Continue an archived one."),
    ("campaign archive", "campaign:archive", "Put one away."),
    ("campaign settings", "campaign:settings", "Show or change its settings."),
    ("quest ls", "campaign:quest_ls", "List quests, newest first."),
    ("quest add", "campaign:quest_add", "Queue a recipe, a YAML file."),
    ("quest evaluate", "campaign:quest_evaluate", "Queue an evaluation of a checkpoint."),
    ("quest retry", "campaign:quest_retry", "Queue a failed quest again."),
    ("quest cancel", "campaign:quest_cancel", "Take a quest out of the queue, or end it."),
    ("quest priority", "campaign:quest_priority", "Move a waiting quest."),
    ("job ls", "jobs:ls", "List jobs, newest first."),
    ("job show", "jobs:show", "Show one job and what happened to it."),
    ("job retry", "jobs:retry", "Queue a failed, dead or cancelled job again."),
    ("job cancel", "jobs:cancel", "End an open job."),
    ("job priority", "jobs:priority", "Move a waiting job."),
    ("settings show", "jobs:settings_show", "List every setting, and where its value is from."),
    ("settings set", "jobs:settings_set", "Write settings, each as name=value."),
    ("settings memory", "jobs:settings_memory", "What training a text hero takes of memory."),
    ("match start", "match:start", "Start a live match."),
    ("match ls", "match:ls", "List live matches, and recorded ones of persons."),
    ("match end", "match:end", "Break a live match off."),
    ("match quest", "match:quest", "Let the hero imitate a recorded match."),
    ("training pause", "campaign:pause", "Let training wait, its checkpoint saved."),
    ("training resume", "campaign:resume", "Let training go on."),
    ("training stop", "campaign:stop", "End the run with a checkpoint; its quest waits."),
    ("training skip", "campaign:skip", "End the quest with a checkpoint, go on with the next."),
    ("training retry", "campaign:retry", "Try work again that kept failing."),
    ("claims show", "claims:show", "List the figures of README."),
    ("claims write", "claims:write", "Write them into README."),
    ("claims verify", "claims:verify", "Measure them again."),
    ("realm size", "realm:size", "What lies under $LEVELCAP_HOME."),
    ("realm wipe", "realm:wipe", "Delete all of it, after asking."),
)
_apps = {"": app} | {name: App(name=name, help=text) for name, text in GROUPS.items()}
for _words, _function, _help in COMMANDS:
    _group, _, _verb = _words.rpartition(" ")
    _apps[_group].command(f"levelcap.cli.{_function}", name=_verb, help=_help)
for _verb, _function in (("export", "export"), ("import", "import_")):  # pack and unpack now
    _apps["vault"].command(f"levelcap.cli.vault:{_function}", name=_verb, show=False)
_apps["nets"].default(lambda: _apps["nets"](["ls"]))  # the list is what the word alone means
for _name in GROUPS:
    app.command(_apps[_name])
app.register_install_completion_command(help="Let your shell complete commands and options.")


def _explain(error: CycloptsError) -> str:
    """What the parser refused, in one line, and where the right words are."""
    words = " ".join(str(error).split()).removesuffix(", ...")
    if isinstance(error, UnusedCliTokensError):
        words = f"more words than this command takes; got {error.unused_tokens}"
    words += "" if words.endswith((".", "?")) else "."
    return f"{words} See: {' '.join(('levelcap', *(error.command_chain or ())))} --help"


def main(tokens: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code; errors of ours end in one sentence."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    try:
        app(tokens, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        console.print(f"levelcap: {_explain(error)}", markup=False)
        sys.exit(2)
    except LevelcapError as error:
        console.print(f"levelcap: {error}", markup=False)
        sys.exit(2 if isinstance(error, UserError) else 1)
    except KeyboardInterrupt:
        console.print("levelcap: interrupted")
        sys.exit(130)


if __name__ == "__main__":
    main()
