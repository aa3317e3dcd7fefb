// The canvas and its loop: which moment is shown, from where, and how often.

import { Camera } from './camera.js';
import { Clock } from './clock.js';
import { Effects } from './effects.js';
import { paintGround } from './ground.js';
import { drawMinimap } from './minimap.js';
import { momentAt } from './moment.js';
import { Scene } from './scene.js';
import { drawSticks } from './sticks.js';
import { Tape } from './tape.js';

const LEAST = 15; // units seen to each side, however near everybody is
const REACH = 18; // units seen around a player who is followed
const SLOW_MS = 26,
  FAST_MS = 18.5;
const RATIOS = [1, 0.8, 0.62, 0.5];

export const LAYERS = { sight: false, health: true, objective: true, value: true, names: true, mind: true };

export class Stage {
  // frameMs: at least so long between two pictures. bare: a small one, without map and writing.
  constructor(canvas, { frameMs = 0, bare = false } = {}) {
    this.canvas = canvas;
    this.frameMs = frameMs;
    this.bare = bare;
    this.g = canvas.getContext('2d', { alpha: false });
    this.camera = new Camera();
    this.scene = new Scene(this.g, this.camera);
    this.layers = { ...LAYERS };
    this.follow = null;
    this.whole = false; // the whole map, not where things happen
    this.onFrame = () => {};
    this._ratio = 0;
    this._slow = this._fast = 0;
    this.report = {
      frames: 0,
      fps: 0,
      lastFrameAt: 0,
      state: 'empty',
      inputToPhotonMs: [],
      ratio: 1,
      tick: 0,
      hero: null,
      match: null,
    };
    if (!bare) window.__arena = this.report;
    this._times = [];
    this._watch = new ResizeObserver(() => this._resize());
    this._watch.observe(canvas);
    this.clear();
    this._loop = this._loop.bind(this);
    this._request = requestAnimationFrame(this._loop);
  }

  close() {
    cancelAnimationFrame(this._request);
    this._watch.disconnect();
  }

  clear(live = false) {
    this.tape = new Tape();
    this.clock = new Clock(this.tape, live);
    this.effects = new Effects();
    this.ground = null;
    this.input = this.prediction = null;
    this.me = null;
    this.follow = null;
    this._shownIndex = -1;
    this.camera.reset();
    this.report.state = 'waiting';
    this.report.tick = 0;
    this.report.match = null;
  }

  // A message of the match.
  take(bytes) {
    const kind = this.tape.take(bytes);
    if (kind === 1) this._begin();
    if (kind === 2) {
      this.clock.arrived(this.tape.last, performance.now());
      if (this.prediction) this.prediction.confirm(this.tape.state(this.tape.length - 1), performance.now());
    }
    return kind;
  }

  _begin() {
    const { header } = this.tape;
    this.ground = paintGround(header);
    this._crowd = header.seats.length > 2;
    this.me = header.you ?? null;
    this.follow = this.me;
    this.clock.speed = header.speed ?? 1;
    this.report.state = 'playing';
    this.report.match = header.match ?? null;
  }

  // Whose mind is shown: the one that is followed, or else the first net.
  get minded() {
    const { header } = this.tape;
    if (!header) return null;
    if (this.follow !== null) return this.follow;
    const net = header.seats.findIndex((seat) => seat.kind === 'net');
    return net < 0 ? null : net;
  }

  _resize() {
    const box = this.canvas.getBoundingClientRect();
    const ratio = Math.min(1.5, window.devicePixelRatio || 1) * RATIOS[this._ratio];
    this.canvas.width = Math.max(2, Math.round(box.width * ratio));
    this.canvas.height = Math.max(2, Math.round(box.height * ratio));
    this.camera.resize(this.canvas.width, this.canvas.height);
    this.report.ratio = ratio;
  }

  // A machine that cannot keep up gets a coarser picture; one that can, a finer one.
  _adapt(ms) {
    this._slow = ms > SLOW_MS ? this._slow + 1 : Math.max(0, this._slow - 0.34);
    this._fast = ms < FAST_MS ? this._fast + 1 : 0;
    if (this._slow > 24 && this._ratio < RATIOS.length - 1) {
      this._ratio++;
      this._slow = this._fast = 0;
      this._resize();
    }
    if (this._fast > 900 && this._ratio > 0) {
      this._ratio--;
      this._fast = 0;
      this._resize();
    }
  }

  // A picture that stands still can be as fine as it gets.
  _sharpen() {
    if (this._ratio > 0) {
      this._ratio = 0;
      this._resize();
    }
  }

  _loop(now) {
    this._request = requestAnimationFrame(this._loop);
    if (this.frameMs && (now - (this._last ?? 0) < this.frameMs || (this.clock.paused && this.shown))) return;
    const ms = Math.min(250, now - (this._last ?? now));
    this._last = now;
    this._count(now);
    if (this.clock.paused) this._sharpen();
    else if (ms > 0 && !this.bare) this._adapt(ms);
    if (!this.ground || !this.tape.length) {
      this._blank();
      return;
    }
    const tick = this.clock.advance(now, ms);
    const moment = this.moment(tick, now, ms);
    this.shown = moment;
    this._happen();
    this._look(moment, ms);
    const { g, camera } = this,
      shake = this.effects.shake * 5;
    g.setTransform(1, 0, 0, 1, shake * (Math.random() - 0.5), shake * (Math.random() - 0.5));
    this.scene.draw(this, moment);
    // Who scrubs moves the effects as well.
    this.effects.draw(g, camera, this.clock.paused ? (Math.max(0, tick - (this._drawnTick ?? tick)) * 1000) / 30 : ms);
    this._drawnTick = tick;
    g.setTransform(1, 0, 0, 1, 0, 0);
    if (
      !this.bare &&
      (this._crowd || this.input) &&
      this.camera.scale * 2 * this.tape.header.half > 1.35 * Math.min(camera.width, camera.height - camera.top)
    ) {
      // Below the list of players, which has a row of 23 px a seat.
      const list = this.me === null ? 108 + 23 * this.tape.header.seats.length : 90;
      const side = Math.round(
        Math.max(
          90 * this.report.ratio,
          Math.min(190 * this.report.ratio, camera.width * 0.27, camera.height - list * this.report.ratio),
        ),
      );
      drawMinimap(g, camera, this.tape.header, this.ground, moment, this.scene, side);
    }
    if (this.input) drawSticks(g, this.input, this.report.ratio);
    this._photons();
    this.report.tick = tick;
    this.report.hero = this.me === null ? null : { x: moment.players[this.me].x, y: moment.players[this.me].y };
    this.report.state = moment.over && tick >= this.tape.last ? 'over' : this.clock.paused ? 'paused' : 'playing';
    this.onFrame(moment, now);
  }

  // The moment of a tick, with the own hero where the input has already brought it.
  moment(tick, now, ms) {
    const found = momentAt(this.tape, tick);
    if (this.prediction && this.me !== null) this._predict(found.players, now, ms);
    return found;
  }

  _predict(players, now, ms) {
    const mine = players[this.me];
    if (!mine.alive || !this.clock.attached) return;
    const held = (mine.flags & 2) > 0; // snared
    this.prediction.advance(this.input.move, held, now, ms);
    if (this.prediction.place) Object.assign(mine, this.prediction.place);
    mine.angle = this.input.aimFrom(mine, this.camera, this.tape.header.sight);
  }

  // Effects of the states that were passed since the last picture, unless the viewer jumped.
  _happen() {
    const index = this.tape.index(this.clock.tick),
      from = this._shownIndex;
    if (from >= 0 && index > from && index - from < 12) {
      for (let i = from; i < index; i++)
        this.effects.compare(this.tape.header, this.tape.state(i), this.tape.state(i + 1));
    } else if (index !== from) this.effects.clear();
    this._shownIndex = index;
  }

  _look(moment, ms) {
    const { half } = this.tape.header;
    this.camera.top = this.bare ? 0 : 66 * this.report.ratio;
    this.camera.bottom = this.input ? 84 * this.report.ratio : 0; // the own abilities
    // Beside the list of players and the small map, where these are long and there is room.
    const covered = !this.bare && this._crowd && this.me === null && this.camera.width >= 700 * this.report.ratio;
    this.camera.left = covered ? 216 * this.report.ratio : 0;
    // A person looks at the own hero: anything else would tell where hidden enemies are.
    const seat = this.input ? this.me : this.follow;
    if (seat !== null) {
      const { x, y } = moment.players[seat];
      this.camera.aim(half, { x, y, wide: REACH, high: 0.62 * REACH }, 110, ms);
    } else this.camera.aim(half, this.whole ? null : this._action(moment), 700, ms);
  }

  // Where things happen: a box around everybody alive.
  _action(moment) {
    const there = moment.players.filter((p) => p.alive);
    if (!there.length) return null;
    const xs = there.map((p) => p.x),
      ys = there.map((p) => p.y);
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    return {
      x: (left + right) / 2,
      y: (low + high) / 2,
      wide: Math.max(LEAST, (right - left) / 2 + 5),
      high: Math.max(0.62 * LEAST, (high - low) / 2 + 4),
    };
  }

  _photons() {
    if (!this.input?.pending.length) return;
    const drawn = performance.now();
    for (const time of this.input.pending) this.report.inputToPhotonMs.push(drawn - time);
    this.input.pending.length = 0;
    if (this.report.inputToPhotonMs.length > 500) this.report.inputToPhotonMs.splice(0, 100);
  }

  _blank() {
    const { g, canvas } = this;
    g.fillStyle = '#0b0e14';
    g.fillRect(0, 0, canvas.width, canvas.height);
  }

  _count(now) {
    this._times.push(now);
    while (now - this._times[0] > 1000) this._times.shift();
    const span = now - this._times[0];
    this.report.fps = span > 200 ? (1000 * (this._times.length - 1)) / span : 0;
    this.report.frames++;
    this.report.lastFrameAt = now;
  }

  // The player nearest to a point of the canvas (css px), within a finger's width.
  playerAt(x, y) {
    if (!this.shown) return null;
    const ratio = this.canvas.width / this.canvas.clientWidth;
    let best = null,
      nearest = 34 * ratio;
    this.shown.players.forEach((p, i) => {
      const away = Math.hypot(this.camera.px(p.x) - x * ratio, this.camera.py(p.y) - y * ratio);
      if (p.alive && away < nearest) {
        best = i;
        nearest = away;
      }
    });
    return best;
  }

  followNext(way = 1) {
    const count = this.tape.header?.seats.length ?? 0;
    for (let i = 1; i <= count; i++) {
      const seat = ((this.follow ?? -1) + way * i + 2 * count) % count;
      if (this.shown?.players[seat].alive) {
        this.follow = seat;
        return;
      }
    }
  }
}
