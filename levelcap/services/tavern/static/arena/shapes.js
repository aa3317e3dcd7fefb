// Colours of sides, outlines of champions, and small pictures that are drawn once and copied.

export const TEAMS = [
  '#4a9eff',
  '#ff5d5d',
  '#58d070',
  '#fad446',
  '#b87cff',
  '#ff9838',
  '#46d8d8',
  '#ff82cc',
  '#c8a878',
  '#dce0e8',
];
export const GOLD = '#f5c850',
  GREEN = '#5fe07e',
  CYAN = '#7be3f2',
  WHITE = '#f5f8ff';

// Each champion is an outline in units of its own radius, nose to the right.
const ring = (corners, turn = 0, radius = 1) =>
  Array.from({ length: corners }, (_, i) => {
    const a = turn + (2 * Math.PI * i) / corners;
    return [radius * Math.cos(a), radius * Math.sin(a)];
  });
const spikes = (points, inner) => ring(points * 2).map(([x, y], i) => (i % 2 ? [x * inner, y * inner] : [x, y]));
const OUTLINES = {
  Warden: [
    [0.95, 0.55],
    [0.95, -0.55],
    [0.3, -1],
    [-0.85, -0.7],
    [-1, 0],
    [-0.85, 0.7],
    [0.3, 1],
  ],
  Ranger: [
    [1.15, 0],
    [-0.75, 0.85],
    [-0.4, 0],
    [-0.75, -0.85],
  ],
  Mender: [
    [1, 0.38],
    [0.38, 0.38],
    [0.38, 1],
    [-0.38, 1],
    [-0.38, 0.38],
    [-1, 0.38],
    [-1, -0.38],
    [-0.38, -0.38],
    [-0.38, -1],
    [0.38, -1],
    [0.38, -0.38],
    [1, -0.38],
  ],
  Shade: [
    [1.15, 0],
    [0, 0.78],
    [-0.9, 0.5],
    [-0.5, 0],
    [-0.9, -0.5],
    [0, -0.78],
  ],
  Bombard: ring(8, Math.PI / 8, 1.04),
  Duelist: spikes(4, 0.52),
  Trapper: ring(5, 0, 1.05),
  Sentinel: ring(4, Math.PI / 4, 1.12),
  Lancer: [
    [1.25, 0],
    [0.1, 0.62],
    [-1, 0.42],
    [-0.7, 0],
    [-1, -0.42],
    [0.1, -0.62],
  ],
};

export function tracePath(g, champion, radius) {
  const outline = OUTLINES[champion];
  g.beginPath();
  if (!outline) {
    g.arc(0, 0, radius, 0, 2 * Math.PI);
    return;
  }
  for (const [i, [x, y]] of outline.entries()) {
    if (i) g.lineTo(x * radius, y * radius);
    else g.moveTo(x * radius, y * radius);
  }
  g.closePath();
}

export function mix(a, b, share) {
  const [x, y] = [a, b].map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
  return `#${x
    .map((v, i) =>
      Math.round(v + (y[i] - v) * share)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}

const sprites = new Map();

function sprite(key, width, height, draw) {
  let found = sprites.get(key);
  if (!found) {
    found = document.createElement('canvas');
    found.width = Math.max(1, Math.ceil(width));
    found.height = Math.max(1, Math.ceil(height));
    draw(found.getContext('2d'), found.width, found.height);
    sprites.set(key, found);
    if (sprites.size > 300) sprites.delete(sprites.keys().next().value);
  }
  return found;
}

// A soft light of one colour.
export function glow(colour) {
  return sprite(`glow ${colour}`, 64, 64, (g) => {
    const light = g.createRadialGradient(32, 32, 1, 32, 32, 32);
    light.addColorStop(0, `${colour}cc`);
    light.addColorStop(0.35, `${colour}44`);
    light.addColorStop(1, `${colour}00`);
    g.fillStyle = light;
    g.fillRect(0, 0, 64, 64);
  });
}

// A shot with its trail, flying to the right; the point is at 4/5 of the width.
export function shotSprite(colour) {
  return sprite(`shot ${colour}`, 80, 24, (g) => {
    const trail = g.createLinearGradient(0, 0, 66, 0);
    trail.addColorStop(0, `${colour}00`);
    trail.addColorStop(1, `${colour}aa`);
    g.fillStyle = trail;
    g.beginPath();
    g.moveTo(2, 12);
    g.lineTo(62, 7);
    g.arc(64, 12, 5, -Math.PI / 2, Math.PI / 2);
    g.lineTo(62, 17);
    g.fill();
    g.fillStyle = mix(colour, '#ffffff', 0.75);
    g.beginPath();
    g.ellipse(64, 12, 8, 4, 0, 0, 2 * Math.PI);
    g.fill();
  });
}

// A champion's body: outline, bevel and core, nose to the right.
export function bodySprite(champion, colour, px) {
  const size = Math.max(8, Math.round(px / 2) * 2);
  return sprite(`body ${champion} ${colour} ${size}`, size * 3, size * 3, (g, width) => {
    g.translate(width / 2, width / 2);
    g.fillStyle = '#0008';
    g.save();
    g.translate(size * 0.06, size * 0.14);
    tracePath(g, champion, size * 1.08);
    g.fill();
    g.restore();
    const face = g.createLinearGradient(-size, -size, size, size);
    face.addColorStop(0, mix(colour, '#ffffff', 0.45));
    face.addColorStop(0.5, colour);
    face.addColorStop(1, mix(colour, '#0a0e16', 0.55));
    g.fillStyle = face;
    g.strokeStyle = '#070a10';
    g.lineWidth = Math.max(1.5, size * 0.16);
    g.lineJoin = 'round';
    tracePath(g, champion, size);
    g.stroke();
    g.fill();
    g.strokeStyle = mix(colour, '#ffffff', 0.6);
    g.lineWidth = Math.max(0.8, size * 0.06);
    tracePath(g, champion, size * 0.86);
    g.stroke();
    g.fillStyle = mix(colour, '#0a0e16', 0.7);
    g.beginPath();
    g.arc(0, 0, size * 0.34, 0, 2 * Math.PI);
    g.fill();
    g.fillStyle = mix(colour, '#ffffff', 0.8);
    g.beginPath();
    g.arc(size * 0.06, -size * 0.06, size * 0.16, 0, 2 * Math.PI);
    g.fill();
  });
}
