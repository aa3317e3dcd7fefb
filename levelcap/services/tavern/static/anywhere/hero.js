// A bundle that decides for one player: the same as levelcap/export/runtime.py, in WebAssembly.
import { draw, drawMode, uniform } from './draw.js';

const ARRAYS = { float32: Float32Array, int64: BigInt64Array };
const WITNESSES = 2; // rows, decisions and tolerance of `swear`, as in runtime.py
const DECISIONS = 12;
const TOLERANCE = 1e-2;
export const sizeOf = (shape) => shape.reduce((product, axis) => product * axis, 1);

export class Hero {
  // graphs: bytes by name.
  static async load(ort, bundle, graphs) {
    const hero = new Hero(ort, bundle);
    for (const [name, graph] of bundle.graphs) {
      const options = { executionProviders: ['wasm'], graphOptimizationLevel: 'all', logSeverityLevel: 4 };
      const session = await ort.InferenceSession.create(graphs[name], options);
      const odd = [
        [session.inputNames, graph.inputs],
        [session.outputNames, graph.outputs],
      ].some(([found, wanted]) => `${[...found].sort()}` !== `${Object.keys(wanted).sort()}`);
      if (odd) throw new Error(`${graph.file} has other inputs or outputs; export the checkpoint again`);
      hero.sessions[name] = session;
    }
    await hero.swear();
    return hero;
  }

  constructor(ort, bundle) {
    this.ort = ort;
    this.bundle = bundle;
    this.graphs = Object.fromEntries(bundle.graphs);
    this.sizes = bundle.heads.map(([, size]) => size);
    this.everything = new Uint8Array(this.sizes.reduce((sum, size) => sum + size, 0)).fill(1);
    this.sessions = {};
  }

  // Memory at the start of a match: all zeros.
  initialState() {
    const state = { clock: 0, mode: -1, goal: null, pooled: null };
    for (const graph of Object.values(this.graphs)) {
      for (const name of graph.memory) {
        const port = graph.inputs[name];
        state[name] = new ARRAYS[port.dtype](sizeOf(port.shape));
      }
    }
    return state;
  }

  // views: Float32Array by name. key null: the likeliest action. pace: decisions in the time of one
  // it was trained with. The state is changed: it is what the next decision is given.
  async act(views, state, { mask = this.everything, key = null, pace = 1 } = {}) {
    const made = this.bundle.kind === 'flat' ? await this.flat(views) : await this.layers(views, state, key, pace);
    const actions = draw(made.logits, mask, this.sizes, key);
    return { actions, logits: made.logits, value: made.value[0], mode: state.mode };
  }

  flat(views) {
    const inputs = new Float32Array(this.graphs.policy.inputs.inputs.shape[0]);
    let first = 0;
    for (const [name] of this.bundle.views) {
      inputs.set(views[name], first);
      first += views[name].length;
    }
    return this.run('policy', { inputs });
  }

  // Strategist when it is due, Tactician and Executor always.
  async layers(views, state, key, pace) {
    if (state.clock % (this.bundle.period * pace) === 0) await this.plan(views.summary, state, key);
    const { goal, pooled } = state;
    const seen = await this.run('tactician', { objects: views.objects, goal });
    const { position, info } = seen;
    const made = await this.run('executor', { body: views.body, goal, position, info, pooled }, state);
    state.clock += 1;
    return made;
  }

  async plan(summary, state, key) {
    const made = await this.run('strategist', { summary }, state);
    state.mode = drawMode(made.mode_logits, key);
    const size = made.goals.length / this.bundle.modes.length;
    state.goal = made.goals.slice(state.mode * size, (state.mode + 1) * size);
    state.pooled = made.pooled;
  }

  // One graph; what it remembers is taken from the state and put back.
  async run(name, given, state = {}) {
    const graph = this.graphs[name];
    const feeds = {};
    for (const [port, { dtype, shape }] of Object.entries(graph.inputs)) {
      const data = graph.memory.includes(port) ? state[port] : given[port];
      feeds[port] = new this.ort.Tensor(dtype, data, [1, ...shape]);
    }
    const out = await this.sessions[name].run(feeds);
    for (const port of graph.memory) state[port] = out[`next_${port}`].data;
    return Object.fromEntries(Object.entries(out).map(([port, tensor]) => [port, tensor.data]));
  }

  // Logits of each witness after twelve decisions on views that everybody can compute.
  async bearWitness() {
    const found = [];
    for (let row = 0n; row < WITNESSES; row++) {
      const state = this.initialState();
      let at = 1n;
      let made = null;
      for (let decision = 0; decision < DECISIONS; decision++) {
        const views = {};
        for (const [name, shape] of this.bundle.views) {
          views[name] = Float32Array.from({ length: sizeOf(shape) }, () => 2 * uniform(row, at++) - 1);
        }
        made = await this.act(views, state);
      }
      found.push(made.logits);
    }
    return found;
  }

  // Refuses a bundle that decides otherwise here than where it was exported.
  async swear() {
    const wanted = this.bundle.witness;
    const gaps = (await this.bearWitness()).flatMap((row, n) =>
      Array.from(row, (one, at) => Math.abs(one - wanted[n]?.[at])),
    );
    if (!(Math.max(...gaps) < TOLERANCE)) {
      throw new Error(`the bundle decides otherwise than when it was made (${Math.max(...gaps)}); export it again`);
    }
  }
}
