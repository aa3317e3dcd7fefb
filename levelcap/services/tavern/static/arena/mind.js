// What a hero has in mind: read from bytes, said in words. Nothing here draws.

import { GOAL_CHANGED, HAS_PLAN, HAS_TARGET, LOOK, LOOKS, MIND, SPOTS } from './layout.js';

export const INTENT_COLOURS = {
  FIGHT: '#ff6b61',
  LOOT: '#f5c850',
  FLEE: '#c792ff',
  EXPLORE: '#5fe07e',
  CAUTIOUS: '#9db4cf',
};
const UNKNOWN = 255;
const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

export function parseMind(view, at) {
  const byte = (name) => view.getUint8(at + MIND[name]);
  const flags = byte('flags');
  const share = (name) => (byte(name) === UNKNOWN ? null : byte(name) / (UNKNOWN - 1));
  const looks = [];
  for (let k = 0, from = at + MIND.looks; k < LOOKS; k++, from += LOOK.bytes) {
    const kind = SPOTS[view.getUint8(from + LOOK.kind)];
    if (kind === 'nothing') continue;
    const place = { x: view.getInt16(from + LOOK.x, true) / 100, y: view.getInt16(from + LOOK.y, true) / 100 };
    looks.push({ ...place, weight: view.getUint8(from + LOOK.weight) / 255, kind });
  }
  return {
    seat: byte('seat'),
    plan: (flags & HAS_PLAN) > 0,
    changed: (flags & GOAL_CHANGED) > 0,
    target: flags & HAS_TARGET ? looks[0] : null,
    confidence: share('confidence'),
    odds: share('odds'),
    order: byte('order'),
    enemies: byte('enemies'),
    hidden: byte('hidden'),
    allies: byte('allies'),
    loot: byte('loot'),
    approach: [0, 1, 2, 3].map((i) => view.getInt8(at + MIND.approach + i) / 100),
    looks,
  };
}

const many = (count, one, more) => `${NUMBERS[count] ?? count} ${count === 1 ? one : more}`;
const a = (kind) => (/^[aeo]/.test(kind) ? `an ${kind}` : `a ${kind}`);
const short = (share) => (share >= 0.995 ? '1' : share.toFixed(2).replace(/^0/, ''));

// One line in plain words: "FLEE .91: two enemies, hp 23". intent: a name, or null; mind: see
// `parseMind`, or null for players that show none; order: what was ordered, or null.
export function inWords(intent, mind, hp, order = null) {
  if (!intent && !mind) return '';
  const sure = mind?.confidence === null || mind?.confidence === undefined ? '' : ` ${short(mind.confidence)}`;
  const head = intent ? `${intent}${sure}` : 'no stated intent';
  const seen = [];
  if (mind) {
    const item = mind.looks.find((look) => look.kind === 'health pack' || look.kind === 'ammo crate');
    const foe = mind.target && !['ally', 'own tower', 'health pack', 'ammo crate'].includes(mind.target.kind);
    if (intent === 'LOOT' && (item || mind.loot)) seen.push(`wants ${item ? a(item.kind) : 'what lies there'}`);
    if (intent === 'FIGHT' && foe && mind.target.kind !== 'enemy')
      seen.push(`at ${mind.target.kind === 'memory' ? 'an enemy out of sight' : a(mind.target.kind)}`);
    if (mind.enemies) seen.push(many(mind.enemies, 'enemy', 'enemies'));
    else if (mind.hidden && intent !== 'FIGHT') seen.push('an enemy out of sight');
    else if (!mind.hidden) seen.push('nobody in sight');
    if (mind.allies) seen.push(`${many(mind.allies, 'ally', 'allies')} near`);
    if (!mind.plan && mind.odds !== null) seen.push(`aim odds ${short(mind.odds)}`);
  }
  seen.push(`hp ${Math.ceil(hp)}`);
  return `${head}: ${seen.join(', ')}${order ? ` (ordered: ${order})` : ''}`;
}
