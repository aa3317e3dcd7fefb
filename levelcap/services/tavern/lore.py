"""The only translator: measures of the realm in, words of the game out.

Inside the code a loss is a loss and a run is a run. Here, and nowhere else, they become damage and
battles. Every number keeps its formula and raw value, shown when somebody points at it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from levelcap.campaign.kinds.kind import Stat
from levelcap.campaign.sheet.hero import HeroSheet

TITLE_LINE = "Realm of Training"
STEPS_A_LEVEL = 1000


@dataclass(frozen=True)
class Place:
    """A page: where it is, what it is called, its icon, the key after `g` that leads there."""

    path: str
    name: str
    icon: str
    key: str
    text: str

    @property
    def name_of_files(self) -> str:
        """Of its template and of what it reads; `/` is the hero's."""
        return self.path.strip("/") or "hero"


PLACES = (
    Place("/", "Hero", "hero", "h", "Who you raise, and the battle going on"),
    Place("/quests", "Quests", "scroll", "q", "What is asked of the hero next"),
    Place("/arena", "Arena", "swords", "a", "Watch matches, or play one yourself"),
    Place("/league", "League", "banner", "l", "Players that learn against each other"),
    Place("/tests", "Tests", "scales", "t", "Is one checkpoint better than another?"),
    Place("/oracle", "Oracle", "eye", "o", "Ask text heroes, two side by side"),
    Place("/guild", "Guild", "banner", "u", "Skills, titles, achievements"),
    Place("/jobs", "Jobs", "gears", "j", "Every piece of work and who does it"),
    Place("/vault", "Vault", "chest", "v", "Every checkpoint that was kept"),
    Place("/settings", "Armory", "anvil", "s", "Settings, campaigns, New Game+"),
    Place("/report", "Report", "ledger", "r", "What was gained, and what it cost"),
)

# Pages that others lead to; the navigation names none of them.
ANYWHERE = Place("/anywhere", "Anywhere", "compass", "", "An exported hero decides in this browser")
BESIDE = (
    Place("/compare", "Compare", "scales", "", "Two to five checkpoints side by side"),
    ANYWHERE,
)

STEERING = (
    ("pause", "Pause", "pause"), ("resume", "Resume", "play"), ("skip", "Skip this quest", "skip"),
    ("stop", "Stop", "stop"), ("retry", "Try again what failed", "undo"),
)  # fmt: skip
KEYS = (
    *((f"g {place.key}", f"go to {place.name}") for place in PLACES),
    ("Ctrl K, /", "search and commands"),
    ("p", "pause or resume training"),
    ("m", "sound on or off"),
    ("?", "this help"),
    ("Tab, Enter", "reach and press everything"),
    ("Esc", "close a window"),
)

WELCOME = {
    "arena": (
        "Your hero lives on this machine and learns by itself: it watches a master, copies the "
        "master, then fights on its own.",
        "Every training run is a battle: damage is 1 / loss, XP are optimizer updates, and a level "
        "is a thousand of them.",
        "Saved checkpoints are judged against opponents training never meets; one that is "
        "certainly better becomes champion.",
    ),
    "text": (
        "Your hero lives on this machine and learns by itself: it goes to school, then studies "
        "its skills level by level.",
        "Every training run is a battle: damage is 1 / loss, and XP are earned in exams.",
        "A level is passed by three exams of fresh problems and a confirmation; partly right "
        "never counts.",
    ),
}

# The first visit of a browser: what to look at, and what it is.
TOUR = (
    (".sheet", "Who you raise", "Its level, its strength, how often it beats whom it never met."),
    ("[data-part=picture]", "How strong it is", "Elo over training; crowns are champions."),
    ("[data-part=battle]", "What goes on", "The battle it trains in, or the trial it stands."),
    (".training", "You steer", "Pause, resume, skip or stop; nothing is lost."),
    (".places", "Everywhere else", "Watch and play in the Arena; Ctrl K finds everything."),
)  # fmt: skip

BATTLE_XP = {"arena": "XP of this battle", "text": "Updates"}
STATS = {
    "level": "Level",
    "XP": "XP",
    "ATK": "ATK",
    "DEF": "DEF",
    "ACC": "ACC",
    "gold": "Gold",
}
QUEST_KINDS = {
    "record": ("Record", "eye", "watch a bot play and keep it"),
    "imitate": ("Imitate", "book", "copy what was recorded"),
    "reinforce": ("Battle", "swords", "play and learn from it"),
    "league": ("League", "swords", "a season against exploiters and the own past"),
    "trial": ("Gate", "scales", "screen, strength, safety, attacks, speed, cost"),
    "hunt": ("Hunt", "eye", "an exploiter looks for its holes"),
    "export": ("Export", "chest", "a bundle that runs without torch, proven equal"),
    "test": ("Test", "scales", "two checkpoints until one is surely better"),
    "evaluate": ("Trial", "scales", "measure a checkpoint"),
    "school": ("School", "book", "learn the primitives before anything else"),
    "study": ("Study", "scroll", "solve problems of a skill, with exams inside"),
    "spar": ("Sparring", "swords", "answer, and make lessons of every mistake"),
}
STEPS = {"arena": "decisions learned from", "text": "tokens of lessons read"}
READY = "Ready"
HALTED = "Stuck"
NOT_MEASURED = "not measured yet"
STATES = {"running": "In training", "paused": "Resting", "stopped": "Camped"}
ON_TRIAL = "On trial"
TRIALS = {"eval": "evaluate", "trial": "trial", "test": "test", "hunt": "hunt"}  # of jobs
QUEST_STATUS = {
    "queued": "waiting", "running": "fighting", "done": "won", "skipped": "skipped",
    "failed": "lost", "dead": "lost", "cancelled": "called off",
}  # fmt: skip
# First words of an event's kind -> how the game says it, and its icon.
EVENTS = {
    "queue.quest_added": ("New quest", "scroll"),
    "queue.full": ("The board is full", "scroll"),
    "data.recorded": ("Recording kept", "eye"),
    "data.rejected": ("A file was turned away", "cross"),
    "training.completed": ("Quest complete", "swords"),
    "training.paused": ("The hero rests", "pause"),
    "training.resumed": ("Back to training", "play"),
    "training.stopped": ("Camp is made", "stop"),
    "training.skipped": ("Quest skipped", "skip"),
    "vault.checkpoint_saved": ("Checkpoint saved", "chest"),
    "vault.champion_promoted": ("New champion", "crown"),
    "vault.champion_rolled_back": ("Champion rolled back", "undo"),
    "vault.checkpoint_removed": ("Checkpoint removed", "cross"),
    "vault.exported": ("Bundle exported", "chest"),
    "eval.completed": ("Trial complete", "scales"),
    "eval.test_ended": ("Test ended", "scales"),
    "hero.stat_change": ("The hero changed", "hero"),
    "hero.level_up": ("Level up", "star"),
    "hero.skill_up": ("Level mastered", "crown"),
    "service": ("A service speaks", "gears"),
    "alarm": ("Alarm", "bell"),
    "job": ("Work", "gears"),
}
LOUD = {
    *("training.completed", "vault.champion_promoted", "hero.level_up", "data.rejected"),
    "eval.test_ended",
}


def hero_name(sheet: HeroSheet) -> str:
    """A hero as the switch names it; heroes of one name differ by what they are."""
    return f"{sheet.name} · {sheet.subtitle}" if sheet.subtitle else sheet.name


def damage(loss: float | None) -> float | None:
    """Damage dealt is 1 / loss; a loss that is not positive deals none that could be shown."""
    return None if loss is None or loss <= 0 else 1.0 / loss


def level(steps: int) -> int:
    """Steps -> level."""
    return steps // STEPS_A_LEVEL


def steps_of(sheet: HeroSheet) -> int:
    """Optimizer updates of a hero's campaign, which titles by experience count."""
    return 0 if sheet.campaign is None else sheet.campaign.current_step


def experience(steps: int) -> tuple[int, int]:
    """XP within the present level, and what the level asks for."""
    return steps % STEPS_A_LEVEL, STEPS_A_LEVEL


def event_words(kind: str) -> tuple[str, str]:
    """Title and icon of an event."""
    found = EVENTS.get(kind) or EVENTS.get(kind.partition(".")[0])
    return found or (kind.replace(".", " ").replace("_", " ").capitalize(), "star")


def quest_words(kind: str) -> tuple[str, str, str]:
    """Word, icon and sentence of a kind of quest."""
    return QUEST_KINDS.get(kind, (kind.capitalize(), "scroll", ""))


def number(value: float | int | None, digits: int = 3) -> str:
    """A number as a person reads it: 12,345 · 1.23 M · 0.0123; a dash when it is not known."""
    if value is None:
        return "–"
    size = abs(value)
    for limit, unit in ((1e9, "G"), (1e6, "M")):
        if size >= limit:
            return f"{value / limit:.{digits}g} {unit}"
    if size >= 1000 or (isinstance(value, int) and not isinstance(value, bool)):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def counted(count: int, noun: str) -> str:
    """1 quest, 2 quests."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def percent(value: float | None) -> str:
    """A share as text."""
    return "–" if value is None else f"{100 * value:.1f} %"


def elo_text(
    elo: float | None,
    elo_low: float | None = None,
    elo_high: float | None = None,
    elo_bound: str | None = "",
) -> str:
    """Elo with half the width of its interval; after a perfect record the end the games hold."""
    if elo is None:
        return "not judged yet"
    if elo_low is None or elo_high is None:
        return f"{elo:.0f}"
    if elo_bound:
        return f"{elo_bound} {elo_low if elo_bound == '>' else elo_high:.0f}"
    return f"{elo:.0f} ± {(elo_high - elo_low) / 2:.0f}"


class Rated(Protocol):
    """What has an Elo: a row of the ledger, a day of the report, a hero's strength."""

    @property
    def elo(self) -> float | None: ...
    @property
    def elo_low(self) -> float | None: ...
    @property
    def elo_high(self) -> float | None: ...
    @property
    def elo_bound(self) -> str | None: ...


def elo_of(row: Rated) -> str:
    """The same of whatever has an Elo."""
    return elo_text(row.elo, row.elo_low, row.elo_high, row.elo_bound)


def elo_tip(elo: Rated) -> str:
    """What an Elo is, and how sure."""
    words = "Elo = strength against the bots, rookie = 1000"
    if elo.elo is None:
        return f"{words}\nraw value: not judged yet"
    return f"{words}\n95 % interval: {number(elo.elo_low, 5)} to {number(elo.elo_high, 5)}"


def share_of(right: int, count: int) -> str:
    """Right answers with their number; never a share of nothing."""
    return f"{100 * right / count:.0f} % of {count:,}" if count else NOT_MEASURED


def stat_value(name: str, value: float | int | None) -> str:
    """A stat as it stands on the sheet."""
    return percent(value) if name == "ACC" else number(value)


def stat_tip(name: str, stat: Stat) -> str:
    """What a stat is made of: its formula and its raw value."""
    shown = "not measured yet" if stat.raw is None else f"{stat.raw:,.6g}"
    return f"{STATS.get(name, name)} = {stat.formula}\nraw value: {shown}"


def ago(moment: str | None, now: datetime | None = None) -> str:
    """How long ago a time of the database was."""
    if moment is None:
        return "never"
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(moment)).total_seconds()
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now" if seconds < 10 else f"{int(seconds)} s ago"


def lasting(seconds: float | None) -> str:
    """A duration as text."""
    if seconds is None:
        return "–"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def size_text(size_bytes: int | None) -> str:
    """Bytes as text."""
    if size_bytes is None:
        return "–"
    return f"{size_bytes / 1e6:.2f} MB" if size_bytes >= 1e5 else f"{size_bytes / 1e3:.1f} kB"


def plain_json(value: Any) -> str:
    """A payload as a person reads it."""
    return json.dumps(value, indent=1, ensure_ascii=False)


def clock(moment: str) -> str:
    """The time of day of a time of the database, UTC."""
    return moment[11:19]


RULESETS = {
    "duel": ("Duel", "One against one, a closing zone, sixty seconds."),
    "lms": ("Last one standing", "Ten players, one survivor."),
    "siege": ("Siege", "Five against five: towers, creeps, a core to break."),
    "crown": ("Crown", "Five against five: hold the centre, race to a hundred."),
}
INTENTS = {
    "FIGHT": ("swords", "shoots, or closes on an enemy in range"),
    "FLEE": ("skip", "moves away when weak or outnumbered"),
    "LOOT": ("chest", "goes for an item close by"),
    "CAUTIOUS": ("shield", "keeps its distance, waits for cooldown or allies"),
    "EXPLORE": ("compass", "looks for what it does not see yet"),
}
INTENT_MEASURES = {
    "FIGHT": ("takes more hp than it gives: share of the hp lost", "fight"),
    "FLEE": ("lives for 10 s more", "flight"),
    "LOOT": ("has something within 5 s", "try"),
    "CAUTIOUS": ("loses less than 20 hp in 5 s", "time"),
    "EXPLORE": ("sees an enemy within 10 s", "search"),
}
CURRICULA = {
    "": "what the hero likes best", "balanced": "balanced: BIN and SY alike",
    "bin_focus": "BIN first, some SY", "sy_focus": "SY first, some BIN",
    "bin_add": "addition only (BIN, easy form)",
}  # fmt: skip
STRATEGIES = {
    "": "as the preset says", "equal": "equal: every skill alike",
    "focus": "focus: most of it for one skill", "weighted": "weighted: by given weights",
    "lowest_first": "lowest first: only the weakest", "catch_up": "catch up: more for those behind",
}  # fmt: skip
OUTCOMES = {
    "evaluated": "not there yet", "ready": "a confirmation of 200 problems comes next",
    "not_confirmed": "the confirmation failed; the window begins again",
    "level_up": "confirmed: level up",
}  # fmt: skip
DRIFT = {"gained": ("up", "gained"), "held": ("check", "held"), "lost": ("down", "lost")}
SETTINGS = {
    "cores": "Cores", "disk_cap_gb": "Disk cap (GB)", "pause_on_battery": "Rest while on battery",
    "log_level": "Talkativeness of the logs", "port_offset": "Port offset",
}  # fmt: skip
# Beside each field of a recipe.
FIELDS = {
    "title": "what the board calls it; empty: it names itself",
    "priority": "high goes before normal, low after",
    "seed": "the same seed gives the same games",
    "world": "the ruleset: duel, lms, siege or crown; -60hz is the finer clock",
    "teacher": "the bot that is watched, from idle to master",
    "partner": "whom the teacher plays against",
    "games": "how many matches; of an evaluation a multiple of 40 against each bot",
    "shards": "recordings to learn from, as the Record quest named them",
    "policies": "whose moves in them are copied",
    "minutes": "how long it may take, in minutes of this machine",
    "core_minutes": "how much work an exploiter may put in, in minutes of one core",
    "from": "where it begins: champion, best, latest, or a checkpoint's id",
    "checkpoint": "who is judged: champion, best, latest, or a checkpoint's id",
    "against": "whom it must beat: champion, or another checkpoint",
    "set": "overrides of training settings, e.g. {engine.lr: 0.0003}",
    "skill": "bin, sy, or a preset of one",
    "count": "how many problems",
    "passives": "lite: a few of each kind; full: all of them",
}

STARTS = {
    "": "from nothing (new game)", "champion": "from the champion (New Game+)",
    "best": "from the strongest checkpoint (New Game+)",
    "latest": "from the newest checkpoint (New Game+)",
}  # fmt: skip
