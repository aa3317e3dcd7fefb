// The whole map in a corner, for maps that do not fit the view.

import { GOLD, TEAMS } from './shapes.js';

export function drawMinimap(g, camera, header, ground, moment, scene, side) {
  const pad = 12,
    left = pad,
    top = camera.height - side - pad,
    unit = side / (2 * header.half);
  const px = (x) => left + (x + header.half) * unit,
    py = (y) => top + (header.half - y) * unit;
  g.save();
  g.globalAlpha = 0.92;
  g.fillStyle = '#0a0d13';
  g.fillRect(left - 2, top - 2, side + 4, side + 4);
  const rim = (((ground.half - header.half) / ground.half) * ground.image.width) / 2;
  const inner = ground.image.width - 2 * rim;
  g.drawImage(ground.image, rim, rim, inner, inner, left, top, side, side);
  g.globalAlpha = 1;
  g.beginPath();
  g.rect(left, top, side, side);
  g.clip();
  if (header.zone || header.crown) {
    const zone = header.zone ? moment.zone : { x: 0, y: 0, radius: header.crown };
    g.strokeStyle = header.zone ? '#ff8a72' : GOLD;
    g.lineWidth = 1.5;
    g.beginPath();
    g.arc(px(zone.x), py(zone.y), zone.radius * unit, 0, 2 * Math.PI);
    g.stroke();
  }
  header.structures.forEach((place, t) => {
    if (!moment.structures[t] || moment.structures[t].hp <= 0) return;
    g.fillStyle = TEAMS[place.team];
    g.fillRect(px(place.x) - 3, py(place.y) - 3, 6, 6);
  });
  for (const creep of moment.creeps) {
    g.fillStyle = `${TEAMS[creep.slot < header.creep_side ? 0 : 1]}aa`;
    g.fillRect(px(creep.x) - 1, py(creep.y) - 1, 2, 2);
  }
  moment.players.forEach((p, i) => {
    if (!scene.shows(p)) return;
    g.fillStyle = TEAMS[header.seats[i].team];
    g.strokeStyle = i === scene.me || i === scene.followed ? '#fff' : '#05070b';
    g.lineWidth = 1.2;
    g.beginPath();
    g.arc(px(p.x), py(p.y), 3.2, 0, 2 * Math.PI);
    g.fill();
    g.stroke();
  });
  g.strokeStyle = '#ffffff88';
  g.lineWidth = 1;
  g.strokeRect(
    px(camera.wx(0)),
    py(camera.wy(0)),
    (camera.width / camera.scale) * unit,
    (camera.height / camera.scale) * unit,
  );
  g.restore();
  g.strokeStyle = '#55432f';
  g.lineWidth = 1.5;
  g.strokeRect(left - 1.5, top - 1.5, side + 3, side + 3);
}
