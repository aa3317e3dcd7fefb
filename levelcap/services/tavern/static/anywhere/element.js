// <tavern-anywhere>: choose a bundle, a recorded match and a seat; decide it again in this browser.
// Once both are loaded nothing is asked of the server: it goes on deciding when that is away.
import { Again } from './again.js';
import { loadHero } from './bundle.js';
import { loadMatch } from './match.js';
import { actionWords, drawDial, drawStrip, readAction } from './picture.js';

const percent = (share) => `${(100 * share).toFixed(share > 0.9995 && share < 1 ? 2 : 1)} %`;
const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
const option = (value, label) => Object.assign(document.createElement('option'), { value, textContent: label });

class Anywhere extends HTMLElement {
  connectedCallback() {
    this.bundles = JSON.parse(this.getAttribute('bundles'));
    this.runtime = this.getAttribute('runtime');
    this.asked = new URLSearchParams(location.search);
    this.heroes = new Map();
    this.recorded = new Map();
    this.replays = [];
    window.__anywhere = { state: 'empty' };
    this.find = (name) => this.querySelector(`[data-is=${name}]`);
    this.find('bundle').replaceChildren(
      ...this.bundles.map((b) => option(b.name, `${b.name} (${b.kind}, ${b.world})`)),
    );
    this.choose('bundle', this.asked.get('bundle'));
    this.find('bundle').onchange = () => this.listMatches();
    this.find('match').onchange = () => this.listSeats();
    this.find('go').onclick = () => this.go();
    this.find('stop').onclick = () => {
      this.again = null;
    };
    this.find('scrub').oninput = () => this.look(Number(this.find('scrub').value));
    window.addEventListener('resize', () => this.draw());
    this.begin();
  }

  choose(name, value) {
    const select = this.find(name);
    if ([...select.options].some((one) => one.value === value)) select.value = value;
  }

  say(words, bad = false) {
    const place = this.find('said');
    place.textContent = words;
    place.classList.toggle('bad', bad);
  }

  async begin() {
    try {
      const answer = await fetch('/arena/api/choices');
      const found = await answer.json();
      if (!answer.ok) throw new Error(found.message);
      this.replays = found.replays;
    } catch (error) {
      this.say(`The recorded matches cannot be listed: ${error.message}`, true);
      return;
    }
    this.listMatches();
  }

  get bundle() {
    return this.bundles.find((one) => one.name === this.find('bundle').value);
  }

  // Matches of the hero's ruleset; those that it played itself come first.
  listMatches() {
    const { world, source } = this.bundle;
    const own = (replay) => replay.sha256.includes(source);
    const fit = this.replays.filter((one) => world.split('-')[0] === one.world);
    const rows = [...fit.filter(own), ...fit.filter((one) => !own(one))];
    const words = (one) => {
      const when = new Date(1000 * one.time).toLocaleString();
      return `${[...new Set(one.names)].join(' v ')}, ${when}${own(one) ? ' (its own)' : ''}`;
    };
    this.find('match').replaceChildren(...rows.map((one) => option(one.id, words(one))));
    this.choose('match', this.asked.get('replay'));
    this.find('go').disabled = !rows.length;
    this.say(rows.length ? '' : `No match of ${world} is recorded yet: watch one in the arena, then come back.`);
    this.listSeats();
  }

  listSeats() {
    const replay = this.replays.find((one) => one.id === this.find('match').value);
    const names = replay?.names ?? [];
    this.find('seat').replaceChildren(...names.map((name, seat) => option(String(seat), `${seat + 1}: ${name}`)));
    const own = replay?.sha256.indexOf(this.bundle.source) ?? -1;
    this.choose('seat', this.asked.get('seat') ?? String(Math.max(0, own)));
    this.asked = new URLSearchParams();
  }

  async go() {
    const [bundle, replay, seat] = ['bundle', 'match', 'seat'].map((name) => this.find(name).value);
    history.replaceState(null, '', `?${new URLSearchParams({ bundle, replay, seat })}`);
    window.__anywhere = { state: 'loading' };
    this.busy(true);
    try {
      this.say('The hero is being loaded and verified …');
      const hero = await this.once(this.heroes, bundle, () => loadHero(this.runtime, bundle));
      this.say('The match is being fetched …');
      const match = await this.once(this.recorded, `${bundle} ${replay} ${seat}`, () =>
        loadMatch(replay, seat, hero.bundle),
      );
      await this.decide(new Again(hero, match, this.find('chance').value === 'drawn'));
    } catch (error) {
      window.__anywhere = { state: 'failed' };
      this.say(`That did not work: ${error.message}`, true);
    } finally {
      this.busy(false);
    }
  }

  // What was loaded stays; what failed is tried again.
  async once(kept, name, load) {
    if (!kept.has(name)) kept.set(name, await load());
    return kept.get(name);
  }

  busy(is) {
    this.find('go').disabled = is;
    this.find('stop').hidden = !is;
  }

  async decide(again) {
    this.again = this.shown = again;
    this.find('result').hidden = false;
    this.find('scrub').max = again.match.length - 1;
    this.say('It decides …');
    window.__anywhere = { state: 'deciding' };
    while (this.again === again && !again.over) {
      await again.slice();
      this.find('scrub').value = again.done - 1;
      this.look(again.done - 1);
      this.tell(again.told());
      await frame();
    }
    const told = again.told();
    const own = again.match.head.player.sha256 === again.hero.bundle.source;
    const who = own ? 'the hero itself' : again.match.head.player.name || 'somebody';
    const short = again.over ? '' : 'Stopped. ';
    this.say(`${short}${told.counted} decisions, ${percent(told.agreement)} as ${who} decided when it was recorded.`);
    window.__anywhere = { state: 'done', over: again.over, own, ...told };
  }

  tell(told) {
    const put = (name, words) => {
      this.find(name).textContent = words;
    };
    put('agreement', percent(told.agreement));
    put('counted', told.counted.toLocaleString('en'));
    put('p50', `${told.p50.toFixed(2)} ms`);
    put('p99', `${told.p99.toFixed(2)} ms`);
    put('rate', Math.round(told.rate).toLocaleString('en'));
    const rows = this.shown.hero.bundle.heads.map(([name], head) => {
      const item = document.createElement('li');
      item.className = 'chip';
      item.textContent = `${name.replace('_', ' ')} ${percent(told.heads[head])}`;
      return item;
    });
    this.find('heads').replaceChildren(...rows);
  }

  look(at) {
    this.at = at;
    this.draw();
  }

  draw() {
    const { shown, at = 0 } = this;
    if (!shown) return;
    const { heads, modes } = shown.hero.bundle;
    const recorded = readAction(shown.match.row('actions', at), heads);
    const decided = at < shown.done ? readAction(shown.action(at), heads) : null;
    drawDial(this.find('recorded'), recorded);
    drawDial(this.find('decided'), decided);
    drawStrip(this.find('strip'), shown.same, shown.done, at);
    const mode = shown.modes[at] >= 0 ? `, ${modes[shown.modes[at]]}` : '';
    this.find('recorded-words').textContent = actionWords(recorded);
    this.find('decided-words').textContent = decided ? actionWords(decided) + mode : 'not decided yet';
    const seconds = (shown.match.rows.at[at] * this.step).toFixed(1);
    const state = ['dead: not counted', 'alike', 'different'][at < shown.done ? shown.same[at] : 0];
    this.find('when').textContent = `Decision ${at + 1} of ${shown.match.length}, ${seconds} s: ${state}`;
  }

  // Seconds of a decision of the match's grid.
  get step() {
    const { head } = this.shown.match;
    return head.decision_ticks / head.tick_hz;
  }
}

customElements.define('tavern-anywhere', Anywhere);
