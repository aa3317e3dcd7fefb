// The palette: Ctrl-K or / opens it; what is typed is looked for on the server.
import { order } from './orders.js';

const WAIT_MS = 120; // after the last key
let rows = [];
let chosen = 0;
let waiting = 0;
const at = (name) => document.querySelector(name);

function choose(number) {
  chosen = Math.max(0, Math.min(rows.length - 1, number));
  for (const [i, shown] of [...at('#palette-found').children].entries()) {
    shown.setAttribute('aria-selected', String(i === chosen));
    if (i === chosen) shown.scrollIntoView({ block: 'nearest' });
  }
  const words = at('#palette-words');
  if (rows.length) words.setAttribute('aria-activedescendant', `found-${chosen}`);
  else words.removeAttribute('aria-activedescendant');
}

function take(row) {
  at('#palette').close();
  if (row.go) window.location.assign(row.go);
  else order(row.order, row.id, row.values);
}

function line(row, number) {
  const shown = document.createElement('li');
  Object.assign(shown, { id: `found-${number}`, role: 'option', onclick: () => take(row) });
  for (const [look, words] of [
    ['chip plain', row.kind],
    ['found-name', row.name],
    ['quest-sub', row.text],
  ]) {
    const part = document.createElement('span');
    Object.assign(part, { className: look, textContent: words });
    shown.append(part);
  }
  return shown;
}

async function look() {
  const words = at('#palette-words').value;
  const answer = await fetch(`/find?q=${encodeURIComponent(words.slice(0, 100))}`);
  if (!answer.ok || words !== at('#palette-words').value) return; // something else was typed meanwhile
  rows = (await answer.json()).found;
  at('#palette-found').replaceChildren(...rows.map(line));
  choose(0);
}

export function openPalette() {
  at('#palette-words').value = '';
  at('#palette').showModal();
  look();
}

function pressed(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) choose(chosen + step);
  else if (event.key === 'Enter' && rows[chosen]) take(rows[chosen]);
  else return;
  event.preventDefault();
}

export function listenForWords() {
  at('#palette-words').addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, WAIT_MS);
  });
  at('#palette-words').addEventListener('keydown', pressed);
  at('#search').addEventListener('click', openPalette);
}
