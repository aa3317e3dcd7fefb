// A match as it arrives: header, states, notes. The bytes are described in levelcap/play/show/frames.py.

const HEADER = 1,
  STATE = 2,
  NOTE = 3;
const HEAD_BYTES = 36,
  PLAYER_BYTES = 40,
  SHOT_BYTES = 10,
  ITEM_BYTES = 6,
  CREEP_BYTES = 6;
export const ALIVE = 1,
  SNARED = 2,
  GUARDED = 4,
  DASHING = 8,
  RELOADING = 16,
  FIRING = 32,
  WARDING = 64,
  OUT = 128;
const NO_VALUE = -32768,
  NO_INTENT = 255,
  KEPT = 96;

export class Tape {
  constructor() {
    this.header = null;
    this.ticks = []; // of every state, rising
    this.notes = [];
    this.result = null;
    this.saved = null;
    this.notice = null;
    this._bytes = [];
    this._parsed = new Map();
  }

  get length() {
    return this.ticks.length;
  }
  get first() {
    return this.ticks[0] ?? 0;
  }
  get last() {
    return this.ticks[this.ticks.length - 1] ?? 0;
  }

  // Takes one message; returns its kind.
  take(bytes) {
    const kind = bytes[0];
    if (kind === STATE) {
      const tick = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
      if (this.length && tick <= this.last) return kind;
      this.ticks.push(tick);
      this._bytes.push(bytes);
    } else {
      const values = JSON.parse(new TextDecoder().decode(bytes.subarray(1)));
      if (kind === HEADER) this.header = values;
      else if (kind === NOTE) this._note(values);
    }
    return kind;
  }

  _note(note) {
    this.notes.push(note);
    if (note.type === 'result') this.result = note;
    if (note.type === 'saved') this.saved = note;
    if (note.type === 'notice') this.notice = note.text;
  }

  // Index of the last state at or before a tick.
  index(tick) {
    let low = 0,
      high = this.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.ticks[middle] <= tick) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  state(index) {
    let found = this._parsed.get(index);
    if (!found) {
      found = parseState(this._bytes[index]);
      this._parsed.set(index, found);
      if (this._parsed.size > KEPT) this._parsed.delete(this._parsed.keys().next().value);
    }
    return found;
  }

  // The two states around a tick and how far it lies between them.
  around(tick) {
    const index = this.index(tick),
      next = Math.min(index + 1, this.length - 1);
    const a = this.state(index),
      b = this.state(next);
    const share = b.tick > a.tick ? Math.min(1, Math.max(0, (tick - a.tick) / (b.tick - a.tick))) : 0;
    return { index, a, b, share };
  }
}

export function parseState(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint8(1),
    shots = view.getUint16(2, true);
  const [players, items, creeps, structures] = [32, 33, 34, 35].map((at) => view.getUint8(at));
  const state = {
    over: (flags & 1) > 0,
    idle: (flags & 2) > 0,
    tick: view.getUint32(4, true),
    ack: view.getUint32(8, true),
    zone: { x: view.getFloat32(12, true), y: view.getFloat32(16, true), radius: view.getFloat32(20, true) },
    score: [view.getInt32(24, true) / 1000, view.getInt32(28, true) / 1000],
    players: [],
    shots: [],
    items: [],
    creeps: [],
    structures: [],
  };
  let at = HEAD_BYTES;
  for (let p = 0; p < players; p++, at += PLAYER_BYTES) state.players.push(parsePlayer(view, at));
  for (let k = 0; k < shots; k++, at += SHOT_BYTES) {
    state.shots.push({
      x: view.getInt16(at, true) / 100,
      y: view.getInt16(at + 2, true) / 100,
      vx: view.getInt16(at + 4, true) / 100,
      vy: view.getInt16(at + 6, true) / 100,
      owner: view.getUint8(at + 8),
      life: view.getUint8(at + 9),
    });
  }
  for (let i = 0; i < items; i++, at += ITEM_BYTES) {
    state.items.push({
      x: view.getInt16(at, true) / 100,
      y: view.getInt16(at + 2, true) / 100,
      kind: view.getUint8(at + 4),
      slot: view.getUint8(at + 5),
    });
  }
  for (let c = 0; c < creeps; c++, at += CREEP_BYTES) {
    state.creeps.push({
      x: view.getInt16(at, true) / 100,
      y: view.getInt16(at + 2, true) / 100,
      hp: view.getUint8(at + 4) / 255,
      slot: view.getUint8(at + 5),
    });
  }
  for (let t = 0; t < structures; t++, at += 4) {
    state.structures.push({
      hp: view.getUint16(at, true) / 65535,
      target: view.getUint8(at + 2),
      heat: view.getUint8(at + 3),
    });
  }
  return state;
}

function parsePlayer(view, at) {
  const flags = view.getUint8(at + 19),
    value = view.getInt16(at + 26, true);
  const intent = view.getUint8(at + 23);
  return {
    x: view.getFloat32(at, true),
    y: view.getFloat32(at + 4, true),
    vx: view.getInt16(at + 8, true) / 100,
    vy: view.getInt16(at + 10, true) / 100,
    angle: view.getInt16(at + 12, true) / 10000,
    hp: view.getUint16(at + 14, true) / 10,
    shield: view.getUint16(at + 16, true) / 10,
    ammo: view.getUint8(at + 18),
    flags,
    alive: (flags & ALIVE) > 0,
    wait: [view.getUint8(at + 20) / 255, view.getUint8(at + 21) / 255, view.getUint8(at + 22) / 255],
    intent: intent === NO_INTENT ? null : intent,
    ability: view.getUint8(at + 24),
    respawn: view.getUint8(at + 25),
    value: value === NO_VALUE ? null : value / 1000,
    seen: view.getUint16(at + 28, true),
    kills: view.getUint8(at + 30),
    deaths: view.getUint8(at + 31),
    aimX: view.getInt16(at + 32, true) / 100,
    aimY: view.getInt16(at + 34, true) / 100,
    wardX: view.getInt16(at + 36, true) / 100,
    wardY: view.getInt16(at + 38, true) / 100,
  };
}

// Cuts a stream of stacked messages apart; `push` may get any piece of it.
export class Unstack {
  constructor(take) {
    this._take = take;
    this._rest = new Uint8Array(0);
  }

  push(piece) {
    let data = piece;
    if (this._rest.length) {
      data = new Uint8Array(this._rest.length + piece.length);
      data.set(this._rest);
      data.set(piece, this._rest.length);
    }
    let at = 0;
    while (at + 4 <= data.length) {
      const size = new DataView(data.buffer, data.byteOffset + at).getUint32(0, true);
      if (at + 4 + size > data.length) break;
      this._take(data.slice(at + 4, at + 4 + size));
      at += 4 + size;
    }
    this._rest = data.slice(at);
  }
}
