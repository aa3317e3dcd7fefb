// Where the canvas looks: the whole map, or a player with the map around it.

const RIM = 3; // units beyond the map that may be seen

export class Camera {
  constructor() {
    this.x = 0;
    this.y = 0;
    this.scale = 10;
    this.width = 1;
    this.height = 1;
    this.top = this.left = this.bottom = 0; // px at the edges that are written over
    this.zoom = 1; // the viewer's own
    this.pan = { x: 0, y: 0 };
    this._fresh = true;
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    this._fresh = true;
  }

  reset() {
    this.zoom = 1;
    this.pan = { x: 0, y: 0 };
    this._fresh = true;
  }

  // half: of the map. target: what to look at, {x, y, wide, high} with half its extent in units, or
  // null for the whole map. calm: ms until the camera has gone most of the way.
  aim(half, target, calm, ms) {
    const wide = this.width - this.left,
      high = this.height - this.top - this.bottom,
      whole = Math.min(wide, high) / (2 * half + 1.2);
    const fit = target ? Math.min(wide / (2 * target.wide), high / (2 * target.high)) : whole;
    const scale = Math.max(whole, fit) * this.zoom;
    // What is looked at stands in the middle of what is not written over.
    const x = this._inside((target?.x ?? 0) + this.pan.x, half, wide / scale) - this.left / 2 / scale;
    const y = this._inside((target?.y ?? 0) + this.pan.y, half, high / scale) + (this.top - this.bottom) / 2 / scale;
    const share = this._fresh ? 1 : 1 - Math.exp(-ms / calm);
    this.x += (x - this.x) * share;
    this.y += (y - this.y) * share;
    this.scale += (scale - this.scale) * share;
    this._fresh = false;
  }

  // Does not look far beyond the rim; a map smaller than the view is centred.
  _inside(middle, half, extent) {
    const room = half + RIM - extent / 2;
    return room <= 0 ? 0 : Math.min(room, Math.max(-room, middle));
  }

  px(x) {
    return (x - this.x) * this.scale + this.width / 2;
  }
  py(y) {
    return (this.y - y) * this.scale + this.height / 2;
  }
  wx(px) {
    return (px - this.width / 2) / this.scale + this.x;
  }
  wy(py) {
    return this.y - (py - this.height / 2) / this.scale;
  }
}
