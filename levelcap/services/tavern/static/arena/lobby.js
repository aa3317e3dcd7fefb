// Beside the canvas: who plays whom, in which ruleset, with which champions; replays; live matches.

import { ask, clockText, el } from './dom.js';
import { SeatRows } from './seats.js';

const WORDS = { duel: 'Duel · 1 v 1', lms: 'Last one standing · 10', siege: 'Siege · 5 v 5', crown: 'Crown · 5 v 5' };
const KEY = 'levelcap.arena';
const REDRAWN = ['world', 'patch', 'lineup', 'seating'];
const PERSON = 'person', NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,30}$/;

export class Lobby {
  constructor(act) {
    this.act = act;
    this.choices = null;
    this.problem = el('p', 'problem', { role: 'alert', hidden: true });
    this.tabs = ['Watch', 'Play', 'Replays'].map((name) => el('button', 'tab', { type: 'button', onclick: () => this.show(name) }, name));
    this.body = el('div', 'lobby-body');
    this.people = el('p', 'lobby-people muted');
    this.root = el('section', 'card lobby', { ariaLabel: 'Set up a match' }, el('div', 'tabs', {}, ...this.tabs), this.problem, this.body, this.people);
    this.values = { world: 'duel', blue: '', red: 'master', mates: '', patch: '', lineup: 'default', champion: 'any', name: 'guest', consent: true, side: 'blue', seating: 'sides', ...stored() };
  }

  async load() {
    try {
      this.choices = await ask('/arena/api/choices');
      this.complain('');
    } catch (error) {
      this.complain(error.message);
      setTimeout(() => this.load(), 3000);
      return;
    }
    const { models, patches, bots } = this.choices;
    const best = models.champion ? 'champion' : 'veteran';
    const names = new Set([...bots, 'champion', ...models.known.map((m) => m.id)]);
    for (const field of ['blue', 'mates']) if (!names.has(this.values[field])) this.values[field] = best;
    if (!names.has(this.values.red)) this.values.red = 'master';
    if (!patches[this.values.patch]) [this.values.patch] = Object.keys(patches);
    this._people();
    this.show(this.tab ?? 'Watch');
  }

  _people() {
    const { people } = this.choices;
    this.people.textContent = people.played ? `People so far: ${people.played} played, ${people.won} won, ${people.drawn} drawn, ${people.lost} lost.` : 'Nobody has played against the heroes yet.';
  }

  complain(text) { this.problem.textContent = text; this.problem.hidden = !text; }

  show(name) {
    this.tab = name;
    this.tabs.forEach((tab) => tab.setAttribute('aria-pressed', tab.textContent === name));
    if (!this.choices) return;
    this.body.replaceChildren(...(name === 'Replays' ? this._replays() : name === 'Play' ? this._play() : this._watch()));
  }

  _field(label, name, options) {
    const select = el('select', '', { name, onchange: () => { this._set(name, select.value); if (REDRAWN.includes(name)) this.show(this.tab); } },
      ...options.map(([value, text, group]) => el('option', '', { value, selected: value === this.values[name], 'data-group': group ?? '' }, text)));
    const node = el('label', 'lobby-field', {}, el('span', '', {}, label), select);
    return node;
  }

  _set(name, value) {
    this.values[name] = value;
    try { localStorage.setItem(KEY, JSON.stringify(this.values)); } catch { /* a private window keeps nothing */ }
  }

  _worlds() { return this._field('Ruleset', 'world', Object.keys(this.choices.worlds).map((w) => [w, WORDS[w] ?? w])); }

  _who() {
    const { models, bots } = this.choices, { world } = this.values;
    const options = models.champion ? [['champion', '★ champion']] : [];
    for (const m of models.known.filter((k) => !k.world || k.world === world).slice(0, 30)) {
      options.push([m.id, `${m.hero} · step ${m.step.toLocaleString('en')}${m.elo_text ? ` · Elo ${m.elo_text}` : ''}`]);
    }
    return [...options, ...bots.filter((b) => world === 'duel' || !b.startsWith('seer')).map((b) => [b, `bot · ${b}`])];
  }

  _rules() {
    const { patches } = this.choices, champions = patches[this.values.patch].filter((c) => c !== 'base');
    const lineups = [['default', 'the usual of this ruleset'], ['base', 'no champions'], ['random', 'drawn by seed'], ...champions.map((c) => [c, `all ${c}`])];
    if (this.tab === 'Watch') lineups.push(['custom', 'one by one …']);
    const fields = [this._field('Patch', 'patch', Object.keys(patches).map((p) => [p, p])), this._field('Champions', 'lineup', lineups)];
    return this.values.lineup === 'custom' && this.tab === 'Watch' ? [...fields, this._seats(champions)] : fields;
  }

  _seats(champions) {
    const size = this._size();
    this.custom = new SeatRows(this._shape(), 'Champion of seat', champions.map((c) => [c, c]), (p) => champions[(p % size) % champions.length]);
    return this.custom.root;
  }

  _size() { const { players, teams } = this.choices.worlds[this.values.world]; return players / teams; }

  _shape() { return { players: this.choices.worlds[this.values.world].players, size: this._size() }; }

  // One choice a side, or one a seat: a bot, a checkpoint, the champion, and in one of them you.
  _seating(sides, usual) {
    const field = this._field('Who plays', 'seating', [['sides', 'one choice a side'], ['each', 'seat by seat …']]);
    this.table = null;
    if (this.values.seating !== 'each') return [field, ...sides];
    const key = `${this.tab} ${this.values.world}`;
    if (this._asked !== key) { this._asked = key; this._chosen = usual; }
    const before = this._chosen.includes(PERSON);
    this.table = new SeatRows(this._shape(), 'Player of seat', [[PERSON, '☺ you'], ...this._who().map(([value, text]) => [value, text.replace('bot · ', '')])], (p) => this._chosen[p], (p) => {
      if (this.table.values[p] === PERSON) this.table.only(PERSON, p, this.values.red);
      this._chosen = this.table.values;
      if (this._chosen.includes(PERSON) !== before) this.show(this.tab);
    });
    return [field, this.table.root];
  }

  get _plays() { return this.table ? this.table.values.includes(PERSON) : this.tab === 'Play'; }

  _watch() {
    const alone = this._size() === 1 && this.values.world !== 'duel';
    const who = this._who();
    const sides = el('div', 'lobby-versus', {}, this._field(alone ? 'Odd seats' : 'Blue', 'blue', who), el('b', '', {}, 'v'), this._field(alone ? 'Even seats' : 'Red', 'red', who));
    return [
      this._worlds(),
      ...this._seating([sides], this._sides()),
      ...this._rules(),
      ...(this._plays ? this._person() : []),
      el('button', 'btn primary', { type: 'button', id: 'arena-watch', onclick: () => this._start(this._watchBody()) }, this._plays ? 'Play this match' : 'Watch this match'),
      ...this._live(),
    ];
  }

  // Who sits where when each side has one choice.
  _sides() {
    const { blue, red } = this.values, { players, size } = this._shape();
    return Array.from({ length: players }, (_, p) => ((size === 1 ? p % 2 : Math.floor(p / size)) ? red : blue));
  }

  _watchBody() {
    const seats = this.table ? this.table.values : this._sides();
    return { seats, champions: this._champions(), ...(this._plays ? this._named() : {}) };
  }

  _champions() {
    const { lineup } = this.values;
    if (lineup === 'custom' && this.tab === 'Watch') return this.custom.values;
    return lineup === 'default' || lineup === 'custom' ? null : lineup;
  }

  _play() {
    const many = this.choices.worlds[this.values.world].players > 2, teams = this._size() > 1;
    const who = this._who(), champions = this.choices.patches[this.values.patch].filter((c) => c !== 'base');
    const sides = [
      teams || !many ? this._field('Your side', 'side', [['blue', 'Blue'], ['red', 'Red']]) : null,
      teams ? this._field('Beside you', 'mates', who) : null,
      this._field(many && !teams ? 'All others' : 'Against you', 'red', who),
    ];
    return [
      this._worlds(),
      ...this._seating(sides, this._around()),
      this._field('Your champion', 'champion', [['any', 'the usual of this ruleset'], ...champions.map((c) => [c, c])]),
      this._field('Patch', 'patch', Object.keys(this.choices.patches).map((p) => [p, p])),
      ...this._person(),
      el('button', 'btn primary', { type: 'button', id: 'arena-play', onclick: () => this._start(this._playBody()) }, this._plays ? 'Play' : 'Watch'),
      el('p', 'muted', {}, 'W A S D to move, mouse to aim, click to fire, Q E R abilities, Space to take things. On a touch screen: left half moves, right half fires.'),
    ].filter(Boolean);
  }

  // Your name, and whether your play may be kept.
  _person() {
    const name = el('input', '', { type: 'text', value: this.values.name, maxLength: 31, pattern: '[A-Za-z0-9][A-Za-z0-9_\\-]{0,30}', oninput: () => this._set('name', name.value) });
    const consent = el('input', '', { type: 'checkbox', id: 'arena-consent', checked: this.values.consent, onchange: () => this._set('consent', consent.checked) });
    return [
      el('label', 'lobby-field', {}, el('span', '', {}, 'Your name'), name),
      el('label', 'lobby-check', {}, consent, el('span', '', {}, 'Keep a recording that a hero may learn from (only on this machine)')),
    ];
  }

  _named() {
    const { name, consent } = this.values;
    return { person: { name: NAME.test(name) ? name : 'guest', consent } };
  }

  // Who sits where around you.
  _around() {
    const { red, mates, side } = this.values, { players, size } = this._shape();
    const teams = size > 1 || players === 2, mine = teams && side === 'red' ? players - size : 0, myTeam = Math.floor(mine / size);
    return Array.from({ length: players }, (_, p) => (p === mine ? PERSON : size > 1 && Math.floor(p / size) === myTeam ? mates : red));
  }

  _playBody() {
    const { champion, patch } = this.values, seats = this.table ? this.table.values : this._around(), mine = seats.indexOf(PERSON);
    let champions = null;
    if (champion !== 'any' && mine >= 0) {
      const others = this.choices.patches[patch].filter((c) => c !== 'base' && c !== champion);
      const from = Math.floor(Math.random() * others.length);
      champions = seats.map((_, p) => (p === mine || seats.length === 2 ? champion : others[(from + p) % others.length]));
    }
    return { seats, champions, ...this._named() };
  }

  async _start(body) {
    this.complain('');
    try {
      const made = await ask('/arena/api/matches', { world: this.values.world, patch: this.values.patch, ...body });
      this.act.open(made.id, made);
    } catch (error) {
      this.complain(error.message);
    }
  }

  again() { return this.tab === 'Play' ? this._start(this._playBody()) : this._start(this._watchBody()); }

  _live() {
    const { live } = this.choices;
    if (!live.length) return [];
    return [el('h3', '', {}, 'Going on now'), el('ul', 'lobby-list', {}, ...live.map((m) => el('li', '', {},
      el('button', 'lobby-match', { type: 'button', onclick: () => this.act.open(m.id, m) }, el('b', '', {}, sides(m.seats, m.world)), el('small', '', {}, `${m.world} · ${clockText(m.seconds)}`)))))];
  }

  _replays() {
    const { replays } = this.choices;
    if (!replays.length) return [el('p', 'empty', {}, 'No match has been recorded yet. Watch one, or play one.')];
    return [el('ul', 'lobby-list', {}, ...replays.map((r) => el('li', '', {},
      el('button', 'lobby-match', { type: 'button', 'data-replay': r.id, onclick: () => this.act.replay(r.id) },
        el('b', '', {}, sides(r.names, r.world)),
        el('small', '', {}, `${r.world} · patch ${r.patch} · ${clockText(r.decisions / 10)} · ${new Date(1000 * r.time).toLocaleString()}`)))))];
  }
}

function sides(names, world) {
  const size = world === 'lms' ? 1 : names.length / 2;
  if (world === 'lms') return [...new Set(names)].slice(0, 3).join(', ');
  return [names.slice(0, size), names.slice(size)].map((side) => [...new Set(side)].join(' + ')).join(' v ');
}

function stored() {
  try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; }
}
