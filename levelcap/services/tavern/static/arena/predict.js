// The own hero, drawn ahead of the server: moved at once by the keys, drawn back by what arrives.

const SNAP = 3,
  PULL_MS = 180,
  KEPT_MS = 1500;

export class Prediction {
  constructor(header, seat) {
    this.header = header;
    this.seat = header.seats[seat];
    this.index = seat;
    this.place = null;
    this.lag = 110; // ms from a key to the server's state that contains it
    this._sent = new Map();
    this._past = [];
    this._blocked = grid(header);
  }

  sent(number, now) {
    this._sent.set(number, now);
    if (this._sent.size > 200) this._sent.delete(this._sent.keys().next().value);
  }

  // A state has arrived: compare it with where we thought we were when it was made.
  confirm(state, now) {
    const server = state.players[this.index],
      at = this._sent.get(state.ack);
    if (at !== undefined) {
      this.lag += 0.1 * (Math.min(400, now - at) - this.lag);
      for (const number of this._sent.keys()) if (number <= state.ack) this._sent.delete(number);
    }
    if (!this.place || !server.alive || !this._past.length) {
      this.place = { x: server.x, y: server.y };
      return;
    }
    const then = this._at(now - this.lag);
    const [dx, dy] = [server.x - then.x, server.y - then.y];
    if (Math.hypot(dx, dy) > SNAP) {
      this.place = { x: server.x, y: server.y };
      this._past = [];
      return;
    }
    const share = Math.min(1, 33 / PULL_MS);
    this._shift(dx * share, dy * share);
  }

  _shift(dx, dy) {
    this.place.x += dx;
    this.place.y += dy;
    for (const p of this._past) {
      p.x += dx;
      p.y += dy;
    }
  }

  _at(time) {
    for (let i = this._past.length - 1; i >= 0; i--) if (this._past[i].time <= time) return this._past[i];
    return this._past[0];
  }

  // move: what the keys say now, at most 1 long.
  advance(move, held, now, ms) {
    if (!this.place) return;
    const step = held ? 0 : (this.seat.speed * Math.min(ms, 60)) / 1000;
    const x = this.place.x + move.x * step,
      y = this.place.y + move.y * step;
    if (!this._blocked(x, this.place.y)) this.place.x = x;
    if (!this._blocked(this.place.x, y)) this.place.y = y;
    this._past.push({ time: now, x: this.place.x, y: this.place.y });
    while (this._past.length && now - this._past[0].time > KEPT_MS) this._past.shift();
  }
}

// May nobody stand here? The rim and the walls, both grown by half a unit, the size of a body.
function grid(header) {
  const edge = header.half - 0.5;
  return (x, y) =>
    Math.abs(x) > edge ||
    Math.abs(y) > edge ||
    header.walls.some(([wx, wy, w, h]) => Math.abs(x - wx) < w + 0.5 && Math.abs(y - wy) < h + 0.5);
}
