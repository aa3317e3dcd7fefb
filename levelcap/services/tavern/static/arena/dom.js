// Elements without HTML: text is always text.

export function el(tag, classes = '', props = {}, ...children) {
  const node = document.createElement(tag);
  if (classes) node.className = classes;
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key in node && key !== 'list' && key !== 'form') node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

export function svg(path, size = 20) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  node.setAttribute('viewBox', '0 0 24 24');
  node.setAttribute('width', size);
  node.setAttribute('height', size);
  node.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  line.setAttribute('d', path);
  line.setAttribute('fill', 'none');
  line.setAttribute('stroke', 'currentColor');
  line.setAttribute('stroke-width', '2');
  line.setAttribute('stroke-linecap', 'round');
  line.setAttribute('stroke-linejoin', 'round');
  node.append(line);
  return node;
}

export const ICONS = {
  play: 'M7 4l13 8-13 8z',
  pause: 'M8 5v14M16 5v14',
  help: 'M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 18v.01',
  full: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  live: 'M12 12m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0M5 5a10 10 0 0 0 0 14M19 5a10 10 0 0 1 0 14',
  eye: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7-10-7-10-7zM12 12m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0',
  share:
    'M8 12a3 3 0 1 0-6 0 3 3 0 0 0 6 0M22 5a3 3 0 1 0-6 0 3 3 0 0 0 6 0M22 19a3 3 0 1 0-6 0 3 3 0 0 0 6 0M8 11l8-5M8 13l8 5',
  leave: 'M6 6l12 12M18 6L6 18',
};

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export const clockText = (seconds) => {
  const whole = Math.max(0, Math.floor(seconds));
  return `${String(Math.floor(whole / 60)).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`;
};

export const drop = (path) => send(path, { method: 'DELETE' });

export const ask = (path, body) => send(path, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });

async function send(path, options) {
  const answer = await fetch(path, { ...options, headers: { 'Content-Type': 'application/json' } });
  const said = await answer.json().catch(() => ({ message: `the answer was ${answer.status}` }));
  if (!answer.ok) throw new Error(said.message ?? `the answer was ${answer.status}`);
  return said;
}
