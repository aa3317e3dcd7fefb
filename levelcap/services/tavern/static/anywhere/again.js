// A match decided again, step by step: what was chosen, how long it took, how often it was the same.
const SLICE_MS = 12; // of deciding before the page is drawn

export class Again {
  // drawn: with the match's own chances, as it was played; else the likeliest action.
  constructor(hero, match, drawn) {
    Object.assign(this, { hero, match, drawn });
    this.heads = hero.sizes.length;
    this.actions = new Uint8Array(match.length * this.heads);
    this.same = new Uint8Array(match.length); // 1: as recorded, 2: otherwise, 0: not asked or dead
    this.modes = new Int8Array(match.length).fill(-1);
    this.ms = new Float64Array(match.length);
    this.done = 0;
    this.agreed = new Array(this.heads).fill(0);
    this.state = hero.initialState();
  }

  get over() {
    return this.done >= this.match.length;
  }

  // Decisions until the slice is over.
  async slice() {
    const began = performance.now();
    while (!this.over && performance.now() - began < SLICE_MS) await this.step();
  }

  async step() {
    const { match, done: at } = this;
    const key = this.drawn ? match.rows.key[at] : null;
    const began = performance.now();
    const made = await this.hero.act(match.seen(at), this.state, {
      mask: match.row('mask', at),
      key,
      pace: match.pace,
    });
    this.ms[at] = performance.now() - began;
    this.actions.set(made.actions, at * this.heads);
    this.modes[at] = made.mode;
    this.logits = made.logits;
    if (match.rows.alive[at]) {
      const wanted = match.row('actions', at);
      const equal = made.actions.map((bin, head) => (bin === wanted[head] ? 1 : 0));
      equal.forEach((one, head) => {
        this.agreed[head] += one;
      });
      this.same[at] = equal.every((one) => one === 1) ? 1 : 2;
    }
    this.done += 1;
  }

  // What is shown of it so far; a dead player's decisions change nothing and are not counted.
  told() {
    const times = this.ms.slice(0, this.done).sort();
    const counted = this.same.reduce((sum, one) => sum + (one > 0), 0);
    const alike = this.same.reduce((sum, one) => sum + (one === 1), 0);
    const total = times.reduce((sum, one) => sum + one, 0);
    const quantile = (q) => times[Math.min(times.length - 1, Math.floor(q * times.length))] ?? 0;
    return {
      done: this.done,
      counted,
      agreement: counted ? alike / counted : 0,
      heads: this.agreed.map((one) => (counted ? one / counted : 0)),
      p50: quantile(0.5),
      p99: quantile(0.99),
      rate: total ? (1000 * this.done) / total : 0,
    };
  }

  action(at) {
    return this.actions.subarray(at * this.heads, (at + 1) * this.heads);
  }
}
