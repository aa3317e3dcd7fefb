// What moves in a moment of a match: creeps, shots, wards, players with their bars and names.

import { CYAN, GOLD, TEAMS, WHITE, bodySprite, glow, mix, shotSprite } from './shapes.js';
import { INTENT_COLOURS } from './mind.js';
import { DASHING, GUARDED, OUT, RELOADING, SNARED, WARDING } from './layout.js';

const TICKS_AHEAD = 4;
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

export class Bodies {
  _circle(x, y, radius) {
    this.g.beginPath();
    this.g.arc(this.camera.px(x), this.camera.py(y), radius * this.unit, 0, 2 * Math.PI);
  }

  _creeps() {
    const { g, camera, unit, header } = this,
      r = Math.max(3.5, 0.62 * unit);
    for (const creep of this.moment.creeps) {
      const colour = TEAMS[creep.slot < header.creep_side ? 0 : 1],
        x = camera.px(creep.x),
        y = camera.py(creep.y);
      g.fillStyle = '#0a0e15';
      g.beginPath();
      g.moveTo(x, y - 1.35 * r);
      g.lineTo(x + 1.35 * r, y);
      g.lineTo(x, y + 1.35 * r);
      g.lineTo(x - 1.35 * r, y);
      g.fill();
      g.fillStyle = mix('#1a2130', colour, 0.45 + 0.5 * creep.hp);
      g.beginPath();
      g.moveTo(x, y - r);
      g.lineTo(x + r, y);
      g.lineTo(x, y + r);
      g.lineTo(x - r, y);
      g.fill();
    }
  }

  _fallen() {
    const { g, camera, header } = this;
    this.moment.players.forEach((p, i) => {
      if (p.alive || (this.myTeam !== null && header.seats[i].team !== this.myTeam && !(p.flags & OUT))) return;
      const x = camera.px(p.x),
        y = camera.py(p.y),
        s = 0.55 * this.body;
      g.strokeStyle = `${TEAMS[header.seats[i].team]}88`;
      g.lineWidth = Math.max(1.5, 0.16 * this.unit);
      g.beginPath();
      g.moveTo(x - s, y - s);
      g.lineTo(x + s, y + s);
      g.moveTo(x + s, y - s);
      g.lineTo(x - s, y + s);
      g.stroke();
      if (p.respawn > 0 && !(p.flags & OUT)) this._words(`${p.respawn}`, x, y - 1.4 * s, '#ffffffaa', 11);
    });
  }

  _wards() {
    const { g, camera, header, moment } = this;
    moment.players.forEach((p, i) => {
      const team = header.seats[i].team;
      if (!(p.flags & WARDING) || (this.myTeam !== null && team !== this.myTeam)) return;
      const x = camera.px(p.wardX),
        y = camera.py(p.wardY),
        r = Math.max(4, 0.5 * this.unit);
      if (this.layers.sight) {
        g.fillStyle = `${TEAMS[team]}14`;
        this._circle(p.wardX, p.wardY, 0.7 * header.sight);
        g.fill();
      }
      g.strokeStyle = TEAMS[team];
      g.lineWidth = 2;
      g.beginPath();
      g.ellipse(x, y, 1.6 * r, r, 0, 0, 2 * Math.PI);
      g.stroke();
      g.fillStyle = WHITE;
      g.beginPath();
      g.arc(x, y, 0.45 * r, 0, 2 * Math.PI);
      g.fill();
    });
  }

  _shots() {
    const { g, camera, unit, header, moment } = this;
    const ahead = Math.min(TICKS_AHEAD, moment.tick - moment.shotsTick) / header.ticks_per_s;
    g.globalCompositeOperation = 'lighter';
    for (const shot of moment.shots) {
      if (ahead * header.ticks_per_s > shot.life + 1) continue;
      const x = camera.px(shot.x + shot.vx * ahead),
        y = camera.py(shot.y + shot.vy * ahead);
      const colour = TEAMS[header.seats[shot.owner].team],
        w = Math.max(18, 2.3 * unit),
        h = 0.3 * w;
      g.save();
      g.translate(x, y);
      g.rotate(Math.atan2(-shot.vy, shot.vx));
      g.drawImage(shotSprite(colour), -0.8 * w, -h / 2, w, h);
      g.restore();
    }
    g.globalCompositeOperation = 'source-over';
  }

  _player(player, p) {
    const { g, camera, header } = this,
      seat = header.seats[p];
    const colour = TEAMS[seat.team],
      x = camera.px(player.x),
      y = camera.py(player.y),
      r = this.body;
    if (p === this.followed || p === this.me) {
      g.strokeStyle = p === this.me ? '#ffffffcc' : '#ffffff77';
      g.lineWidth = 1.5;
      g.beginPath();
      g.ellipse(x, y + 0.12 * r, 1.75 * r, 1.75 * r, 0, 0, 2 * Math.PI);
      g.stroke();
    }
    const light = 2.1 * r;
    g.globalAlpha = 0.5;
    g.drawImage(glow(colour), x - light, y - light, 2 * light, 2 * light);
    g.globalAlpha = player.flags & GUARDED ? 0.55 + 0.25 * Math.sin(this.moment.tick / 2) : 1;
    g.save();
    g.translate(x, y);
    g.rotate(-player.angle);
    g.fillStyle = '#0a0e15';
    g.fillRect(0.6 * r, -0.24 * r, 1.05 * r, 0.48 * r);
    g.fillStyle = mix(colour, WHITE, 0.55);
    g.fillRect(0.7 * r, -0.13 * r, 0.9 * r, 0.26 * r);
    const body = bodySprite(seat.champion, colour, 0.92 * r),
      size = body.width * 1;
    g.drawImage(body, -size / 2, -size / 2);
    g.restore();
    g.globalAlpha = 1;
    this._states(player, x, y, r);
  }

  _labels(player, p) {
    const { camera, header, layers } = this,
      seat = header.seats[p],
      r = this.body;
    const x = camera.px(player.x),
      y = camera.py(player.y);
    if (layers.health) this._health(player, seat, x, y, r);
    const named =
      p === this.me ||
      p === this.followed ||
      (this.unit > 8 && !this._bodyAt(player.x, player.y - (1.75 * r + 6) / this.unit, p));
    if (layers.names && named)
      this._words(
        this.called(p),
        x,
        y + 1.75 * r + 10,
        p === this.me ? WHITE : '#cdd6e6',
        Math.max(10, Math.min(13, 0.8 * this.unit)),
      );
    if (layers.mind && this._open(p) && player.intent !== null && this.unit > 9) {
      const intent = header.intents[player.intent];
      this._words(intent.toLowerCase(), x, y - 1.5 * r - 16, INTENT_COLOURS[intent], 11);
    }
  }

  // Does somebody else stand here? Then nothing is written over them.
  _bodyAt(x, y, p) {
    return this.moment.players.some(
      (other, o) => o !== p && this.shows(other) && Math.hypot(other.x - x, other.y - y) < 1.4,
    );
  }

  _states(player, x, y, r) {
    const { g } = this;
    const ring = (radius, colour, width, dash = []) => {
      g.strokeStyle = colour;
      g.lineWidth = width;
      g.setLineDash(dash);
      g.beginPath();
      g.arc(x, y, radius, 0, 2 * Math.PI);
      g.stroke();
      g.setLineDash([]);
    };
    if (player.shield > 0) {
      ring(1.42 * r, `${CYAN}cc`, Math.max(1.5, 0.14 * r));
      ring(1.62 * r, `${CYAN}44`, Math.max(1, 0.1 * r));
    }
    if (player.flags & SNARED) ring(1.5 * r, GOLD, Math.max(2, 0.18 * r), [3, 3]);
    if (player.flags & DASHING) ring(1.2 * r, '#ffffff88', 2);
    if (player.flags & RELOADING) ring(0.55 * r, '#ffffffaa', 2, [2, 3]);
  }

  _health(player, seat, x, y, r) {
    const share = player.hp / seat.hp,
      width = Math.max(26, Math.min(64, 2.5 * r)),
      top = y - 1.5 * r - 9;
    const tone = share > 0.6 ? '#5fe07e' : share > 0.3 ? '#f5c850' : '#ff5d5d';
    this._bar(x, top, width, Math.max(4, Math.min(6, 0.3 * r)), share, tone);
    if (player.shield > 0) this._bar(x, top - 5, width, 3, Math.min(1, player.shield / seat.hp), CYAN);
  }

  _bar(x, top, width, height, share, colour) {
    const { g } = this;
    g.fillStyle = '#05070bcc';
    g.fillRect(x - width / 2 - 1, top - 1, width + 2, height + 2);
    g.fillStyle = colour;
    g.fillRect(x - width / 2, top, width * Math.max(0, Math.min(1, share)), height);
  }

  _words(text, x, y, colour, px) {
    const { g } = this;
    g.font = `600 ${px}px ${FONT}`;
    const wide = 0.3 * px * text.length;
    if (this._written.some((w) => Math.abs(w.x - x) < w.wide + wide && Math.abs(w.y - y) < px)) return;
    this._written.push({ x, y, wide });
    g.textAlign = 'center';
    g.lineWidth = 3;
    g.strokeStyle = '#05070bcc';
    g.strokeText(text, x, y);
    g.fillStyle = colour;
    g.fillText(text, x, y);
  }
}
