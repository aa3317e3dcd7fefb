// The arena page: the lobby, the canvas, what is written over it, the bar below.

import { addressOf, asked, goTo } from './address.js';
import { Controls } from './controls.js';
import { el, setText, svg } from './dom.js';
import { endings } from './endings.js';
import { Hud } from './hud.js';
import { Input } from './input.js';
import { Lobby } from './lobby.js';
import { Panel } from './panel.js';
import { Prediction } from './predict.js';
import { Show } from './show.js';
import { listenTo } from './socket.js';
import { Stage } from './stage.js';
import { Unstack } from './tape.js';

const AGAIN_MS = 700,
  TRIES = 8,
  LOST_MS = 1500, // an exhibition that was lost is looked for again
  BEFORE_TICKS = 60; // what led to a moment is shown first
const SWORDS =
  'M4 4l10 10M4 4l1 4 7 7M4 4l4 1M20 4L10 14M20 4l-1 4-7 7M20 4l-4 1M6 14l4 4M5 19l3-3M18 14l-4 4M19 19l-3-3';

export function mount(root) {
  return new Arena(root);
}

class Arena {
  constructor(root) {
    this.canvas = el('canvas', 'arena-canvas', { tabIndex: 0, ariaLabel: 'The match. Press ? for keys.' });
    this.over = el('div', 'arena-over');
    this.box = el('div', 'arena-box', {}, el('div', 'arena-view', {}, this.canvas, this.over));
    this.stage = new Stage(this.canvas);
    this.hud = new Hud(this.over, this.stage, {
      follow: (p) => {
        this.stage.follow = p;
      },
      endings: () => endings(this.stage, this._acts()),
    });
    this.panel = new Panel(this.box, this.stage, (order) => this._say(order));
    this.controls = new Controls(this.box, this.stage, { pace: (pace) => this._say(pace) });
    this.lobby = new Lobby(
      { open: (id) => this.go(id), replay: (id) => this.go(id, true) },
      JSON.parse(root.getAttribute('seated') ?? '{}'),
    );
    this.show = new Show(
      (found) => this.open(found.id),
      (words) => this._empty(words),
    );
    this.show.hold = () => this._reads();
    this.why = el('p', '', {}, 'The exhibition begins …');
    this.welcome = el('div', 'arena-welcome', {}, svg(SWORDS, 96), el('h2', '', {}, 'The arena is empty'), this.why);
    this.over.append(this.welcome);
    this.box.append(this.controls.bar, this.controls.help);
    this.controls.bar.inert = true;
    root.replaceChildren(el('div', 'arena-grid', {}, this.box, this.lobby.root));
    this._listen();
    this.lobby.load(asked().seats);
    this._route();
  }

  _listen() {
    this.canvas.addEventListener('click', (e) => this._click(e));
    this.canvas.addEventListener('wheel', (e) => this._wheel(e), { passive: false });
    this.stage.onFrame = (moment, now) => {
      this.hud.update(moment, now);
      this.panel.update(moment, now);
      this.controls.update();
    };
    this._off = new AbortController();
    const { signal } = this._off;
    window.addEventListener('popstate', () => this._route(), { signal });
    document.addEventListener('visibilitychange', () => this._look(), { signal });
  }

  // Shows what the address asks for; when it asks for nothing, the exhibition.
  _route() {
    const { match, replay, tick } = asked();
    this.show.stop();
    if (replay) this.replay(replay, tick);
    else if (match) this.open(match);
    else {
      this._leave();
      this.stage.clear(true);
      this._shows = true;
      this._look();
    }
  }

  // An exhibition is on while somebody looks.
  _look() {
    if (!this._shows) return;
    if (!document.hidden) this.show.start();
    else {
      this.show.stop();
      this.socket?.close();
      this.socket = null;
    }
  }

  // Somebody has stopped the exhibition, gone back in it, or points at its end card.
  _reads() {
    const { tape, clock } = this.stage;
    return Boolean(tape.result) && (clock.paused || clock.tick < tape.last - 1 || this.hud.banner.matches(':hover'));
  }

  _empty(words) {
    setText(this.why, words);
    this.welcome.hidden = Boolean(this.stage.tape.header);
  }

  // A match that somebody chose: it gets its address.
  go(id, recorded = false) {
    goTo(addressOf(id));
    this.show.stop();
    if (recorded) this.replay(id);
    else this.open(id);
  }

  close() {
    this.show.stop();
    this._leave();
    this._off.abort();
    this.stage.close();
    this.controls.close();
    this.hud.close();
  }

  _leave() {
    this.stage.input?.close();
    this.stage.input = null;
    this.socket?.close();
    this.socket = null;
    this.aborted?.abort();
    clearTimeout(this._again);
    this._shows = this.show.on;
    this.hud.clear();
    this.panel.clear();
    this.welcome.hidden = true;
    this.controls.bar.inert = false;
  }

  // Watch or play a live match; one that is over is shown as its replay.
  open(id, tries = 0) {
    if (!tries) {
      this._leave();
      this.stage.clear(true);
      if (!this._shows) this.hud.say('The gates open …');
    }
    this.socket = listenTo(
      id,
      (bytes) => this._take(bytes),
      (how) => {
        this.socket = null;
        this._gone(id, tries, how);
      },
    );
    if (!tries && !this._shows) this._show();
  }

  // On a small screen the canvas lies above what was just pressed.
  _show() {
    const { top } = this.box.getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) this.box.scrollIntoView({ block: 'start' });
    this.canvas.focus({ preventScroll: true });
  }

  _gone(id, tries, how) {
    const { tape } = this.stage,
      over = tape.saved || tape.result;
    this.stage.input?.close();
    this.stage.input = this.stage.prediction = null;
    if (this._shows) {
      this.show.id = null;
      this.show.next(over ? undefined : LOST_MS);
      return;
    }
    if (over) this.lobby.load();
    else if (how.none && !tape.length) this.replay(id);
    else if (how.lost && tries < TRIES) {
      this.hud.say('The connection was lost; trying again …');
      this._again = setTimeout(() => this.open(id, tries + 1), AGAIN_MS);
    } else {
      this.hud.say(how.reason || 'This match is over');
      this.lobby.load();
    }
  }

  _take(bytes) {
    const kind = this.stage.take(bytes),
      { tape } = this.stage;
    if (kind === 1) {
      this.hud.say('');
      this.controls.begin(Boolean(tape.header.live), tape.header.speed ?? 1);
      if (this.stage.me !== null && tape.header.live) this._sitDown(tape.header);
    }
    if (kind === 3 && tape.notice) this.hud.say(tape.notice);
  }

  _sitDown(header) {
    if (this.stage.input) return;
    this.stage.prediction = new Prediction(header, this.stage.me);
    this.stage.input = new Input(this.canvas, (bytes, number) => {
      if (this.stage.tape.result || !this.socket?.say(bytes)) return false;
      this.stage.prediction?.sent(number, performance.now());
      return true;
    });
  }

  // A pace, or an order.
  _say(what) {
    if (this.stage.clock.live) this.socket?.say(JSON.stringify(what));
  }

  // Show a recorded match; it begins while the rest of it is still on its way. tick: a moment to go to.
  async replay(id, tick = 0) {
    this._leave();
    this.stage.clear(false);
    this._show();
    this.hud.say('The replay is brought …');
    const stop = new AbortController();
    this.aborted = stop;
    try {
      const answer = await fetch(`/arena/api/replays/${encodeURIComponent(id)}`, { signal: stop.signal });
      if (!answer.ok) throw new Error((await answer.json()).message);
      const messages = new Unstack((message) => {
        if (!stop.signal.aborted) this._take(message);
      });
      const reader = answer.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        messages.push(value);
        if (tick && this.stage.tape.last >= tick) {
          this.stage.clock.seek(Math.max(0, tick - BEFORE_TICKS));
          tick = 0;
        }
      }
      this.stage.tape.whole = !stop.signal.aborted;
    } catch (error) {
      if (error.name !== 'AbortError') this.hud.say(error.message);
    }
  }

  _wheel(event) {
    if (!this.stage.tape.header) return;
    event.preventDefault();
    this.controls.zoom(event.deltaY < 0 ? 1.1 : 1 / 1.1);
  }

  _click(event) {
    this.canvas.focus({ preventScroll: true });
    if (this.controls.playing) return;
    const box = this.canvas.getBoundingClientRect();
    const seat = this.stage.playerAt(event.clientX - box.left, event.clientY - box.top);
    if (seat !== null) this.stage.follow = seat;
  }

  // What the buttons of the end card do.
  _acts() {
    return {
      again: () => this.lobby.again(),
      replay: (id) => this.go(id, true),
      restart: () => {
        this.stage.clock.seek(this.stage.tape.first);
        this.controls.toggle(false);
      },
      close: () => {
        this.hud.card.hide();
        this.controls.pocket.leave();
      },
    };
  }
}
