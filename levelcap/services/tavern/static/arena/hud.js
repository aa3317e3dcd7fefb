// What is written over the canvas: clock, sides, value, who fell, scores, own abilities, the end.

import { Card } from './card.js';
import { clockText, el, setText } from './dom.js';
import { bestPlayers } from './ranking.js';
import { TEAMS } from './shapes.js';

const SHOWN_MS = 5000,
  EVERY_MS = 90;
const CAUSES = { shot: '⟶', blast: '✸', tower: 'tower', creep: 'creeps', zone: 'the zone', unknown: '·' };
const KEYS = ['Q', 'E', 'R'];

export class Hud {
  constructor(over, stage, actions) {
    this.stage = stage;
    this.actions = actions;
    this._drawnAt = 0;
    this.top = el('div', 'hud-top');
    this.feed = el('ol', 'hud-feed', { ariaLive: 'off' });
    this.board = el('ol', 'hud-board', { ariaLabel: 'Players' });
    this.hand = el('div', 'hud-hand');
    this.card = new Card(over);
    this.banner = this.card.root;
    this.hint = el('div', 'hud-hint', { role: 'status', hidden: true });
    over.append(this.top, this.feed, this.board, this.hand, this.hint, this.banner);
  }

  close() {
    this.card.close();
  }

  clear() {
    for (const part of [this.top, this.feed, this.board, this.hand]) part.replaceChildren();
    this.card.hide();
    this._ready = false;
    this._notes = 0;
    this._ended = false;
    this.say('');
  }

  say(text) {
    setText(this.hint, text);
    this.hint.hidden = !text;
  }

  _prepare(header) {
    this._ready = true;
    this._notes = 0;
    this.title = el('b', '', {}, header.title);
    this.clock = el('span', 'hud-clock');
    this.sides = [0, 1].map((team) => el('div', `hud-side side-${team}`));
    this.value = el(
      'div',
      'hud-value',
      { title: 'What the nets expect: the share of the bar is their chance to win' },
      el('i'),
    );
    this.middle = el(
      'div',
      'hud-middle',
      {},
      this.title,
      this.clock,
      el('small', header.show ? 'hud-show' : '', {}, header.show || header.objective.toLowerCase()),
      this.value,
    );
    this.top.replaceChildren(this.sides[0], this.middle, this.sides[1]);
    this.rows = header.seats.map((seat, p) => {
      const row = el(
        'li',
        '',
        { onclick: () => this.actions.follow(p) },
        el('i', 'chip', { style: `background:${TEAMS[seat.team]}` }),
        el('span', 'who', {}, this._called(header, p)),
        el('span', 'hp', {}, el('i')),
        el('span', 'tally', {}, '0 / 0'),
      );
      row.title = `${seat.name}, ${seat.champion}: click to follow`;
      return row;
    });
    this.board.replaceChildren(...this.rows);
    if (this.stage.me !== null) this._prepareHand(header.seats[this.stage.me]);
  }

  _called(header, p) {
    const seat = header.seats[p];
    if (p === this.stage.me) return 'you';
    return header.team_size > 1 && seat.champion !== 'base' ? seat.champion : seat.name;
  }

  _prepareHand(seat) {
    const has = seat.abilities.map((a) => a.kind !== 'none');
    this.ammo = el('span', 'hand-ammo');
    this.life = el('div', 'hand-life', {}, el('i'), el('b'));
    this.keys = seat.abilities.map((ability, slot) => {
      const shown = el(
        'button',
        'hand-key',
        {
          type: 'button',
          title: has[slot] ? `${KEYS[slot]}: ${ability.kind}, every ${ability.cooldown_s} s` : 'no ability',
        },
        el('b', '', {}, KEYS[slot]),
        el('small', '', {}, has[slot] ? ability.kind : ''),
        el('i', 'wait'),
      );
      this._touch(shown, KEYS[slot].toLowerCase());
      shown.hidden = !has[slot];
      return shown;
    });
    const use = el(
      'button',
      'hand-key',
      { type: 'button', title: 'Space: take or reload' },
      el('b', '', {}, '␣'),
      el('small', '', {}, 'take'),
    );
    this._touch(use, 'use');
    this.hand.replaceChildren(this.life, el('div', 'hand-keys', {}, ...this.keys, use, this.ammo));
  }

  _touch(button, name) {
    button.addEventListener('pointerdown', (e) => {
      e.preventDefault();
      this.stage.input?.press(name, true);
    });
    for (const end of ['pointerup', 'pointerleave'])
      button.addEventListener(end, () => this.stage.input?.press(name, false));
  }

  update(moment, now) {
    const { tape } = this.stage,
      { header } = tape;
    if (!this._ready) this._prepare(header);
    this._feed(moment.tick, now);
    if (now - this._drawnAt < EVERY_MS) return;
    this._drawnAt = now;
    setText(this.clock, clockText((header.time_limit - moment.tick) / header.ticks_per_s + 0.999));
    this.clock.classList.toggle('low', header.time_limit - moment.tick < 30 * header.ticks_per_s);
    this._sides(header, moment);
    this._value(header, moment);
    this._board(header, moment);
    if (this.stage.me !== null && this.ammo) this._hand(header.seats[this.stage.me], moment.players[this.stage.me]);
    if (this.stage.me !== null) this.say(this._advice(moment));
    this._end(tape, moment);
  }

  _advice(moment) {
    const mine = moment.players[this.stage.me];
    if (moment.over) return '';
    if (!mine.alive) return mine.respawn > 0 ? `You return in ${mine.respawn} s` : 'You are out';
    if (!moment.idle) return '';
    return matchMedia('(pointer: coarse)').matches
      ? 'Drag on the left to move, touch the right to fire there'
      : 'Move with W A S D, aim with the mouse, click to fire';
  }

  _sides(header, moment) {
    if (header.teams > 2) {
      const left = moment.players.filter((p) => p.alive).length;
      setText(this.sides[0], `${left} left`);
      setText(this.sides[1], `${header.seats.length} began`);
      return;
    }
    [0, 1].forEach((team) => {
      const seats = header.seats.map((seat, p) => ({ ...seat, p })).filter((seat) => seat.team === team);
      const names = [...new Set(seats.map((s) => (s.p === this.stage.me ? 'you' : s.name)))].join(' + ');
      let share, words;
      if (header.goal) {
        share = moment.score[team] / header.goal;
        words = `${Math.floor(moment.score[team])} of ${header.goal}`;
      } else if (header.structures.length) {
        const mine = moment.structures.slice(3 * team, 3 * team + 3),
          all = header.structures.slice(3 * team, 3 * team + 3);
        const total = all.reduce((sum, s) => sum + s.hp, 0);
        const now = mine.reduce((sum, s, t) => sum + s.hp * all[t].hp, 0);
        share = now / total;
        words = `${Math.round(now)} structure hp`;
      } else {
        const hp = seats.reduce((sum, s) => sum + moment.players[s.p].hp, 0);
        share = hp / seats.reduce((sum, s) => sum + s.hp, 0);
        words = `${Math.ceil(hp)} hp`;
      }
      const node = this.sides[team];
      if (!node.firstChild?.tagName)
        node.replaceChildren(
          el('b'),
          el('div', 'side-bar', {}, el('i', '', { style: `background:${TEAMS[team]}` })),
          el('small'),
        );
      setText(node.children[0], names);
      node.children[1].firstChild.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
      setText(node.children[2], words);
    });
  }

  // The nets' own estimates, turned to the side of blue.
  _value(header, moment) {
    const views = moment.players
      .map((p, i) => (p.value === null ? null : header.seats[i].team === 0 ? p.value : -p.value))
      .filter((v) => v !== null);
    const shown = this.stage.layers.value && header.teams === 2 && views.length > 0;
    this.value.hidden = !shown;
    if (!shown) return;
    const mean = views.reduce((a, b) => a + b, 0) / views.length;
    this.value.firstChild.style.width = `${Math.max(2, Math.min(98, 50 + 50 * mean))}%`;
  }

  _board(header, moment) {
    moment.players.forEach((p, i) => {
      const row = this.rows[i];
      row.classList.toggle('dead', !p.alive);
      row.classList.toggle('followed', this.stage.follow === i);
      row.querySelector('.hp i').style.width = `${100 * Math.min(1, p.hp / header.seats[i].hp)}%`;
      setText(row.querySelector('.tally'), `${p.kills} / ${p.deaths}`);
    });
  }

  _hand(seat, mine) {
    setText(this.ammo, mine.flags & 16 ? 'reloading' : `${mine.ammo} / ${seat.ammo}`);
    this.life.firstChild.style.width = `${100 * Math.min(1, mine.hp / seat.hp)}%`;
    setText(this.life.lastChild, `${Math.ceil(mine.hp)}${mine.shield > 0 ? ` + ${Math.ceil(mine.shield)}` : ''}`);
    this.keys.forEach((key, slot) => {
      key.querySelector('.wait').style.height = `${100 * mine.wait[slot]}%`;
      key.classList.toggle('ready', mine.wait[slot] === 0);
    });
  }

  // Everybody who has fallen up to this tick; a jump back takes lines away again.
  _feed(tick, now) {
    const { header, notes } = this.stage.tape;
    const due = notes.filter((n) => n.type === 'fallen' && n.tick <= tick);
    if (due.length === this._notes) {
      for (const line of this.feed.children) line.classList.toggle('old', now - line.at > SHOWN_MS);
      return;
    }
    const name = (seat) =>
      el('b', '', { style: `color:${TEAMS[header.seats[seat].team]}` }, this._called(header, seat));
    const fresh = due.length > this._notes ? due.slice(Math.max(this._notes, due.length - 4)) : [];
    this._notes = due.length;
    for (const note of fresh) {
      const by = note.killer >= 0 ? [name(note.killer), ` ${CAUSES[note.cause]} `] : [`${CAUSES[note.cause]} ⟶ `];
      const line = el('li', '', {}, ...by, name(note.victim));
      line.at = now;
      this.feed.prepend(line);
    }
    while (this.feed.children.length > 5) this.feed.lastChild.remove();
  }

  _end(tape, moment) {
    const ended = tape.result && moment.tick >= tape.last - 0.5 && moment.over;
    if (!ended || (this._ended && this._savedShown === Boolean(tape.saved))) {
      if (!ended && this._ended) {
        this.card.hide();
        this._ended = false;
      }
      return;
    }
    this._ended = true;
    this._savedShown = Boolean(tape.saved);
    const { header, result } = tape,
      me = this.stage.me;
    const side = me === null ? null : header.seats[me].team;
    const title =
      me === null ? result.headline : result.winner < 0 ? 'Draw' : result.winner === side ? 'Victory' : 'Defeat';
    const names =
      result.winner >= 0
        ? [...new Set(header.seats.filter((s) => s.team === result.winner).map((s) => s.name))].join(' + ')
        : '';
    const tone = result.winner < 0 ? '#f5c850' : TEAMS[result.winner];
    this.card.show(
      el('h2', '', { style: `color:${tone}` }, title),
      el('p', '', {}, `${names ? `${names} · ` : ''}${result.reason.toLowerCase()} · ${clockText(result.seconds)}`),
      bestPlayers(header, result, me),
      ...this.actions.endings(tape),
    );
  }
}
