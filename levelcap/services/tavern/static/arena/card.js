// The card at the end of a match. It comes while a person may still be firing: it takes no click for a
// moment, none before the button is up again, and never lies below the mouse.

import { el } from './dom.js';

const SHIELD_MS = 700,
  GAP = 24, // px between card and mouse
  LEAST = 240; // px that a card needs

export class Card {
  constructor(over) {
    this.over = over;
    this.root = el('div', 'hud-banner', { hidden: true });
    this._mouse = null;
    this._off = new AbortController();
    for (const name of ['pointermove', 'pointerdown', 'pointerup', 'pointercancel'])
      window.addEventListener(name, (e) => this._pointed(e), { capture: true, signal: this._off.signal });
  }

  close() {
    this._off.abort();
    clearTimeout(this._timer);
  }

  _pointed(event) {
    if (event.pointerType !== 'mouse') return;
    this._mouse = { x: event.clientX, y: event.clientY, down: event.buttons > 0 };
  }

  hide() {
    this.root.hidden = true;
  }

  show(...parts) {
    const fresh = this.root.hidden;
    this.root.replaceChildren(...parts);
    this.root.hidden = false;
    if (fresh) this._shield(performance.now() + SHIELD_MS);
    this._place();
  }

  _shield(until) {
    this.root.inert = true;
    clearTimeout(this._timer);
    const lift = () => {
      if (this._mouse?.down || performance.now() < until) this._timer = setTimeout(lift, 60);
      else this.root.inert = false;
    };
    lift();
  }

  // In the middle, unless the mouse is there: then beside it, where there is more room.
  _place() {
    const { style } = this.root;
    style.left = style.maxWidth = style.minWidth = '';
    if (!this._mouse) return;
    const card = this.root.getBoundingClientRect(),
      box = this.over.getBoundingClientRect(),
      { x, y } = this._mouse;
    if (x < card.left - GAP || x > card.right + GAP || y < card.top - GAP || y > card.bottom + GAP) return;
    const left = x - box.left - 2 * GAP,
      right = box.right - x - 2 * GAP,
      room = Math.max(LEAST, Math.min(card.width, Math.max(left, right)));
    style.minWidth = '0';
    style.maxWidth = `${room}px`;
    const middle = left > right ? x - box.left - GAP - room / 2 : x - box.left + GAP + room / 2;
    style.left = `${middle}px`;
  }
}
