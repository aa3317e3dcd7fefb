// Where a match turned: the largest swings of what the nets expected, as marks on the scrub bar.

import { clockText, el } from './dom.js';

const MOST = 5,
  SPAN_S = 2, // a swing is a change within this time
  APART_S = 4, // two marks are at least so far apart
  BEFORE_S = 2, // a mark leads to what came before it
  LEAST = 0.1; // of a value between -1 and 1

// Moments {tick, swing}, in order; swing: of blue's expectation, which is what all nets say of it.
export function findTurns(tape) {
  const { header } = tape,
    rate = header.ticks_per_s,
    nets = header.seats.flatMap((seat, p) => (seat.kind === 'net' ? [{ p, sign: seat.team === 0 ? 1 : -1 }] : []));
  if (header.teams !== 2 || !nets.length) return [];
  const values = tape.ticks.map((_, i) => {
    const said = nets.map(({ p, sign }) => [tape.stated(i, p).value, sign]).filter(([value]) => value !== null);
    return said.length ? said.reduce((sum, [value, sign]) => sum + sign * value, 0) / said.length : null;
  });
  const found = [];
  for (let i = 0, j = 0; i < values.length; i++) {
    while (tape.ticks[i] - tape.ticks[j] > SPAN_S * rate) j++;
    const swing = values[i] === null || values[j] === null ? 0 : values[i] - values[j];
    if (Math.abs(swing) >= LEAST) found.push({ tick: (tape.ticks[i] + tape.ticks[j]) / 2, swing });
  }
  found.sort((a, b) => Math.abs(b.swing) - Math.abs(a.swing));
  const kept = [];
  for (const turn of found) {
    if (kept.length === MOST) break;
    if (kept.every((other) => Math.abs(other.tick - turn.tick) >= APART_S * rate)) kept.push(turn);
  }
  return kept.sort((a, b) => a.tick - b.tick);
}

export class Turns {
  constructor(stage) {
    this.stage = stage;
    this.root = el('div', 'bar-turns', { role: 'group', ariaLabel: 'Where it turned', hidden: true });
  }

  // last: the tick at the right end. Found once, when the whole match is here.
  update(last) {
    const { tape } = this.stage;
    const whole = tape.whole ? tape : null;
    if (whole === this._of) return;
    this._of = whole;
    this.root.hidden = !whole;
    this.root.replaceChildren(...(whole ? findTurns(tape).map((turn) => this._mark(turn, last)) : []));
  }

  _mark({ tick, swing }, last) {
    const rate = this.stage.tape.header.ticks_per_s,
      words = `It turned for ${swing > 0 ? 'blue' : 'red'} at ${clockText(tick / rate)}: ${Math.round(50 * Math.abs(swing))} points of the expected chance`;
    return el('button', `turn ${swing > 0 ? 'side-0' : 'side-1'}`, {
      type: 'button',
      title: words,
      ariaLabel: words,
      style: `left:${(100 * tick) / Math.max(1, last)}%`,
      onclick: () => this.stage.clock.seek(tick - BEFORE_S * rate),
    });
  }
}
