// One choice for every seat of a match, in two columns.

import { el } from './dom.js';

export class SeatRows {
  // shape: {players, size of a team}. options: [value, text]. chosen, changed: of a seat's number.
  constructor({ players, size }, label, options, chosen, changed = () => {}) {
    this.selects = Array.from({ length: players }, (_, p) =>
      el(
        'select',
        '',
        { ariaLabel: `${label} ${p + 1}`, 'data-seat': p, onchange: () => changed(p) },
        ...options.map(([value, text]) => el('option', '', { value, selected: value === chosen(p) }, text)),
      ),
    );
    const side = (p) => (size * 2 === players ? `seat side-${Math.floor(p / size)}` : 'seat');
    // Two teams: a column each.
    this.root = el(
      'div',
      'lobby-seats',
      { style: size > 1 ? `grid-auto-flow: column; grid-template-rows: repeat(${size}, auto)` : '' },
      ...this.selects.map((select, p) => el('label', '', {}, el('span', side(p), {}, `${p + 1}`), select)),
    );
  }

  get values() {
    return this.selects.map((select) => select.value);
  }

  // Gives every other seat that has this value another one.
  only(value, seat, instead) {
    this.selects.forEach((select, p) => {
      if (p !== seat && select.value === value) select.value = instead;
    });
  }
}
