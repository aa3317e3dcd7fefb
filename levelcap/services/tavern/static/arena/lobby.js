// Beside the canvas: who plays whom, in which ruleset, with which champions; replays; live matches.

import { Choices, PERSON, stored } from './choices.js';
import { ask, el } from './dom.js';
import { liveMatches, recorded } from './recent.js';

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,30}$/;

export class Lobby extends Choices {
  // seated: checkpoints that the address names, and what was wrong with a name.
  constructor(act, seated = {}) {
    super();
    this.act = act;
    this.seated = seated;
    this.choices = null;
    this.problem = el('p', 'problem', { role: 'alert', hidden: true });
    this.tabs = ['Watch', 'Play', 'Replays'].map((name) =>
      el('button', 'tab', { type: 'button', onclick: () => this.show(name) }, name),
    );
    this.warning = el('div', 'lobby-warning', { role: 'status', hidden: true });
    this.body = el('div', 'lobby-body');
    this.people = el('p', 'lobby-people muted');
    this.root = el(
      'section',
      'card lobby',
      { ariaLabel: 'Set up a match' },
      el('div', 'tabs', {}, ...this.tabs),
      this.problem,
      this.body,
      this.people,
    );
    this.values = {
      world: 'duel',
      blue: '',
      red: 'master',
      mates: '',
      patch: '',
      lineup: 'default',
      champion: 'any',
      name: 'guest',
      consent: true,
      side: 'blue',
      seating: 'sides',
      ...stored(),
    };
  }

  // seats: who shall sit where, as the address says; given once.
  async load(seats = {}) {
    try {
      this.choices = await ask('/arena/api/choices');
      this.complain(this.seated.problem ?? '');
      this.seated.problem = '';
    } catch (error) {
      this.complain(error.message);
      setTimeout(() => this.load(seats), 3000);
      return;
    }
    const { models, patches, bots } = this.choices;
    for (const one of this.seated.models ?? []) if (!models.known.some((m) => m.id === one.id)) models.known.push(one);
    this._seat(seats);
    const best = models.champion ? 'champion' : 'veteran';
    const names = new Set([...bots, 'champion', ...models.known.map((m) => m.id)]);
    for (const field of ['blue', 'mates']) if (!names.has(this.values[field])) this.values[field] = best;
    if (!names.has(this.values.red)) this.values.red = 'master';
    if (!patches[this.values.patch]) [this.values.patch] = Object.keys(patches);
    this._people();
    this.show(this.tab ?? 'Watch');
  }

  _seat({ blue, red, world }) {
    const asked = (name) => this.seated.models?.find((m) => m.asked === name && name !== 'champion');
    for (const [field, name] of Object.entries({ blue, red })) if (name) this.values[field] = asked(name)?.id ?? name;
    if (!blue && !red && !world) return;
    const meant = world ?? this.seated.models?.[0]?.world?.split('-')[0];
    if (this.choices.worlds[meant]) this.values.world = meant;
    else if (world)
      this.complain(`no such ruleset: ${world}. There are ${Object.keys(this.choices.worlds).join(', ')}`);
    this.values.seating = 'sides';
    this.root.scrollIntoView({ block: 'nearest' });
  }

  _people() {
    const { people } = this.choices;
    this.people.textContent = people.played
      ? `People so far: ${people.played} played, ${people.won} won, ${people.drawn} drawn, ${people.lost} lost.`
      : 'Nobody has played against the heroes yet.';
  }

  complain(text) {
    this.problem.textContent = text;
    this.problem.hidden = !text;
  }

  show(name) {
    this.tab = name;
    for (const tab of this.tabs) tab.setAttribute('aria-pressed', tab.textContent === name);
    if (!this.choices) return;
    this.body.replaceChildren(
      ...(name === 'Replays'
        ? recorded(this.choices.replays, this.act)
        : name === 'Play'
          ? this._play()
          : this._watch()),
    );
  }

  get _plays() {
    return this.table ? this.table.values.includes(PERSON) : this.tab === 'Play';
  }

  _watch() {
    const alone = this._size() === 1 && this.values.world !== 'duel';
    const who = this._who();
    const sides = [
      this._field(alone ? 'Odd seats' : 'Blue', 'blue', who),
      this._field(alone ? 'Even seats' : 'Red', 'red', who),
    ];
    return [
      this._worlds(),
      ...this._seating(sides, this._sides()),
      this._warn(),
      ...this._rules(),
      ...(this._plays ? this._person() : []),
      el(
        'button',
        'btn primary',
        { type: 'button', id: 'arena-watch', onclick: () => this._start(this._watchBody()) },
        this._plays ? 'Play this match' : 'Watch this match',
      ),
      ...liveMatches(this.choices.live, this.act),
    ];
  }

  // Who sits where when each side has one choice.
  _sides() {
    const { blue, red } = this.values,
      { players, size } = this._shape();
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
    const many = this.choices.worlds[this.values.world].players > 2,
      teams = this._size() > 1;
    const who = this._who(),
      champions = this.choices.patches[this.values.patch].filter((c) => c !== 'base');
    const sides = [
      teams || !many
        ? this._field('Your side', 'side', [
            ['blue', 'Blue'],
            ['red', 'Red'],
          ])
        : null,
      teams ? this._field('Beside you', 'mates', who) : null,
      this._field(many && !teams ? 'All others' : 'Against you', 'red', who),
    ];
    return [
      this._worlds(),
      ...this._seating(sides.filter(Boolean), this._around()),
      this._warn(),
      this._field('Your champion', 'champion', [['any', 'the usual of this ruleset'], ...champions.map((c) => [c, c])]),
      this._field(
        'Patch',
        'patch',
        Object.keys(this.choices.patches).map((p) => [p, p]),
      ),
      ...this._person(),
      el(
        'button',
        'btn primary',
        { type: 'button', id: 'arena-play', onclick: () => this._start(this._playBody()) },
        this._plays ? 'Play' : 'Watch',
      ),
      el(
        'p',
        'muted',
        {},
        'W A S D to move, mouse to aim, click to fire, Q E R abilities, Space to take things. On a touch screen: left half moves, right half fires.',
      ),
    ].filter(Boolean);
  }

  // Your name, and whether your play may be kept.
  _person() {
    const name = el('input', '', {
      type: 'text',
      value: this.values.name,
      maxLength: 31,
      pattern: '[A-Za-z0-9][A-Za-z0-9_\\-]{0,30}',
      oninput: () => this._set('name', name.value),
    });
    const consent = el('input', '', {
      type: 'checkbox',
      id: 'arena-consent',
      checked: this.values.consent,
      onchange: () => this._set('consent', consent.checked),
    });
    return [
      el('label', 'lobby-field', {}, el('span', '', {}, 'Your name'), name),
      el(
        'label',
        'lobby-check',
        {},
        consent,
        el('span', '', {}, 'Keep a recording that a hero may learn from (only on this machine)'),
      ),
    ];
  }

  _named() {
    const { name, consent } = this.values;
    return { person: { name, consent } };
  }

  // Who sits where around you.
  _around() {
    const { red, mates, side } = this.values,
      { players, size } = this._shape();
    const teams = size > 1 || players === 2,
      mine = teams && side === 'red' ? players - size : 0,
      myTeam = Math.floor(mine / size);
    return Array.from({ length: players }, (_, p) =>
      p === mine ? PERSON : size > 1 && Math.floor(p / size) === myTeam ? mates : red,
    );
  }

  _playBody() {
    const { champion, patch } = this.values,
      seats = this.table ? this.table.values : this._around(),
      mine = seats.indexOf(PERSON);
    let champions = null;
    if (champion !== 'any' && mine >= 0) {
      const others = this.choices.patches[patch].filter((c) => c !== 'base' && c !== champion);
      const from = Math.floor(Math.random() * others.length);
      champions = seats.map((_, p) =>
        p === mine || seats.length === 2 ? champion : others[(from + p) % others.length],
      );
    }
    return { seats, champions, ...this._named() };
  }

  async _start(body) {
    const { name } = this.values;
    // Said, not replaced: a match under another name is not the one that was asked for.
    if (body.person && !NAME.test(name)) {
      this.complain(
        `a name has 1 to 31 letters of A to Z, digits, - and _, and begins with a letter or digit; got "${name}". Change it and press again.`,
      );
      return;
    }
    this.complain('');
    try {
      const made = await ask('/arena/api/matches', { world: this.values.world, patch: this.values.patch, ...body });
      this.act.open(made.id, made);
    } catch (error) {
      this.complain(error.message);
    }
  }

  again() {
    return this.tab === 'Play' ? this._start(this._playBody()) : this._start(this._watchBody());
  }
}
