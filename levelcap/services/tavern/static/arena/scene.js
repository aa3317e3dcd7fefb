// Draws one moment of a match. All places are in units of the map; the camera turns them to pixels.

import { CYAN, GOLD, GREEN, TEAMS, WHITE, bodySprite, glow, mix, shotSprite } from './shapes.js';
import { DASHING, GUARDED, OUT, RELOADING, SNARED, WARDING } from './tape.js';

const BODY = 1, LEAST_BODY_PX = 7, TICKS_AHEAD = 4;
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

export class Scene {
  constructor(g, camera) { this.g = g; this.camera = camera; }

  // moment: see `Stage.moment`. layers: what is switched on. me: own seat or null. hides: a person
  // is playing and sees only what their side sees.
  draw(header, ground, moment, layers, me, followed, hides) {
    Object.assign(this, { header, moment, layers, me, followed });
    const { camera } = this;
    this.unit = camera.scale;
    this.body = Math.max(BODY * this.unit, LEAST_BODY_PX);
    this.myTeam = hides && me !== null ? header.seats[me].team : null;
    this._ground(ground);
    if (header.zone) this._zone(moment.zone);
    if (header.crown) this._crown();
    this._items();
    if (layers.sight) this._sight();
    this._structures();
    this._creeps();
    this._fallen();
    this._wards();
    this._shots();
    const there = moment.players.map((player, p) => [player, p]).filter(([player]) => this.shows(player));
    for (const [player, p] of there) this._player(player, p);
    this._written = [];
    // Never under a body; in a crowd the one that is followed keeps its name.
    const first = ([, p]) => (p === this.me || p === this.followed ? 0 : 1);
    for (const [player, p] of there.sort((a, b) => first(a) - first(b))) this._labels(player, p);
  }

  // A person sees what their side sees; an onlooker sees all.
  shows(player) {
    return player.alive && (this.myTeam === null || (player.seen & (1 << this.myTeam)) > 0);
  }

  // Where a whole team has one name, its members go by their champions.
  called(p) {
    const seat = this.header.seats[p];
    if (p === this.me) return 'you';
    return this.header.team_size > 1 && seat.champion !== 'base' ? seat.champion : seat.name;
  }

  _ground({ image, half }) {
    const { g, camera } = this, size = 2 * half * camera.scale;
    g.fillStyle = '#080a0e';
    g.fillRect(0, 0, camera.width, camera.height);
    g.imageSmoothingQuality = 'low';
    g.drawImage(image, camera.px(-half), camera.py(half), size, size);
  }

  _circle(x, y, radius) {
    this.g.beginPath();
    this.g.arc(this.camera.px(x), this.camera.py(y), radius * this.unit, 0, 2 * Math.PI);
  }

  _zone(zone) {
    const { g, camera } = this;
    const { half } = this.header, left = camera.px(-half), top = camera.py(half), size = 2 * half * this.unit;
    g.save();
    g.beginPath();
    g.rect(left, top, size, size);
    g.clip();
    g.beginPath();
    g.rect(left, top, size, size);
    g.arc(camera.px(zone.x), camera.py(zone.y), Math.max(0, zone.radius * this.unit), 0, 2 * Math.PI, true);
    g.fillStyle = '#e0303038';
    g.fill();
    if (this.layers.objective) this._zoneRing(zone);
    g.restore();
  }

  _zoneRing(zone) {
    const { g } = this;
    g.lineWidth = Math.max(2, 0.22 * this.unit);
    g.strokeStyle = '#ff5a4a55';
    this._circle(zone.x, zone.y, zone.radius); g.stroke();
    g.strokeStyle = '#ff8a72';
    g.lineWidth = Math.max(1.2, 0.09 * this.unit);
    g.setLineDash([this.unit, 0.7 * this.unit]);
    g.lineDashOffset = -this.moment.tick * 0.08 * this.unit;
    this._circle(zone.x, zone.y, zone.radius); g.stroke();
    g.setLineDash([]);
  }

  _crown() {
    const { g, header, moment } = this, inside = [0, 0];
    moment.players.forEach((p, i) => {
      if (p.alive && Math.hypot(p.x, p.y) <= header.crown) inside[header.seats[i].team]++;
    });
    const holder = inside[0] === inside[1] ? GOLD : TEAMS[inside[0] > inside[1] ? 0 : 1];
    g.fillStyle = `${holder}26`;
    this._circle(0, 0, header.crown); g.fill();
    if (!this.layers.objective) return;
    g.strokeStyle = GOLD;
    g.lineWidth = Math.max(1.5, 0.16 * this.unit);
    this._circle(0, 0, header.crown); g.stroke();
    moment.score.forEach((points, team) => {
      g.strokeStyle = TEAMS[team];
      g.lineWidth = Math.max(3, 0.42 * this.unit);
      const share = Math.min(1, points / header.goal), from = team ? Math.PI / 2 : -Math.PI / 2;
      g.beginPath();
      g.arc(this.camera.px(0), this.camera.py(0), (header.crown + 0.55) * this.unit, from, from + Math.PI * share * 0.98);
      g.stroke();
    });
  }

  _items() {
    const { g, camera, unit } = this, beat = 1 + 0.08 * Math.sin(this.moment.tick / 6);
    for (const item of this.moment.items) {
      const x = camera.px(item.x), y = camera.py(item.y), colour = item.kind === 1 ? GREEN : GOLD;
      const s = Math.max(0.62 * unit, 5) * beat, light = 2.6 * s;
      g.globalCompositeOperation = 'lighter';
      g.drawImage(glow(colour), x - light, y - light, 2 * light, 2 * light);
      g.globalCompositeOperation = 'source-over';
      g.fillStyle = '#0b0f16';
      g.beginPath(); g.roundRect(x - 1.15 * s, y - 1.15 * s, 2.3 * s, 2.3 * s, 0.5 * s); g.fill();
      g.fillStyle = colour;
      if (item.kind === 1) {
        g.fillRect(x - 0.8 * s, y - 0.26 * s, 1.6 * s, 0.52 * s);
        g.fillRect(x - 0.26 * s, y - 0.8 * s, 0.52 * s, 1.6 * s);
      } else {
        for (const k of [-0.5, 0, 0.5]) g.fillRect(x + (k - 0.16) * s, y - 0.6 * s, 0.3 * s, 1.2 * s);
      }
    }
  }

  _sight() {
    const { g, header, moment } = this;
    moment.players.forEach((p, i) => {
      if (!this.shows(p) || (this.followed !== null && header.seats[i].team !== header.seats[this.followed].team)) return;
      g.fillStyle = `${TEAMS[header.seats[i].team]}0b`;
      this._circle(p.x, p.y, header.sight); g.fill();
      g.strokeStyle = `${TEAMS[header.seats[i].team]}40`;
      g.lineWidth = 1;
      g.stroke();
    });
  }

  _structures() {
    const { g, camera, unit, header, moment } = this;
    header.structures.forEach((place, t) => {
      const now = moment.structures[t];
      if (!now) return;
      const colour = TEAMS[place.team], x = camera.px(place.x), y = camera.py(place.y);
      const r = Math.max(8, (place.radius + (place.core ? 0.8 : 0)) * unit);
      if (now.hp <= 0) {
        g.fillStyle = '#05070b'; this._circle(place.x, place.y, place.radius); g.fill();
        g.strokeStyle = `${colour}55`; g.lineWidth = 1.5; g.stroke();
        return;
      }
      if (this.layers.objective) {
        g.strokeStyle = `${colour}30`; g.lineWidth = 1;
        this._circle(place.x, place.y, place.reach); g.stroke();
      }
      g.save();
      g.translate(x, y);
      const light = 2 * r;
      g.drawImage(glow(colour), -light, -light, 2 * light, 2 * light);
      const corners = place.core ? 4 : 6;
      for (const [k, tone] of [[1, '#0a0e15'], [0.88, colour], [0.62, mix(colour, '#0a0e15', 0.65)], [0.3, mix(colour, WHITE, 0.6)]]) {
        g.fillStyle = tone;
        g.beginPath();
        for (let i = 0; i < corners; i++) {
          const a = (place.core ? 0 : Math.PI / 6) + (2 * Math.PI * i) / corners;
          g.lineTo(1.25 * r * k * Math.cos(a), 1.25 * r * k * Math.sin(a));
        }
        g.fill();
      }
      g.restore();
      if (t % 3 > 0 && moment.structures[t - 1].hp > 0) { // safe until the one before it falls
        g.strokeStyle = '#ffffff55'; g.lineWidth = 1.5; g.setLineDash([4, 4]);
        g.beginPath(); g.arc(x, y, 1.45 * r, 0, 2 * Math.PI); g.stroke(); g.setLineDash([]);
      }
      this._bar(x, y - 1.6 * r - 6, 2.6 * r, 5, now.hp, colour);
      this._beam(place, now, colour);
    });
  }

  _beam(place, now, colour) {
    const { g, camera, moment } = this;
    if (now.target === 255) return;
    const hit = now.target >= 100 ? moment.creeps.find((c) => c.slot === now.target - 100) : moment.players[now.target];
    if (!hit || hit.alive === false) return;
    const heat = Math.min(1, 0.35 + now.heat / 120);
    for (const [width, tone] of [[6 * heat, `${colour}66`], [2, mix(colour, WHITE, 0.7)]]) {
      g.strokeStyle = tone; g.lineWidth = width;
      g.beginPath(); g.moveTo(camera.px(place.x), camera.py(place.y)); g.lineTo(camera.px(hit.x), camera.py(hit.y)); g.stroke();
    }
  }

  _creeps() {
    const { g, camera, unit, header } = this, r = Math.max(3.5, 0.62 * unit);
    for (const creep of this.moment.creeps) {
      const colour = TEAMS[creep.slot < header.creep_side ? 0 : 1], x = camera.px(creep.x), y = camera.py(creep.y);
      g.fillStyle = '#0a0e15';
      g.beginPath(); g.moveTo(x, y - 1.35 * r); g.lineTo(x + 1.35 * r, y); g.lineTo(x, y + 1.35 * r); g.lineTo(x - 1.35 * r, y); g.fill();
      g.fillStyle = mix('#1a2130', colour, 0.45 + 0.5 * creep.hp);
      g.beginPath(); g.moveTo(x, y - r); g.lineTo(x + r, y); g.lineTo(x, y + r); g.lineTo(x - r, y); g.fill();
    }
  }

  _fallen() {
    const { g, camera, header } = this;
    this.moment.players.forEach((p, i) => {
      if (p.alive || this.myTeam !== null && header.seats[i].team !== this.myTeam && !(p.flags & OUT)) return;
      const x = camera.px(p.x), y = camera.py(p.y), s = 0.55 * this.body;
      g.strokeStyle = `${TEAMS[header.seats[i].team]}88`;
      g.lineWidth = Math.max(1.5, 0.16 * this.unit);
      g.beginPath(); g.moveTo(x - s, y - s); g.lineTo(x + s, y + s); g.moveTo(x + s, y - s); g.lineTo(x - s, y + s); g.stroke();
      if (p.respawn > 0 && !(p.flags & OUT)) this._words(`${p.respawn}`, x, y - 1.4 * s, '#ffffffaa', 11);
    });
  }

  _wards() {
    const { g, camera, header, moment } = this;
    moment.players.forEach((p, i) => {
      const team = header.seats[i].team;
      if (!(p.flags & WARDING) || (this.myTeam !== null && team !== this.myTeam)) return;
      const x = camera.px(p.wardX), y = camera.py(p.wardY), r = Math.max(4, 0.5 * this.unit);
      if (this.layers.sight) { g.fillStyle = `${TEAMS[team]}14`; this._circle(p.wardX, p.wardY, 0.7 * header.sight); g.fill(); }
      g.strokeStyle = TEAMS[team]; g.lineWidth = 2;
      g.beginPath(); g.ellipse(x, y, 1.6 * r, r, 0, 0, 2 * Math.PI); g.stroke();
      g.fillStyle = WHITE; g.beginPath(); g.arc(x, y, 0.45 * r, 0, 2 * Math.PI); g.fill();
    });
  }

  _shots() {
    const { g, camera, unit, header, moment } = this;
    const ahead = Math.min(TICKS_AHEAD, moment.tick - moment.shotsTick) / header.ticks_per_s;
    g.globalCompositeOperation = 'lighter';
    for (const shot of moment.shots) {
      if (ahead * header.ticks_per_s > shot.life + 1) continue;
      const x = camera.px(shot.x + shot.vx * ahead), y = camera.py(shot.y + shot.vy * ahead);
      const colour = TEAMS[header.seats[shot.owner].team], w = Math.max(18, 2.3 * unit), h = 0.3 * w;
      g.save();
      g.translate(x, y);
      g.rotate(Math.atan2(-shot.vy, shot.vx));
      g.drawImage(shotSprite(colour), -0.8 * w, -h / 2, w, h);
      g.restore();
    }
    g.globalCompositeOperation = 'source-over';
  }

  _player(player, p) {
    const { g, camera, header } = this, seat = header.seats[p];
    const colour = TEAMS[seat.team], x = camera.px(player.x), y = camera.py(player.y), r = this.body;
    if (p === this.followed || p === this.me) {
      g.strokeStyle = p === this.me ? '#ffffffcc' : '#ffffff77';
      g.lineWidth = 1.5;
      g.beginPath(); g.ellipse(x, y + 0.12 * r, 1.75 * r, 1.75 * r, 0, 0, 2 * Math.PI); g.stroke();
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
    const body = bodySprite(seat.champion, colour, 0.92 * r), size = body.width * 1;
    g.drawImage(body, -size / 2, -size / 2);
    g.restore();
    g.globalAlpha = 1;
    this._states(player, x, y, r);
  }

  _labels(player, p) {
    const { camera, header, layers } = this, seat = header.seats[p], r = this.body;
    const x = camera.px(player.x), y = camera.py(player.y);
    if (layers.health) this._health(player, seat, x, y, r);
    const named = p === this.me || p === this.followed || (this.unit > 8 && !this._bodyAt(player.x, player.y - (1.75 * r + 6) / this.unit, p));
    if (layers.names && named) this._words(this.called(p), x, y + 1.75 * r + 10, p === this.me ? WHITE : '#cdd6e6', Math.max(10, Math.min(13, 0.8 * this.unit)));
    // Who plays does not read the enemies' minds.
    const open = this.myTeam === null || seat.team === this.myTeam;
    if (layers.mind && open && player.intent !== null && this.unit > 9) this._words(header.intents[player.intent].toLowerCase(), x, y - 1.5 * r - 16, GOLD, 10);
  }

  // Does somebody else stand here? Then nothing is written over them.
  _bodyAt(x, y, p) {
    return this.moment.players.some((other, o) => o !== p && this.shows(other) && Math.hypot(other.x - x, other.y - y) < 1.4);
  }

  _states(player, x, y, r) {
    const { g } = this;
    const ring = (radius, colour, width, dash = []) => {
      g.strokeStyle = colour; g.lineWidth = width; g.setLineDash(dash);
      g.beginPath(); g.arc(x, y, radius, 0, 2 * Math.PI); g.stroke(); g.setLineDash([]);
    };
    if (player.shield > 0) { ring(1.42 * r, `${CYAN}cc`, Math.max(1.5, 0.14 * r)); ring(1.62 * r, `${CYAN}44`, Math.max(1, 0.1 * r)); }
    if (player.flags & SNARED) ring(1.5 * r, GOLD, Math.max(2, 0.18 * r), [3, 3]);
    if (player.flags & DASHING) ring(1.2 * r, '#ffffff88', 2);
    if (player.flags & RELOADING) ring(0.55 * r, '#ffffffaa', 2, [2, 3]);
  }

  _health(player, seat, x, y, r) {
    const share = player.hp / seat.hp, width = Math.max(26, Math.min(64, 2.5 * r)), top = y - 1.5 * r - 9;
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
