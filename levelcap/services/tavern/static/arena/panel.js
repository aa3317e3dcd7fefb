// The mind of one hero beside the match: a line in words, its value as a bar, and orders to it.

import { el, setText } from './dom.js';
import { INTENT_COLOURS, inWords } from './mind.js';
import { TEAMS } from './shapes.js';

const EVERY_MS = 150;

export class Panel {
  // send: gives an order, {seat, order}; order null: none any more.
  constructor(box, stage, send) {
    this.stage = stage;
    this.send = send;
    this.who = el('b', 'mind-who');
    this.line = el('span', 'mind-words', { role: 'status', ariaLive: 'off' });
    this.bar = el('i');
    this.odds = el('small');
    this.value = el(
      'div',
      'mind-value',
      { title: 'The chance to win, as the hero itself sees it' },
      this.bar,
      this.odds,
    );
    this.typed = el('input', '', {
      name: 'order',
      placeholder: 'order: fight, flee …',
      ariaLabel: 'Order for this hero',
      autocomplete: 'off',
      maxLength: 40,
    });
    this.typed.setAttribute('list', 'mind-orders');
    this.names = el('datalist', '', { id: 'mind-orders' });
    this.said = el('small', 'mind-said', { role: 'status' });
    this.orders = el(
      'form',
      'mind-orders',
      { onsubmit: (e) => this._order(e, this.typed.value) },
      this.typed,
      this.names,
      el('button', 'btn small', { type: 'submit' }, 'Order'),
      el('button', 'btn small', { type: 'button', onclick: (e) => this._order(e, '') }, 'At ease'),
      this.said,
    );
    const colours = Object.entries(INTENT_COLOURS).map(([name, colour]) =>
      el('span', '', {}, el('i', '', { style: `background:${colour}` }), name.toLowerCase()),
    );
    const legend = el('small', 'mind-legend', {}, ...colours, '· white line: expects to win');
    this.root = el('div', 'hud-mind', { hidden: true }, this.who, this.line, this.value, legend, this.orders);
    box.append(this.root); // below the map, not over it
    this._drawnAt = 0;
  }

  clear() {
    this.root.hidden = true;
    this.names.replaceChildren();
    this.typed.value = '';
    setText(this.said, '');
  }

  _order(event, text) {
    event.preventDefault();
    const { orders } = this.stage.tape.header,
      wanted = text.trim().toLowerCase();
    const order = orders.find((name) => name === wanted) ?? null;
    if (wanted && order === null) {
      setText(this.said, `No such order. There are: ${orders.join(', ')}`);
      return;
    }
    this.send({ seat: this.stage.minded, order });
    setText(this.said, '');
    if (!order) this.typed.value = '';
  }

  update(moment, now) {
    const { stage } = this,
      { header } = stage.tape,
      seat = stage.minded;
    const shown = seat !== null && stage.layers.mind && stage.me === null;
    this.root.hidden = !shown;
    if (!shown || now - this._drawnAt < EVERY_MS) return;
    this._drawnAt = now;
    const player = moment.players[seat],
      facts = header.seats[seat],
      mind = moment.minds[seat],
      intent = player.intent === null ? null : header.intents[player.intent];
    setText(this.who, header.team_size > 1 && facts.champion !== 'base' ? facts.champion : facts.name);
    this.who.style.color = TEAMS[facts.team];
    const order = mind?.order ? header.orders?.[mind.order - 1] : null;
    setText(this.line, player.alive ? inWords(intent, mind, player.hp, order) : 'out for now');
    this.line.style.color = INTENT_COLOURS[intent] ?? '#e8edf5';
    this.value.hidden = player.value === null;
    if (player.value !== null) {
      const share = Math.max(0, Math.min(1, 0.5 + 0.5 * player.value));
      this.bar.style.width = `${100 * share}%`;
      setText(this.odds, `expects to win ${Math.round(100 * share)} %`);
    }
    this.orders.hidden = !(header.live && header.takes_orders.includes(seat) && !stage.tape.result);
    if (!this.names.children.length)
      this.names.append(...(header.orders ?? []).map((name) => el('option', '', { value: name })));
  }
}
