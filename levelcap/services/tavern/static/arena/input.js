// Keys and mouse of a person, as the 24 bytes that levelcap/play/live/person.py describes.

const FIRE = 1,
  Q = 2,
  E = 4,
  R = 8,
  INTERACT = 16,
  EVERY_MS = 33;
const BUTTONS = { KeyQ: Q, KeyE: E, KeyR: R, Space: INTERACT };
const MOVES = {
  KeyW: [0, 1],
  ArrowUp: [0, 1],
  KeyS: [0, -1],
  ArrowDown: [0, -1],
  KeyA: [-1, 0],
  ArrowLeft: [-1, 0],
  KeyD: [1, 0],
  ArrowRight: [1, 0],
};

export class Input {
  constructor(canvas, send) {
    this.canvas = canvas;
    this.send = send;
    this.number = 0;
    this.cursor = { x: 1, y: 0 }; // px on the canvas
    this.pending = []; // times of inputs that no picture shows yet
    this._keys = new Set();
    this._held = 0;
    this._clicked = 0;
    this.touched = matchMedia('(pointer: coarse)').matches;
    this.stick = null; // a finger on the left half of the canvas
    this.shot = null; // one on the right half
    this._off = [];
    this._listen(window, 'keydown', (e) => this._key(e, true), true);
    this._listen(window, 'keyup', (e) => this._key(e, false), true);
    this._listen(window, 'blur', () => {
      this._keys.clear();
      this._held = 0;
      this._changed();
    });
    this._listen(canvas, 'pointerdown', (e) => this._pointer(e, true));
    for (const end of ['pointerup', 'pointercancel']) this._listen(window, end, (e) => this._pointer(e, false));
    this._listen(canvas, 'pointermove', (e) => this._moved(e));
    this._listen(canvas, 'contextmenu', (e) => e.preventDefault());
    this._timer = setInterval(() => this._flush(), EVERY_MS);
  }

  // first: before the page's own keys.
  _listen(target, name, act, first = false) {
    target.addEventListener(name, act, first);
    this._off.push(() => target.removeEventListener(name, act, first));
  }

  close() {
    for (const off of this._off) off();
    clearInterval(this._timer);
  }

  get move() {
    if (this.stick) return this.stick.move;
    let x = 0,
      y = 0;
    for (const key of this._keys) {
      x += MOVES[key][0];
      y += MOVES[key][1];
    }
    [x, y] = [Math.sign(x), Math.sign(y)];
    const length = Math.hypot(x, y) || 1;
    return { x: x / length, y: y / length };
  }

  // aim: sets where the cursor is relative to the hero, in units of sight.
  aimFrom(hero, camera, sight) {
    const ratio = this.canvas.width / this.canvas.clientWidth;
    const x = (camera.wx(this.cursor.x * ratio) - hero.x) / sight;
    const y = (camera.wy(this.cursor.y * ratio) - hero.y) / sight;
    const reach = Math.max(1, Math.abs(x), Math.abs(y));
    this.aim = { x: x / reach, y: y / reach };
    return Math.atan2(y, x);
  }

  _key(event, down) {
    if (event.target.closest?.('input, select, textarea') || event.ctrlKey || event.metaKey) return;
    const bit = BUTTONS[event.code];
    if (!MOVES[event.code] && !bit) return;
    event.preventDefault();
    event.stopPropagation();
    if (down && event.repeat) return;
    if (bit) {
      if (down) {
        this._held |= bit;
        this._clicked |= bit;
      } else this._held &= ~bit;
    } else if (down) this._keys.add(event.code);
    else this._keys.delete(event.code);
    this._changed(event.timeStamp);
  }

  press(name, down) {
    const bit = { fire: FIRE, q: Q, e: E, r: R, use: INTERACT }[name];
    if (down) {
      this._held |= bit;
      this._clicked |= bit;
    } else this._held &= ~bit;
    this._changed(performance.now());
  }

  _pointer(event, down) {
    if (event.pointerType === 'touch') {
      this._touch(event, down);
      return;
    }
    if (event.button !== 0) return;
    if (down) {
      this._moved(event);
      this._held |= FIRE;
      this._clicked |= FIRE;
    } else this._held &= ~FIRE;
    this._changed(event.timeStamp);
  }

  _touch(event, down) {
    const box = this.canvas.getBoundingClientRect(),
      x = event.clientX - box.left,
      y = event.clientY - box.top;
    this.touched = true;
    if (down && x < box.width / 2) this.stick = { id: event.pointerId, x, y, move: { x: 0, y: 0 } };
    else if (down) {
      this.cursor = { x, y };
      this.shot = { id: event.pointerId, x, y };
      this._held |= FIRE;
      this._clicked |= FIRE;
    } else if (this.stick?.id === event.pointerId) this.stick = null;
    else if (!this.shot || this.shot.id === event.pointerId) {
      this.shot = null;
      this._held &= ~FIRE;
    }
    this._changed(event.timeStamp);
  }

  _moved(event) {
    const box = this.canvas.getBoundingClientRect(),
      x = event.clientX - box.left,
      y = event.clientY - box.top;
    if (this.stick?.id === event.pointerId) {
      const dx = (x - this.stick.x) / 50,
        dy = (this.stick.y - y) / 50,
        far = Math.max(1, Math.hypot(dx, dy));
      this.stick.move = { x: dx / far, y: dy / far };
    } else {
      this.cursor = { x, y };
      if (this.shot?.id === event.pointerId) Object.assign(this.shot, { x, y });
    }
  }

  _changed(time) {
    if (time) this.pending.push(time);
    this._flush();
  }

  _flush() {
    const { move } = this,
      aim = this.aim ?? { x: 0, y: 0 };
    const bytes = new DataView(new ArrayBuffer(24));
    bytes.setUint8(0, 1);
    bytes.setUint8(1, this._held);
    bytes.setUint8(2, this._clicked);
    bytes.setUint32(4, ++this.number, true);
    for (const [i, v] of [move.x, move.y, aim.x, aim.y].entries()) bytes.setFloat32(8 + 4 * i, Math.fround(v), true);
    if (this.send(bytes.buffer, this.number)) this._clicked = 0;
  }
}
