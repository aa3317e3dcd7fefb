"""`levelcap <verb>`: the table of commands. A verb's module is imported only when it is called.

Exit codes: 0 done, 1 the machine or its files do not allow it, 2 wrong input, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App
from rich.console import Console

import levelcap
from levelcap.kit.errors import LevelcapError, UserError

app = App(
    name="levelcap",
    help="Train AI heroes, measure every gain, watch and play their matches.",
    version=levelcap.__version__,
)
_LOOK, _PLAY = "levelcap.cli.look", "levelcap.cli.play"
app.command(f"{_PLAY}:play", name="play", help="Play A against B and print the result.")
app.command(f"{_LOOK}:watch", name="watch", help="Show a match in the terminal.")
app.command(f"{_LOOK}:replay", name="replay", help="Check a replay file; make a GIF or PNG of it.")
app.command(f"{_LOOK}:first_match", name="first-match", help="A siege: terminal, replay, GIF.")
app.command(f"{_LOOK}:worlds", name="worlds", help="List rulesets, bots, patches and champions.")
_TRAIN = "levelcap.cli.train"
app.command("levelcap.cli.first_hero:first_hero", name="first-hero", help="A hero from nothing.")
app.command(
    "levelcap.cli.record:record", name="record", help="Play games and keep them as a shard."
)
app.command(f"{_TRAIN}:imitate", name="imitate", help="Clone recorded play into a policy, pi_sup.")
app.command(f"{_TRAIN}:reinforce", name="reinforce", help="Let a policy play and learn: pi_rl.")
app.command(
    "levelcap.cli.rate:rate", name="rate", help="How strong is it? Sealed panel, bots, Elo."
)
app.command("levelcap.cli.doctor:doctor", name="doctor", help="Is this machine ready?")
lake = App(name="lake", help="Recorded play: shards of episodes.")
lake.command("levelcap.cli.lake:ls", name="ls", help="List the shards of this realm.")
lake.command("levelcap.cli.lake:show", name="show", help="Show what a shard says of itself.")
lake.command("levelcap.cli.lake:check", name="check", help="Read every byte and value of shards.")
app.command(lake)
text = App(name="text", help="The text hero: teach it, examine it, ask it.")
text.command("levelcap.cli.text:train", name="train", help="Teach a skill, level by level.")
text.command("levelcap.cli.text:evaluate", name="eval", help="Examine on fresh problems.")
text.command("levelcap.cli.text:chat", name="chat", help="Ask; every line of the input is one.")
app.command(text)
guild = App(name="guild", help="Skills of the guild, and where a text hero stands in them.")
guild.command("levelcap.cli.guild:show", name="show", help="Levels, progress, passives, cap.")
guild.command("levelcap.cli.guild:problem", name="problem", help="Print problems of a skill.")
guild.command("levelcap.cli.guild:evaluate", name="eval", help="Queue an exam of a checkpoint.")
guild.command("levelcap.cli.guild:spar", name="spar", help="Make lessons of wrong answers.")
app.command(guild)
hero = App(name="hero", help="The heroes, and which one trains.")
hero.command("levelcap.cli.guild:heroes", name="ls", help="List them.")
hero.command("levelcap.cli.guild:switch", name="switch", help="Let another one train.")
app.command(hero)
app.command("levelcap.cli.up:up", name="up", help="Start the realm: services, training, events.")
app.command("levelcap.cli.open:open_", name="open", help="An address that lets you into the game.")
app.command("levelcap.cli.up:down", name="down", help="Stop the realm's services.")
app.command("levelcap.cli.status:status", name="status", help="What runs, trains, and why not.")
app.command("levelcap.cli.logs:logs", name="logs", help="What the services wrote.")
app.command("levelcap.cli.worker:worker", name="worker", help="One more process that takes jobs.")
_VAULT, _CAMPAIGN = "levelcap.cli.vault", "levelcap.cli.campaign"
vault = App(name="vault", help="Checkpoints: the ledger, the champion, what is kept.")
for _verb, _help in (
    ("ls", "List checkpoints."),
    ("show", "Show one checkpoint and its evaluations."),
    ("best", "The best checkpoint by a metric."),
    ("compare", "Elo of one minus the other, with its interval."),
    ("verify", "Read every byte and compare."),
    ("promote", "Make a checkpoint champion."),
    ("rollback", "Undo the last promotion."),
    ("retain", "Remove what need not stay."),
    ("pin", "Keep a checkpoint for ever."),
    ("unpin", "Keep it no longer than others."),
    ("rm", "Remove a checkpoint."),
    ("restore", "Take back a removal that waits."),
    ("pack", "Write a checkpoint as one .tar."),
    ("unpack", "Take one in."),
):
    vault.command(f"{_VAULT}:{_verb}", name=_verb, help=_help)
for _verb, _function in (("export", "export"), ("import", "import_")):
    vault.command(f"{_VAULT}:{_function}", name=_verb, show=False)
app.command(vault)
campaign = App(name="campaign", help="Campaigns: new, continued, archived.")
campaign.command(f"{_CAMPAIGN}:ls", name="ls", help="List campaigns.")
campaign.command(f"{_CAMPAIGN}:new", name="new", help="Start one, from nothing or a checkpoint.")
campaign.command(f"{_CAMPAIGN}:continue_", name="continue", help="Continue an archived one.")
campaign.command(f"{_CAMPAIGN}:archive", name="archive", help="Put one away.")
campaign.command(f"{_CAMPAIGN}:settings", name="settings", help="Show or change its settings.")
app.command(campaign)
quest = App(name="quest", help="Units of training work.")
for _verb in ("ls", "add", "evaluate", "retry", "cancel", "priority"):
    quest.command(f"{_CAMPAIGN}:quest_{_verb}", name=_verb)
app.command(quest)
job = App(name="job", help="The queue: every piece of work.")
for _verb in ("ls", "show", "retry", "cancel", "priority"):
    job.command(f"levelcap.cli.jobs:{_verb}", name=_verb)
app.command(job)
settings = App(name="settings", help="What you may set for this machine.")
settings.command("levelcap.cli.jobs:settings_show", name="show")
settings.command("levelcap.cli.jobs:settings_set", name="set")
settings.command("levelcap.cli.jobs:settings_memory", name="memory")
app.command(settings)
match = App(name="match", help="Live matches, and quests made of recorded ones.")
for _verb in ("start", "ls", "end", "quest"):
    match.command(f"levelcap.cli.match:{_verb}", name=_verb)
app.command(match)
training = App(name="training", help="Pause, resume, stop, skip or retry what keeps failing.")
for _verb in ("pause", "resume", "stop", "skip", "retry"):
    training.command(f"{_CAMPAIGN}:{_verb}", name=_verb)
app.command(training)
claims = App(name="claims", help="The figures of README: listed, written, measured again.")
for _verb in ("show", "write", "verify"):
    claims.command(f"levelcap.cli.claims:{_verb}", name=_verb)
app.command(claims)
realm = App(name="realm", help="The data folder of this machine: its size, or its end.")
realm.command("levelcap.cli.realm:size", name="size", help="What lies under $LEVELCAP_HOME.")
realm.command("levelcap.cli.realm:wipe", name="wipe", help="Delete all of it, after asking.")
app.command(realm)


def main(tokens: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code; errors of ours end in one sentence."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    try:
        app(tokens)
    except LevelcapError as error:
        console.print(f"levelcap: {error}", markup=False)
        sys.exit(2 if isinstance(error, UserError) else 1)
    except KeyboardInterrupt:
        console.print("levelcap: interrupted")
        sys.exit(130)


if __name__ == "__main__":
    main()
