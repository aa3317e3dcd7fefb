// Where the canvas looks: the whole map, or a player with the map around it.

export class Camera {
  constructor() {
    this.x = 0; this.y = 0; this.scale = 10;
    this.width = 1; this.height = 1;
    this.top = 0;         // px at the upper edge that are written over
    this.zoom = 1;        // the viewer's own
    this.pan = { x: 0, y: 0 };
    this._fresh = true;
  }

  resize(width, height) { this.width = width; this.height = height; this._fresh = true; }

  reset() { this.zoom = 1; this.pan = { x: 0, y: 0 }; this._fresh = true; }

  // half: of the map; target: {x, y} or null for the whole map; reach: units to see around it.
  aim(half, target, reach, ms) {
    const whole = Math.min(this.width, this.height - this.top) / (2 * half + 1.2);
    const near = Math.max(whole, Math.min(this.width, this.height * 1.5) / (2 * reach));
    const scale = (target ? near : whole) * this.zoom;
    let x = (target ? target.x : 0) + this.pan.x, y = (target ? target.y : 0) + this.pan.y;
    [x, y] = [this._inside(x, half, this.width / scale), this._inside(y, half, this.height / scale)];
    if (!target && this.zoom <= 1) y += this.top / 2 / scale; // the map below the writing
    const share = this._fresh ? 1 : 1 - Math.exp(-ms / (target ? 110 : 220));
    this.x += (x - this.x) * share;
    this.y += (y - this.y) * share;
    this.scale += (scale - this.scale) * share;
    this._fresh = false;
  }

  // Does not look far beyond the rim; a map smaller than the view is centred.
  _inside(middle, half, extent) {
    const room = half + 1 - extent / 2;
    return room <= 0 ? 0 : Math.min(room, Math.max(-room, middle));
  }

  px(x) { return (x - this.x) * this.scale + this.width / 2; }
  py(y) { return (this.y - y) * this.scale + this.height / 2; }
  wx(px) { return (px - this.width / 2) / this.scale + this.x; }
  wy(py) { return this.y - (py - this.height / 2) / this.scale; }
}
