// The floor, the walls and the bases: painted once for a map, then copied to every picture.

import { TEAMS, mix } from './shapes.js';

const MOST_PX = 1800,
  RIM = 3;

// Returns {image, half}: a square picture of the map and `RIM` units around it.
export function paintGround(header) {
  const half = header.half + RIM,
    unit = Math.min(32, Math.floor(MOST_PX / (2 * half)));
  const side = Math.round(2 * half * unit);
  const image = document.createElement('canvas');
  image.width = image.height = side;
  const g = image.getContext('2d');
  const at = (x, y) => [(x + half) * unit, (half - y) * unit];
  g.fillStyle = '#080a0e';
  g.fillRect(0, 0, side, side);
  paintFloor(g, header, at, unit);
  paintMarks(g, header, at, unit);
  paintWalls(g, header, at, unit);
  return { image, half };
}

function paintFloor(g, header, at, unit) {
  const { half } = header,
    tile = 2;
  const [left, top] = at(-half, half),
    size = 2 * half * unit;
  const floor = g.createRadialGradient(
    left + size / 2,
    top + size / 2,
    size * 0.1,
    left + size / 2,
    top + size / 2,
    size * 0.75,
  );
  floor.addColorStop(0, '#2a3140');
  floor.addColorStop(1, '#161b25');
  g.fillStyle = floor;
  g.fillRect(left, top, size, size);
  // Flagstones: each its own shade, the same on every machine and at every visit.
  for (let i = 0; i * tile < 2 * half; i++) {
    for (let j = 0; j * tile < 2 * half; j++) {
      const noise = ((i * 73856093) ^ (j * 19349663)) >>> 0;
      g.fillStyle = noise % 3 ? `rgba(255,255,255,${(noise % 17) / 900})` : `rgba(0,0,0,${(noise % 23) / 260})`;
      g.fillRect(left + i * tile * unit, top + j * tile * unit, tile * unit, tile * unit);
    }
  }
  g.strokeStyle = '#0b0e1455';
  g.lineWidth = Math.max(1, unit * 0.06);
  g.beginPath();
  for (let k = -half; k <= half; k += tile) {
    const [x, y] = at(k, k);
    g.moveTo(x, top);
    g.lineTo(x, top + size);
    g.moveTo(left, y);
    g.lineTo(left + size, y);
  }
  g.stroke();
  g.strokeStyle = '#5b6b86';
  g.lineWidth = Math.max(2, unit * 0.25);
  g.strokeRect(left, top, size, size);
}

function paintMarks(g, header, at, unit) {
  if (header.structures.length) {
    const [a, y] = at(header.structures[2].x, 0),
      [b] = at(header.structures[5].x, 0);
    g.fillStyle = '#ffffff0d';
    g.fillRect(a, y - 3.2 * unit, b - a, 6.4 * unit);
    g.strokeStyle = '#ffffff14';
    g.setLineDash([unit, unit]);
    g.strokeRect(a, y - 3.2 * unit, b - a, 6.4 * unit);
    g.setLineDash([]);
  }
  header.bases.forEach(([bx, by], team) => {
    const [x, y] = at(bx, by),
      light = g.createRadialGradient(x, y, unit, x, y, 7 * unit);
    light.addColorStop(0, `${TEAMS[team]}44`);
    light.addColorStop(1, `${TEAMS[team]}00`);
    g.fillStyle = light;
    g.beginPath();
    g.arc(x, y, 7 * unit, 0, 2 * Math.PI);
    g.fill();
  });
}

function paintWalls(g, header, at, unit) {
  const high = 0.3 * unit; // walls stand up a little towards the viewer
  for (const [x, y, w, h] of header.walls) {
    const [left, top] = at(x - w, y + h),
      width = 2 * w * unit,
      height = 2 * h * unit;
    g.fillStyle = '#00000070';
    g.fillRect(left + 0.25 * unit, top + 0.35 * unit, width, height);
    g.fillStyle = '#39445a';
    g.fillRect(left, top, width, height);
    const face = g.createLinearGradient(0, top - high, 0, top + height - high);
    face.addColorStop(0, '#7d8ba6');
    face.addColorStop(1, '#596780');
    g.fillStyle = face;
    g.fillRect(left, top - high, width, height);
    g.strokeStyle = mix('#7d8ba6', '#ffffff', 0.35);
    g.lineWidth = Math.max(1, unit * 0.07);
    g.strokeRect(left + 0.5, top - high + 0.5, width - 1, height - 1);
    g.strokeStyle = '#00000033';
    g.beginPath();
    for (let k = 1; k < 2 * w; k++) {
      g.moveTo(left + k * unit, top - high);
      g.lineTo(left + k * unit, top - high + height);
    }
    for (let k = 1; k < 2 * h; k++) {
      g.moveTo(left, top - high + k * unit);
      g.lineTo(left + width, top - high + k * unit);
    }
    g.stroke();
  }
}
