// What changes with time alone: "3 min ago" and "goes in 12 s", counted on in the browser.
const UNITS = [
  [86400, 'd'],
  [3600, 'h'],
  [60, 'min'],
];

function ago(seconds) {
  for (const [size, unit] of UNITS) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  return seconds < 10 ? 'just now' : `${Math.floor(seconds)} s ago`;
}

function tick() {
  for (const shown of document.querySelectorAll('time[data-ago], time[data-due]')) {
    const seconds = (Date.now() - Date.parse(shown.dateTime)) / 1000;
    const words = 'due' in shown.dataset ? `goes in ${Math.max(0, Math.floor(-seconds))} s` : ago(seconds);
    if (shown.textContent !== words) shown.textContent = words;
  }
}

export function count() {
  tick();
  setInterval(tick, 1000);
  window.addEventListener('tavern-drawn', tick);
}
