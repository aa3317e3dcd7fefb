// Keys of every page; the list of them is the window `#keys`.
import { openPalette } from './palette.js';
import { toggle } from './sound.js';

const WAIT_MS = 1500; // after g
let waiting = 0;

function steer() {
  const running = document.querySelector('.training').dataset.state === 'running';
  document.querySelector(`.training [aria-label=${running ? 'Pause' : 'Resume'}]`).click();
}

function help() {
  document.querySelector('#keys').showModal();
}

function pressed(event) {
  const search = event.key === 'k' && (event.ctrlKey || event.metaKey);
  if (search && !document.querySelector('dialog[open]')) {
    event.preventDefault();
    openPalette();
    return;
  }
  if (event.target.closest('input, textarea, select, dialog')) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (performance.now() < waiting) {
    waiting = 0;
    document.querySelector(`nav [data-press="${CSS.escape(event.key)}"]`)?.click();
  } else if (event.key === 'g') waiting = performance.now() + WAIT_MS;
  else if (event.key === 'p') steer();
  else if (event.key === 'm') toggle();
  else if (event.key === '?') help();
  else if (event.key === '/') {
    event.preventDefault(); // or the stroke stands in the field
    openPalette();
  }
}

export function listenForKeys() {
  window.addEventListener('keydown', pressed);
  document.querySelector('#help').addEventListener('click', help);
  document.addEventListener('click', (event) => {
    if (event.target.nodeName === 'DIALOG') event.target.close(); // beside the window
  });
}
