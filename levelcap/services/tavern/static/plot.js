// A chart: lines, bands, whiskers, bars, named rules and crowns over one pair of axes, drawn on a canvas.
//   options: { x: { name, labels? }, y: { name, least? }, series: [{ kind, name, colour, points }] }
// Points are [x, y], those of bands and whiskers [x, low, high]; with labels x counts them.
import { pathOf, scaleOf, ticksOf } from './scale.js';

const ROOM = { left: 64, right: 18, top: 20, bottom: 46 };
const [MUTED, LINE, BACK] = ['#a99a88', '#3a3027', '#1b1612'];
const CROWN = new Path2D('M4 20h16v-3H4ZM4 16L3 7l5 4 4-6 4 6 5-4-1 9Z');
const SCALE = Math.max(1, window.devicePixelRatio || 1);

function shown(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)} M`;
  return size >= 1000 ? Math.round(value).toLocaleString('en') : String(+value.toPrecision(4));
}

class Plot extends HTMLElement {
  static observedAttributes = ['options'];

  connectedCallback() {
    this.holder = document.createElement('div');
    this.holder.className = 'chart-canvas';
    this.canvas = document.createElement('canvas');
    this.words = document.createElement('div');
    this.words.className = 'chart-words';
    this.words.hidden = true;
    this.holder.append(this.canvas, this.words);
    const save = document.createElement('button');
    Object.assign(save, { type: 'button', className: 'chart-save', title: 'Save as PNG', textContent: 'PNG' });
    save.ariaLabel = `Save ${this.ariaLabel} as PNG`;
    save.onclick = () => this.save();
    this.replaceChildren(this.holder, save);
    this.canvas.onmousemove = (event) => this.point(event.offsetX);
    this.canvas.onmouseleave = () => this.point(null);
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(this.holder);
  }

  disconnectedCallback() {
    this.watcher.disconnect();
  }

  attributeChangedCallback() {
    if (this.canvas) this.draw();
  }

  draw() {
    const [width, height] = [this.holder.clientWidth, this.holder.clientHeight];
    if (!width || !height) return;
    const { x, y, series } = JSON.parse(this.getAttribute('options'));
    this.dataset.points = Math.max(0, ...series.map((row) => row.points.length));
    this.canvas.width = width * SCALE;
    this.canvas.height = height * SCALE;
    this.pen = this.canvas.getContext('2d');
    this.pen.scale(SCALE, SCALE);
    this.pen.font = '12px system-ui, sans-serif';
    const inside = [ROOM.left, width - ROOM.right, height - ROOM.bottom, ROOM.top];
    const every = series.flatMap((row) => row.points);
    const half = x.labels ? [-0.5, x.labels.length - 0.5] : null;
    const toZero = series.some((row) => row.kind === 'bars') ? 0 : y.least;
    this.x = scaleOf(half || every.map((one) => one[0]), inside[0], inside[1], undefined, !half);
    this.y = scaleOf(
      every.flatMap((one) => one.slice(1)),
      inside[2],
      inside[3],
      toZero,
    );
    this.given = { x, y, series };
    this.axes(x, y, inside);
    for (const row of series) this[row.kind](row);
  }

  axes(x, y, [left, right, bottom, top]) {
    const { pen } = this;
    pen.lineWidth = 1;
    pen.strokeStyle = LINE;
    pen.fillStyle = MUTED;
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    for (const value of ticksOf(this.y, 5)) {
      pathOf(pen, [left, this.y(value)], [right, this.y(value)]);
      pen.fillText(shown(value), left - 8, this.y(value));
    }
    pen.textAlign = 'center';
    pen.textBaseline = 'top';
    const names = x.labels ? x.labels.map((label, i) => [i, label]) : ticksOf(this.x, 7).map((v) => [v, shown(v)]);
    let end = -Infinity; // names that would overlap are left out
    for (const [value, name] of names) {
      const half = pen.measureText(name).width / 2;
      const at = Math.min(this.x(value), right + ROOM.right - half);
      if (at - half < end + 8) continue;
      pen.fillText(name, at, bottom + 8);
      end = at + half;
    }
    pathOf(pen, [left, bottom], [right, bottom]);
    pen.fillText(x.name, (left + right) / 2, bottom + 28);
    pen.save();
    pen.translate(10, (top + bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(y.name, 0, -6);
    pen.restore();
  }

  at([x, y]) {
    return [this.x(x), this.y(y)];
  }

  line({ points, colour, dots, step }) {
    const { pen } = this;
    Object.assign(pen, { strokeStyle: colour, fillStyle: colour, lineWidth: 2, lineJoin: 'round' });
    const stairs = ([x, y], i) =>
      i
        ? [
            [x, points[i - 1][1]],
            [x, y],
          ]
        : [[x, y]];
    pathOf(pen, ...(step ? points.flatMap(stairs) : points).map((one) => this.at(one)));
    if (!dots && points.length > 1) return;
    for (const one of points) {
      pen.beginPath();
      pen.arc(...this.at(one), 4, 0, 2 * Math.PI);
      pen.fill();
    }
  }

  band({ points, colour }) {
    const { pen } = this;
    pen.beginPath();
    for (const [x, low] of points) pen.lineTo(...this.at([x, low]));
    for (const [x, , high] of [...points].reverse()) pen.lineTo(...this.at([x, high]));
    Object.assign(pen, { fillStyle: colour, globalAlpha: 0.16 });
    pen.fill();
    pen.globalAlpha = 1;
  }

  whiskers({ points, colour }) {
    const { pen } = this;
    Object.assign(pen, { strokeStyle: colour, lineWidth: 1.6 });
    for (const [x, low, high] of points) {
      const [at, from, to] = [this.x(x), this.y(low), this.y(high)];
      pathOf(pen, [at, from], [at, to]);
      for (const end of [from, to]) pathOf(pen, [at - 6, end], [at + 6, end]);
    }
  }

  // A value that others are measured by: a dashed line with its name.
  rule({ points, colour, name }) {
    const { pen } = this;
    Object.assign(pen, { strokeStyle: colour, fillStyle: colour, lineWidth: 1.2, textAlign: 'left' });
    pen.setLineDash([6, 5]);
    pathOf(pen, ...points.map((one) => this.at(one)));
    pen.setLineDash([]);
    pen.textBaseline = 'bottom';
    pen.fillText(`${name} ${shown(points[0][1])}`, this.x(points[0][0]) + 6, this.y(points[0][1]) - 2);
  }

  crowns({ points, colour }) {
    for (const one of points) {
      const [x, y] = this.at(one);
      this.pen.save();
      this.pen.translate(x - 12, y - 28);
      Object.assign(this.pen, { fillStyle: colour, strokeStyle: BACK, lineWidth: 1 });
      this.pen.fill(CROWN);
      this.pen.stroke(CROWN);
      this.pen.restore();
    }
  }

  bars({ points, colour }) {
    const wide = Math.min(42, (this.x(1) - this.x(0)) * 0.7);
    this.pen.fillStyle = colour;
    for (const [x, y] of points) this.pen.fillRect(this.x(x) - wide / 2, this.y(y), wide, this.y(0) - this.y(y));
  }

  // What stands nearest to the mouse, in words.
  point(mouse) {
    this.words.hidden = true;
    if (mouse === null || !this.given) return;
    const { x, series } = this.given;
    const every = series.filter((row) => row.kind !== 'rule').flatMap((row) => row.points.map((one) => one[0]));
    if (!every.length) return;
    const near = every.reduce((a, b) => (Math.abs(this.x(b) - mouse) < Math.abs(this.x(a) - mouse) ? b : a));
    const lines = series.flatMap((row) =>
      row.points.filter((one) => one[0] === near).map((one) => `${row.name} ${one.slice(1).map(shown).join(' to ')}`),
    );
    this.words.textContent = [x.labels ? x.labels[near] : `${x.name} ${shown(near)}`, ...lines].join('\n');
    this.words.hidden = false;
    const left = Math.min(this.x(near) + 12, this.holder.clientWidth - this.words.offsetWidth - 4);
    this.words.style.left = `${Math.max(4, left)}px`;
  }

  save() {
    const whole = document.createElement('canvas');
    [whole.width, whole.height] = [this.canvas.width, this.canvas.height];
    const pen = whole.getContext('2d');
    pen.fillStyle = BACK;
    pen.fillRect(0, 0, whole.width, whole.height);
    pen.drawImage(this.canvas, 0, 0);
    const link = document.createElement('a');
    link.download = `${this.getAttribute('name')}.png`;
    link.href = whole.toDataURL('image/png');
    link.click();
  }
}

customElements.define('tavern-chart', Plot);
