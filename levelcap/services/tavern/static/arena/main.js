// The arena page: the lobby, the canvas, what is written over it, the bar below.

import { Controls } from './controls.js';
import { ask, el, svg } from './dom.js';
import { Hud } from './hud.js';
import { Input } from './input.js';
import { Lobby } from './lobby.js';
import { Panel } from './panel.js';
import { Prediction } from './predict.js';
import { Stage } from './stage.js';
import { Unstack } from './tape.js';

const AGAIN_MS = 700,
  TRIES = 8,
  NO_MATCH = 4404,
  BEFORE_TICKS = 60; // what led to a moment is shown first

export function mount(root) {
  return new Arena(root);
}

class Arena {
  constructor(root) {
    this.canvas = el('canvas', 'arena-canvas', { tabIndex: 0, ariaLabel: 'The match. Press ? for keys.' });
    this.over = el('div', 'arena-over');
    this.box = el('div', 'arena-box', {}, this.canvas, this.over);
    this.stage = new Stage(this.canvas);
    this.hud = new Hud(this.over, this.stage, {
      follow: (p) => {
        this.stage.follow = p;
      },
      endings: (tape) => this._endings(tape),
    });
    this.panel = new Panel(this.over, this.stage, (order) => this._say(order));
    this.controls = new Controls(this.box, this.stage, { pace: (pace) => this._say(pace) });
    this.lobby = new Lobby({ open: (id) => this.open(id), replay: (id) => this.replay(id) });
    this.welcome = el(
      'div',
      'arena-welcome',
      {},
      svg(
        'M4 4l10 10M4 4l1 4 7 7M4 4l4 1M20 4L10 14M20 4l-1 4-7 7M20 4l-4 1M6 14l4 4M5 19l3-3M18 14l-4 4M19 19l-3-3',
        96,
      ),
      el('h2', '', {}, 'The arena is empty'),
      el('p', '', {}, 'Choose who fights whom, step in yourself, or pick a replay.'),
    );
    this.over.append(this.welcome);
    this.box.append(this.controls.bar, this.controls.help);
    this.controls.bar.inert = true;
    root.replaceChildren(el('div', 'arena-grid', {}, this.box, this.lobby.root));
    this.canvas.addEventListener('click', (e) => this._click(e));
    this.canvas.addEventListener(
      'wheel',
      (e) => {
        if (this.stage.tape.header) {
          e.preventDefault();
          this.controls.zoom(e.deltaY < 0 ? 1.1 : 1 / 1.1);
        }
      },
      { passive: false },
    );
    this.stage.onFrame = (moment, now) => {
      this.hud.update(moment, now);
      this.panel.update(moment, now);
      this.controls.update();
    };
    this.lobby.load();
    const asked = new URLSearchParams(location.search);
    if (asked.get('replay')) this.replay(asked.get('replay'), Number(asked.get('tick')));
    else if (asked.get('match')) this.open(asked.get('match'));
  }

  close() {
    this._leave();
    this.stage.close();
    this.controls.close();
  }

  _leave() {
    this.stage.input?.close();
    this.stage.input = null;
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.aborted?.abort();
    this.hud.clear();
    this.panel.clear();
    this.welcome.hidden = true;
    this.controls.bar.inert = false;
  }

  // Watch or play a live match.
  open(id, tries = 0) {
    if (!tries) {
      this._leave();
      this.stage.clear(true);
      this.hud.say('The gates open …');
    }
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${scheme}://${location.host}/arena/ws/${encodeURIComponent(id)}`);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onmessage = (event) => {
      if (this.socket === socket) this._take(new Uint8Array(event.data));
    };
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      this.socket = null;
      this._gone(id, tries, event);
    };
    if (!tries) this._show();
  }

  // On a small screen the canvas lies above what was just pressed.
  _show() {
    const { top } = this.box.getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) this.box.scrollIntoView({ block: 'start' });
    this.canvas.focus({ preventScroll: true });
  }

  _gone(id, tries, event) {
    const { tape } = this.stage;
    this.stage.input?.close();
    this.stage.input = null;
    this.stage.prediction = null;
    if (tape.saved || tape.result) {
      this._refresh();
      return;
    }
    if (event.code === NO_MATCH || event.code === 1007 || event.code === 1008) {
      this.hud.say(event.reason || 'This match is over');
      this._refresh();
      return;
    }
    if (tries < TRIES) {
      this.hud.say('The connection was lost; trying again …');
      setTimeout(() => {
        if (!this.socket) this.open(id, tries + 1);
      }, AGAIN_MS);
    } else this.hud.say('The connection was lost');
  }

  _refresh() {
    this.lobby.load();
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
      if (this.socket?.readyState !== WebSocket.OPEN || this.stage.tape.result) return false;
      this.socket.send(bytes);
      this.stage.prediction?.sent(number, performance.now());
      return true;
    });
  }

  // A pace, or an order.
  _say(what) {
    if (this.stage.clock.live && this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(what));
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
    } catch (error) {
      if (error.name !== 'AbortError') this.hud.say(error.message);
    }
  }

  _click(event) {
    this.canvas.focus({ preventScroll: true });
    if (this.controls.playing) return;
    const box = this.canvas.getBoundingClientRect();
    const seat = this.stage.playerAt(event.clientX - box.left, event.clientY - box.top);
    if (seat !== null) this.stage.follow = seat;
  }

  // Buttons of the end screen.
  _endings(tape) {
    const parts = [],
      { saved } = tape;
    if (saved?.outcome !== undefined && saved.outcome !== null)
      parts.push(el('p', 'muted', {}, 'Counted as a match of a person.'));
    for (const recipe of saved?.recipes ?? []) parts.push(this._questButton(saved, recipe));
    const buttons = [];
    if (tape.header.live)
      buttons.push(
        el(
          'button',
          'btn primary',
          { type: 'button', onclick: () => this.lobby.again() },
          this.stage.me === null ? 'Another match' : 'Play again',
        ),
      );
    if (saved?.replay)
      buttons.push(
        el(
          'button',
          'btn',
          { type: 'button', id: 'arena-replay', onclick: () => this.replay(saved.replay) },
          'See the replay',
        ),
      );
    if (!tape.header.live)
      buttons.push(
        el(
          'button',
          'btn primary',
          {
            type: 'button',
            onclick: () => {
              this.stage.clock.seek(tape.first);
              this.controls.toggle(false);
            },
          },
          'From the start',
        ),
      );
    buttons.push(
      el(
        'button',
        'btn',
        {
          type: 'button',
          onclick: () => {
            this.hud.banner.hidden = true;
          },
        },
        'Close',
      ),
    );
    parts.push(el('div', 'row', {}, ...buttons));
    return parts;
  }

  _questButton(saved, recipe) {
    const { length } = recipe.shards,
      single = length === 1;
    const said = el('span', 'muted', { role: 'status' });
    const button = el(
      'button',
      'btn',
      {
        type: 'button',
        id: single ? 'arena-quest' : 'arena-quest-all',
        onclick: async () => {
          button.disabled = true;
          try {
            const quest = await ask('/arena/api/quests', { match: saved.match, recipe });
            said.textContent = `On the board: ${quest.title}`;
          } catch (error) {
            button.disabled = false;
            said.textContent = error.message;
          }
        },
      },
      single ? 'Make a quest of this match: imitate me' : `Make a quest of all my ${length} matches`,
    );
    return el('p', '', {}, button, ' ', said);
  }
}
