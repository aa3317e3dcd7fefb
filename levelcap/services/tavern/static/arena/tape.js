// A match as it arrives: header, states, notes. The bytes are described in levelcap/play/show/frames.py.

import {
  ALIVE,
  CREEP,
  HEAD,
  IDLE,
  ITEM,
  KIND_HEADER,
  KIND_NOTE,
  KIND_STATE,
  MIND,
  NO_INTENT,
  NO_VALUE,
  OVER,
  PLAYER,
  SHOT,
  STRUCTURE,
} from './layout.js';
import { parseMind } from './mind.js';

const KEPT = 96; // parsed states, the newest

export class Tape {
  constructor() {
    this.header = null;
    this.ticks = []; // of every state, rising
    this.notes = [];
    this.result = null;
    this.saved = null;
    this.notice = null;
    this.whole = false; // is all of the match here?
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
    if (kind === KIND_STATE) {
      const tick = new DataView(bytes.buffer, bytes.byteOffset).getUint32(HEAD.tick, true);
      if (this.length && tick <= this.last) return kind;
      this.ticks.push(tick);
      this._bytes.push(bytes);
    } else {
      const values = JSON.parse(new TextDecoder().decode(bytes.subarray(1)));
      if (kind === KIND_HEADER) this.header = values;
      else if (kind === KIND_NOTE) this._note(values);
    }
    return kind;
  }

  _note(note) {
    this.notes.push(note);
    if (note.type === 'result') {
      this.result = note;
      this.whole = true;
    }
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

  // Intent and value of a seat in a state, without reading the rest of it.
  stated(index, seat) {
    const bytes = this._bytes[index],
      view = new DataView(bytes.buffer, bytes.byteOffset),
      at = HEAD.bytes + seat * PLAYER.bytes;
    const intent = view.getUint8(at + PLAYER.intent),
      value = view.getInt16(at + PLAYER.value, true);
    return { intent: intent === NO_INTENT ? null : intent, value: value === NO_VALUE ? null : value / 1000 };
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
  const flags = view.getUint8(HEAD.flags),
    shots = view.getUint16(HEAD.shots, true);
  const [players, items, creeps, structures, minds] = [
    HEAD.players,
    HEAD.items,
    HEAD.creeps,
    HEAD.structures,
    HEAD.minds,
  ].map((place) => view.getUint8(place));
  const state = {
    over: (flags & OVER) > 0,
    idle: (flags & IDLE) > 0,
    tick: view.getUint32(HEAD.tick, true),
    ack: view.getUint32(HEAD.ack, true),
    zone: {
      x: view.getFloat32(HEAD.zone_x, true),
      y: view.getFloat32(HEAD.zone_y, true),
      radius: view.getFloat32(HEAD.zone_radius, true),
    },
    score: [view.getInt32(HEAD.score, true) / 1000, view.getInt32(HEAD.score + 4, true) / 1000],
    players: [],
    shots: [],
    items: [],
    creeps: [],
    structures: [],
    minds: Array(players).fill(null),
  };
  let at = HEAD.bytes;
  for (let p = 0; p < players; p++, at += PLAYER.bytes) state.players.push(parsePlayer(view, at));
  for (let k = 0; k < shots; k++, at += SHOT.bytes) {
    state.shots.push({
      x: view.getInt16(at + SHOT.x, true) / 100,
      y: view.getInt16(at + SHOT.y, true) / 100,
      vx: view.getInt16(at + SHOT.vx, true) / 100,
      vy: view.getInt16(at + SHOT.vy, true) / 100,
      owner: view.getUint8(at + SHOT.owner),
      life: view.getUint8(at + SHOT.life),
    });
  }
  for (let i = 0; i < items; i++, at += ITEM.bytes) {
    state.items.push({
      x: view.getInt16(at + ITEM.x, true) / 100,
      y: view.getInt16(at + ITEM.y, true) / 100,
      kind: view.getUint8(at + ITEM.kind),
      slot: view.getUint8(at + ITEM.slot),
    });
  }
  for (let c = 0; c < creeps; c++, at += CREEP.bytes) {
    state.creeps.push({
      x: view.getInt16(at + CREEP.x, true) / 100,
      y: view.getInt16(at + CREEP.y, true) / 100,
      hp: view.getUint8(at + CREEP.hp) / 255,
      slot: view.getUint8(at + CREEP.slot),
    });
  }
  for (let t = 0; t < structures; t++, at += STRUCTURE.bytes) {
    state.structures.push({
      hp: view.getUint16(at + STRUCTURE.hp, true) / 65535,
      target: view.getUint8(at + STRUCTURE.target),
      heat: view.getUint8(at + STRUCTURE.heat),
    });
  }
  for (let m = 0; m < minds; m++, at += MIND.bytes) {
    const mind = parseMind(view, at);
    state.minds[mind.seat] = mind;
  }
  return state;
}

function parsePlayer(view, at) {
  const flags = view.getUint8(at + PLAYER.state),
    value = view.getInt16(at + PLAYER.value, true);
  const intent = view.getUint8(at + PLAYER.intent);
  return {
    x: view.getFloat32(at + PLAYER.x, true),
    y: view.getFloat32(at + PLAYER.y, true),
    vx: view.getInt16(at + PLAYER.vx, true) / 100,
    vy: view.getInt16(at + PLAYER.vy, true) / 100,
    angle: view.getInt16(at + PLAYER.angle, true) / 10000,
    hp: view.getUint16(at + PLAYER.hp, true) / 10,
    shield: view.getUint16(at + PLAYER.shield, true) / 10,
    ammo: view.getUint8(at + PLAYER.ammo),
    flags,
    alive: (flags & ALIVE) > 0,
    wait: [
      view.getUint8(at + PLAYER.wait) / 255,
      view.getUint8(at + PLAYER.wait + 1) / 255,
      view.getUint8(at + PLAYER.wait + 2) / 255,
    ],
    intent: intent === NO_INTENT ? null : intent,
    ability: view.getUint8(at + PLAYER.ability),
    respawn: view.getUint8(at + PLAYER.respawn),
    value: value === NO_VALUE ? null : value / 1000,
    seen: view.getUint16(at + PLAYER.seen, true),
    kills: view.getUint8(at + PLAYER.kills),
    deaths: view.getUint8(at + PLAYER.deaths),
    aimX: view.getInt16(at + PLAYER.aim_x, true) / 100,
    aimY: view.getInt16(at + PLAYER.aim_y, true) / 100,
    wardX: view.getInt16(at + PLAYER.ward_x, true) / 100,
    wardY: view.getInt16(at + PLAYER.ward_y, true) / 100,
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
