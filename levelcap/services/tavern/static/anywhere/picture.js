// Two dials side by side, recorded and decided here, and the strip of all decisions.
const INK = { ring: '#55432f', move: '#67b8a4', aim: '#f0b95b', same: '#67b8a4', other: '#e0635a', none: '#2b231b' };
const LABELS = { move: 'moves', aim: 'aims' };

// Bins as a person reads them: { move: [x, y], aim: [x, y] or null, pressed: [words] }.
export function readAction(bins, heads) {
  const at = Object.fromEntries(heads.map(([name, size], index) => [name, { bin: bins[index], size }]));
  const along = ({ bin, size }) => (2 * bin) / (size - 1) - 1;
  const pressed = heads
    .map(([name], index) => [name, bins[index]])
    .filter(([name, bin]) => !/_[xy]$/.test(name) && bin > 0)
    .map(([name, bin]) => (at[name].size > 2 ? `${name} ${bin}` : name));
  const pair = (name) => (at[`${name}_x`] ? [along(at[`${name}_x`]), along(at[`${name}_y`])] : [0, 0]);
  // An aim counts only when something is done with it.
  const aims = at.fire?.bin > 0 || at.ability?.bin > 0;
  return { move: pair('move'), aim: aims ? pair('aim') : null, pressed };
}

const signed = (value) => (value > 0 ? '+' : value < 0 ? '−' : '') + Math.abs(value).toFixed(1);

export function actionWords(action) {
  const parts = ['move', 'aim']
    .filter((name) => action[name])
    .map((name) => `${LABELS[name]} ${action[name].map(signed).join(' ')}`);
  return [...parts, ...action.pressed].join(', ');
}

// Fits a canvas to its place and the screen's pixels; returns what to draw with, width and height.
function fitted(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return [pen, width, height];
}

function arrow(pen, x, y, [dx, dy], reach, colour, wide) {
  const length = Math.hypot(dx, dy);
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = wide;
  if (length < 0.05) {
    pen.beginPath();
    pen.arc(x, y, wide + 1, 0, 2 * Math.PI);
    pen.fill();
    return;
  }
  const scale = reach / Math.max(1, length);
  const [tx, ty] = [x + dx * scale, y + dy * scale];
  const angle = Math.atan2(dy, dx);
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(tx, ty);
  for (const side of [-1, 1]) {
    pen.moveTo(tx, ty);
    pen.lineTo(tx - 10 * Math.cos(angle + side * 0.5), ty - 10 * Math.sin(angle + side * 0.5));
  }
  pen.stroke();
}

// Where it moves and aims, in its own frame.
export function drawDial(canvas, action) {
  const [pen, width, height] = fitted(canvas);
  const [x, y, reach] = [width / 2, height / 2, Math.min(width, height) / 2 - 8];
  pen.strokeStyle = INK.ring;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.arc(x, y, reach, 0, 2 * Math.PI);
  pen.stroke();
  if (!action) return;
  if (action.aim) arrow(pen, x, y, action.aim, reach - 4, INK.aim, 3);
  arrow(pen, x, y, action.move, reach * 0.7, INK.move, 5);
}

// One column a decision; where several share a pixel, one that differs is shown.
export function drawStrip(canvas, same, done, at) {
  const [pen, width, height] = fitted(canvas);
  const wide = Math.max(1, Math.ceil(width / same.length));
  const columns = new Uint8Array(Math.ceil(width) + 1);
  for (let row = 0; row < done; row++) {
    const place = Math.floor((row * width) / same.length);
    columns[place] = Math.max(columns[place], same[row]);
  }
  pen.fillStyle = INK.none;
  pen.fillRect(0, 0, width, height);
  columns.forEach((kind, place) => {
    if (!kind) return;
    pen.fillStyle = kind === 1 ? INK.same : INK.other;
    pen.fillRect(place, 0, wide, height);
  });
  pen.fillStyle = '#fff';
  pen.fillRect((at * width) / same.length, 0, 2, height);
}
