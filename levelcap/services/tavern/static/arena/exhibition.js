// The exhibition, small, on any page: a match of the hero that is on while somebody looks at it.

import { addressOf } from './address.js';
import { ICONS, el, setText, svg } from './dom.js';
import { Show } from './show.js';
import { listenTo } from './socket.js';
import { Stage } from './stage.js';

const KEY = 'levelcap.exhibition';
const FRAME_MS = 31; // half of the frames: it stands beside other things

class Exhibition extends HTMLElement {
  connectedCallback() {
    if (!this.firstChild) this._build();
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this._still = (remembered() ?? (calm ? 'still' : 'on')) === 'still';
    this._seen = false;
    this.stage = new Stage(this.canvas, { frameMs: FRAME_MS, bare: true });
    this.stage.onFrame = () => this._told();
    this.show = new Show(
      (found) => this._open(found),
      (words) => setText(this.words, words),
    );
    this._watch = new IntersectionObserver(([entry]) => {
      this._seen = entry.isIntersecting;
      this._look();
    });
    this._watch.observe(this);
    this._turned = () => this._look();
    document.addEventListener('visibilitychange', this._turned);
    this._look();
  }

  disconnectedCallback() {
    this._watch.disconnect();
    document.removeEventListener('visibilitychange', this._turned);
    this._leave();
    this.stage.close();
  }

  _build() {
    const sheet = new URL('exhibition.css', import.meta.url).href;
    this.canvas = el('canvas', 'show-canvas', { ariaHidden: 'true' });
    this.words = el('span', 'show-words', {}, 'The exhibition');
    this.names = el('b', 'show-names');
    this.link = el('a', 'show-link', { href: '/arena', ariaLabel: 'Watch this match in the arena' }, this.canvas);
    this.still = el('button', 'btn bare show-still', { type: 'button', onclick: () => this._toggle() });
    this.replaceChildren(
      el('link', '', { rel: 'stylesheet', href: sheet }),
      this.link,
      el('div', 'show-line', {}, el('span', '', {}, this.names, this.words), this.still),
    );
  }

  // Is somebody looking? Then it is on; otherwise nothing runs anywhere.
  _look() {
    const label = this._still ? 'Exhibition: go on' : 'Exhibition: hold still';
    this.still.replaceChildren(svg(this._still ? ICONS.play : ICONS.pause));
    this.still.title = this.still.ariaLabel = label;
    if (this._seen && !document.hidden && !this._still) this.show.start();
    else this._leave();
  }

  _toggle() {
    this._still = !this._still;
    try {
      localStorage.setItem(KEY, this._still ? 'still' : 'on');
    } catch {
      /* a private window keeps nothing */
    }
    this._look();
  }

  _leave() {
    this.show.stop();
    this.socket?.close();
    this.socket = null;
    this.stage.clock.paused = true; // the last picture stays
  }

  _open(found) {
    this.socket?.close();
    this.stage.clear(true);
    this.link.href = addressOf(found.id);
    setText(this.words, found.show);
    this.dataset.hero = found.hero ?? '';
    this.socket = listenTo(
      found.id,
      (bytes) => this.stage.take(bytes),
      () => {
        this.socket = null;
        this.show.id = null;
        this.show.next(this.stage.tape.result ? undefined : 1500);
      },
    );
  }

  _told() {
    const { header, result } = this.stage.tape;
    const sides = [0, 1].map((team) => header.seats.find((seat) => seat.team === team)?.name ?? '');
    setText(this.names, result ? result.headline : header.teams === 2 ? sides.join(' v ') : `${sides[0]} among ten`);
    this.dataset.tick = Math.round(this.stage.report.tick);
  }
}

function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

customElements.define('tavern-exhibition', Exhibition);
