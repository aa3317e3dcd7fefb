// Which exhibition is on: asked for while somebody looks, and again when a match has ended.

import { ask } from './dom.js';

const NEXT_MS = 6000, // the end of a match is read first
  AGAIN_MS = 3000, // as long as nothing of a hero can be shown
  HELD_MS = 1000;

export class Show {
  // open: shows the match that is on. tell: nothing is, in words why.
  constructor(open, tell) {
    this.open = open;
    this.tell = tell;
    this.hold = () => false; // does somebody still look at the end of the last one?
    this._visit = 0;
    this.on = false;
  }

  start() {
    if (this.on) return;
    this.on = true;
    this.id = null;
    this._ask(++this._visit);
  }

  stop() {
    this.on = false;
    this._visit++;
    clearTimeout(this._timer);
  }

  // The match has ended, or its socket was lost.
  next(ms = NEXT_MS) {
    if (!this.on) return;
    clearTimeout(this._timer);
    const visit = this._visit;
    this._timer = setTimeout(() => this._ask(visit), ms);
  }

  async _ask(visit) {
    if (this.hold()) {
      this.next(HELD_MS);
      return;
    }
    const hero = document.body.dataset.hero || null;
    const found = await ask('/arena/api/exhibition', { hero }).catch((error) => ({ id: null, show: error.message }));
    if (visit !== this._visit) return; // nobody looks any more
    if (!found.id) this.tell(found.show);
    else if (found.id !== this.id) {
      this.id = found.id;
      this.open(found);
    }
    if (!found.id || !found.hero) this.next(AGAIN_MS);
  }
}
