// Made by scripts/frame_layout.py from levelcap/play/show/frames.py: do not edit.

export const KIND_HEADER = 1;
export const KIND_STATE = 2;
export const KIND_NOTE = 3;
export const OVER = 1;
export const IDLE = 2;
export const ALIVE = 1;
export const SNARED = 2;
export const GUARDED = 4;
export const DASHING = 8;
export const RELOADING = 16;
export const FIRING = 32;
export const WARDING = 64;
export const OUT = 128;
export const NO_VALUE = -32768;
export const NO_INTENT = 255;
export const NO_TARGET = 255;
export const HAS_PLAN = 1;
export const HAS_TARGET = 2;
export const GOAL_CHANGED = 4;
export const LOOKS = 4;

export const HEAD = {
  bytes: 37,
  kind: 0,
  flags: 1,
  shots: 2,
  tick: 4,
  ack: 8,
  zone_x: 12,
  zone_y: 16,
  zone_radius: 20,
  score: 24,
  players: 32,
  items: 33,
  creeps: 34,
  structures: 35,
  minds: 36,
};

export const PLAYER = {
  bytes: 40,
  x: 0,
  y: 4,
  vx: 8,
  vy: 10,
  angle: 12,
  hp: 14,
  shield: 16,
  ammo: 18,
  state: 19,
  wait: 20,
  intent: 23,
  ability: 24,
  respawn: 25,
  value: 26,
  seen: 28,
  kills: 30,
  deaths: 31,
  aim_x: 32,
  aim_y: 34,
  ward_x: 36,
  ward_y: 38,
};

export const SHOT = {
  bytes: 10,
  x: 0,
  y: 2,
  vx: 4,
  vy: 6,
  owner: 8,
  life: 9,
};

export const ITEM = {
  bytes: 6,
  x: 0,
  y: 2,
  kind: 4,
  slot: 5,
};

export const CREEP = {
  bytes: 6,
  x: 0,
  y: 2,
  hp: 4,
  slot: 5,
};

export const STRUCTURE = {
  bytes: 4,
  hp: 0,
  target: 2,
  heat: 3,
};

export const LOOK = {
  bytes: 6,
  x: 0,
  y: 2,
  weight: 4,
  kind: 5,
};

export const MIND = {
  bytes: 37,
  seat: 0,
  confidence: 1,
  flags: 2,
  order: 3,
  odds: 4,
  enemies: 5,
  hidden: 6,
  allies: 7,
  loot: 8,
  approach: 9,
  looks: 13,
};

// biome-ignore format: a list
export const SPOTS = ['nothing', 'enemy', 'memory', 'ally', 'tower', 'own tower', 'creep', 'health pack', 'ammo crate', 'shot'];
