// Numbers to pixels, and the round numbers that an axis names.

// A function value -> pixel, with its ends as `low` and `high`; least: a value that must be inside.
export function scaleOf(values, from, to, least, tight = false) {
  const known = values.filter((value) => Number.isFinite(value));
  if (least !== undefined && least !== null) known.push(least);
  let low = known.length ? known.reduce((a, b) => Math.min(a, b)) : 0;
  let high = known.length ? known.reduce((a, b) => Math.max(a, b)) : 1;
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const room = tight ? 0 : (high - low) * 0.06;
  if (low !== least) low -= room;
  high += room;
  const scale = (value) => from + ((value - low) / (high - low)) * (to - from);
  return Object.assign(scale, { low, high });
}

// About so many round numbers between the ends of a scale.
export function ticksOf({ low, high }, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(value);
  return found;
}

export function pathOf(pen, ...points) {
  pen.beginPath();
  for (const point of points) pen.lineTo(...point);
  pen.stroke();
}
