// The bar below the canvas, the keys of a viewer, and the window that lists them.

import { ICONS, clockText, el, setText, svg } from './dom.js';
import { Pocket } from './pocket.js';
import { shareRow } from './share.js';
import { Strip } from './strip.js';
import { Turns } from './turns.js';

const SPEEDS = [0.5, 1, 2, 4, 8, 16, 32];
const LAYER_NAMES = {
  sight: 'Sight',
  health: 'Health',
  objective: 'Objective',
  value: 'Value',
  names: 'Names',
  mind: 'Mind',
};
const HELP = [
  ['Space, K', 'pause or go on (when watching)'],
  ['← →', 'five seconds back or on'],
  ['Home, End', 'to the start, to the end or live'],
  ['[ ]', 'slower, faster'],
  ['Tab, click', 'follow the next player, or the one clicked'],
  ['0', 'see the action, once more: the whole map'],
  ['1 … 6', 'sight, health, objective, value, names, mind'],
  ['+ −, wheel', 'nearer, farther'],
  ['F', 'full screen'],
  ['?', 'this window'],
];
const PLAY_HELP = [
  ['W A S D, arrows', 'move'],
  ['mouse', 'aim'],
  ['left button', 'fire'],
  ['Q E R', 'abilities of your champion'],
  ['Space', 'take an item, reload'],
  ['Tab', 'scores'],
  ['touch', 'left half moves, right half fires there'],
];

export class Controls {
  constructor(root, stage, act) {
    this.root = root;
    this.stage = stage;
    this.act = act;
    this.pocket = new Pocket(root);
    const button = (icon, label, onclick) =>
      el(
        'button',
        `bar-button bar-${icon}`,
        { type: 'button', title: label, ariaLabel: label, onclick },
        svg(ICONS[icon]),
      );
    this.playButton = button('pause', 'Pause (Space)', () => this.toggle());
    this.liveButton = el(
      'button',
      'bar-live',
      { type: 'button', title: 'To the newest moment (End)', onclick: () => this.toEnd() },
      'LIVE',
    );
    this.scrub = el('input', 'bar-scrub', {
      type: 'range',
      min: 0,
      max: 1,
      step: 1,
      value: 0,
      ariaLabel: 'Moment',
      oninput: () => this.stage.clock.seek(Number(this.scrub.value)),
    });
    this.strip = new Strip(stage);
    this.turns = new Turns(stage);
    this.sharing = el('div', 'bar-share', { hidden: true });
    this.time = el('span', 'bar-time');
    this.speed = el(
      'select',
      'bar-speed',
      { ariaLabel: 'Speed', onchange: () => this.setSpeed(Number(this.speed.value)) },
      ...SPEEDS.map((s) => el('option', '', { value: s, selected: s === 1 }, `${s}×`)),
    );
    this.layers = Object.entries(LAYER_NAMES).map(([name, label], i) => {
      const chip = el(
        'button',
        'bar-layer',
        { type: 'button', title: `${label} (${i + 1})`, onclick: () => this.layer(name) },
        label,
      );
      chip.setAttribute('aria-pressed', stage.layers[name]);
      chip.dataset.layer = name;
      return chip;
    });
    this.help = el(
      'dialog',
      'window arena-help',
      { ariaLabel: 'Keys of the arena' },
      el(
        'header',
        '',
        {},
        el('h2', '', {}, 'Keys of the arena'),
        el(
          'button',
          'btn bare',
          { type: 'button', ariaLabel: 'Close', onclick: () => this.help.close() },
          svg(ICONS.leave),
        ),
      ),
      el(
        'div',
        'window-body',
        {},
        el('h3', '', {}, 'Watching'),
        list(HELP),
        el('h3', '', {}, 'Playing yourself'),
        list(PLAY_HELP),
      ),
    );
    this.bar = el(
      'div',
      'arena-bar',
      {},
      el(
        'div',
        'bar-line',
        {},
        this.playButton,
        el('div', 'bar-track', {}, this.strip.root, this.turns.root, this.scrub),
        this.time,
        this.speed,
        this.liveButton,
        button('share', 'Share', () => this.share()),
        button('full', 'Full screen (F)', () => this.pocket.turn()),
        button('help', 'Keys (?)', () => this.help.showModal()),
      ),
      this.sharing,
      el('div', 'bar-line bar-layers', { role: 'group', ariaLabel: 'Layers' }, ...this.layers),
    );
    this._keys = (event) => this._key(event);
    window.addEventListener('keydown', this._keys, true); // before the page's own keys
  }

  close() {
    window.removeEventListener('keydown', this._keys, true);
  }

  get playing() {
    return this.stage.me !== null && !this.stage.tape.result;
  }

  toggle(paused = !this.stage.clock.paused) {
    if (this.playing || !this.stage.tape.header) return;
    const { clock, tape } = this.stage;
    if (!paused && !clock.live && clock.tick >= tape.last) clock.seek(tape.first);
    clock.paused = paused;
    if (clock.live && paused) clock.attached = false;
    this.act.pace({ paused });
    this.playButton.replaceChildren(svg(paused ? ICONS.play : ICONS.pause));
    this.playButton.title = this.playButton.ariaLabel = paused ? 'Play (Space)' : 'Pause (Space)';
  }

  setSpeed(speed) {
    if (this.playing) return;
    this.speed.value = speed;
    this.stage.clock.setSpeed(speed);
    this.act.pace({ speed });
  }

  _faster(way) {
    const at = SPEEDS.indexOf(Number(this.speed.value));
    this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at + way))]);
  }

  toEnd() {
    if (this.stage.clock.live) {
      this.stage.clock.toLive();
      this.toggle(false);
    } else this.stage.clock.seek(this.stage.tape.last);
  }

  layer(name) {
    const on = !this.stage.layers[name];
    this.stage.layers[name] = on;
    this.layers.find((chip) => chip.dataset.layer === name).setAttribute('aria-pressed', on);
  }

  // Opens or closes what can be given away of this match.
  share(open = this.sharing.hidden) {
    const { header, saved } = this.stage.tape;
    this.sharing.hidden = !open || !header;
    if (open && header)
      this.sharing.replaceChildren(shareRow(this.stage, header.match, !header.live || Boolean(saved?.replay)));
  }

  // A new match is shown.
  begin(live, speed) {
    this.share(false);
    if (this.playing && live) this.pocket.begin();
    this.speed.value = SPEEDS.includes(speed) ? speed : 1;
    this.liveButton.hidden = !live;
    this.playButton.replaceChildren(svg(ICONS.pause));
    this.speed.disabled = this.playButton.disabled = this.playing;
  }

  update() {
    const { tape, clock } = this.stage;
    const last = Math.max(tape.last, tape.header.decisions ? tape.header.decisions * tape.header.decision_ticks : 0);
    this.scrub.max = last;
    this.strip.update(last, performance.now());
    this.turns.update(last);
    if (document.activeElement !== this.scrub || !this.scrub.matches(':active'))
      this.scrub.value = Math.round(clock.tick);
    const rate = tape.header.ticks_per_s;
    setText(this.time, `${clockText(clock.tick / rate)} / ${clockText(last / rate)}`);
    this.liveButton.classList.toggle('on', clock.attached);
    this.playButton.disabled = this.playing;
    this.speed.disabled = this.playing || Boolean(tape.header.show && clock.live); // all see the same
    this.root.classList.toggle('hands-on', this.playing);
    if (clock.live && tape.result) {
      clock.live = false;
      clock.attached = false;
      this.liveButton.hidden = true;
    }
  }

  _key(event) {
    if (
      event.target.closest?.('input:not([type=range]), select, textarea, dialog') ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    if (event.key === '?') {
      event.preventDefault();
      event.stopPropagation();
      this.help.open ? this.help.close() : this.help.showModal();
      return;
    }
    if (!this.stage.tape.header) return;
    const { stage } = this,
      rate = stage.tape.header.ticks_per_s;
    const shared = {
      Tab: () => (this.playing ? this.root.classList.toggle('scores') : stage.followNext(event.shiftKey ? -1 : 1)),
      f: () => this.pocket.turn(),
      '+': () => this.zoom(1.2),
      '-': () => this.zoom(1 / 1.2),
    };
    const watching = {
      ' ': () => this.toggle(),
      k: () => this.toggle(),
      ArrowLeft: () => stage.clock.seek(stage.clock.tick - 5 * rate),
      ArrowRight: () => stage.clock.seek(stage.clock.tick + 5 * rate),
      Home: () => stage.clock.seek(stage.tape.first),
      End: () => this.toEnd(),
      '[': () => this._faster(-1),
      ']': () => this._faster(1),
      0: () => {
        stage.whole = stage.follow === null && !stage.whole;
        stage.follow = null;
        stage.camera.zoom = 1;
      },
    };
    Object.keys(LAYER_NAMES).forEach((name, i) => {
      shared[i + 1] = () => this.layer(name);
    });
    const act = shared[event.key] ?? (this.playing ? undefined : watching[event.key]);
    // Tab moves on to the page's own elements unless the canvas has been chosen.
    if (!act || (event.key === 'Tab' && document.activeElement !== stage.canvas)) return;
    if (event.key === ' ' && event.target.closest?.('button, a')) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  zoom(factor) {
    this.stage.camera.zoom = Math.min(4, Math.max(1, this.stage.camera.zoom * factor));
  }
}

function list(rows) {
  return el('dl', 'keys', {}, ...rows.flatMap(([key, what]) => [el('dt', '', {}, key), el('dd', '', {}, what)]));
}
