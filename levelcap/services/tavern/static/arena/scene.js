// Draws one moment of a match. All places are in units of the map; the camera turns them to pixels.

import { Bodies } from './bodies.js';
import { GOLD, GREEN, TEAMS, WHITE, glow, mix } from './shapes.js';
import { drawThoughts } from './thoughts.js';

const BODY = 1;
const LEAST_BODY_PX = 7;

export class Scene extends Bodies {
  constructor(g, camera) {
    super();
    this.g = g;
    this.camera = camera;
  }

  // stage: whose match, layers, own seat and followed one count. A person who plays sees only what
  // their side sees.
  draw({ tape, ground, layers, me, follow, input, minded }, moment) {
    const { header } = tape,
      hides = Boolean(input);
    Object.assign(this, { header, moment, layers, me, followed: follow });
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
    if (layers.mind) for (const [, p] of there) if (this._open(p)) drawThoughts(this, p, p === minded);
    this._written = [];
    // Never under a body; in a crowd the one that is followed keeps its name.
    const first = ([, p]) => (p === this.me || p === this.followed ? 0 : 1);
    for (const [player, p] of there.sort((a, b) => first(a) - first(b))) this._labels(player, p);
  }

  // A person sees what their side sees; an onlooker sees all.
  shows(player) {
    return player.alive && (this.myTeam === null || (player.seen & (1 << this.myTeam)) > 0);
  }

  // Who plays does not read the enemies' minds.
  _open(p) {
    return this.myTeam === null || this.header.seats[p].team === this.myTeam;
  }

  // Where a whole team has one name, its members go by their champions.
  called(p) {
    const seat = this.header.seats[p];
    if (p === this.me) return 'you';
    return this.header.team_size > 1 && seat.champion !== 'base' ? seat.champion : seat.name;
  }

  _ground({ image, half }) {
    const { g, camera } = this,
      size = 2 * half * camera.scale;
    g.fillStyle = '#080a0e';
    g.fillRect(0, 0, camera.width, camera.height);
    g.imageSmoothingQuality = 'low';
    g.drawImage(image, camera.px(-half), camera.py(half), size, size);
  }

  _zone(zone) {
    const { g, camera } = this;
    const { half } = this.header,
      left = camera.px(-half),
      top = camera.py(half),
      size = 2 * half * this.unit;
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
    this._circle(zone.x, zone.y, zone.radius);
    g.stroke();
    g.strokeStyle = '#ff8a72';
    g.lineWidth = Math.max(1.2, 0.09 * this.unit);
    g.setLineDash([this.unit, 0.7 * this.unit]);
    g.lineDashOffset = -this.moment.tick * 0.08 * this.unit;
    this._circle(zone.x, zone.y, zone.radius);
    g.stroke();
    g.setLineDash([]);
  }

  _crown() {
    const { g, header, moment } = this,
      inside = [0, 0];
    moment.players.forEach((p, i) => {
      if (p.alive && Math.hypot(p.x, p.y) <= header.crown) inside[header.seats[i].team]++;
    });
    const holder = inside[0] === inside[1] ? GOLD : TEAMS[inside[0] > inside[1] ? 0 : 1];
    g.fillStyle = `${holder}26`;
    this._circle(0, 0, header.crown);
    g.fill();
    if (!this.layers.objective) return;
    g.strokeStyle = GOLD;
    g.lineWidth = Math.max(1.5, 0.16 * this.unit);
    this._circle(0, 0, header.crown);
    g.stroke();
    moment.score.forEach((points, team) => {
      g.strokeStyle = TEAMS[team];
      g.lineWidth = Math.max(3, 0.42 * this.unit);
      const share = Math.min(1, points / header.goal),
        from = team ? Math.PI / 2 : -Math.PI / 2;
      g.beginPath();
      g.arc(
        this.camera.px(0),
        this.camera.py(0),
        (header.crown + 0.55) * this.unit,
        from,
        from + Math.PI * share * 0.98,
      );
      g.stroke();
    });
  }

  _items() {
    const { g, camera, unit } = this,
      beat = 1 + 0.08 * Math.sin(this.moment.tick / 6);
    for (const item of this.moment.items) {
      const x = camera.px(item.x),
        y = camera.py(item.y),
        colour = item.kind === 1 ? GREEN : GOLD;
      const s = Math.max(0.62 * unit, 5) * beat,
        light = 2.6 * s;
      g.globalCompositeOperation = 'lighter';
      g.drawImage(glow(colour), x - light, y - light, 2 * light, 2 * light);
      g.globalCompositeOperation = 'source-over';
      g.fillStyle = '#0b0f16';
      g.beginPath();
      g.roundRect(x - 1.15 * s, y - 1.15 * s, 2.3 * s, 2.3 * s, 0.5 * s);
      g.fill();
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
      if (!this.shows(p) || (this.followed !== null && header.seats[i].team !== header.seats[this.followed].team))
        return;
      g.fillStyle = `${TEAMS[header.seats[i].team]}0b`;
      this._circle(p.x, p.y, header.sight);
      g.fill();
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
      const colour = TEAMS[place.team],
        x = camera.px(place.x),
        y = camera.py(place.y);
      const r = Math.max(8, (place.radius + (place.core ? 0.8 : 0)) * unit);
      if (now.hp <= 0) {
        g.fillStyle = '#05070b';
        this._circle(place.x, place.y, place.radius);
        g.fill();
        g.strokeStyle = `${colour}55`;
        g.lineWidth = 1.5;
        g.stroke();
        return;
      }
      if (this.layers.objective) {
        g.strokeStyle = `${colour}30`;
        g.lineWidth = 1;
        this._circle(place.x, place.y, place.reach);
        g.stroke();
      }
      g.save();
      g.translate(x, y);
      const light = 2 * r;
      g.drawImage(glow(colour), -light, -light, 2 * light, 2 * light);
      const corners = place.core ? 4 : 6;
      for (const [k, tone] of [
        [1, '#0a0e15'],
        [0.88, colour],
        [0.62, mix(colour, '#0a0e15', 0.65)],
        [0.3, mix(colour, WHITE, 0.6)],
      ]) {
        g.fillStyle = tone;
        g.beginPath();
        for (let i = 0; i < corners; i++) {
          const a = (place.core ? 0 : Math.PI / 6) + (2 * Math.PI * i) / corners;
          g.lineTo(1.25 * r * k * Math.cos(a), 1.25 * r * k * Math.sin(a));
        }
        g.fill();
      }
      g.restore();
      if (t % 3 > 0 && moment.structures[t - 1].hp > 0) {
        // safe until the one before it falls
        g.strokeStyle = '#ffffff55';
        g.lineWidth = 1.5;
        g.setLineDash([4, 4]);
        g.beginPath();
        g.arc(x, y, 1.45 * r, 0, 2 * Math.PI);
        g.stroke();
        g.setLineDash([]);
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
    for (const [width, tone] of [
      [6 * heat, `${colour}66`],
      [2, mix(colour, WHITE, 0.7)],
    ]) {
      g.strokeStyle = tone;
      g.lineWidth = width;
      g.beginPath();
      g.moveTo(camera.px(place.x), camera.py(place.y));
      g.lineTo(camera.px(hit.x), camera.py(hit.y));
      g.stroke();
    }
  }
}
