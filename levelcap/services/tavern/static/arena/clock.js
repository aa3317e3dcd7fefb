// Which tick is shown now. A live match is followed a little behind its newest state; a replay, or
// a live match that was scrubbed back, runs by itself.

const WINDOW_MS = 2000,
  GAP_MS = 500,
  FAR_TICKS = 40;

export class Clock {
  constructor(tape, live) {
    this.tape = tape;
    this.tick = 0;
    this.paused = false;
    this.speed = 1;
    this.attached = live; // following the newest state
    this.live = live;
    this._offsets = [];
    this._lastArrival = 0;
    this._spacing = 2;
    this._lastTick = 0;
  }

  // A state of this tick has arrived.
  arrived(tick, now) {
    if (now - this._lastArrival > GAP_MS) this._offsets = [];
    this._lastArrival = now;
    if (tick > this._lastTick) this._spacing += 0.1 * (tick - this._lastTick - this._spacing);
    this._lastTick = tick;
    this._offsets.push({ now, offset: tick - this._ticksIn(now) });
    while (this._offsets.length && now - this._offsets[0].now > WINDOW_MS) this._offsets.shift();
  }

  _ticksIn(ms) {
    return ms * 0.03 * this.speed;
  }

  setSpeed(speed) {
    this.speed = speed;
    this._offsets = [];
  }

  advance(now, ms) {
    const { tape } = this;
    if (!tape.length) return this.tick;
    if (this.attached && this._offsets.length) this._follow(now, ms);
    else if (!this.paused) this.tick += ms * 0.03 * this.speed;
    this.tick = Math.min(tape.last, Math.max(tape.first, this.tick));
    if (this.live && !this.attached && !this.paused && this.tick >= tape.last - 1) this.attached = true;
    return this.tick;
  }

  _follow(now, ms) {
    // The earliest arrival of the last seconds is the one that was not held up on its way.
    let best = -Infinity;
    for (const { offset } of this._offsets) best = Math.max(best, offset);
    const lag = Math.max(3.5, 1.6 * this._spacing + 1);
    const target = best + this._ticksIn(now) - lag;
    const step = ms * 0.03 * this.speed;
    const error = target - (this.tick + step);
    if (Math.abs(error) > FAR_TICKS * Math.max(1, this.speed)) this.tick = target;
    else this.tick += step + error * Math.min(1, ms / 250);
  }

  seek(tick) {
    this.tick = Math.min(this.tape.last, Math.max(this.tape.first, tick));
    this.attached = this.live && tick >= this.tape.last - 3;
  }

  toLive() {
    this.attached = this.live;
    this.paused = false;
  }
}
