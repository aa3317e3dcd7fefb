// The strip above the scrub bar: a hero's intents as colours, its value as a line, changes of goal.

import { el } from './dom.js';
import { INTENT_COLOURS } from './mind.js';

const HIGH = 18,
  EVERY_MS = 250;

export class Strip {
  constructor(stage) {
    this.stage = stage;
    this.root = el('canvas', 'bar-strip', { height: HIGH, title: 'What the hero wanted, moment by moment' });
    this._drawnAt = 0;
  }

  // last: the tick at the right end.
  update(last, now) {
    const seat = this.stage.minded;
    this.root.hidden = seat === null;
    if (seat === null || now - this._drawnAt < EVERY_MS) return;
    this._drawnAt = now;
    const wide = Math.max(2, Math.round(this.root.clientWidth));
    if (this.root.width !== wide) this.root.width = wide;
    this._draw(this.stage.tape, seat, wide, Math.max(1, last));
  }

  _draw(tape, seat, wide, last) {
    const g = this.root.getContext('2d'),
      { intents } = tape.header;
    g.clearRect(0, 0, wide, HIGH);
    const curve = [];
    const wanted = new Set();
    let x = 0;
    for (let i = 0; i < tape.length; i++) {
      const { intent, value } = tape.stated(i, seat),
        next = Math.ceil((wide * (tape.ticks[i + 1] ?? tape.ticks[i] + 2)) / last);
      if (next <= x) continue;
      if (intent !== null) {
        wanted.add(intents[intent]);
        g.fillStyle = INTENT_COLOURS[intents[intent]] ?? '#444';
        g.fillRect(x, 0, next - x, HIGH);
      }
      if (value !== null) curve.push([x, HIGH * (0.5 - 0.45 * Math.max(-1, Math.min(1, value)))]);
      x = next;
    }
    this.root.dataset.wanted = [...wanted].join(' ');
    if (curve.length < 2) return;
    for (const [width, tone] of [
      [3, '#0008'],
      [1.5, '#fff'],
    ]) {
      g.strokeStyle = tone;
      g.lineWidth = width;
      g.beginPath();
      for (const [at, high] of curve) g.lineTo(at, high);
      g.stroke();
    }
  }
}
