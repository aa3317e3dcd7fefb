// Beside the canvas: who plays whom, in which ruleset, with which champions; replays; live matches.

import { ask, clockText, el } from './dom.js';

const WORDS = { duel: 'Duel · 1 v 1', lms: 'Last one standing · 10', siege: 'Siege · 5 v 5', crown: 'Crown · 5 v 5' };
const KEY = 'levelcap.arena';

export class Lobby {
  constructor(act) {
    this.act = act;
    this.choices = null;
    this.problem = el('p', 'problem', { role: 'alert', hidden: true });
    this.tabs = ['Watch', 'Play', 'Replays'].map((name) => el('button', 'tab', { type: 'button', onclick: () => this.show(name) }, name));
    this.body = el('div', 'lobby-body');
    this.people = el('p', 'lobby-people muted');
    this.root = el('section', 'card lobby', { ariaLabel: 'Set up a match' }, el('div', 'tabs', {}, ...this.tabs), this.problem, this.body, this.people);
    this.values = { world: 'duel', blue: '', red: 'master', mates: '', patch: '', lineup: 'default', champion: 'any', name: 'guest', consent: true, side: 'blue', ...stored() };
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
    const select = el('select', '', { name, onchange: () => { this._set(name, select.value); if (name === 'world' || name === 'patch' || name === 'lineup') this.show(this.tab); } },
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
      options.push([m.id, `${m.hero} · step ${m.step.toLocaleString('en')}${m.elo ? ` · Elo ${Math.round(m.elo)}` : ''}`]);
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
    const { players } = this.choices.worlds[this.values.world], size = this._size();
    this.custom = Array.from({ length: players }, (_, p) => el('select', '', { ariaLabel: `Champion of seat ${p}` }, ...champions.map((c, i) => el('option', '', { value: c, selected: i === (p % size) % champions.length }, c))));
    return el('div', 'lobby-seats', {}, ...this.custom.map((s, p) => el('label', '', {}, el('span', size === players / 2 ? `seat side-${Math.floor(p / size)}` : 'seat', {}, `${p + 1}`), s)));
  }

  _size() { const { players, teams } = this.choices.worlds[this.values.world]; return players / teams; }

  _watch() {
    const alone = this._size() === 1 && this.values.world !== 'duel';
    const who = this._who();
    return [
      this._worlds(),
      el('div', 'lobby-versus', {}, this._field(alone ? 'Odd seats' : 'Blue', 'blue', who), el('b', '', {}, 'v'), this._field(alone ? 'Even seats' : 'Red', 'red', who)),
      ...this._rules(),
      el('button', 'btn primary', { type: 'button', id: 'arena-watch', onclick: () => this._start(this._watchBody()) }, 'Watch this match'),
      ...this._live(),
    ];
  }

  _watchBody() {
    const { world, blue, red } = this.values, { players, teams } = this.choices.worlds[world];
    const seats = teams === players && players > 2 ? Array.from({ length: players }, (_, p) => (p % 2 ? red : blue)) : [blue, red];
    return { seats, champions: this._champions() };
  }

  _champions() {
    const { lineup } = this.values;
    if (lineup === 'custom' && this.tab === 'Watch') return this.custom.map((s) => s.value);
    return lineup === 'default' || lineup === 'custom' ? null : lineup;
  }

  _play() {
    const many = this.choices.worlds[this.values.world].players > 2, teams = this._size() > 1;
    const who = this._who(), champions = this.choices.patches[this.values.patch].filter((c) => c !== 'base');
    const name = el('input', '', { type: 'text', value: this.values.name, maxLength: 31, pattern: '[A-Za-z0-9][A-Za-z0-9_\\-]{0,30}', oninput: () => this._set('name', name.value) });
    const consent = el('input', '', { type: 'checkbox', id: 'arena-consent', checked: this.values.consent, onchange: () => this._set('consent', consent.checked) });
    return [
      this._worlds(),
      teams || !many ? this._field('Your side', 'side', [['blue', 'Blue'], ['red', 'Red']]) : null,
      teams ? this._field('Beside you', 'mates', who) : null,
      this._field(many && !teams ? 'All others' : 'Against you', 'red', who),
      this._field('Your champion', 'champion', [['any', 'the usual of this ruleset'], ...champions.map((c) => [c, c])]),
      this._field('Patch', 'patch', Object.keys(this.choices.patches).map((p) => [p, p])),
      el('label', 'lobby-field', {}, el('span', '', {}, 'Your name'), name),
      el('label', 'lobby-check', {}, consent, el('span', '', {}, 'Keep a recording that a hero may learn from (only on this machine)')),
      el('button', 'btn primary', { type: 'button', id: 'arena-play', onclick: () => this._start(this._playBody()) }, 'Play'),
      el('p', 'muted', {}, 'W A S D to move, mouse to aim, click to fire, Q E R abilities, Space to take things.'),
    ].filter(Boolean);
  }

  _playBody() {
    const { world, red, mates, side, champion, patch, name, consent } = this.values, { players } = this.choices.worlds[world], size = this._size();
    const teams = size > 1 || players === 2, mine = teams && side === 'red' ? players - size : 0, myTeam = Math.floor(mine / size);
    const seats = Array.from({ length: players }, (_, p) => (p === mine ? 'person' : size > 1 && Math.floor(p / size) === myTeam ? mates : red));
    let champions = null;
    if (champion !== 'any') {
      const others = this.choices.patches[patch].filter((c) => c !== 'base' && c !== champion);
      const from = Math.floor(Math.random() * others.length);
      champions = seats.map((_, p) => (p === mine || players === 2 ? champion : others[(from + p) % others.length]));
    }
    return { seats, champions, person: { name: /^[A-Za-z0-9][A-Za-z0-9_-]{0,30}$/.test(name) ? name : 'guest', consent } };
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
