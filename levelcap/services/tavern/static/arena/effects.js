// Short-lived things between the states: flashes, sparks, rings, numbers. Never part of the match.

import { GREEN, GOLD, CYAN, TEAMS, WHITE, glow, mix } from './shapes.js';

const MOST = 260,
  AREA = 3;
const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

export class Effects {
  constructor() {
    this.all = [];
    this.shake = 0;
  }

  clear() {
    this.all = [];
    this.shake = 0;
  }

  // What changed from one state to the next.
  compare(header, a, b) {
    b.players.forEach((now, p) => {
      const was = a.players[p],
        colour = TEAMS[header.seats[p].team];
      const lost = was.hp + was.shield - now.hp - now.shield;
      if (was.alive && lost > 0.5 && lost < 500) this._hit(was, lost, colour);
      if (was.alive && !now.alive) this._burst(was, colour);
      if (!was.alive && now.alive) this._ring(now, 3, colour, 500);
      if (now.alive && now.ammo < was.ammo) this._flash(now);
      if (now.alive) this._ability(header.seats[p], was, now, colour);
    });
    b.structures.forEach((now, t) => {
      if (a.structures[t] && a.structures[t].hp > 0 && now.hp <= 0) {
        const place = header.structures[t];
        this._burst(place, TEAMS[place.team], 3);
      }
    });
  }

  _add(effect) {
    this.all.push({ age: 0, ...effect });
    if (this.all.length > MOST) this.all.shift();
  }

  _hit({ x, y }, lost, colour) {
    this._add({ kind: 'number', x, y, text: `${Math.round(lost)}`, colour: '#ffe9c4', life: 700 });
    if (calm()) return;
    for (let i = 0; i < 4; i++) this._spark(x, y, mix(colour, WHITE, 0.4), 3, 260);
  }

  _spark(x, y, colour, speed, life) {
    const a = Math.random() * 2 * Math.PI,
      v = speed * (0.4 + Math.random());
    this._add({ kind: 'spark', x, y, vx: v * Math.cos(a), vy: v * Math.sin(a), colour, life });
  }

  _burst({ x, y }, colour, size = 1.6) {
    this._add({ kind: 'glow', x, y, radius: 3 * size, colour, life: 420 });
    this._ring({ x, y }, 2.4 * size, colour, 480);
    if (calm()) return;
    for (let i = 0; i < 22; i++) this._spark(x, y, i % 3 ? colour : WHITE, 7 * size, 620);
    this.shake = Math.min(1, this.shake + 0.5);
  }

  _ring({ x, y }, radius, colour, life) {
    this._add({ kind: 'ring', x, y, radius, colour, life });
  }

  _flash({ x, y, angle }) {
    this._add({
      kind: 'glow',
      x: x + 1.3 * Math.cos(angle),
      y: y + 1.3 * Math.sin(angle),
      radius: 0.9,
      colour: '#ffe9a8',
      life: 90,
    });
  }

  _ability(seat, was, now, colour) {
    seat.abilities.forEach((ability, slot) => {
      if (now.wait[slot] <= was.wait[slot] + 0.02) return; // its cooldown has not just begun
      const far = Math.hypot(now.aimX, now.aimY) || 1,
        share = Math.min(1, ability.range / far);
      const spot = { x: now.x + now.aimX * share, y: now.y + now.aimY * share };
      if (ability.kind === 'blast') {
        this._add({ kind: 'glow', ...spot, radius: AREA * 1.4, colour, life: 380 });
        this._ring(spot, AREA, mix(colour, WHITE, 0.5), 420);
        if (!calm()) for (let i = 0; i < 14; i++) this._spark(spot.x, spot.y, i % 2 ? colour : '#ffd9a0', 6, 420);
      } else if (ability.kind === 'snare') this._ring(spot, AREA, GOLD, 600);
      else if (ability.kind === 'heal') this._ring(now, ability.range, GREEN, 700);
      else if (ability.kind === 'shield') this._ring(now, 2.2, CYAN, 450);
      else if (ability.kind === 'ward') this._ring({ x: now.wardX, y: now.wardY }, 2, colour, 500);
      else if (ability.kind === 'dash' || ability.kind === 'blink') {
        this._add({ kind: 'streak', x: was.x, y: was.y, tx: now.x, ty: now.y, colour, life: 380 });
      }
    });
  }

  draw(g, camera, ms) {
    this.shake = Math.max(0, this.shake - ms / 350);
    for (const e of this.all) e.age += ms;
    this.all = this.all.filter((e) => e.age < e.life);
    for (const e of this.all) {
      const t = e.age / e.life,
        x = camera.px(e.x),
        y = camera.py(e.y);
      g.globalAlpha = 1 - t;
      if (e.kind === 'glow') {
        const r = e.radius * camera.scale * (0.7 + 0.5 * t);
        g.globalCompositeOperation = 'lighter';
        g.drawImage(glow(e.colour), x - r, y - r, 2 * r, 2 * r);
        g.globalCompositeOperation = 'source-over';
      } else if (e.kind === 'ring') {
        g.strokeStyle = e.colour;
        g.lineWidth = Math.max(1, 0.32 * camera.scale * (1 - t));
        g.beginPath();
        g.arc(x, y, e.radius * camera.scale * (0.25 + 0.75 * Math.sqrt(t)), 0, 2 * Math.PI);
        g.stroke();
      } else if (e.kind === 'spark') {
        e.x += (e.vx * ms) / 1000;
        e.y += (e.vy * ms) / 1000;
        const s = Math.max(1.5, 0.16 * camera.scale);
        g.fillStyle = e.colour;
        g.fillRect(x - s / 2, y - s / 2, s, s);
      } else if (e.kind === 'streak') {
        g.strokeStyle = e.colour;
        g.lineWidth = 1.1 * camera.scale * (1 - t);
        g.lineCap = 'round';
        g.beginPath();
        g.moveTo(x, y);
        g.lineTo(camera.px(e.tx), camera.py(e.ty));
        g.stroke();
      } else if (e.kind === 'number') {
        g.fillStyle = e.colour;
        g.font = `700 ${Math.max(11, 0.85 * camera.scale)}px system-ui, sans-serif`;
        g.textAlign = 'center';
        g.fillText(e.text, x, y - camera.scale * (1.4 + 1.2 * t));
      }
    }
    g.globalAlpha = 1;
  }
}
