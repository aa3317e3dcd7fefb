"""Configuration of reinforcement learning, and the defaults of each ruleset."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from levelcap.kit.errors import BadValue, refuse
from levelcap.learn.engine.config import EngineConfig, check_number
from levelcap.world.spec import WORLDS, split_world


def _engine(lr: float = 1e-3, hidden_lr: float = 0.01) -> EngineConfig:
    return EngineConfig(optimizer="muon", lr=lr, hidden_lr=hidden_lr, final_lr_share=0.05)


@dataclass(frozen=True)
class RlConfig:
    """One line of help under each field. `for_world` gives the defaults of a world."""

    gamma: float = 0.0
    """discount of a decision; 0 = the world's own"""
    lambda_: float = 0.95
    """lambda of V-trace and TD(lambda): the share of the trace that goes on at each step"""
    rho_bar: float = 1.0
    """V-trace's rho-bar: where importance weights of the advantage are cut"""
    c_bar: float = 1.0
    """V-trace's c-bar: where importance weights of the trace are cut"""
    upgo_coef: float = 0.2
    """weight of UPGO, the upgoing policy gradient"""
    kl_coef: float = 0.01
    """weight of KL(pi || pi_sup), the pull towards the imitated policy"""
    entropy_coef: float = 0.001
    """weight of the entropy bonus, the push towards chance"""
    entropy_final: float = 1.0
    """share of that push that is left at the end of the run; it falls evenly"""
    value_coef: float = 0.5
    """weight of the value's loss"""
    advantage_scale: float = 1.0
    """advantages are scaled to this std in every update; 0 = as they are"""
    centre_advantage: bool = False
    """take the mean of the advantages of an update away first"""
    clip: float = 0.0
    """PPO's clip: a step whose probability has moved by this share stops pushing; 0 = never"""
    epochs: int = 1
    """times each step is learned from"""
    pseudo_reward: float = 0.0
    """scale of the world's pseudo-rewards, annealed over the first half of the run"""
    pseudo_final: float = 0.0
    """share of that scale that is left afterwards"""
    team_reward: float = 0.0
    """share of every reward that is the mean of the team's; half of pseudo-rewards is anyway"""
    lanes: int = 1024
    """seats the learner plays at once"""
    unroll: int = 32
    """decisions a batch"""
    minibatches: int = 8
    """updates a batch, each from its share of the lanes"""
    replay: int = 0
    """batches of the past kept to learn from again; each is 46 to 120 MB at a world's defaults"""
    replay_updates: int = 1
    """with a replay: updates a batch from minibatches of the past, beside those from its own"""
    burn_in: int = 16
    """with a replay: first decisions of a replayed sequence, which only warm a net's memory up"""
    self_play: float = 0.4
    """share of the lanes that play against the learner itself"""
    learned_seats: int = 0
    """lms: the learner's seats in a match against opponents; 0 = half"""
    opponents: tuple[str, ...] = ("rookie", "veteran", "master")
    """bots to play against"""
    cousins: int = 1
    """training cousins of each bot"""
    scheme: str = "variance"
    """how opponents are drawn: variance = x(1 - x) of the running score, or even"""
    floor: float = 0.1
    """share of matches spread evenly over all opponents"""
    past_every_steps: int = 20_000_000
    """steps after which the learner's present self joins the opponents"""
    past_newest: int = 10
    """past selves kept: the newest"""
    past_spread: int = 10
    """past selves kept: spread over the older ones"""
    value_warmup: int = 60
    """first updates, in which only the value head learns"""
    teacher: str = ""
    """a bot that says, in every seat the learner plays, what it would do there; "" = nobody"""
    teacher_coef: float = 1.0
    """weight of doing what the teacher says; with a teacher nothing else moves the policy"""
    drill: float = 0.0
    """with a teacher, nets with a goal: share of the seconds in which it shows another intent"""
    steady_aim: float = 1.0
    """snapshots aim this many times as narrowly as what was trained"""
    standardise: bool = False
    """outside worlds: inputs scaled by running moments, kept in the checkpoint"""
    engine: EngineConfig = field(default_factory=lambda: _engine())
    """knobs of the loop"""

    def __post_init__(self) -> None:
        for name in (
            "gamma",
            "lambda_",
            "self_play",
            "floor",
            "entropy_final",
            "team_reward",
            "pseudo_final",
            "drill",
        ):
            check_number(name, getattr(self, name), low=0.0, high=1.0)
        for name in (
            "upgo_coef",
            "kl_coef",
            "entropy_coef",
            "value_coef",
            "advantage_scale",
            "pseudo_reward",
            "cousins",
            "value_warmup",
            "learned_seats",
            "teacher_coef",
            "replay",
            "replay_updates",
            "burn_in",
        ):
            check_number(name, getattr(self, name), low=0.0)
        check_number("clip", self.clip, low=0.0, high=0.9)
        check_number("steady_aim", self.steady_aim, low=1.0, high=1000.0)
        for name in ("rho_bar", "c_bar"):
            check_number(name, getattr(self, name), low=0.0, open_low=True)
        for name in ("lanes", "unroll", "minibatches", "epochs", "past_every_steps"):
            check_number(name, getattr(self, name), low=1.0)
        if self.lanes < 2 * self.minibatches:
            remedy = f"Give at least {2 * self.minibatches} lanes, or fewer minibatches"
            raise BadValue(
                refuse("too few lanes for the minibatches of a batch", self.lanes, remedy)
            )


# Matches of ten last a thousand decisions, so a batch holds few results: fewer, larger and more
# careful updates, and a stronger pull towards pi_sup. benchmarks/log has the trials.
_LONG: dict[str, object] = {
    "lanes": 400, "unroll": 64, "minibatches": 1, "lambda_": 0.98, "upgo_coef": 0.0,
    "entropy_coef": 0.0,
}  # fmt: skip
_DEFAULTS: dict[str, dict[str, object]] = {
    "duel": {},
    "lms": {**_LONG, "kl_coef": 0.05, "engine": _engine(lr=5e-4, hidden_lr=0.005)},
    "siege": {
        **_LONG,
        "kl_coef": 0.05,
        "pseudo_reward": 0.1,
        "self_play": 0.2,
        "opponents": ("veteran", "master"),
        "cousins": 3,
        "engine": _engine(lr=3e-4, hidden_lr=0.003),
    },
    "crown": {
        **_LONG,
        "kl_coef": 0.1,
        "pseudo_reward": 0.1,
        "opponents": ("veteran", "master"),
        "engine": _engine(lr=3e-4, hidden_lr=0.003),
    },
}
_OUTSIDE: dict[str, object] = {
    "opponents": (),
    "cousins": 0,
    "self_play": 1.0,
    "kl_coef": 0.0,
    "entropy_coef": 0.01,
    "standardise": True,
    "lanes": 64,
    "unroll": 32,
    "minibatches": 4,
    "value_warmup": 0,
    "upgo_coef": 0.0,
    "lambda_": 0.95,
    "engine": EngineConfig(lr=5e-4, final_lr_share=0.05),
}


# A net that unrolls step by step wants long rows of many lanes; and a memory that a gradient has
# bent by 1e-3 forgets what it had learned: at the flat net's rates 3 minutes took .73 against
# rookie to .38, at a third of them to .89. After a teacher (.65 against master) that third still
# lost ground in 5 minutes (.58), these did not certainly (.60; benchmarks/log).
_LAYERED: dict[str, object] = {
    "lanes": 512,
    "unroll": 64,
    "minibatches": 2,
    "value_warmup": 40,
    "kl_coef": 0.05,
    "engine": _engine(lr=2e-4, hidden_lr=0.002),
}
# A value that has only seen the won matches of a teacher is noise at first: after 20 updates of
# warm-up a siege clone's .51 against veteran fell to .13. One that was taught in its own matches
# knows lost ones, too. Pseudo-rewards stay: without them a siege hero that wins nine games in ten
# learns from little but chance, and lost to its own self of 20 M decisions before. Kept, it beat
# the one whose pseudo-rewards were fading .62 after 10 M; crown not tried (benchmarks/log).
_LAYERED_LONG: dict[str, object] = {
    "value_warmup": 40,
    "pseudo_final": 1.0,
    "minibatches": 2,
    "engine": _engine(lr=2e-4, hidden_lr=0.002),
}


def for_world(world: str, family: str = "flat") -> RlConfig:
    """The defaults of this world for nets of this family."""
    ruleset = split_world(world)[0]
    chosen = _DEFAULTS[ruleset] if world in WORLDS else _OUTSIDE
    if family == "hierarchy" and world in WORLDS:
        chosen = chosen | (_LAYERED if ruleset == "duel" else _LAYERED_LONG)
    return replace(RlConfig(), **chosen)  # type: ignore[arg-type]


# Copying, where the learner itself goes: rates of imitation, everybody met as often as anybody, no
# matches but to see where they lead. 16: of 4, 16 and 64 the best by a little (benchmarks/log).
_TAUGHT: dict[str, object] = {
    "kl_coef": 0.0,
    "value_warmup": 0,
    "minibatches": 4,
    "self_play": 0.2,
    "cousins": 2,
    "scheme": "even",
    "pseudo_reward": 0.0,
    "steady_aim": 16.0,
    "engine": EngineConfig(lr=1e-3, snapshot_s=300.0),
}


def taught_by(teacher: str, world: str, family: str = "flat") -> RlConfig:
    """The defaults of a run that follows a teacher where the learner goes (DAgger)."""
    return replace(for_world(world, family), teacher=teacher, **_TAUGHT)  # type: ignore[arg-type]


# Without pi_sup nothing holds the policy back, and unclipped updates spend its chance on noise
# before the first win: small batches, each learned from twice and clipped. benchmarks/log.
_SCRATCH: dict[str, object] = {
    "kl_coef": 0.0,
    "value_warmup": 0,
    "upgo_coef": 0.0,
    "lambda_": 0.9,
    "entropy_coef": 0.003,
    "value_coef": 1.0,
    "centre_advantage": True,
    "clip": 0.2,
    "epochs": 2,
    "lanes": 256,
    "unroll": 32,
    "self_play": 0.5,
    "engine": EngineConfig(
        optimizer="muon",
        lr=1e-3,
        hidden_lr=0.005,
        beta2=0.999,
        eps=1e-5,
        clip_norm=0.5,
        final_lr_share=0.05,
        warmup_updates=0,
    ),
}


def from_scratch(world: str, family: str = "flat") -> RlConfig:
    """The defaults of this world for a run that starts from untrained weights."""
    if split_world(world)[0] != "duel" or family != "flat":
        return for_world(world, family)
    return replace(for_world(world), **_SCRATCH)  # type: ignore[arg-type]
