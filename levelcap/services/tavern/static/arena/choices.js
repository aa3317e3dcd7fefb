// What can be chosen before a match: ruleset, patch, champions, and who sits where.

import { el } from './dom.js';
import { SeatRows } from './seats.js';

const WORDS = { duel: 'Duel · 1 v 1', lms: 'Last one standing · 10', siege: 'Siege · 5 v 5', crown: 'Crown · 5 v 5' };
const KEY = 'levelcap.arena';
const REDRAWN = ['world', 'patch', 'lineup', 'seating'];
const LISTED = 30;
export const PERSON = 'person';

const trainedIn = (model, world) => !model.world || model.world.split('-')[0] === world;

export class Choices {
  _field(label, name, options) {
    const select = el(
      'select',
      '',
      {
        name,
        onchange: () => {
          this._set(name, select.value);
          if (REDRAWN.includes(name)) this.show(this.tab);
          else this._warn();
        },
      },
      ...options.map(([value, text, group]) =>
        el('option', '', { value, selected: value === this.values[name], 'data-group': group ?? '' }, text),
      ),
    );
    const node = el('label', 'lobby-field', {}, el('span', '', {}, label), select);
    return node;
  }

  _set(name, value) {
    this.values[name] = value;
    try {
      localStorage.setItem(KEY, JSON.stringify(this.values));
    } catch {
      /* a private window keeps nothing */
    }
  }

  _worlds() {
    return this._field(
      'Ruleset',
      'world',
      Object.keys(this.choices.worlds).map((w) => [w, WORDS[w] ?? w]),
    );
  }

  _who() {
    const { models, bots } = this.choices,
      { world } = this.values;
    const reigns = models.known.find((m) => m.id === models.champion);
    const options = reigns ? [['champion', `★ champion · ${reigns.shown}`]] : [];
    const meant = models.known.filter((m) => trainedIn(m, world)).slice(0, LISTED);
    const chosen = models.known.filter((m) => Object.values(this.values).includes(m.id) && !meant.includes(m));
    for (const m of [...meant, ...chosen])
      options.push([
        m.id,
        m.shown + (trainedIn(m, world) ? (m.elo_text ? ` · Elo ${m.elo_text}` : '') : ` · of ${m.world}`),
      ]);
    return [...options, ...bots.filter((b) => world === 'duel' || !b.startsWith('seer')).map((b) => [b, `bot · ${b}`])];
  }

  // Heroes that never trained in the chosen ruleset are told of before they play in it.
  _warn() {
    const { models } = this.choices,
      { world } = this.values;
    const seats = this.table ? this.table.values : this.tab === 'Play' ? this._around() : this._sides();
    const ids = new Set(seats.map((name) => (name === 'champion' ? models.champion : name)));
    const strangers = models.known.filter((m) => ids.has(m.id) && !trainedIn(m, world));
    const words = (m) => `${m.shown} trained in ${m.world} and was never in ${world}: expect little of it.`;
    this.warning.replaceChildren(...strangers.map((m) => el('p', '', {}, words(m))));
    this.warning.hidden = !strangers.length;
    return this.warning;
  }

  _rules() {
    const { patches } = this.choices,
      champions = patches[this.values.patch].filter((c) => c !== 'base');
    const lineups = [
      ['default', 'the usual of this ruleset'],
      ['base', 'no champions'],
      ['random', 'drawn by seed'],
      ...champions.map((c) => [c, `all ${c}`]),
    ];
    if (this.tab === 'Watch') lineups.push(['custom', 'one by one …']);
    const fields = [
      this._field(
        'Patch',
        'patch',
        Object.keys(patches).map((p) => [p, p]),
      ),
      this._field('Champions', 'lineup', lineups),
    ];
    return this.values.lineup === 'custom' && this.tab === 'Watch' ? [...fields, this._seats(champions)] : fields;
  }

  _seats(champions) {
    const size = this._size();
    this.custom = new SeatRows(
      this._shape(),
      'Champion of seat',
      champions.map((c) => [c, c]),
      (p) => champions[(p % size) % champions.length],
    );
    return this.custom.root;
  }

  _size() {
    const { players, teams } = this.choices.worlds[this.values.world];
    return players / teams;
  }

  _shape() {
    return { players: this.choices.worlds[this.values.world].players, size: this._size() };
  }

  // One choice a side, or one a seat: a bot, a checkpoint, the champion, and in one of them you.
  _seating(sides, usual) {
    const field = this._field('Who plays', 'seating', [
      ['sides', 'one choice a side'],
      ['each', 'seat by seat …'],
    ]);
    this.table = null;
    if (this.values.seating !== 'each') return [field, ...sides];
    const key = `${this.tab} ${this.values.world}`;
    if (this._asked !== key) {
      this._asked = key;
      this._chosen = usual;
    }
    const before = this._chosen.includes(PERSON);
    this.table = new SeatRows(
      this._shape(),
      'Player of seat',
      [[PERSON, '☺ you'], ...this._who().map(([value, text]) => [value, text.replace('bot · ', '')])],
      (p) => this._chosen[p],
      (p) => {
        if (this.table.values[p] === PERSON) this.table.only(PERSON, p, this.values.red);
        this._chosen = this.table.values;
        this._warn();
        if (this._chosen.includes(PERSON) !== before) this.show(this.tab);
      },
    );
    return [field, this.table.root];
  }
}

// What was chosen last time in this browser.
export function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}
