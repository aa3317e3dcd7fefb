// Draws what a hero attends to: lines to the objects, its target, where it means to go.

import { INTENT_COLOURS } from './mind.js';

const SNAP = 1.6; // units: a look this near to somebody follows them between two decisions

// scene: see `Scene`. p: whose mind; all: also the fainter looks, for the one that is followed.
export function drawThoughts(scene, p, all) {
  const { g, camera, moment, header } = scene,
    mind = moment.minds[p],
    player = moment.players[p];
  if (!mind?.plan || !player.alive) return;
  const colour = INTENT_COLOURS[header.intents[player.intent]] ?? '#ffffff';
  const from = { x: camera.px(player.x), y: camera.py(player.y) };
  g.save();
  g.lineCap = 'round';
  for (const look of mind.looks) {
    const target = look === mind.target;
    if (!all && !target) continue;
    const place = follow(moment, look),
      x = camera.px(place.x),
      y = camera.py(place.y);
    g.strokeStyle = colour;
    g.globalAlpha = target ? 0.8 : 0.25 + 0.5 * look.weight;
    g.lineWidth = Math.max(1, (all ? 9 : 5) * look.weight) * ratio(camera);
    g.setLineDash(look.kind === 'memory' ? [6, 6] : []);
    line(g, from, { x, y }, scene.body * 1.2);
    if (target) ring(g, x, y, Math.max(9, 1.5 * scene.body), colour);
  }
  g.setLineDash([]);
  if (all) approach(g, from, mind.approach, scene.unit, ratio(camera));
  if (mind.changed) pulse(g, from, scene.body, colour);
  g.restore();
}

const ratio = (camera) => Math.max(0.7, camera.width / 1100);

// A look at somebody who moves ends at them, not where they stood.
function follow(moment, look) {
  if (look.kind === 'memory') return look;
  const there = ['enemy', 'ally'].includes(look.kind) ? moment.players : look.kind === 'creep' ? moment.creeps : [];
  let best = look,
    nearest = SNAP;
  for (const body of there) {
    const away = Math.hypot(body.x - look.x, body.y - look.y);
    if (body.alive !== false && away < nearest) {
      best = body;
      nearest = away;
    }
  }
  return best;
}

function line(g, from, to, gap) {
  const away = Math.hypot(to.x - from.x, to.y - from.y);
  if (away <= gap) return;
  g.beginPath();
  g.moveTo(from.x + ((to.x - from.x) * gap) / away, from.y + ((to.y - from.y) * gap) / away);
  g.lineTo(to.x, to.y);
  g.stroke();
}

function ring(g, x, y, r, colour) {
  g.setLineDash([]);
  g.globalAlpha = 0.9;
  g.strokeStyle = colour;
  g.lineWidth = 2;
  for (let k = 0; k < 4; k++) {
    g.beginPath();
    g.arc(x, y, r, k * (Math.PI / 2) + 0.35, (k + 1) * (Math.PI / 2) - 0.35);
    g.stroke();
  }
}

// Where the hero expects to walk in the next second: an arrow as long as that way.
function approach(g, from, [vx, vy], unit, px) {
  const length = Math.hypot(vx, vy);
  if (length < 0.12) return;
  const x = from.x + vx * 5 * unit,
    y = from.y - vy * 5 * unit,
    turn = Math.atan2(-vy, vx);
  g.globalAlpha = 0.85;
  g.strokeStyle = '#ffffff';
  g.lineWidth = 2.5 * px;
  g.setLineDash([2, 7]);
  line(g, from, { x, y }, 0);
  g.setLineDash([]);
  g.beginPath();
  for (const side of [2.6, -2.6]) {
    g.moveTo(x, y);
    g.lineTo(x + 11 * px * Math.cos(turn + side), y + 11 * px * Math.sin(turn + side));
  }
  g.stroke();
}

// The goal has just changed.
function pulse(g, from, body, colour) {
  g.globalAlpha = 0.9;
  g.strokeStyle = colour;
  g.lineWidth = 3;
  g.beginPath();
  g.arc(from.x, from.y, 2.3 * body, 0, 2 * Math.PI);
  g.stroke();
}
