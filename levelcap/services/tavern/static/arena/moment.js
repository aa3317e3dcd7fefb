// The moment of a tick: places between two states, everything else from the earlier one.

export function momentAt(tape, tick) {
  const { a, b, share } = tape.around(tick);
  return {
    ...a,
    over: a.over || (share >= 1 && b.over),
    tick,
    players: a.players.map((p, i) => between(p, b.players[i], share)),
    shots: a.shots,
    shotsTick: a.tick,
    zone: { x: a.zone.x, y: a.zone.y, radius: a.zone.radius + (b.zone.radius - a.zone.radius) * share },
    creeps: a.creeps.map((c) => {
      const d = b.creeps.find((other) => other.slot === c.slot);
      return d ? between(c, d, share) : c;
    }),
  };
}

function between(p, q, share) {
  if (Math.hypot(q.x - p.x, q.y - p.y) > 4) return share < 0.5 ? p : { ...p, x: q.x, y: q.y };
  const out = { ...p, x: p.x + (q.x - p.x) * share, y: p.y + (q.y - p.y) * share };
  if (p.angle !== undefined) {
    let turn = q.angle - p.angle;
    turn -= 2 * Math.PI * Math.round(turn / (2 * Math.PI));
    out.angle = p.angle + turn * share;
  }
  return out;
}
