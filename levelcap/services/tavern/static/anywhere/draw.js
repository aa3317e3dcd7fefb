// Actions out of logits, of one row: the same as levelcap/export/draw.py, bit for bit where that is
// float32. Chance comes from the row's key, so that this browser draws what was drawn in the match.
const GOLDEN = 0x9e3779b97f4a7c15n;
const M1 = 0xbf58476d1ce4e5b9n;
const M2 = 0x94d049bb133111ebn;
const CHOICE = 255n; // beyond the number of any head
const f32 = Math.fround;
const u64 = (value) => BigInt.asUintN(64, value);

// A number in [0, 1) of a key for a purpose: splitmix64's finaliser.
export function uniform(key, purpose) {
  let z = u64((key ^ purpose) + GOLDEN);
  z = u64((z ^ (z >> 30n)) * M1);
  z = u64((z ^ (z >> 27n)) * M2);
  return Number((z ^ (z >> 31n)) >> 11n) * 2 ** -53;
}

// Bins of all heads; mask: 0 forbids. key null: the likeliest. Nothing allowed: bin 0.
export function draw(logits, mask, sizes, key) {
  const found = new Uint8Array(sizes.length);
  let first = 0;
  let below = 0; // of all heads before, too, as numpy adds them up
  sizes.forEach((size, head) => {
    let [top, best] = [Number.NEGATIVE_INFINITY, 0];
    for (let bin = 0; bin < size; bin++) {
      if (mask[first + bin] !== 0 && logits[first + bin] > top) [top, best] = [logits[first + bin], bin];
    }
    if (key === null) found[head] = best;
    else {
      const p = weights(logits, mask, first, size, top);
      const chance = uniform(key, BigInt(head + 1));
      const passes = below + chance * p.reduce((sum, one) => f32(sum + one), 0);
      found[head] = firstBeyond(p, below, passes);
      for (const one of p) below += one;
    }
    first += size;
  });
  return found;
}

function weights(logits, mask, first, size, top) {
  const p = new Float32Array(size);
  const from = Number.isFinite(top) ? top : 0;
  for (let bin = 0; bin < size; bin++) {
    if (mask[first + bin] !== 0) p[bin] = Math.exp(f32(logits[first + bin] - from));
  }
  return p;
}

// The first bin whose cumulative distribution passes the chance. Rounding may leave a little behind
// the last bin that is possible, which is then taken.
function firstBeyond(p, start, passes) {
  let sum = start;
  let last = 0;
  for (let bin = 0; bin < p.length; bin++) {
    sum += p[bin];
    if (p[bin] > 0 && sum > passes) return bin;
    if (p[bin] > 0) last = bin;
  }
  return last;
}

// A mode out of its log-odds; key null: the likeliest.
export function drawMode(logits, key) {
  const top = Math.max(...logits);
  if (key === null) return logits.indexOf(top);
  const p = Float32Array.from(logits, (one) => Math.exp(f32(one - top)));
  const total = p.reduce((sum, one) => f32(sum + one), 0);
  const chance = f32(uniform(key, CHOICE));
  let [below, mode] = [0, 0];
  for (let at = 0; at < p.length - 1; at++) {
    below = f32(below + f32(p[at] / total));
    if (chance >= below) mode++;
  }
  return mode;
}
