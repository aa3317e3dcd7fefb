// Files of a bundle, each compared with the sha256 of its manifest before it is used.
import { Hero } from './hero.js';

const MOST_BYTES = 512 * 2 ** 20;
const MOST_VIEW = 2 ** 20;
const FORMAT = 1;
const KINDS = { flat: ['policy'], hierarchy: ['strategist', 'tactician', 'executor'] };
const AGAIN = 'export the checkpoint again';

async function bytes(path) {
  const answer = await fetch(path);
  if (answer.ok) return answer.arrayBuffer();
  const said = await answer.json().catch(() => ({}));
  throw new Error(said.message ?? `the answer was ${answer.status}`);
}

const text = (data) => JSON.parse(new TextDecoder().decode(data));

async function sha256(data) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', data));
  return Array.from(digest, (one) => one.toString(16).padStart(2, '0')).join('');
}

// A hero, ready to decide. runtime: the address of onnxruntime-web.
export async function loadHero(runtime, name) {
  if (!globalThis.crypto?.subtle) {
    throw new Error('this browser compares files only on https or on the machine itself; open the Tavern at localhost');
  }
  const place = `/anywhere/bundles/${encodeURIComponent(name)}`;
  const { files } = text(await bytes(`${place}/manifest.json`));
  const verified = async (file) => {
    const wanted = files[file];
    if (!wanted || !(wanted.bytes <= MOST_BYTES)) throw new Error(`${file} is missing or too large; ${AGAIN}`);
    const data = await bytes(`${place}/${encodeURIComponent(file)}`);
    if (data.byteLength !== wanted.bytes || (await sha256(data)) !== wanted.sha256) {
      throw new Error(`${file} is not what the manifest says; ${AGAIN}`);
    }
    return data;
  };
  const bundle = text(await verified('bundle.json'));
  check(bundle);
  const graphs = {};
  for (const [graph, { file }] of bundle.graphs) graphs[graph] = new Uint8Array(await verified(file));
  return Hero.load(await ortOf(runtime), bundle, graphs);
}

// What the server has checked when it made its list, but for what this page counts on.
function check(bundle) {
  if (bundle.format !== FORMAT) throw new Error(`a bundle of format ${bundle.format}; this page reads ${FORMAT}`);
  const wanted = KINDS[bundle.kind];
  if (`${bundle.graphs.map(([graph]) => graph)}` !== `${wanted}`) throw new Error(`not a hero that plays; ${AGAIN}`);
  if (bundle.views.some(([, shape]) => shape.reduce((a, b) => a * b, 1) > MOST_VIEW))
    throw new Error('a view is too large');
}

async function ortOf(runtime) {
  const ort = await import(`${runtime}/ort.wasm.bundle.min.mjs`);
  ort.env.wasm.numThreads = 1; // more would need isolation from other origins, and a worker each
  ort.env.logLevel = 'error';
  return ort;
}
