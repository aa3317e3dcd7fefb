// What one seat saw and did in a recorded match: a line of JSON, then arrays (world/seat_record.py).
import { sizeOf } from './hero.js';

const ARRAYS = { float32: Float32Array, uint8: Uint8Array, uint64: BigUint64Array, int32: Int32Array };
const BASE_HZ = 30; // of the ticks in which a bundle's own rate is counted

export async function loadMatch(replay, seat, bundle) {
  const views = bundle.views.map(([name]) => name).join(',');
  const answer = await fetch(`/arena/api/replays/${encodeURIComponent(replay)}/seats/${seat}?views=${views}`);
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).message ?? `the answer was ${answer.status}`);
  const data = await answer.arrayBuffer();
  const end = new Uint8Array(data).indexOf(10);
  const head = JSON.parse(new TextDecoder().decode(data.slice(0, end)));
  const match = new Match(head, data, end + 1);
  match.fits(bundle);
  return match;
}

export class Match {
  constructor(head, data, first) {
    this.head = head;
    this.rows = {};
    this.shapes = {};
    let begin = first;
    for (const { name, dtype, shape } of head.arrays) {
      const size = sizeOf(shape) * ARRAYS[dtype].BYTES_PER_ELEMENT;
      if (begin + size > data.byteLength) throw new Error('the match ended before its last array; try again');
      this.rows[name] = new ARRAYS[dtype](data.slice(begin, begin + size));
      this.shapes[name] = shape.slice(1);
      begin += size;
    }
    this.length = this.rows.at.length;
  }

  fits(bundle) {
    const { head } = this;
    const heads = bundle.heads.reduce((sum, [, size]) => sum + size, 0);
    const odd =
      bundle.world_version !== head.world_version ||
      bundle.tick_hz !== head.tick_hz ||
      `${this.shapes.mask}` !== `${heads}` ||
      bundle.views.some(([name, shape]) => `${this.shapes[name]}` !== `${shape}`);
    if (odd)
      throw new Error(`this bundle plays ${bundle.world}, not ${head.world} as it was recorded; choose another match`);
    if (!this.length) throw new Error('nobody decided in this match; choose another one');
    this.pace = Math.max(1, Math.round(((bundle.decision_ticks / BASE_HZ) * head.tick_hz) / head.seat_ticks));
    this.views = bundle.views.map(([name]) => name);
  }

  // One row of an array.
  row(name, at) {
    const size = sizeOf(this.shapes[name]);
    return this.rows[name].subarray(at * size, (at + 1) * size);
  }

  // What is given to the hero at a decision.
  seen(at) {
    return Object.fromEntries(this.views.map((name) => [name, this.row(name, at)]));
  }
}
